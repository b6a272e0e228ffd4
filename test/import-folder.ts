import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ImportOptions, ImportReport } from '../src/app/import.ts';
import { importFiles } from '../src/app/import.ts';
import type { Batch } from '../src/facts/manifest.ts';
import type { Engine } from '../src/lake/engine.ts';
import { openEngine } from '../src/lake/engine.ts';
import { openManifest } from '../src/state/manifest.ts';

/** An empty data folder with files beside it, a real engine and a real manifest. */
export interface ImportFolder {
  readonly dataDir: string;
  readonly engine: Engine;
  /** Where a file of this name lies, written if text is given. */
  file(name: string, text?: string | Buffer): Promise<string>;
  take(table: string, files: readonly string[], options?: Partial<ImportOptions>): Promise<ImportReport>;
  /** Rows of a table, of the files the manifest lists. */
  rows<Row = Record<string, unknown>>(table: string, select: string): Promise<Row[]>;
  batches(): readonly Batch[];
  /** Files of the lake and passing ones, below the data folder. */
  leftOver(): Promise<string[]>;
  remove(): Promise<void>;
}

export async function importFolder(): Promise<ImportFolder> {
  const folder = await mkdtemp(join(tmpdir(), 'bursar-import-test-'));
  const dataDir = join(folder, 'data');
  const engine = await openEngine({ threads: 2, memoryLimitMb: 500, tempDir: join(folder, 'spill') });
  const manifest = await openManifest(dataDir, { readOnly: false, now: () => new Date() });
  const listed = (table?: string): string[] =>
    manifest
      .snapshot()
      .batches.filter((batch) => table === undefined || batch.table === table)
      .flatMap(({ files }) => files.map(({ path }) => path));
  return {
    dataDir,
    engine,
    async file(name, text) {
      const path = join(folder, name);
      if (text !== undefined) await writeFile(path, text);
      return path;
    },
    take: (table, files, options = {}) => importFiles({ dataDir, table, files, engine, manifest, ...options }),
    async rows(table, select) {
      const paths = listed(table).map((path) => `'${join(dataDir, path)}'`);
      if (paths.length === 0) return [];
      return engine.rows(`SELECT ${select} FROM read_parquet([${paths.join(', ')}], hive_partitioning = false)`);
    },
    batches: () => manifest.snapshot().batches,
    async leftOver() {
      const known = new Set([...listed(), 'state.sqlite', 'state.sqlite-wal', 'state.sqlite-shm']);
      const found = await readdir(dataDir, { recursive: true, withFileTypes: true });
      return found
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(dataDir.length + 1))
        .filter((path) => !known.has(path));
    },
    async remove() {
      engine.close();
      manifest.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
