import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SHARE_UNITS } from '../../facts/column.ts';
import type { FactRow } from '../../facts/source.ts';
import type { SourceRecord } from '../../facts/source-record.ts';
import { queueJson, queuePage } from '../../report/queue-page.ts';
import { mePage } from '../../report/me-page.ts';
import { importRows } from '../import-rows.ts';
import { job as jobNamed } from '../job.ts';
import { me } from '../me.ts';
import { deriveLedger, withReader, withWriter } from '../workspace.ts';
import { queue } from './queue.ts';

const at = (time: string): string => `2026-11-02T${time}Z`;
const CLOCK = new Date(at('12:00:00'));

const job = (id: string, row: FactRow): FactRow => ({
  source: 'slurm',
  allocation_id: id,
  node_id: 'n1',
  gpu_count: 1,
  account: 'nlp',
  user_name: 'ana',
  cluster: 'hpc',
  ...row,
});

/** n1 has four H100: ana's job holds two and does nothing with one, bo's held one until ten; the fourth is empty. */
const facts: Record<string, FactRow[]> = {
  node: [{ node_id: 'n1', gpu_count: 4, model: 'H100', cluster: 'hpc' }],
  device: ['0', '1', '2', '3'].map((id) => ({ device_id: `GPU-${id}`, node_id: 'n1', model: 'NVIDIA H100' })),
  rate: [{ model: 'H100', usd_per_gpu_hour: '2' }],
  gpu_sample: ['0', '1', '2'].flatMap((id) =>
    Array.from({ length: 48 }, (_, index) => ({
      device_id: `GPU-${id}`,
      ts: new Date(Date.parse(at('08:00:00')) + index * 300_000),
      step_s: 300,
      engine_permille: id === '1' ? 0 : 855,
    })),
  ),
  allocation: [
    ...['0', '1'].map((id) =>
      job('1', {
        device_id: `GPU-${id}`,
        held_from: at('08:00:00'),
        submitted_at: at('07:00:00'),
        observed_at: at('12:00:00'),
        workload_name: 'sft',
      }),
    ),
    job('2', {
      device_id: 'GPU-2',
      user_name: 'bo@lab',
      held_from: at('08:00:00'),
      held_until: at('10:00:00'),
      submitted_at: at('06:00:00'),
      outcome: 'completed',
    }),
  ],
  waiting: [
    job('3', {
      node_id: undefined,
      submitted_at: at('09:00:00'),
      observed_at: at('12:00:00'),
      gpu_count: 2,
      model: 'H100',
      held_back_by: 'Resources',
    }),
    job('4', {
      node_id: undefined,
      submitted_at: at('11:00:00'),
      observed_at: at('12:00:00'),
      gpu_count: 8,
      user_name: 'bo@lab',
    }),
    job('5', { node_id: undefined, submitted_at: at('07:00:00'), observed_at: at('09:00:00') }),
    // It began at eight; whoever made this list did not know yet.
    job('2', { node_id: undefined, submitted_at: at('06:00:00'), observed_at: at('12:00:00') }),
  ],
};

const folders: string[] = [];
async function folderOf(tables: Readonly<Record<string, readonly FactRow[]>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'bursar-queue-'));
  folders.push(folder);
  await withWriter(folder, 'test', async (space) => {
    for (const [table, rows] of Object.entries(tables)) {
      await importRows({ ...space, table, batch: table, rows, label: table });
    }
    await deriveLedger(space);
  });
  return folder;
}

let dataDir: string;
beforeAll(async () => {
  dataDir = await folderOf(facts);
});
afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

describe('the queue', () => {
  it('shows who waits beside what stands idle or empty', async () => {
    const answer = await withReader(dataDir, (space) => queue(space, { window: 'today', clock: CLOCK }));
    // Job 5 was last seen waiting three hours ago: nothing is said of it now.
    expect(answer.waiting?.map(({ allocationId, waitedSeconds }) => [allocationId, waitedSeconds / 3600])).toEqual([
      ['3', 3],
      ['4', 1],
    ]);
    expect(answer.waiting?.[0]?.place).toMatchObject({ complete: true, nodes: ['n1'], empty: 2, idle: 0 });
    expect(answer.waiting?.[1]?.place).toMatchObject({ complete: false, onOneNode: 1, partsFit: 0, partsNeeded: 2 });
    expect(answer.emptyGpus).toBe(2);
    // Waited for today: job 1 one hour twice, job 2 two hours, job 3 three hours twice.
    const h100 = answer.models?.find(({ model }) => model === 'NVIDIA H100');
    expect(h100?.waitedGpuSeconds).toBe(10n * 3600n);
    expect(h100?.idle).toEqual({ usdMicros: 8_000_000n, gpuUnits: 4n * 3600n * 63_000n });
    expect(answer.teams).toEqual([
      { team: 'nlp', jobs: 2, medianSeconds: 3600, p90Seconds: 7200, medianBySize: [7200, 3600, null, null] },
    ]);
    const page = queuePage(answer);
    expect(page.slice(0, 2)).toEqual([
      'Waiting: 2 jobs for 10 GPUs, median 1 h, longest 3 h; as of 2026-11-02 12:00 UTC',
      '1 of them could start now on 2 empty GPUs',
    ]);
    expect(page.join('\n')).toContain('– none of 2 whole machines');
  });

  it('counts of a wait what lies in the window, also where it ended after it', async () => {
    const window = `${at('07:00:00')}/${at('07:30:00')}`;
    const answer = await withReader(dataDir, (space) => queue(space, { window, clock: CLOCK }));
    // Job 1 waited half an hour of it for two GPUs, job 2 for one.
    expect(answer.models?.map(({ model, waitedGpuSeconds }) => [model, waitedGpuSeconds])).toEqual([
      ['NVIDIA H100', 5400n],
    ]);
    expect(answer.teams).toEqual([]);
  });

  it('a device that was replaced while a job ran counts once', async () => {
    const life = { submitted_at: at('07:00:00'), user_name: 'cy', outcome: 'completed' };
    const folder = await folderOf({
      node: [{ node_id: 'n1', gpu_count: 4, model: 'H100', cluster: 'hpc' }],
      allocation: [
        job('1', { ...life, slot: 0, held_from: at('08:00:00'), held_until: at('09:00:00') }),
        job('1', { ...life, slot: 1, held_from: at('08:00:00'), held_until: at('10:00:00') }),
        job('1', { ...life, slot: 2, held_from: at('09:00:00'), held_until: at('10:00:00') }),
      ],
    });
    await withReader(folder, async (space) => {
      const { models } = await queue(space, { window: 'today', clock: CLOCK });
      expect(models?.map(({ waitedGpuSeconds }) => waitedGpuSeconds)).toEqual([7200n]);
      const { runs } = await me(space, { user: 'cy', isNamed: true, window: 'today', clock: CLOCK });
      expect(runs.map(({ shareUnits }) => shareUnits)).toEqual([2n * BigInt(SHARE_UNITS)]);
      const { attempts } = await jobNamed(space, { id: '1', clock: CLOCK });
      expect(attempts.map(({ gpus }) => gpus)).toEqual([2]);
    });
  });

  it('of history, what began later was waiting', async () => {
    const asOf = new Date(at('07:30:00'));
    const answer = await withReader(dataDir, (space) => queue(space, { window: 'today', clock: CLOCK, asOf }));
    expect(answer.waiting?.map(({ allocationId, gpus }) => [allocationId, gpus])).toEqual([
      ['2', 1],
      ['1', 2],
      ['5', 1],
    ]);
  });
});

describe('who waits is unknown, not nobody', () => {
  const hour = 3_600_000;
  const record = (coveredUntil: Date, waiting?: number): SourceRecord => ({
    name: 'hpc',
    kind: 'slurm',
    reads: 'sacct',
    pollS: 60,
    firstTriedAt: coveredUntil,
    lastTriedAt: coveredUntil,
    coveredUntil,
    rows: { allocation: 2, ...(waiting !== undefined && { waiting }) },
    skipped: [],
    gaps: [],
  });
  const cases: Record<string, { sources: SourceRecord[]; want: number | undefined }> = {
    'where no scheduler is read': { sources: [], want: undefined },
    'where the source does not tell of waiting': { sources: [record(CLOCK)], want: undefined },
    'where it was last heard two hours ago': {
      sources: [record(new Date(CLOCK.getTime() - 2 * hour), 0)],
      want: undefined,
    },
    'but nobody, where a scheduler has just said so': { sources: [record(CLOCK, 0)], want: 0 },
  };
  let quiet: string;
  beforeAll(async () => {
    quiet = await folderOf({ ...facts, waiting: [] });
  });
  it.each(Object.entries(cases))('%s', async (_, { sources, want }) => {
    const answer = await withReader(quiet, (space) => queue({ ...space, sources }, { window: 'today', clock: CLOCK }));
    expect(answer.waiting?.length).toBe(want);
    expect(queuePage(answer)[0]).toBe(
      want === undefined
        ? 'Who waits for GPUs is unknown, as of 2026-11-02 12:00 UTC: no scheduler has said so in the hour before'
        : 'Nobody waits for a GPU, as of 2026-11-02 12:00 UTC',
    );
    expect(queueJson(answer)).toMatchObject({ waiting: want === undefined ? null : [] });
  });
});

describe('free GPUs', () => {
  it('are whole ones, however they are held', async () => {
    const open = { held_from: at('08:00:00'), observed_at: at('12:00:00') };
    const folder = await folderOf({
      node: ['n1', 'n2'].map((id) => ({ node_id: id, gpu_count: 4, model: 'H100', cluster: 'hpc' })),
      device: ['n1', 'n2'].flatMap((id) => [0, 1, 2, 3].map((n) => ({ device_id: `${id}-${n}`, node_id: id }))),
      allocation: [
        // Half of a device, and three of another machine, nobody knows which.
        job('1', { ...open, device_id: 'n1-0', share_units: 31_500, isolation: 'fraction' }),
        job('2', { ...open, node_id: 'n2', gpu_count: 3 }),
      ],
    });
    const { emptyGpus } = await withReader(folder, (space) => queue(space, { window: 'today', clock: CLOCK }));
    expect(emptyGpus).toBe(3 + 1);
  });
});

describe('me', () => {
  const ask = (user: string): Promise<string[]> =>
    withReader(dataDir, async (space) =>
      mePage(await me(space, { user, isNamed: true, window: 'today', clock: CLOCK })),
    );

  it('says what I hold, what it costs and what of it is idle', async () => {
    const page = await ask('ana');
    expect(page[0]).toBe('ana holds 2 GPUs, $4.00/h, 1 of 2 idle; as of 2026-11-02 12:00 UTC');
    expect(page[2]).toContain('2×H100   $4.00/h  $16.00  Mon 08:00, 4 h');
    expect(page[2]).toContain('1 of 2 idle since Mon 08:00 ($8.00)');
    expect(page).toContain('Waiting: 1 job for 2 GPUs, 3 h so far  → bursar queue');
    expect(page).toContain('  3 h  2×H100  3  Resources');
  });

  it('knows a person by the name before the @, and gives a receipt for each run', async () => {
    const page = await ask('BO');
    expect(page[0]).toBe('bo@lab holds no GPU, as of 2026-11-02 12:00 UTC');
    expect(page).toContain('  run 2: 2 h, 1×H100, $4.00; 90 % computed');
  });

  it('names the nearest where nobody is called so', async () => {
    await expect(ask('anna')).rejects.toThrow('nothing here belongs to anna');
  });
});
