import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ImportFolder } from '../../test/import-folder.ts';
import { importFolder } from '../../test/import-folder.ts';

let folder: ImportFolder;
beforeEach(async () => {
  folder = await importFolder();
});
afterEach(() => folder.remove());

const SAMPLES = `device_id,ts,util_permille
G1,2026-11-01T00:00:00Z,100
G1,2026-11-01T00:01:00Z,200
G2,2026-11-01T00:00:00Z,0
`;

describe('formats', () => {
  const want = [
    { device_id: 'G1', ts: '2026-11-01 00:00:00', step_s: 60, util_permille: 100 },
    { device_id: 'G1', ts: '2026-11-01 00:01:00', step_s: 60, util_permille: 200 },
    { device_id: 'G2', ts: '2026-11-01 00:00:00', step_s: 60, util_permille: 0 },
  ];
  const lines = SAMPLES.trim()
    .split('\n')
    .slice(1)
    .map((line) => line.split(','));
  const objects = lines.map(([device_id, ts, value]) => ({ device_id, ts, util_permille: Number(value) }));
  const files: Record<string, { name: string; text: string | Buffer }> = {
    CSV: { name: 'a.csv', text: SAMPLES },
    'CSV with a byte order mark, CRLF, quotes and blank lines': {
      name: 'a.csv',
      text: `\uFEFF${SAMPLES.replaceAll('G1', '" G1 "').replaceAll('\n', '\r\n')}\r\n`,
    },
    'with semicolons': { name: 'a.csv', text: SAMPLES.replaceAll(',', ';') },
    'with tabs': { name: 'a.tsv', text: SAMPLES.replaceAll(',', '\t') },
    'gzipped CSV': { name: 'a.csv.gz', text: gzipSync(SAMPLES) },
    'JSON lines, a key missing where there is no value': {
      name: 'a.jsonl',
      text: [...objects.map((row) => JSON.stringify(row)), '{"device_id":"G3","ts":"2026-11-01T00:00:00Z"}'].join('\n'),
    },
    'a JSON array': { name: 'a.json', text: JSON.stringify(objects, null, 2) },
    'gzipped JSON lines': { name: 'a.jsonl.gz', text: gzipSync(objects.map((row) => JSON.stringify(row)).join('\n')) },
  };
  it.each(Object.entries(files))('%s', async (_, { name, text }) => {
    await folder.take('samples', [await folder.file(name, text)]);
    expect(await folder.rows('gpu_sample', 'device_id, ts, step_s, util_permille')).toEqual(want);
    expect(await folder.leftOver()).toEqual([]);
  });

  it('stdin', async () => {
    const report = await folder.take('samples', ['-'], { stdin: Readable.from([gzipSync(SAMPLES)]) });
    expect(report).toMatchObject({ batches: ['stdin'], rowsTaken: 3 });
    expect(report.notes[0]).toContain('--batch');
  });

  const typed = `SELECT 'G' || d AS device_id, TIMESTAMP '2026-11-01 00:00:00' + INTERVAL 1 MINUTE * m AS ts,
    60 AS step_s, CAST((d * 7 + m) % 1001 AS INTEGER) AS util_permille FROM range(20) a(d), range(90) b(m)`;
  it('Parquet of one day, sorted straight from the file', async () => {
    const path = await folder.file('a.parquet');
    await folder.engine.run(`COPY (${typed} ORDER BY hash(d * 1000 + m)) TO '${path}' (FORMAT parquet)`);
    const report = await folder.take('samples', [path]);
    expect(report).toMatchObject({ rowsTaken: 1800, rowsSkipped: 0, notes: [], gpuHours: '30' });
    const keys = await folder.rows<{ key: string }>('gpu_sample', `device_id || ' ' || CAST(ts AS VARCHAR) AS key`);
    expect(keys.map(({ key }) => key)).toEqual(keys.map(({ key }) => key).toSorted());
    expect(folder.batches()[0]?.files).toMatchObject([
      { partition: '2026-11-01', rows: 1800, range: { keyMin: 'G0', keyMax: 'G9', timeMax: '2026-11-01 01:29:00' } },
    ]);
  });

  it('Parquet of two days, with floats, blanks, rows without a value and keys twice', async () => {
    const path = await folder.file('a.parquet');
    await folder.engine.run(`COPY (
      SELECT * FROM (VALUES ('G1', TIMESTAMPTZ '2026-11-01 23:59:00+00', 0.5), ('G1', TIMESTAMPTZ '2026-11-02 01:00:00+01', 0.25),
        ('G1', TIMESTAMPTZ '2026-11-02 00:00:00+00', 0.75), ('G2', TIMESTAMPTZ '2026-11-02 00:00:00+00', CAST('nan' AS DOUBLE)),
        ('G3', TIMESTAMPTZ '2026-11-02 00:00:00+00', CAST(2147483632 AS DOUBLE)), ('G3', TIMESTAMPTZ '2026-11-02 00:01:00+00', 0))
      t(uuid, time, DCGM_FI_PROF_SM_ACTIVE)) TO '${path}' (FORMAT parquet)`);
    const report = await folder.take('samples', [path]);
    expect(report).toMatchObject({
      rowsTaken: 3,
      rowsSkipped: 3,
      skipped: [{ rows: 2 }, { rows: 1, example: 'G1 at 2026-11-02 00:00:00' }],
    });
    expect(report.notes).toEqual([expect.stringMatching(/blank values, taken as unknown: sm_permille 1$/)]);
    expect(await folder.rows('gpu_sample', 'device_id, ts, sm_permille')).toEqual([
      { device_id: 'G1', ts: '2026-11-01 23:59:00', sm_permille: 500 },
      { device_id: 'G1', ts: '2026-11-02 00:00:00', sm_permille: 750 },
      { device_id: 'G3', ts: '2026-11-02 00:01:00', sm_permille: 0 },
    ]);
  });
});

describe('samples', () => {
  it('take the median distance of their device as step, else that of the batch', async () => {
    const rows = [0, 57, 114, 171, 900].map((second) => `G1,${1_800_000_000 + second},1`);
    const path = await folder.file('a.csv', `device_id,ts,util_percent\n${rows.join('\n')}\nG2,1800000000,1\n`);
    await folder.take('samples', [path]);
    expect(await folder.rows('gpu_sample', 'DISTINCT step_s')).toEqual([{ step_s: 57 }]);
  });

  it('a lone sample stands for a minute', async () => {
    await folder.take('samples', [await folder.file('a.csv', 'device_id,ts,util_percent\nG1,1800000000,1\n')]);
    expect(await folder.rows('gpu_sample', 'step_s')).toEqual([{ step_s: 60 }]);
  });

  it('of many files that were skipped for one reason are told together', async () => {
    const rows = 'device_id,ts,util_permille\nG1,2026-11-01T00:00:00Z,5\nG1,2026-11-01T00:00:00Z,7\n';
    const files = [await folder.file('a.csv', rows), await folder.file('b.csv', rows)];
    const { rowsSkipped, skipped } = await folder.take('samples', files);
    expect({ rowsSkipped, skipped }).toMatchObject({
      rowsSkipped: 2,
      skipped: [{ rows: 2, example: 'G1 at 2026-11-01 00:00:00' }],
    });
  });

  it('of one device and time keep the greatest of each value', async () => {
    const path = await folder.file(
      'a.csv',
      'device_id,ts,util_percent,power_w\nG1,1800000000,80,\nG1,1800000000.9,0,300\nG1,1800000060,1,\n',
    );
    const report = await folder.take('samples', [path]);
    expect(report.skipped).toEqual([
      { reason: expect.stringContaining('merged'), rows: 1, example: 'G1 at 2027-01-15 08:00:00' },
    ]);
    expect(await folder.rows('gpu_sample', 'util_permille, power_w')).toEqual([
      { util_permille: 800, power_w: 300 },
      { util_permille: 10, power_w: null },
    ]);
  });
});

describe('rows with a key', () => {
  it('of allocations get what a missing value stands for', async () => {
    const path = await folder.file(
      'a.csv',
      'job_id,start,end,gpu_fraction,node,State of it\n7,2026-11-01T00:00:00Z,,0.25,a1,x\n',
    );
    const report = await folder.take('allocations', [path], {
      map: ['outcome=State of it'],
      set: ['outcome=Node_Fail'],
    });
    expect(report.notes).toEqual([]);
    const [row] = await folder.rows('allocation', '*');
    expect(row).toMatchObject({
      source: 'file',
      allocation_id: '7',
      attempt: 0n,
      node_id: 'a1',
      slot: 0n,
      held_until: null,
      poll_s: 60n,
      gpu_count: 1n,
      share_units: 15750n,
      isolation: 'fraction',
      observed_at: '2026-11-01 00:00:00',
      polled: false,
      outcome: 'node-fail',
    });
    expect(folder.batches()[0]).toMatchObject({
      clusters: [null],
      firstAt: '2026-11-01 00:00:00',
      newestAt: '2026-11-01 00:00:00',
    });
  });

  it('of one job on one machine are told apart by their devices', async () => {
    const path = await folder.file(
      'a.csv',
      'job_id,node,gpu_uuid,start,end\n7,n,G2,2026-11-01T00:00:00Z,2026-11-01T01:00:00Z\n7,n,G1,2026-11-01T00:00:00Z,2026-11-01T01:00:00Z\n7,n,G1,2026-11-01T00:00:00Z,2026-11-01T01:00:00Z\n',
    );
    const report = await folder.take('allocations', [path]);
    expect(report).toMatchObject({ rowsTaken: 2, gpuHours: '2', skipped: [{ reason: 'the same row again', rows: 1 }] });
    expect(await folder.rows('allocation', 'device_id, slot')).toEqual([
      { device_id: 'G1', slot: 0n },
      { device_id: 'G2', slot: 1n },
    ]);
  });

  it('the newest observation wins, and holdings of no time are left out', async () => {
    const path = await folder.file(
      'a.csv',
      `job_id,start,end,observed_at,user,ncpus
7,2026-11-01T00:00:00Z,,2026-11-01T02:00:00Z,new,2
7,2026-11-01T00:00:00Z,,2026-11-01T01:00:00Z,old,2
8,2026-11-01T00:00:00Z,2026-11-01T00:00:00Z,,none,2
`,
    );
    const report = await folder.take('allocations', [path]);
    expect(report).toMatchObject({ rowsTaken: 1, rowsSkipped: 2, gpuHours: '2', cpuHours: '4' });
    expect(report.skipped.map(({ reason }) => reason)).toEqual([
      'held for no time at all',
      'same key, another row won',
    ]);
    expect(await folder.rows('allocation', 'user_name, polled')).toEqual([{ user_name: 'new', polled: true }]);
  });

  it('of jobs that never started are left out, whatever else is or is not in them', async () => {
    const path = await folder.file(
      'sacct.csv',
      `job_id,start,end,gpu_fraction,node,State,outcome
7,2026-11-01T00:00:00Z,2026-11-01T01:00:00Z,,a1,COMPLETED,COMPLETED
8,Unknown,Unknown,,None assigned,PENDING,PENDING
9,None,2026-11-01T02:00:00Z,0.5,,CANCELLED,CANCELLED by 1000
10,,,,,PENDING,
`,
    );
    const report = await folder.take('allocations', [path]);
    expect(report).toMatchObject({ rowsTaken: 1, rowsSkipped: 3, gpuHours: '1' });
    expect(report.skipped).toEqual([{ reason: 'never started (no held_from)', rows: 3, example: 'file 10 0' }]);
    expect(await folder.rows('allocation', 'allocation_id')).toEqual([{ allocation_id: '7' }]);
  });

  it('of devices know MIG slices, of rates that they hold for any model', async () => {
    await folder.take('devices', [
      await folder.file('d.csv', 'uuid,node,parent_device_id,mig_profile\nM1,n,G1,3g.40gb\nG1,n,,\n'),
    ]);
    expect(await folder.rows('device', 'device_id, kind, share_units, present_from')).toEqual([
      { device_id: 'G1', kind: 'gpu', share_units: 63000n, present_from: '1970-01-01 00:00:00' },
      { device_id: 'M1', kind: 'mig', share_units: 31500n, present_from: '1970-01-01 00:00:00' },
    ]);
    expect(folder.batches()[0]).toMatchObject({ firstAt: null, newestAt: null });
    await folder.take('rates', [await folder.file('r.csv', 'rate\n1.95\n')]);
    expect(await folder.rows('rate', 'model, node_id, usd_per_gpu_hour')).toEqual([
      { model: '*', node_id: '', usd_per_gpu_hour: '1.950000000000000000' },
    ]);
  });
});

describe('batches', () => {
  it.each([
    ['samples', SAMPLES.split('\n')[0] ?? ''],
    ['nodes', 'node_id'],
    [
      'charges',
      'ProviderName,BillingAccountId,BillingCurrency,BillingPeriodStart,BillingPeriodEnd,ChargePeriodStart,ChargePeriodEnd,ChargeCategory,BilledCost,EffectiveCost',
    ],
  ])('of %s may be empty: then they replace with nothing', async (table, header) => {
    const report = await folder.take(table, [await folder.file('a.csv', `${header}\n`)]);
    expect(report).toMatchObject({ rowsTaken: 0, rowsSkipped: 0, gpuHours: '0' });
    expect(await folder.leftOver()).toEqual([]);
  });

  it('of the same name are replaced, others stay', async () => {
    await folder.take('samples', [await folder.file('a.csv', SAMPLES), await folder.file('b.csv', SAMPLES)]);
    const report = await folder.take('samples', [await folder.file('a.csv', SAMPLES.replace('G2', 'G3'))]);
    expect(report).toMatchObject({ rowsTaken: 3, rowsReplaced: 3 });
    expect(
      folder
        .batches()
        .map(({ name }) => name)
        .sort(),
    ).toEqual(['a.csv', 'b.csv']);
  });

  it('may hold several files under one name', async () => {
    const files = [await folder.file('a.csv', SAMPLES), await folder.file('b.csv', SAMPLES.replaceAll('G', 'H'))];
    expect(await folder.take('samples', files, { batch: 'both' })).toMatchObject({ batches: ['both'], rowsTaken: 6 });
    expect(folder.batches()).toHaveLength(1);
  });

  it('of a dry run are told and not taken', async () => {
    const report = await folder.take('samples', [await folder.file('a.csv', SAMPLES)], { dryRun: true });
    expect(report).toMatchObject({ dryRun: true, rowsTaken: 3, gpuHours: '0.05' });
    expect(folder.batches()).toEqual([]);
    expect(await folder.leftOver()).toEqual([]);
  });

  it('with a column nobody knows go in, and say so', async () => {
    const report = await folder.take('samples', [
      await folder.file('a.csv', SAMPLES.replace('\n', ',gpu_utl\n').replaceAll(/(?<=Z,\d+)$/gm, ',1')),
    ]);
    expect(report.notes[0]).toMatch(/columns not understood: gpu_utl/);
    expect(report).toMatchObject({ rowsTaken: 3, ignoredColumns: ['gpu_utl'] });
  });
});
