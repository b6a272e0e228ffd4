import { readdir, rm } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { PUBLISH_ASIDE } from './durable-file.ts';

/** Names the lake gives its files while and after it writes them; whatever else lies in the folder is not ours to remove. */
const LAKE_NAME = /^(?:[0-9a-f]{16}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.(?:parquet|aside|parquet\.aside)$/;

/**
 * Removes what a writer left behind that did not come to its commit: files under a passing name, and whole ones that no
 * manifest ever listed. No reader can have one in hand, so they need not grow old first; a file that was listed once is in
 * `kept` until its time has come. Only for the one writer, before its own first file.
 */
export async function sweepLeftovers(dataDir: string, kept: ReadonlySet<string>): Promise<readonly string[]> {
  const entries = await readdir(dataDir, { recursive: true, withFileTypes: true });
  const swept = entries
    .filter((entry) => entry.isFile() && (LAKE_NAME.test(entry.name) || entry.name === PUBLISH_ASIDE))
    .map((entry) => relative(dataDir, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((path) => !kept.has(path));
  for (const path of swept) await rm(join(dataDir, path), { force: true });
  return swept;
}
