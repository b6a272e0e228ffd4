import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OperationError } from '../../facts/operation-error.ts';
import { identify } from './file-format.ts';

/** `want` is the kind, or a part of the message. */
const cases: Record<string, { name: string; bytes: string | Buffer; want: RegExp }> = {
  'a CSV file': { name: 'a.csv', bytes: 'node_id,gpus\na,8\n', want: /^csv$/ },
  'with a byte order mark': { name: 'a.csv', bytes: '\uFEFFnode_id\na\n', want: /^csv$/ },
  'JSON lines': { name: 'a.jsonl', bytes: '{"node_id": "a"}\n', want: /^json$/ },
  'a JSON array over several lines': { name: 'a.json', bytes: '[\n  {"node_id": "a"}\n]', want: /^json$/ },
  'a whole Parquet file': { name: 'a.parquet', bytes: 'PAR1 some pages PAR1', want: /^parquet$/ },
  'gzip is gzip, whatever is in it': { name: 'a.csv.gz', bytes: gzipSync('a,b\n'), want: /^gzip$/ },
  'a name without an ending promises nothing': { name: 'export', bytes: '{"a": 1}', want: /^json$/ },
  'a Parquet file that was cut off': { name: 'a.parquet', bytes: 'PAR1 some pages', want: /a\.parquet.*cut off/ },
  'CSV called Parquet': { name: 'a.parquet', bytes: 'a,b\n1,2\n', want: /is not Parquet: its bytes are CSV/ },
  'Parquet called CSV': { name: 'a.csv', bytes: 'PAR1 some pages PAR1', want: /is not CSV: its bytes are Parquet/ },
  'CSV called gzip': { name: 'a.csv.gz', bytes: 'a,b\n', want: /is not gzip/ },
  'a login page instead of the export': { name: 'a.csv', bytes: '<!DOCTYPE html>', want: /HTML/ },
  'a spreadsheet': { name: 'a.csv', bytes: 'PK\u0003\u0004', want: /spreadsheet/ },
  'UTF-16 from a spreadsheet': { name: 'a.csv', bytes: Buffer.from('\uFEFFa,b\n', 'utf16le'), want: /UTF-16/ },
  'nothing at all': { name: 'a.csv', bytes: '', want: /is empty/ },
  'only blank lines': { name: 'a.csv', bytes: '\n\n', want: /blank/ },
  'a picture': { name: 'a', bytes: Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0, 0]), want: /binary/ },
};

describe('identify', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bursar-format-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it.each(Object.entries(cases))('%s', async (_, { name, bytes, want }) => {
    const path = join(folder, name);
    await writeFile(path, bytes);
    const got = await identify(path, name).catch((failure: unknown) =>
      failure instanceof OperationError ? failure.message : failure,
    );
    expect(got).toMatch(want);
  });

  it('says when a file is not there, or is a folder', async () => {
    await expect(identify(join(folder, 'no.csv'), 'no.csv')).rejects.toThrow('no.csv does not exist');
    await mkdir(join(folder, 'dir'));
    await expect(identify(join(folder, 'dir'), 'dir')).rejects.toThrow('dir is a folder');
  });
});
