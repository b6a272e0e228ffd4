import { randomBytes } from 'node:crypto';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import type { FactTable } from '../facts/fact-table.ts';
import type { LakeFile } from '../facts/manifest.ts';
import type { OnStep } from './durable-file.ts';
import { fingerprint, settleFile, syncToDisk } from './durable-file.ts';
import type { Engine } from './engine.ts';
import { quote } from './engine.ts';

/** What every file of the lake is written with. */
const LAKE_FORMAT = 'FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION v2, ROW_GROUP_SIZE 122880';
/** What is read once and thrown away is packed lightly. */
const STAGE_FORMAT = 'FORMAT parquet, COMPRESSION lz4_raw, ROW_GROUP_SIZE 122880';

/** A file that is written, but not yet under its name. */
export interface AsideFile {
  readonly asidePath: string;
  /** Below the data folder, with forward slashes. */
  readonly path: string;
  readonly partition: string;
  readonly rows: number;
}

/** Writes rows aside, in the folder they will stay in, so that the rename cannot cross a disk. */
export async function writeAside(
  engine: Engine,
  root: string,
  table: FactTable,
  partition: string,
  select: string,
): Promise<AsideFile> {
  const name = randomBytes(8).toString('hex');
  const folder = posix.join(table.name, `${table.partition}=${partition}`);
  const path = posix.join(folder, `${name}.parquet`);
  const asidePath = join(root, folder, `${name}.aside`);
  await mkdir(dirname(asidePath), { recursive: true });
  try {
    const [copied] = await engine.rows<{ Count: bigint }>(`COPY (${select}) TO ${quote(asidePath)} (${LAKE_FORMAT})`);
    return { asidePath, path, partition, rows: Number(copied?.Count ?? 0) };
  } catch (failure) {
    await rm(asidePath, { force: true });
    throw failure;
  }
}

/** Puts a passing file of the lake's own format where `writeAside` would have written it. */
export async function adoptAside(
  root: string,
  table: FactTable,
  partition: string,
  path: string,
  rows: number,
): Promise<AsideFile> {
  const name = randomBytes(8).toString('hex');
  const folder = posix.join(table.name, `${table.partition}=${partition}`);
  const asidePath = join(root, folder, `${name}.aside`);
  await mkdir(dirname(asidePath), { recursive: true });
  await rename(path, asidePath);
  return { asidePath, path: posix.join(folder, `${name}.parquet`), partition, rows };
}

const LOOK_CLOSER = 'bursar: a row needs a closer look';

/**
 * Writes the rows of a part to a passing file as the lake keeps them; false, and no file, if any row has a problem or something to
 * be said: then the part has to be staged and looked through. Most files are fine, and are so written once instead of twice.
 */
export async function writeWhole(
  engine: Engine,
  path: string,
  columns: readonly string[],
  select: string,
): Promise<boolean> {
  const refused = `CASE WHEN problem IS NOT NULL OR carried THEN error(${quote(LOOK_CLOSER)}) ELSE true END`;
  try {
    await engine.run(
      `COPY (SELECT ${columns.join(', ')} FROM (${select}) WHERE ${refused}) TO ${quote(path)} (${LAKE_FORMAT})`,
    );
    return true;
  } catch (failure) {
    await rm(path, { force: true });
    if (failure instanceof Error && failure.message.includes(LOOK_CLOSER)) return false;
    throw failure;
  }
}

/** Writes rows to a passing file, for input that is too dear to read twice. */
export async function writeStage(engine: Engine, path: string, select: string): Promise<void> {
  await engine.run(`COPY (${select}) TO ${quote(path)} (${STAGE_FORMAT})`);
}

export async function lakeFileOf(table: FactTable, aside: AsideFile, range?: LakeFile['range']): Promise<LakeFile> {
  const { bytes, contentHash } = await fingerprint(aside.asidePath);
  const { path, partition, rows } = aside;
  return { path, table: table.name, partition, rows, bytes, contentHash, ...(range !== undefined && { range }) };
}

/** Gives every file its name; the folders above new ones are brought to the disk too. */
export async function settleFiles(root: string, asides: readonly AsideFile[], onStep?: OnStep): Promise<void> {
  for (const { asidePath, path } of asides) await settleFile(asidePath, join(root, path), onStep);
  const tableFolders = new Set(asides.map(({ path }) => dirname(dirname(join(root, path)))));
  for (const folder of [...tableFolders, root]) await syncToDisk(folder);
}

/** Takes back files that no manifest lists, under either name. */
export async function removeFiles(root: string, asides: readonly AsideFile[]): Promise<void> {
  for (const { asidePath, path } of asides) {
    await rm(asidePath, { force: true });
    await rm(join(root, path), { force: true });
  }
}
