import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { LakeFile, Snapshot } from '../../src/facts/manifest.ts';
import { OperationError } from '../../src/facts/operation-error.ts';
import { fingerprint } from '../../src/lake/durable-file.ts';
import { openEngine } from '../../src/lake/engine.ts';
import { openManifest } from '../../src/state/manifest.ts';
import { ledgerHashOf } from './ledger-hash-of.ts';

const now = () => new Date();

/** The folder as a reader finds it, before any writer has put things in order. */
export async function stateOf(dataDir: string): Promise<{ generation: number; hash: string; broken: string[] }> {
  const snapshot = await snapshotOf(dataDir);
  const { generation } = snapshot;
  return { generation, hash: await hashOf(dataDir, snapshot), broken: await brokenFiles(dataDir, snapshot) };
}

/** A folder nobody got to the first commit of is as good as empty. */
async function snapshotOf(dataDir: string): Promise<Snapshot> {
  try {
    const manifest = await openManifest(dataDir, { readOnly: true, now });
    const snapshot = manifest.snapshot();
    manifest.close();
    return snapshot;
  } catch (failure) {
    if (!(failure instanceof OperationError) || failure.code !== 'no-data') throw failure;
    return { generation: 0, committedAt: '', batches: [], derived: [] };
  }
}

async function hashOf(dataDir: string, snapshot: Snapshot): Promise<string> {
  const engine = await openEngine({ threads: 1, memoryLimitMb: 500 });
  try {
    return await ledgerHashOf(engine, dataDir, snapshot);
  } finally {
    engine.close();
  }
}

/** Listed files that are not there, or not what was written. */
async function brokenFiles(dataDir: string, { batches, derived }: Snapshot): Promise<string[]> {
  const files: LakeFile[] = [...batches.flatMap((batch) => batch.files), ...derived.flatMap(({ file }) => file ?? [])];
  const broken: string[] = [];
  for (const file of files) {
    const path = join(dataDir, file.path);
    const { bytes, contentHash } = existsSync(path) ? await fingerprint(path) : { bytes: -1, contentHash: '' };
    if (bytes !== file.bytes || contentHash !== file.contentHash) broken.push(file.path);
  }
  return broken;
}

/** What lies in a folder that its last writer left in good order, and nobody needs. */
export async function litterOf(dataDir: string): Promise<string[]> {
  const manifest = await openManifest(dataDir, { readOnly: false, now });
  const kept = manifest.keptFiles();
  manifest.close();
  const isState = (path: string): boolean =>
    ['state.sqlite', 'state.sqlite-shm', 'writer.lock', 'tables/_published'].includes(path) ||
    // The driver for old Nodes closes a connection when its garbage is collected; the log is empty all the same.
    (path === 'state.sqlite-wal' && statSync(join(dataDir, path)).size === 0);
  const isPublished = (path: string): boolean => path.startsWith('tables/') && path.endsWith('/data.parquet');
  const everything = readdirSync(dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory() || entry.name === 'tmp')
    .map((entry) => relative(dataDir, join(entry.parentPath, entry.name)));
  return everything.filter((path) => !kept.has(path) && !isState(path) && !isPublished(path));
}

/** Names under `tables/` that are missing, too many, or of other rows than the manifest's. */
export async function misnamedOf(dataDir: string): Promise<string[]> {
  const { derived } = await snapshotOf(dataDir);
  const tables = join(dataDir, 'tables');
  const names = new Set(
    readdirSync(tables, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name !== '_published')
      .map((entry) => relative(tables, join(entry.parentPath, entry.name))),
  );
  const misnamed: string[] = [];
  for (const { table, unit, file } of derived) {
    if (file === null) continue;
    const folder = /^\d{4}-\d{2}-\d{2}$/.test(unit) ? `day=${unit}` : encodeURIComponent(unit);
    const name = join(table, folder, 'data.parquet');
    const isThere = names.delete(name);
    if (!isThere || (await fingerprint(join(tables, name))).contentHash !== file.contentHash) misnamed.push(name);
  }
  return [...misnamed, ...names];
}
