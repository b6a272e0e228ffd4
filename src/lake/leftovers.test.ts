import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { sweepLeftovers } from './leftovers.ts';

const HEX = '0123456789abcdef';
const UUID = '3f0c1a52-9d1e-4a3b-8c7d-0e1f2a3b4c5d';

const cases = {
  'facts that never came to their commit': { path: `gpu_sample/day=2026-11-01/${HEX}.parquet`, isSwept: true },
  'facts that are only half written': { path: `gpu_sample/day=2026-11-01/${HEX}.aside`, isSwept: true },
  'a derived day that never came to its commit': { path: `held/day=2026-11-01/${UUID}.parquet`, isSwept: true },
  'a derived day that is only half written': { path: `held/day=2026-11-01/${UUID}.parquet.aside`, isSwept: true },
  'a name for other engines that is not yet there': {
    path: 'tables/held/day=2026-11-01/.publish.aside',
    isSwept: true,
  },
  'the word which ledger those names are of, half written': { path: 'tables/.publish.aside', isSwept: true },
  'what the manifest lists, or listed a minute ago': { path: `held/day=2026-11-02/${UUID}.parquet`, isSwept: false },
  'a name for other engines': { path: 'tables/held/day=2026-11-01/data.parquet', isSwept: false },
  'the state': { path: 'state.sqlite', isSwept: false },
  "somebody's own file": { path: 'held/day=2026-11-01/notes.parquet', isSwept: false },
};
const kept = new Set([`held/day=2026-11-02/${UUID}.parquet`]);

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'bursar-leftovers-'));
  for (const { path } of Object.values(cases)) {
    mkdirSync(dirname(join(dataDir, path)), { recursive: true });
    writeFileSync(join(dataDir, path), '');
  }
});
afterEach(() => rmSync(dataDir, { recursive: true }));

it.each(Object.entries(cases))('%s', async (_, { path, isSwept }) => {
  const swept = await sweepLeftovers(dataDir, kept);
  expect(swept.includes(path)).toBe(isSwept);
  expect(existsSync(join(dataDir, path))).toBe(!isSwept);
});
