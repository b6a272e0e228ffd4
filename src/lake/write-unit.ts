import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { basename, dirname, join, posix, resolve } from 'node:path';
import type { LakeFile } from '../facts/manifest.ts';
import type { Stage } from '../facts/stage.ts';
import { fingerprint, settleFile } from './durable-file.ts';
import type { OnStep } from './durable-file.ts';
import { quote } from './engine.ts';
import type { Engine, Params } from './engine.ts';

const PARQUET = 'FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION V2, ROW_GROUP_SIZE 122880';

interface WriteSpace {
  readonly engine: Engine;
  readonly dataDir: string;
  readonly onStep?: OnStep | undefined;
}

/** The rows of a stage in the types it promises. */
export function stageSelect(stage: Stage): string {
  return `SELECT ${stage.writes.map(([name, type]) => `CAST(${name} AS ${type}) AS ${name}`).join(', ')} FROM (${stage.sql}) s`;
}

function folderOf(stage: Stage, unit: string): string {
  return stage.unit === 'day' ? posix.join(stage.name, `day=${unit}`) : stage.name;
}

/** Writes one unit aside, brings it to the disk and gives it its name. Null, and no file, if it has no rows. */
export async function writeUnit(
  work: WriteSpace,
  stage: Stage,
  unit: string,
  rows: string,
  params: Params,
): Promise<LakeFile | null> {
  const path = posix.join(folderOf(stage, unit), `${randomUUID()}.parquet`);
  const full = resolve(work.dataDir, path);
  const aside = `${full}.aside`;
  await mkdir(dirname(full), { recursive: true });
  work.onStep?.('write');
  try {
    const [copied] = await work.engine.rows<{ Count: bigint }>(
      `COPY (SELECT * FROM (${rows}) r ORDER BY ${stage.orderBy}) TO ${quote(aside)} (${PARQUET})`,
      params,
    );
    if (copied === undefined || copied.Count === 0n) {
      await rm(aside, { force: true });
      return null;
    }
    const print = await fingerprint(aside);
    await settleFile(aside, full, work.onStep);
    return { path, table: stage.name, partition: unit, rows: Number(copied.Count), ...print };
  } catch (error) {
    await rm(aside, { force: true });
    throw error;
  }
}

interface WrittenPart {
  readonly file_name: string;
  readonly num_rows: bigint;
}

function byDay(parts: readonly WrittenPart[]): Map<string, WrittenPart[]> {
  const days = new Map<string, WrittenPart[]>();
  for (const part of parts) {
    const day = basename(dirname(part.file_name)).replace('unit=', '');
    days.set(day, [...(days.get(day) ?? []), part]);
  }
  return days;
}

/** The engine empties its buffers when there are many rows, and begins a second file for a day; the two become one. */
async function asOneFile(
  { engine }: WriteSpace,
  stage: Stage,
  parts: readonly WrittenPart[],
  merged: string,
): Promise<string> {
  const [first] = parts;
  if (first !== undefined && parts.length === 1) return first.file_name;
  const paths = parts.map((part) => quote(part.file_name)).join(', ');
  await engine.run(
    `COPY (SELECT * FROM read_parquet([${paths}], hive_partitioning = false) ORDER BY ${stage.orderBy}) TO ${quote(merged)} (${PARQUET})`,
  );
  return merged;
}

/**
 * Writes many small days with one statement, which costs a third of one statement for each. They are made in the writer's
 * folder for passing files, which the next writer empties.
 */
export async function writeDays(work: WriteSpace, stage: Stage, params: Params): Promise<LakeFile[]> {
  const aside = resolve(work.dataDir, 'tmp', randomUUID());
  await mkdir(aside, { recursive: true });
  work.onStep?.('write');
  try {
    await work.engine.run(
      `COPY (SELECT *, CAST(day AS VARCHAR) AS unit FROM (${stageSelect(stage)}) r ORDER BY unit, ${stage.orderBy})
       TO ${quote(aside)} (${PARQUET}, PARTITION_BY (unit), WRITE_PARTITION_COLUMNS false)`,
      params,
    );
    if ((await readdir(aside)).length === 0) return [];
    const written = await work.engine.rows<WrittenPart>(
      `SELECT file_name, num_rows FROM parquet_file_metadata(${quote(join(aside, '*', '*.parquet'))})`,
    );
    const files: LakeFile[] = [];
    for (const [day, parts] of byDay(written)) {
      const from = await asOneFile(work, stage, parts, join(aside, `${day}.parquet`));
      const rows = parts.reduce((total, { num_rows: count }) => total + count, 0n);
      const path = posix.join(folderOf(stage, day), `${randomUUID()}.parquet`);
      const print = await fingerprint(from);
      await mkdir(resolve(work.dataDir, dirname(path)), { recursive: true });
      await settleFile(from, resolve(work.dataDir, path), work.onStep);
      files.push({ path, table: stage.name, partition: day, rows: Number(rows), ...print });
    }
    return files;
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}
