import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeExample } from './example.ts';
import { exampleMark } from './example-mark.ts';
import { exampleFiles } from './example-fleet.ts';
import { takeIn } from './take-in.ts';
import { withReader } from './workspace.ts';

it('the example replaces itself, says what it is, and stays away from real data', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bursar-example-test-'));
  const dataDir = join(folder, 'data');
  const batches = (): Promise<string[]> =>
    withReader(dataDir, (space) => {
      expect(exampleMark(space.snapshot)).toBe('EXAMPLE  ');
      return Promise.resolve(space.snapshot.batches.map(({ table, name }) => `${table} ${name}`));
    });
  const taken: string[] = [];
  await makeExample(dataDir, (table, _, rows) => taken.push(`${table} ${rows}`));
  expect(taken).toEqual(['nodes 4', 'devices 14', 'allocations 26', 'samples 28646', 'charges 280', 'rates 1']);
  const first = await batches();
  await makeExample(dataDir, () => undefined);
  expect(await batches()).toEqual(first);

  const own = join(folder, 'own.csv');
  await writeFile(own, 'model,usd_per_gpu_hour\nH100,2\n');
  await takeIn({ dataDir, table: 'rates', files: [own] });
  await expect(makeExample(dataDir, () => undefined)).rejects.toThrow('holds data that is not of the example');
  await rm(folder, { recursive: true });
});

it('the example is the same on every machine', () => {
  expect(exampleFiles()).toEqual(exampleFiles());
});

it('a dry run leaves no folder behind', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bursar-dry-test-'));
  const own = join(folder, 'own.csv');
  await writeFile(own, 'model,usd_per_gpu_hour\nH100,2\n');
  const report = await takeIn({ dataDir: join(folder, 'data'), table: 'rates', files: [own], dryRun: true });
  expect(report).toMatchObject({ rowsTaken: 1, dryRun: true });
  await expect(rm(join(folder, 'data'))).rejects.toThrow('ENOENT');
  await rm(folder, { recursive: true });
});
