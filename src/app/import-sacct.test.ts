import { existsSync } from 'node:fs';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ImportFolder } from '../../test/import-folder.ts';
import { importFolder } from '../../test/import-folder.ts';
import { importReport } from '../report/import-report.ts';
import { openManifest } from '../state/manifest.ts';
import type { ImportReport } from './import.ts';
import type { SacctImportRequest } from './import-sacct.ts';
import { importSacct } from './import-sacct.ts';

const HEADER = 'JobID|User|Account|State|Start|End|ElapsedRaw|Suspended|NNodes|NCPUS|NodeList|AllocTRES|JobName';
const row = (
  id: string,
  state: string,
  start: string,
  end: string,
  more: Partial<Record<'elapsed' | 'tres' | 'nodes', string>> = {},
) =>
  `${id}|kim|nlp|${state}|${start}|${end}|${more.elapsed ?? ''}|00:00:00|1|4|${more.nodes ?? 'g1'}|${more.tres ?? 'cpu=4,gres/gpu=2,gres/gpu:h100=2'}|train`;

let folder: ImportFolder;
beforeEach(async () => {
  folder = await importFolder();
});
afterEach(() => folder.remove());

async function take(files: readonly string[], options: Partial<SacctImportRequest> = {}): Promise<ImportReport> {
  const { dataDir, engine } = folder;
  const manifest = await openManifest(dataDir, { readOnly: false, now: () => new Date() });
  try {
    return await importSacct({ dataDir, files, ...options }, { dataDir, engine, manifest });
  } finally {
    manifest.close();
  }
}
const held = () =>
  folder.rows<{ id: string; attempt: number; from: string; until: string | null; gpus: number }>(
    'allocation',
    `allocation_id AS id, CAST(attempt AS INTEGER) AS attempt, CAST(held_from AS VARCHAR) AS "from",
     CAST(held_until AS VARCHAR) AS until, CAST(gpu_count AS INTEGER) AS gpus`,
  );

describe('a log of one site', () => {
  const text = [
    HEADER,
    row('1', 'COMPLETED', '2026-11-16T10:00:00', '2026-11-16T11:00:00'),
    row('1.batch', 'COMPLETED', '2026-11-16T10:00:00', '2026-11-16T11:00:00'),
    row('2', 'CANCELLED by 7', 'None', '2026-11-16T11:00:00', { nodes: 'None assigned', tres: '' }),
    row('3', 'COMPLETED', '2026-11-16T10:00:00', '2026-11-16T10:30:00', { nodes: 'g[1-2]', tres: 'cpu=8,gres/gpu=4' }),
    row('4', 'RUNNING', '2026-11-16T10:00:00', 'Unknown', { elapsed: '7200' }),
  ].join('\n');

  it('is taken in UTC, and what is left out is said', async () => {
    const report = await take([await folder.file('jobs.psv', text)], { zone: 'Europe/Berlin' });
    expect(report.rowsTaken).toBe(4);
    expect(report.skipped.map(({ reason, rows }) => [reason, rows])).toEqual([
      [expect.stringContaining('job steps'), 1],
      ['jobs that never started', 1],
    ]);
    expect(report.notes).toContainEqual(expect.stringContaining('1 job still ran'));
    expect((await held())[0]).toEqual({
      id: '1',
      attempt: 0,
      from: '2026-11-16 09:00:00',
      until: '2026-11-16 10:00:00',
      gpus: 2,
    });
  });
  it('gives the same hours with a header, with --format, packed, and from stdin', async () => {
    const zone = 'UTC';
    const bare = text.slice(text.indexOf('\n') + 1);
    const format = HEADER.replaceAll('|', ',');
    const stdin = Readable.from([text]);
    const reports = [
      await take([await folder.file('a.psv', text)], { zone, dryRun: true }),
      await take([await folder.file('b.txt', bare)], { zone, format, dryRun: true }),
      await take([await folder.file('c.psv.gz', gzipSync(text))], { zone, dryRun: true }),
      await take(['-'], { zone, stdin, dryRun: true }),
    ];
    expect(
      new Set(reports.map(({ gpuHours, cpuHours, rowsTaken }) => `${gpuHours} ${cpuHours} ${rowsTaken}`)).size,
    ).toBe(1);
    expect(reports[0]?.gpuHours).not.toBe('0');
  });
  it('a file that is imported twice changes nothing', async () => {
    const file = await folder.file('jobs.psv', text);
    await take([file], { zone: 'UTC' });
    const before = await held();
    const again = await take([file], { zone: 'UTC' });
    expect(again.rowsReplaced).toBe(again.rowsTaken);
    expect(await held()).toEqual(before);
  });
  it('is refused where nobody says where its clocks stood', async () => {
    await expect(take([await folder.file('jobs.psv', text)])).rejects.toMatchObject({ code: 'zone-missing' });
    expect(folder.batches()).toEqual([]);
  });
  it('is not refused where its times are epochs', async () => {
    const epochs = text.replaceAll(/2026-11-16T(\d\d):(\d\d):00/g, (_, hour: string, minute: string) =>
      String(Date.UTC(2026, 10, 16, Number(hour), Number(minute)) / 1000),
    );
    expect((await take([await folder.file('jobs.psv', epochs)])).rowsTaken).toBe(4);
  });
  it('is refused without a header and without --format, with the words to use', async () => {
    const bare = await folder.file('bare.psv', text.slice(text.indexOf('\n') + 1));
    await expect(take([bare], { zone: 'UTC' })).rejects.toMatchObject({ code: 'no-header' });
  });
});

it('numbers lives of a requeued job by their starts, whatever the order of rows and files', async () => {
  const later = [HEADER, row('7', 'COMPLETED', '2026-11-16T12:00:00', '2026-11-16T13:00:00')].join('\n');
  const earlier = [HEADER, row('7', 'PREEMPTED', '2026-11-16T10:00:00', '2026-11-16T11:00:00')].join('\n');
  await take([await folder.file('b.psv', later), await folder.file('a.psv', earlier)], { zone: 'UTC' });
  const lives = (await held()).map(({ attempt, from }) => `${attempt} ${from}`).toSorted();
  expect(lives).toEqual(['0 2026-11-16 10:00:00', '1 2026-11-16 12:00:00']);
});

it('daily files that tell of a job twice hold it once, as the later one says', async () => {
  const first = [HEADER, row('7', 'RUNNING', '2026-11-15T22:00:00', 'Unknown', { elapsed: '7200' })].join('\n');
  const second = [
    HEADER,
    row('7', 'COMPLETED', '2026-11-15T22:00:00', '2026-11-16T03:00:00', { elapsed: '18000' }),
  ].join('\n');
  await take([await folder.file('d15.psv', first), await folder.file('d16.psv', second)], {
    zone: 'UTC',
    batch: 'both',
  });
  expect(await held()).toEqual([expect.objectContaining({ until: '2026-11-16 03:00:00', attempt: 0 })]);
});

describe('a file without a row to take', () => {
  const pending = row('9', 'PENDING', 'Unknown', 'Unknown', { nodes: 'None assigned', tres: '' });

  it('says what it left out and takes nothing', async () => {
    const report = await take([await folder.file('p.psv', `${HEADER}\n${pending}\n`)], { zone: 'UTC', batch: 'b' });
    expect(report).toMatchObject({ rowsTaken: 0, rowsSkipped: 1, batches: [], gpuHours: '0' });
    expect(report.notes).toEqual(['there is no row to take: the data folder is as it was']);
    expect(importReport(report)).toEqual([
      'allocations: 0 rows taken',
      expect.stringContaining('skipped 1 row: jobs that never started'),
      '  there is no row to take: the data folder is as it was',
      'Next: bursar look',
    ]);
    expect(folder.batches()).toEqual([]);
  });

  it('does not stand in the way of the others', async () => {
    const full = [HEADER, row('1', 'COMPLETED', '2026-11-16T10:00:00', '2026-11-16T11:00:00')].join('\n');
    const files = [await folder.file('p.psv', `${HEADER}\n${pending}\n`), await folder.file('f.psv', full)];
    expect(await take(files, { zone: 'UTC' })).toMatchObject({ rowsTaken: 1, rowsSkipped: 1, batches: ['f.psv'] });
  });
});

it('reads what a spreadsheet saved: commas between columns, values with commas in quotes', async () => {
  const text = [
    'JobID,User,State,Start,End,NodeList,AllocTRES,JobName',
    '1,kim,COMPLETED,2026-11-16T10:00:00,2026-11-16T11:00:00,g1,"cpu=4,gres/gpu=2","say ""hi"", twice"',
    '2,kim,COMPLETED,2026-11-16T10:00:00,2026-11-16T11:00:00,"g[1,2]","cpu=4,gres/gpu=2",12" wide',
  ].join('\n');
  const report = await take([await folder.file('jobs.csv', text)], { zone: 'UTC' });
  expect(report).toMatchObject({ rowsTaken: 3, rowsSkipped: 0, gpuHours: '4' });
  const names = await folder.rows<{ name: string }>('allocation', 'DISTINCT workload_name AS name');
  expect(names.map(({ name }) => name).toSorted()).toEqual(['12" wide', 'say "hi", twice']);
});

it('says that shards of GPUs are not counted, and no word of GPUs that are not accounted for', async () => {
  const shard = row('1', 'COMPLETED', '2026-11-16T10:00:00', '2026-11-16T11:00:00', { tres: 'cpu=4,gres/shard=8' });
  const report = await take([await folder.file('s.psv', `${HEADER}\n${shard}\n`)], { zone: 'UTC' });
  expect(report.notes).toEqual([
    '1 job held shards of GPUs; how many shards make one GPU is not told: their GPU-hours are not counted',
  ]);
});

it('knows no outcome of a life that was sent back to the queue', async () => {
  const text = [
    HEADER,
    row('1', 'REQUEUED', '2026-11-16T10:00:00', '2026-11-16T11:00:00'),
    row('2', 'PREEMPTED', '2026-11-16T10:00:00', '2026-11-16T11:00:00'),
  ].join('\n');
  await take([await folder.file('r.psv', text)], { zone: 'UTC' });
  const lives = await folder.rows<{ id: string; outcome: string | null }>('allocation', 'allocation_id AS id, outcome');
  expect(lives.map(({ id, outcome }) => `${id} ${outcome}`).toSorted()).toEqual(['1 null', '2 preempted']);
});

it('reads JSON of both shapes beside text', async () => {
  const recorded = fileURLToPath(new URL('../sources/slurm/parse/recorded/', import.meta.url));
  for (const version of ['22.05', '24.11']) {
    const report = await take([`${recorded}sacct-${version}.json`], { batch: version });
    expect(report.skipped).toContainEqual(expect.objectContaining({ reason: 'jobs that never started', rows: 1 }));
    expect(Number(report.gpuHours)).toBeGreaterThan(0);
  }
});

const phillips = fileURLToPath(new URL('../../../shared/data/cluster/xdmod-phillips/sacct.psv.gz', import.meta.url));
const isThere = existsSync(phillips);
if (!isThere) process.stderr.write('skipped: a real log is not beside the repository (../shared/data/cluster)\n');

describe.skipIf(!isThere)('a real log without a header', () => {
  it('gives the hours its own site counted', async () => {
    const report = await take([phillips], {
      zone: 'America/New_York',
      format:
        'jobid,jobidraw,cluster,partition,qos,account,group,gid,user,uid,submit,eligible,start,end,elapsed,exitcode,state,nnodes,ncpus,reqcpus,reqmem,reqtres,alloctres,timelimit,nodelist,jobname',
    });
    expect([report.gpuHours, report.cpuHours]).toEqual(['506.9128', '11767.9883']);
    expect(report.skipped).toEqual([expect.objectContaining({ reason: expect.stringContaining('no time') })]);
  });
});
