import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findExports } from './find-exports.ts';
import { folderStore } from './folder-store.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bursar-exports-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const MONTH = 'rep/20261001-20261101';

/** A run of an AWS report, as its manifest tells it. */
function run(assemblyId: string, parts: readonly number[], createdTime: string): string {
  return JSON.stringify({
    assemblyId,
    reportName: 'rep',
    createdTime,
    billingPeriod: { start: '20261001T000000.000Z' },
    reportKeys: parts.map((part) => `cur/${MONTH}/${assemblyId}/rep-${part}.csv`),
  });
}
const first = run('a1', [1, 2], '2026-11-01T00:00:00Z');
const second = run('a2', [1, 2], '2026-11-05T00:00:00Z');

interface Delivery {
  readonly files: Readonly<Record<string, string>>;
  readonly want: readonly string[] | { readonly code: string; readonly message: unknown };
}

const deliveries: Record<string, Delivery> = {
  'two whole runs: the newer one': {
    files: {
      [`${MONTH}/a1/rep-Manifest.json`]: first,
      [`${MONTH}/a1/rep-1.csv`]: 'x',
      [`${MONTH}/a1/rep-2.csv`]: 'x',
      [`${MONTH}/a2/rep-Manifest.json`]: second,
      [`${MONTH}/a2/rep-1.csv`]: 'x',
      [`${MONTH}/a2/rep-2.csv`]: 'x',
    },
    want: [`${MONTH}/a2/rep-1.csv`, `${MONTH}/a2/rep-2.csv`],
  },
  'a newer run without one of its parts does not take the part of the same name from the run before': {
    files: {
      [`${MONTH}/a1/rep-Manifest.json`]: first,
      [`${MONTH}/a1/rep-1.csv`]: 'x',
      [`${MONTH}/a1/rep-2.csv`]: 'x',
      [`${MONTH}/a2/rep-Manifest.json`]: second,
      [`${MONTH}/a2/rep-1.csv`]: 'x',
    },
    want: {
      code: 'missing-part',
      message: expect.stringMatching(/names cur\/rep\/20261001-20261101\/a2\/rep-2\.csv, which is not there/),
    },
  },
  'nor where the manifest of the run before is gone': {
    files: {
      [`${MONTH}/a1/rep-2.csv`]: 'x',
      [`${MONTH}/a2/rep-Manifest.json`]: second,
      [`${MONTH}/a2/rep-1.csv`]: 'x',
    },
    want: { code: 'missing-part', message: expect.stringMatching(/a2\/rep-2\.csv/) },
  },
  'nor where all its own parts are missing': {
    files: {
      [`${MONTH}/a1/rep-Manifest.json`]: first,
      [`${MONTH}/a1/rep-1.csv`]: 'x',
      [`${MONTH}/a1/rep-2.csv`]: 'x',
      [`${MONTH}/a2/rep-Manifest.json`]: second,
    },
    want: { code: 'missing-part', message: expect.stringMatching(/a2\/rep-1\.csv/) },
  },
  'a copy without the folders of the bucket': {
    files: { 'rep-Manifest.json': first, 'rep-1.csv': 'x', 'rep-2.csv': 'x' },
    want: ['rep-1.csv', 'rep-2.csv'],
  },
  'a manifest that names a part twice would count its rows twice': {
    files: { 'rep-Manifest.json': run('a1', [1, 1], '2026-11-01T00:00:00Z'), 'rep-1.csv': 'x' },
    want: { code: 'part-twice', message: expect.stringMatching(/names rep-1\.csv twice/) },
  },
};

describe('deliveries in a folder', () => {
  for (const [name, { files, want }] of Object.entries(deliveries)) {
    it(name, async () => {
      for (const [path, content] of Object.entries(files)) {
        await mkdir(dirname(join(folder, path)), { recursive: true });
        await writeFile(join(folder, path), content);
      }
      const told = await findExports(await folderStore(folder)).then(
        ({ exports }) => exports.flatMap((each) => each.files.map(({ key }) => key)),
        (failure: unknown) => failure,
      );
      expect(told).toMatchObject(want);
    });
  }
});
