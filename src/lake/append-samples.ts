import { join } from 'node:path';
import type { Column } from '../facts/column.ts';
import { sqlType } from '../facts/column.ts';
import type { FactTable } from '../facts/fact-table.ts';
import type { IncomingPart } from '../facts/incoming.ts';
import { metricColumns } from '../facts/incoming.ts';
import type { LakeFile } from '../facts/manifest.ts';
import type { ReadyPart } from './append-check.ts';
import type { SkippedRows } from './append-report.ts';
import type { Engine } from './engine.ts';
import { quote } from './engine.ts';
import type { AsideFile } from './parquet-file.ts';
import { lakeFileOf, removeFiles, writeAside, writeStage } from './parquet-file.ts';

const STEP_DEFAULT_S = 60;
/** Two samples days apart do not mean that each speaks for days: beyond an hour the source has to say so. */
const STEP_GUESSED_MAX_S = 3600;
const BLANK_REASON = 'no known value in the row';
const MERGED_REASON = 'same device and time as another row: merged, the greatest of each value kept';

export interface WrittenSamples {
  readonly files: readonly LakeFile[];
  readonly asides: readonly AsideFile[];
  readonly firstAt: string | null;
  readonly newestAt: string | null;
  readonly skipped: readonly SkippedRows[];
  readonly deviceSeconds: bigint;
}

/**
 * Writes samples, one file a day, sorted by device and time.
 *
 * A day of a large fleet is sorted once, straight from the file it came in: everything else is asked of statistics, or
 * of the sorted file, in which rows of one key are neighbours. Only where such rows are found is a day written again.
 */
export async function writeSamples(
  engine: Engine,
  root: string,
  workDir: string,
  table: FactTable,
  parts: readonly ReadyPart[],
  keep: (aside: AsideFile) => void,
): Promise<WrittenSamples> {
  const rows = await withSteps(engine, workDir, table, parts);
  const filter = sayingSomething(table, parts);
  const incoming = await countRows(engine, parts);
  const files: LakeFile[] = [];
  const asides: AsideFile[] = [];
  const looks: DayLook[] = [];
  let [copied, merged, mergedExample] = [0, 0, ''];
  const days = await daysOf(engine, parts, table);
  // Sorting by a number instead of a name is the same order for two thirds of the CPU.
  await engine.run(`CREATE OR REPLACE TEMP TABLE device_place AS
    SELECT device_id, CAST(row_number() OVER (ORDER BY device_id) AS INTEGER) AS place
    FROM (SELECT DISTINCT device_id FROM (${rows}))`);
  for (const day of days) {
    const where = rowFilter(days.length === 1 ? undefined : day, filter);
    const select = `SELECT ${columnNames(table)} FROM (${rows}) JOIN device_place USING (device_id) ${where}
      ORDER BY place, ts`;
    let aside = await writeAside(engine, root, table, day, select);
    keep(aside);
    copied += aside.rows;
    let look = await lookAtDay(engine, aside);
    if (look.repeated > 0n && (await hasRepeatedKey(engine, aside))) {
      const again = await mergeRepeated(engine, root, table, aside);
      keep(again.aside);
      merged += aside.rows - again.aside.rows;
      if (mergedExample === '' && again.example !== undefined) mergedExample = again.example;
      await removeFiles(root, [aside]);
      aside = again.aside;
      look = await lookAtDay(engine, aside);
    }
    if (aside.rows === 0) {
      await removeFiles(root, [aside]);
      continue;
    }
    asides.push(aside);
    looks.push(look);
    files.push(await lakeFileOf(table, aside, await rangeOf(engine, aside, look)));
  }
  const blank = incoming - copied;
  return {
    files,
    asides,
    firstAt: looks.map(({ firstAt }) => firstAt).toSorted()[0] ?? null,
    newestAt:
      looks
        .map(({ newestAt }) => newestAt)
        .toSorted()
        .at(-1) ?? null,
    skipped: [
      { reason: BLANK_REASON, rows: blank, example: blank === 0 ? '' : await blankExample(engine, rows, table) },
      { reason: MERGED_REASON, rows: merged, example: mergedExample },
    ].filter((skipped) => skipped.rows > 0),
    deviceSeconds: looks.reduce((sum, { coveredSeconds }) => sum + coveredSeconds, 0n),
  };
}

function columnNames(table: FactTable): string {
  return table.columns.map(({ name }) => name).join(', ');
}

/** A column in its stored type; what lies outside its range is unknown. */
function clipped(column: Column, part: IncomingPart): string {
  const { name, knownRange } = column;
  const stored = `CAST(${name} AS ${sqlType(column)})`;
  if (knownRange === undefined || part.inRange.has(name)) return `${stored} AS ${name}`;
  return `CASE WHEN ${name} BETWEEN ${knownRange[0]} AND ${knownRange[1]} THEN ${stored} END AS ${name}`;
}

function clippedRows(table: FactTable, { part, relation }: ReadyPart): string {
  return `SELECT ${table.columns.map((column) => clipped(column, part)).join(', ')} FROM (${relation})`;
}

/** The rows of all parts, each with a step: its own, else the median of its device, else of the batch, else a minute. */
async function withSteps(
  engine: Engine,
  workDir: string,
  table: FactTable,
  parts: readonly ReadyPart[],
): Promise<string> {
  const rows = parts.map((ready) => clippedRows(table, ready)).join(' UNION ALL ');
  if (parts.every(({ part }) => part.known.has('step_s') && part.inRange.has('step_s'))) return rows;
  const [missing] = await engine.rows<{ n: bigint }>(`SELECT count(*) AS n FROM (${rows}) WHERE step_s IS NULL`);
  if ((missing?.n ?? 0n) === 0n) return rows;
  const path = join(workDir, 'steps.parquet');
  await writeStage(engine, path, medianSteps(rows));
  const [batch] = await engine.rows<{ step_s: number }>(
    `SELECT step_s FROM read_parquet(${quote(path)}) WHERE device_id IS NULL`,
  );
  const others = table.columns.map(({ name }) =>
    name === 'step_s' ? `COALESCE(r.step_s, d.step_s, ${batch?.step_s ?? STEP_DEFAULT_S}) AS step_s` : `r.${name}`,
  );
  return `SELECT ${others.join(', ')} FROM (${rows}) r LEFT JOIN read_parquet(${quote(path)}) d ON r.device_id = d.device_id`;
}

/** Nearest-rank medians of the distances, per device and (device NULL) of the batch, from counts, so that memory stays small. */
function medianSteps(rows: string): string {
  return `
    WITH distance AS (
      SELECT device_id, CAST(date_diff('second', lag(ts) OVER (PARTITION BY device_id ORDER BY ts), ts) AS INTEGER) AS step_s
      FROM (${rows})
    ), counted AS (
      SELECT device_id, step_s, count(*) AS n FROM distance WHERE step_s > 0 GROUP BY device_id, step_s
      UNION ALL
      SELECT NULL, step_s, count(*) FROM distance WHERE step_s > 0 GROUP BY step_s
    ), ranked AS (
      SELECT device_id, step_s, sum(n) OVER (PARTITION BY device_id ORDER BY step_s) AS upto,
             sum(n) OVER (PARTITION BY device_id) AS total
      FROM counted
    )
    SELECT device_id, least(min(step_s), ${STEP_GUESSED_MAX_S}) AS step_s FROM ranked WHERE upto * 2 >= total
    GROUP BY device_id`;
}

/** Rows without any known value are left out; where statistics show a value in every row there is nothing to ask. */
function sayingSomething(table: FactTable, parts: readonly ReadyPart[]): string | undefined {
  const metrics = metricColumns(table).map(({ name }) => name);
  const always = parts.every(({ part }) => metrics.some((name) => part.known.has(name) && part.inRange.has(name)));
  return always ? undefined : `COALESCE(${metrics.join(', ')}) IS NOT NULL`;
}

async function countRows(engine: Engine, parts: readonly ReadyPart[]): Promise<number> {
  let count = 0;
  for (const { relation } of parts) {
    const [found] = await engine.rows<{ n: bigint }>(`SELECT count(*) AS n FROM (${relation})`);
    count += Number(found?.n ?? 0n);
  }
  return count;
}

/** The days that hold rows; undefined-free and in order. One day known from statistics needs no filter and no query. */
async function daysOf(engine: Engine, parts: readonly ReadyPart[], table: FactTable): Promise<readonly string[]> {
  const days = new Set<string>();
  for (const { part, relation } of parts) {
    const [first, last] = (part.span ?? []).map((time) => time.slice(0, 10));
    if (first !== undefined && first === last) days.add(first);
    else {
      const found = await engine.rows<{ day: string }>(
        `SELECT DISTINCT CAST(CAST(${table.partitionBy} AS DATE) AS VARCHAR) AS day FROM (${relation})`,
      );
      for (const { day } of found) days.add(day);
    }
  }
  return [...days].toSorted();
}

function rowFilter(day: string | undefined, filter: string | undefined): string {
  const within = `ts >= TIMESTAMP '${day} 00:00:00' AND ts < TIMESTAMP '${day} 00:00:00' + INTERVAL 1 DAY`;
  const conditions = [...(day === undefined ? [] : [within]), ...(filter === undefined ? [] : [filter])];
  return conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
}

interface DayLook {
  readonly firstAt: string;
  readonly lastAt: string;
  readonly newestAt: string;
  readonly coveredSeconds: bigint;
  /** Neighbours of the same time: none means no key twice; some may still be of two devices. */
  readonly repeated: bigint;
}

/** Two plain scans: one that also adds steps to times row by row costs four times as much. */
async function lookAtDay(engine: Engine, { asidePath }: AsideFile): Promise<DayLook> {
  const [look] = await engine.rows<Omit<DayLook, 'repeated'>>(`
    SELECT min(first_at) AS "firstAt", max(last_at) AS "lastAt", max(last_at + to_seconds(step_s)) AS "newestAt",
           CAST(COALESCE(sum(step_s * n), 0) AS BIGINT) AS "coveredSeconds"
    FROM (SELECT step_s, min(ts) AS first_at, max(ts) AS last_at, count(*) AS n
          FROM read_parquet(${quote(asidePath)}) GROUP BY step_s)`);
  const [neighbours] = await engine.rows<{ repeated: bigint }>(`
    SELECT count(*) AS repeated FROM (SELECT ts, lag(ts) OVER () AS earlier FROM read_parquet(${quote(asidePath)}))
    WHERE ts = earlier`);
  if (look === undefined || neighbours === undefined) throw new Error('an aggregate without a row');
  return { ...look, ...neighbours };
}

async function hasRepeatedKey(engine: Engine, { asidePath }: AsideFile): Promise<boolean> {
  const [found] = await engine.rows<{ n: bigint }>(`
    SELECT count(*) AS n FROM (SELECT ts, device_id, lag(ts) OVER () AS earlier, lag(device_id) OVER () AS neighbour
      FROM read_parquet(${quote(asidePath)})) WHERE ts = earlier AND device_id = neighbour`);
  return (found?.n ?? 0n) > 0n;
}

async function mergeRepeated(
  engine: Engine,
  root: string,
  table: FactTable,
  aside: AsideFile,
): Promise<{ aside: AsideFile; example: string | undefined }> {
  const values = table.columns.filter(({ key }) => !key).map(({ name }) => `max(${name}) AS ${name}`);
  // A zero of a second exporter must not hide activity: the greatest value is kept.
  const select = `SELECT device_id, ts, ${values.join(', ')} FROM read_parquet(${quote(aside.asidePath)})
    GROUP BY device_id, ts ORDER BY device_id, ts`;
  const again = await writeAside(engine, root, table, aside.partition, select);
  const [example] = await engine.rows<{ text: string }>(`
    SELECT device_id || ' at ' || CAST(ts AS VARCHAR) AS text FROM read_parquet(${quote(aside.asidePath)})
    GROUP BY device_id, ts HAVING count(*) > 1 ORDER BY device_id, ts LIMIT 1`);
  return { aside: again, example: example?.text };
}

/** Sorted by device, the first and last row carry the least and greatest. */
async function rangeOf(engine: Engine, { asidePath, rows }: AsideFile, look: DayLook): Promise<LakeFile['range']> {
  const ends = await engine.rows<{ device_id: string }>(`
    SELECT device_id FROM read_parquet(${quote(asidePath)}, file_row_number = true)
    WHERE file_row_number = 0 OR file_row_number = ${rows - 1} ORDER BY file_row_number`);
  const [keyMin, keyMax] = [ends[0]?.device_id ?? '', ends.at(-1)?.device_id ?? ''];
  return { keyMin, keyMax, timeMin: look.firstAt, timeMax: look.lastAt };
}

async function blankExample(engine: Engine, rows: string, table: FactTable): Promise<string> {
  const metrics = metricColumns(table).map(({ name }) => name);
  const [example] = await engine.rows<{ text: string }>(`
    SELECT device_id || ' at ' || CAST(ts AS VARCHAR) AS text FROM (${rows})
    WHERE COALESCE(${metrics.join(', ')}) IS NULL LIMIT 1`);
  return example?.text ?? '';
}
