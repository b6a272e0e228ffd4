import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ImportFolder } from '../../test/import-folder.ts';
import { importFolder } from '../../test/import-folder.ts';
import type { FactRow } from '../facts/source.ts';
import { openManifest } from '../state/manifest.ts';
import type { OpenManifest } from '../state/manifest.ts';
import { importRows } from './import-rows.ts';

let folder: ImportFolder;
let manifest: OpenManifest;
beforeEach(async () => {
  folder = await importFolder();
  manifest = await openManifest(folder.dataDir, { readOnly: false, now: () => new Date() });
});
afterEach(async () => {
  manifest.close();
  await folder.remove();
});

const held = (more: FactRow = {}): FactRow => ({
  source: 'aws',
  allocation_id: 'i-1',
  node_id: 'i-1',
  held_from: new Date('2026-11-16T08:00:00Z'),
  held_until: new Date('2026-11-16T10:00:00Z'),
  gpu_count: 4,
  ...more,
});
const take = (rows: readonly FactRow[], more: Partial<Parameters<typeof importRows>[0]> = {}) =>
  importRows({
    dataDir: folder.dataDir,
    engine: folder.engine,
    manifest,
    table: 'allocation',
    batch: 'list',
    label: 'list.json',
    rows,
    ...more,
  });

describe('rows of a parser on their way into the lake', () => {
  it('are taken with their times, labels and units, and counted as a person’s file is', async () => {
    const report = await take([
      held({
        labels: { team: 'nlp' },
        user_name: undefined,
        memory_bytes: 2n ** 41n,
        observed_at: new Date('2026-11-16T10:00:00Z'),
      }),
    ]);
    expect(report).toMatchObject({ table: 'allocations', batches: ['list'], rowsTaken: 1, gpuHours: '8' });
    expect(
      await folder.rows('allocation', `held_from, labels['team'] AS team, user_name, memory_bytes, polled`),
    ).toEqual([
      { held_from: '2026-11-16 08:00:00', team: 'nlp', user_name: null, memory_bytes: 2n ** 41n, polled: true },
    ]);
  });

  it('replace what their batch held before; none at all empty it', async () => {
    await take([held(), held({ allocation_id: 'i-2' })]);
    expect(await take([held()])).toMatchObject({ rowsTaken: 1, rowsReplaced: 2 });
    expect(await take([])).toMatchObject({ rowsTaken: 0, rowsReplaced: 1 });
    expect(await folder.rows('allocation', '*')).toEqual([]);
    expect(await folder.leftOver()).not.toContainEqual(expect.stringMatching(/rows\.json$/));
  });

  it('a dry run changes nothing, also where it would empty the batch', async () => {
    await take([held()]);
    expect(await take([], { dryRun: true })).toMatchObject({ rowsReplaced: 1 });
    expect(await take([held(), held({ allocation_id: 'i-2' })], { dryRun: true })).toMatchObject({ rowsTaken: 2 });
    expect(await folder.rows('allocation', 'allocation_id')).toHaveLength(1);
  });

  it('a row that cannot be is named by what it speaks of, since nobody has seen its file', async () => {
    const failure = take([held(), held({ allocation_id: 'i-2', held_until: new Date('2026-11-16T07:00:00Z') })]);
    await expect(failure).rejects.toThrow(/"i-2".*held_until .* lies before held_from/s);
  });

  it('a column the table does not have is a mistake of ours', async () => {
    await expect(take([held({ colour: 'red' })])).rejects.toThrow(/table allocation has no column colour/);
  });

  it('any text in a label or a name is data', async () => {
    const text = fc.string({ unit: 'binary', maxLength: 12 });
    const row = fc.record({ user_name: text, workload_name: text, labels: fc.dictionary(text, text, { maxKeys: 3 }) });
    const strange = fc.sample(row, { numRuns: 3000, seed: 5 });
    const rows = [
      ...strange,
      { user_name: 'a\0b', workload_name: '\uD800', labels: { '\uDFFF': "'; DROP TABLE x", __proto__: 'x' } },
    ].map((each, index) => held({ ...each, allocation_id: `i-${index}` }));
    expect(await take(rows)).toMatchObject({ rowsTaken: 3001, rowsSkipped: 0 });
    expect(
      await folder.rows('allocation', `allocation_id, user_name, workload_name, labels['\uFFFD'] AS label`),
    ).toContainEqual({
      allocation_id: 'i-3000',
      user_name: 'a\uFFFDb',
      workload_name: '\uFFFD',
      label: "'; DROP TABLE x",
    });
  });
});
