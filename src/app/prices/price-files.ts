import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { OperationError } from '../../facts/operation-error.ts';

const PRICE_FILE = /\.(csv|tsv|json|jsonl|ndjson|ya?ml|parquet)(\.gz)?$/i;
const FOLDER_DEPTH_MAX = 4;

export interface PriceFile {
  readonly path: string;
  /** Somebody named the file itself; else it was found in a folder. */
  readonly isNamed: boolean;
}

/** The files that are meant by what a person named: files as they are, folders with what looks like a table in them. */
export async function priceFiles(paths: readonly string[]): Promise<PriceFile[]> {
  if (paths.length === 0) {
    throw new OperationError('no-files', 'no file to import', { hint: 'bursar import prices FILE|DIR…' });
  }
  const files: PriceFile[] = [];
  for (const path of paths) {
    if (path !== '-' && (await isFolder(path))) {
      for (const found of await filesIn(path, 0)) files.push({ path: found, isNamed: false });
    } else files.push({ path, isNamed: true });
  }
  return files;
}

async function isFolder(path: string): Promise<boolean> {
  // What is not there is told by whoever opens it.
  const found = await stat(path).catch(() => undefined);
  return found?.isDirectory() ?? false;
}

async function filesIn(folder: string, depth: number): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const files: string[] = [];
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    if (entry.name.startsWith('.')) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory() && depth < FOLDER_DEPTH_MAX) files.push(...(await filesIn(path, depth + 1)));
    else if (entry.isFile() && PRICE_FILE.test(entry.name)) files.push(path);
  }
  return files;
}
