import { truncate } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ImportFolder } from '../../test/import-folder.ts';
import { importFolder } from '../../test/import-folder.ts';
import type { ImportOptions } from './import.ts';
import { OperationError } from '../facts/operation-error.ts';

let folder: ImportFolder;
beforeAll(async () => {
  folder = await importFolder();
});
afterAll(() => folder.remove());

async function refusal(table: string, files: string[], options: Partial<ImportOptions> = {}): Promise<OperationError> {
  const failure: unknown = await folder.take(table, files, options).catch((error: unknown) => error);
  if (!(failure instanceof OperationError)) throw new Error(`not refused as it should be: ${String(failure)}`);
  // Whatever was refused: nothing of it was taken, nothing lies about.
  const left = [...folder.batches().map(({ name }) => name), ...(await folder.leftOver())];
  if (left.length > 0) throw new Error(`refused, but left ${left.join(', ')}`);
  return failure;
}

const JOB = 'job_id,start,end,gpus\n1,2026-11-01T00:00:00Z,2026-11-01T01:00:00Z,1\n';

interface Case {
  readonly table: string;
  readonly text: string;
  readonly options?: Partial<ImportOptions>;
  readonly want: RegExp;
  readonly hint?: RegExp;
}

describe('a wrong row refuses the file, with its place', () => {
  const cases: Record<string, Case> = {
    'an end before its start': {
      table: 'allocations',
      text: `${JOB}2,2026-11-01T02:00:00Z,2026-11-01T01:00:00Z,1\n`,
      want: /a\.csv: 1 row is wrong, nothing was taken\n {2}row 2 \(line 3\): end \(held_until\) "2026-11-01 01:00:00" lies before held_from/,
    },
    'a time without a zone': {
      table: 'allocations',
      text: 'job_id,start\n1,2026-11-01 00:00:00\n',
      want: /row 1 \(line 2\): start \(held_from\) "2026-11-01 00:00:00" is a time without a zone/,
      hint: /--zone/,
    },
    'a start that cannot be read, which is not one that never came': {
      table: 'allocations',
      text: `${JOB}2,soon,,1\n`,
      want: /start \(held_from\) "soon" is not a time like/,
    },
    'a negative count': {
      table: 'allocations',
      text: `${JOB}2,2026-11-01T02:00:00Z,,-1\n`,
      want: /gpus \(gpu_count\) "-1" is negative/,
    },
    'a missing name, past a quoted newline': {
      table: 'allocations',
      text: 'job_id,start,user\n1,2026-11-01T02:00:00Z,"a\nb"\n,2026-11-01T02:00:00Z,c\n',
      want: /row 2 \(line 4\): job_id \(allocation_id\) is missing/,
      hint: /--set allocation_id=/,
    },
    'a word that is not one of the words': {
      table: 'nodes',
      text: 'node_id,purchase\nn,stolen\n',
      want: /purchase "stolen" is none of on-demand, spot, committed, owned/,
    },
    'a number that is not one': {
      table: 'nodes',
      text: 'node_id,gpu_count\nn,eight\n',
      want: /gpu_count "eight" is not a number/,
    },
    'a MIG profile nobody knows': {
      table: 'devices',
      text: 'uuid,node,mig_profile\nM,n,5g.50gb\n',
      want: /mig_profile "5g.50gb" is not a known MIG profile: give share_units/,
    },
    'a rate of too many decimals': { table: 'rates', text: 'rate\n1.0000000001\n', want: /has more than 9 decimals/ },
    'a negative rate': { table: 'rates', text: 'rate\n-1\n', want: /is negative/ },
    'a currency for nothing': {
      table: 'fx',
      text: 'currency,date,rate\nEUR,2026-11-01T00:00:00Z,0\n',
      want: /is not above zero/,
    },
    'many of them, the first five': {
      table: 'nodes',
      text: `node_id,gpu_count\n${'n,x\n'.repeat(8)}`,
      want: /8 rows are wrong[\s\S]*row 5 \(line 6\)[^\n]*\n {2}and 3 more$/,
    },
    'a field too few': {
      table: 'allocations',
      text: `${JOB}2,2026-11-01T02:00:00Z\n`,
      want: /row 2 \(line 3\) has 2 fields where the header has 4/,
    },
    'a field too many': {
      table: 'nodes',
      text: 'node_id,zone\na,b\n\nc,d,e\n',
      want: /row 2 \(line 4\) has 3 fields where the header has 2/,
    },
    'a quote that is never closed': {
      table: 'nodes',
      text: 'node_id,zone\na,"b\n',
      want: /a\.csv is not well-formed CSV|fields where/,
    },
    'percent that is permille': {
      table: 'samples',
      text: 'uuid,ts,u\nG,1800000000,0\nG,1800000060,620\nG,1800000120,760\n',
      options: { map: ['util_permille=u:percent'] },
      want: /values of u do not look like percent: 0 … 760; did you mean :permille\?/,
      hint: /permille, percent, ratio/,
    },
    'bytes that were not said to be': {
      table: 'samples',
      text: 'uuid,ts,fb_used_mib\nG,1800000000,33879490560\n',
      want: /do not look like mib: 33879490560 … 33879490560; did you mean :bytes/,
    },
    'a required column that is not there': {
      table: 'samples',
      text: 'gpu,when,util_percent\nG,1800000000,1\n',
      want: /samples need device_id, ts; columns not understood: gpu .*, when/,
      hint: /--map device_id=/,
    },
    'an unknown zone': {
      table: 'nodes',
      text: 'node_id\nn\n',
      options: { zone: 'Mars/Olympus' },
      want: /--zone Mars\/Olympus/,
    },
    'a bill without what the ledger adds up to': {
      table: 'charges',
      text: 'BilledCost,ProviderName\n1,AWS\n',
      want: /charges need billing_account, .*effective/,
      hint: /--set billing_account=VALUE/,
    },
  };
  it.each(Object.entries(cases))('%s', async (_, { table, text, options, want, hint = /./ }) => {
    const failure = await refusal(table, [await folder.file('a.csv', text)], options);
    expect(failure.message).toMatch(want);
    expect(failure.hint).toMatch(hint);
  });

  it('in any file of a command: none is taken', async () => {
    const good = await folder.file('good.csv', JOB);
    const bad = await folder.file('bad.csv', 'job_id,start\n1,x\n');
    expect((await refusal('allocations', [good, bad])).message).toContain('bad.csv');
  });
});

describe('a file that is not what it should be', () => {
  it('was cut off: Parquet', async () => {
    const path = await folder.file('a.parquet');
    await folder.engine.run(`COPY (SELECT 'n' || i AS node_id FROM range(10000) t(i)) TO '${path}' (FORMAT parquet)`);
    await truncate(path, 2000);
    expect((await refusal('nodes', [path])).message).toMatch(/a\.parquet is a Parquet file without its end/);
  });

  it('was damaged inside: Parquet', async () => {
    const path = await folder.file('a.parquet', `PAR1${'x'.repeat(200)}PAR1`);
    expect((await refusal('nodes', [path])).message).toMatch(/a\.parquet cannot be read as Parquet/);
  });

  it('was cut off: gzip', async () => {
    const path = await folder.file('a.csv.gz', gzipSync(JOB.repeat(50)).subarray(0, 60));
    expect((await refusal('allocations', [path])).message).toMatch(/a\.csv\.gz is a gzip file that was cut off/);
  });

  it('is broken JSON', async () => {
    const path = await folder.file('a.jsonl', '{"node_id": "a"}\n{"node_id": \n');
    expect((await refusal('nodes', [path])).message).toMatch(/a\.jsonl is not JSON lines/);
  });

  it('is in Latin-1', async () => {
    const path = await folder.file('a.csv', Buffer.from('node_id,zone\nn,M\xfcnchen\n', 'latin1'));
    expect((await refusal('nodes', [path])).message).toMatch(/a\.csv is not UTF-8/);
  });

  it('has the name of another', async () => {
    const files = [await folder.file('a.csv', JOB), await folder.file('a.csv', JOB)];
    expect((await refusal('allocations', files)).message).toMatch(/two files are both called a\.csv/);
  });

  it('is of a table nobody knows', async () => {
    expect((await refusal('sample', [await folder.file('a.csv', JOB)])).message).toMatch(/nearest: samples/);
  });
});
