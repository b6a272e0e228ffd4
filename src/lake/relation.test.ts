import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { factTableByName } from '../facts/fact-table.ts';
import type { Batch } from '../facts/manifest.ts';
import { openEngine, quote } from './engine.ts';
import { factRelation } from './relation.ts';

test('a file that is older than a column says nothing about it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bursar-relation-'));
  const engine = await openEngine({ threads: 1, memoryLimitMb: 200 });
  try {
    const write = (name: string, columns: string): Promise<void> =>
      engine.run(`COPY (SELECT ${columns}) TO ${quote(join(folder, name))} (FORMAT parquet)`);
    const since = "TIMESTAMP '2026-03-01 00:00:00' AS present_from";
    await write('old.parquet', `'n1' AS node_id, ${since}`);
    await write('new.parquet', `'n2' AS node_id, ${since}, 'train' AS cluster`);
    const batch: Batch = {
      table: 'node',
      name: 'nodes',
      origin: 'nodes',
      importedFrom: 'nodes',
      priority: 0,
      observedAt: '',
      firstAt: null,
      newestAt: null,
      files: [],
    };
    const members = ['old.parquet', 'new.parquet'].map((path) => ({
      batch,
      file: { path, table: 'node', partition: '2026-03-01', rows: 1, bytes: 1, contentHash: path },
    }));
    const rows = await engine.rows<{ node_id: string; cluster: string | null; gpu_count: bigint | null }>(
      `SELECT node_id, cluster, gpu_count FROM (${factRelation(folder, factTableByName('node'), members)}) n ORDER BY 1`,
    );
    expect(rows).toEqual([
      { node_id: 'n1', cluster: null, gpu_count: null },
      { node_id: 'n2', cluster: 'train', gpu_count: null },
    ]);
  } finally {
    engine.close();
    await rm(folder, { recursive: true, force: true });
  }
});
