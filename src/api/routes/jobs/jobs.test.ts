import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { askRoute } from '../../../../test/ask-route.ts';
import { printed, printedJson } from '../../../../test/asked-route.ts';
import type { FleetFolder } from '../../../../test/fleet-folder.ts';
import { csv, fleetFolder } from '../../../../test/fleet-folder.ts';
import { SMALL_FLEET } from '../../../../test/small-fleet.ts';
import { receipt } from '../../../app/receipt.ts';
import { withReader } from '../../../app/workspace.ts';
import { receiptJson } from '../../../report/receipt-page.ts';
import { jobRoute } from './job.ts';
import type { JobReply } from './job.ts';
import { jobsRoute } from './jobs.ts';
import type { JobsReply } from './jobs.ts';
import { plainJson } from '../../plain-json.ts';
import { receiptRoute } from './receipt.ts';
import type { ReceiptReply } from './receipt.ts';

const clock = new Date('2026-03-10T00:00:00Z');
let fleet: FleetFolder;
beforeAll(async () => {
  fleet = await fleetFolder(SMALL_FLEET);
});
afterAll(() => fleet.remove());

const list = (query: Record<string, string> = {}): Promise<JobsReply> =>
  askRoute<JobsReply>(fleet.dataDir, jobsRoute, { query: { window: 'all', ...query } });
const ids = ({ rows }: JobsReply): string[] => rows.map(({ allocationId }) => allocationId);

describe('jobs', () => {
  // Job 101 computed for an hour at 900 ‰: a tenth of it starved; then it was idle for an hour.
  test('what costs most comes first, with what is known of each', async () => {
    const reply = await list();
    expect(
      reply.rows.map((row) => [
        row.allocationId,
        row.job,
        row.team,
        row.gpus,
        row.costUsdMicros,
        row.wasteUsdMicros,
        row.computedPermille,
      ]),
    ).toEqual([
      ['102', '=serve', 'asr', 1, '6500000', '0', null],
      ['103', 'eval', 'nlp', 1, '6500000', '0', 1000],
      ['201', 'render', 'vision', 1, '4000000', '0', null],
      ['101', 'train-7b', 'nlp', 1, '3250000', '1787500', 450],
    ]);
    expect(reply.total).toMatchObject({ jobs: 4, costUsdMicros: '20250000', wasteUsdMicros: '1787500' });
  });

  test.each([
    {},
    { search: 'nlp', sort: 'waste' },
    { team: 'nlp' },
    { filter: 'cluster=a', search: 'train' },
    { team: 'a,b|c' },
    { limit: '1' },
  ])('%j: its command prints the same sums and rows, also of the next page', async (query) => {
    const { total, rows, nextCursor } = await list(query);
    const asked = { window: 'all', ...query };
    expect(await printedJson(fleet.dataDir, jobsRoute, { query: asked })).toEqual({ total, rows });
    if (nextCursor === undefined) return;
    const next = await list({ ...query, cursor: nextCursor });
    const told = await printedJson(fleet.dataDir, jobsRoute, { query: { ...asked, cursor: nextCursor } });
    expect(told).toEqual({ total: next.total, rows: next.rows });
  });

  test('the command says in words what the page says above the jobs', async () => {
    const [first] = (await printed(fleet.dataDir, jobsRoute, { window: 'all', limit: '1' })).split('\n');
    expect(first).toBe('4 jobs in all cost $20.25; 15 % of it computed, $1.79 wasted; 1 of them, --top for more');
  });

  const searches: Record<string, readonly string[]> = {
    '101': ['101'],
    'TRAIN-7': ['101'],
    apatel: ['103'],
    nlp: ['103', '101'],
    'a1 ': ['102', '201', '101'],
    h100: ['102', '103', '101'],
    'slurm/20': ['201'],
    '%': [],
    _: [],
    "'; DROP TABLE run; --": [],
    '!': [],
  };
  test.each(Object.entries(searches))('a search for %s', async (search, want) => {
    expect(ids(await list({ search }))).toEqual(want);
  });

  test('sorted by what they wasted, and filtered', async () => {
    expect(ids(await list({ sort: 'waste', limit: '1' }))).toEqual(['101']);
    expect(ids(await list({ filter: 'cluster=b' }))).toEqual(['201']);
    expect(ids(await list({ filter: 'team=asr' }))).toEqual(['102']);
    expect(ids(await list({ team: 'nlp' }))).toEqual(['103', '101']);
    expect(ids(await list({ team: 'nlp', filter: 'team=asr' }))).toEqual([]);
  });

  test('pages of any size neither skip a job nor repeat one', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 5 }),
        fc.constantFrom('cost', 'waste', 'recent'),
        async (limit, sort) => {
          const found: string[] = [];
          let cursor: string | undefined;
          do {
            const page = await list({ limit: String(limit), sort, ...(cursor !== undefined && { cursor }) });
            found.push(...ids(page));
            cursor = page.nextCursor;
          } while (cursor !== undefined);
          expect(found).toEqual(ids(await list({ sort })));
        },
      ),
      { numRuns: 6 },
    );
  });

  test('a cursor is of its question: another order or filter is told to begin anew', async () => {
    const { nextCursor = '' } = await list({ limit: '1' });
    expect(ids(await list({ limit: '2', cursor: nextCursor }))).toEqual(ids(await list({ limit: '3' })).slice(1));
    for (const other of [{ sort: 'recent' }, { filter: 'team=nlp' }, { team: 'nlp' }, { search: '1' }]) {
      await expect(list({ limit: '2', cursor: nextCursor, ...other })).rejects.toMatchObject({ code: 'cursor-gone' });
    }
  });

  test('jobs whose ids fill pages come in pages too', async () => {
    const long = [1, 2, 3].map(
      (number) => `other|${'x'.repeat(2000)}${number}|a1|a1-0|2026-03-02T10:00:00Z|2026-03-02T11:00:00Z|1|a`,
    );
    const named = await fleetFolder({
      ...SMALL_FLEET,
      'allocations 2': csv(
        `source|allocation_id|node_id|device_id|held_from|held_until|gpu_count|cluster\n${long.join('\n')}`,
      ),
    });
    const asked = { window: 'all', search: 'xxx' };
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const query = { ...asked, limit: '1', ...(cursor !== undefined && { cursor }) };
      const page = await askRoute<JobsReply>(named.dataDir, jobsRoute, { query });
      found.push(...ids(page));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(found.map((id) => Number(id.at(-1))).toSorted((a, b) => a - b)).toEqual([1, 2, 3]);
    await named.remove();
  });

  test('GPUs that come later count with those that are held, those that replace others do not', async () => {
    const at = (hour: number): string => `2026-03-02T${String(hour).padStart(2, '0')}:00:00Z`;
    const staggered = csv(`
      source|allocation_id|node_id|device_id|held_from|held_until|gpu_count|cluster|account
      other|700|a1|a1-0|${at(8)}|${at(12)}|1|a|asr
      other|700|a1|a1-1|${at(9)}|${at(12)}|1|a|asr
      other|700|a2|a2-0|${at(10)}|${at(11)}|1|a|asr
      other|700|a2|a2-1|${at(11)}|${at(12)}|1|a|asr`);
    const grown = await fleetFolder({ ...SMALL_FLEET, 'allocations 2': staggered });
    const { rows } = await askRoute<JobsReply>(grown.dataDir, jobsRoute, { query: { window: 'all', search: '700' } });
    const { attempts } = await askRoute<JobReply>(grown.dataDir, jobRoute, { params: { job: '700' } });
    expect([rows[0]?.gpus, attempts[0]?.gpus]).toEqual([3, 3]);
    await grown.remove();
  });

  test('money of a table is a number, also below zero', () => {
    const reply = { rows: [{ costUsdMicros: '-5', wasteUsdMicros: '-6', job: '-7' }] } as unknown as JobsReply;
    expect(jobsRoute.csv?.(reply)).toMatch(/,-5,-6,/);
    expect(jobsRoute.csv?.(reply)).toContain(`'-7`);
    const hours = { hours: [{ hour: 'h', category: 'idle', costUsdMicros: '-5', gpuSeconds: 6, unpricedSeconds: 0 }] };
    expect(jobRoute.csv?.(hours)).toMatch(/h,idle,-5,6,0\n$/);
  });

  test('a cursor nobody gave is refused', async () => {
    await expect(list({ cursor: 'zzz' })).rejects.toMatchObject({ code: 'bad-query' });
  });

  test('a name is no formula of a spreadsheet', async () => {
    expect(jobsRoute.csv?.(await list({ search: '102' }))).toContain("'=serve");
  });
});

describe('one job', () => {
  const ask = (id: string, query: Record<string, string> = {}): Promise<JobReply> =>
    askRoute<JobReply>(fleet.dataDir, jobRoute, { params: { job: id }, query });

  test('is what the command prints, with its hours', async () => {
    const reply = await ask('101');
    expect(reply).toEqual(await printedJson(fleet.dataDir, jobRoute, { params: { job: '101' } }));
    expect(reply.hours).toEqual([
      {
        hour: '2026-03-02T08:00:00Z',
        category: 'computing',
        costUsdMicros: '1462500',
        gpuSeconds: 3240,
        unpricedSeconds: 0,
      },
      {
        hour: '2026-03-02T08:00:00Z',
        category: 'starved',
        costUsdMicros: '162500',
        gpuSeconds: 360,
        unpricedSeconds: 0,
      },
      {
        hour: '2026-03-02T09:00:00Z',
        category: 'idle',
        costUsdMicros: '1625000',
        gpuSeconds: 3600,
        unpricedSeconds: 0,
      },
    ]);
    expect(reply.rule).toBe('account');
    expect(reply.activity).toMatchObject({
      from: '2026-03-02T08:00:00Z',
      until: '2026-03-02T10:00:00Z',
      stepSeconds: 900,
      rows: [{ deviceId: 'a1-0', node: 'a1', cells: '55550000' }],
    });
  });

  test.each(['101', '102', '103', '201'])('the hours of %s add up to what it cost', async (id) => {
    const { hours, usdMicros } = await ask(id);
    expect(String(hours.reduce((sum, { costUsdMicros }) => sum + BigInt(costUsdMicros ?? 0), 0n))).toBe(usdMicros);
  });

  test('of another team it is as if it were not there, and so is its receipt', async () => {
    const other = await ask('101', { team: 'asr' }).catch((failure: unknown) => failure);
    const none = await ask('10x', { team: 'asr' }).catch((failure: unknown) => failure);
    expect(other).toMatchObject({ code: 'unknown-job', message: 'no job 101 of team asr is known' });
    expect(none).toMatchObject({ code: 'unknown-job', hint: (other as { hint: string }).hint });
    await expect(
      askRoute(fleet.dataDir, receiptRoute, { params: { job: '101' }, query: { team: 'asr' } }),
    ).rejects.toMatchObject({ code: 'unknown-job' });
    expect((await ask('101', { team: 'nlp' })).team).toBe('nlp');
  });

  test('an id that two sources have is as if it were not there to a team, whosever they are', async () => {
    const again = csv(`
      source|allocation_id|node_id|held_from|held_until|gpu_count|cluster|account
      other |101|own1|2026-03-02T08:00:00Z|2026-03-02T09:00:00Z|1|b|asr`);
    const twice = await fleetFolder({ ...SMALL_FLEET, 'allocations 2': again });
    const asked = async (query: Record<string, string>) =>
      askRoute(twice.dataDir, jobRoute, { params: { job: '101' }, query });
    await expect(asked({ team: 'asr' })).rejects.toThrow('no job 101 of team asr is known');
    await expect(asked({ team: 'nlp' })).rejects.toThrow('no job 101 of team nlp is known');
    await expect(asked({})).rejects.toThrow('101 is a job of other and of slurm');
    await twice.remove();
  });

  test('an id that looks like a value of ours is a name like any other', async () => {
    const id = "it's $now";
    const odd = csv(`
      source|allocation_id|node_id|held_from|held_until|gpu_count|cluster|account
      other |${id}|own1|2026-03-02T08:00:00Z|2026-03-02T09:00:00Z|1|b|asr`);
    const named = await fleetFolder({ ...SMALL_FLEET, 'allocations 2': odd });
    const { allocationId } = await askRoute<JobReply>(named.dataDir, jobRoute, { params: { job: id } });
    expect(allocationId).toBe(id);
    await named.remove();
  });

  test('the receipt is what the command prints, also for Slack and as Markdown', async () => {
    const reply = await askRoute<ReceiptReply>(fleet.dataDir, receiptRoute, { params: { job: 'slurm/101' } });
    const told = await withReader(fleet.dataDir, async (space) =>
      receiptJson(await receipt(space, { id: '101', clock })),
    );
    expect(reply).toMatchObject(plainJson<object>(told));
    expect(reply.text).toMatch(/^run 101 \(train-7b\): 2 h, 1×H100, \$3\.25;/);
    expect(reply.text).toContain(`bursar receipt 101 --data ${fleet.dataDir}`);
    expect(reply.slack).toMatch(/^\*run 101\*/);
    expect(reply.markdown).toMatch(/^\*\*run 101\*\*/);
  });
});
