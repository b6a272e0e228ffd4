import { join } from 'node:path';
import type { FactTable } from '../facts/fact-table.ts';
import { storedColumns } from '../facts/incoming.ts';
import { BEFORE_EVERYTHING } from '../facts/inventory.ts';
import type { LakeFile } from '../facts/manifest.ts';
import type { ReadyPart } from './append-check.ts';
import type { SkippedRows } from './append-report.ts';
import type { Engine } from './engine.ts';
import { quote } from './engine.ts';
import type { AsideFile } from './parquet-file.ts';
import { lakeFileOf, writeAside, writeStage } from './parquet-file.ts';

export interface WrittenRows {
  readonly files: readonly LakeFile[];
  readonly asides: readonly AsideFile[];
  readonly observedAt: string;
  readonly firstAt: string | null;
  readonly newestAt: string | null;
  readonly clusters?: readonly (string | null)[];
  readonly skipped: readonly SkippedRows[];
  /** GPU seconds in 63,000ths and CPU seconds in thousandths; 0 for tables that hold nothing. */
  readonly gpuUnitSeconds: bigint;
  readonly cpuMilliSeconds: bigint;
}

/** Writes the rows of a table of which one row of a key wins: nodes, devices, allocations, rates. */
export async function writeRows(
  engine: Engine,
  root: string,
  workDir: string,
  table: FactTable,
  parts: readonly ReadyPart[],
  keep: (aside: AsideFile) => void,
): Promise<WrittenRows> {
  const given = parts.map(({ relation }) => `SELECT ${columnNames(table)} FROM (${relation})`).join(' UNION ALL ');
  const { all, leftOut } = await withoutLeftOut(engine, table, given, parts);
  const isWhole = parts.every(({ part }) => part.isTable === true && part.known.has('observed_at'));
  const newest = isWhole ? BEFORE_EVERYTHING : await newestTime(engine, table, all);
  const rows = isWhole ? all : await filledRows(engine, workDir, table, all, newest);
  const isDistinct = parts.length === 1 && parts[0]?.part.isTable === true;
  const { winners, skipped } = isDistinct
    ? { winners: rows, skipped: [] }
    : await winnersOf(engine, workDir, table, rows);
  const asides: AsideFile[] = [];
  const files: LakeFile[] = [];
  for (const partition of await partitionsOf(engine, table, winners)) {
    const aside = await writeAside(
      engine,
      root,
      table,
      partition,
      `SELECT ${columnNames(table)} FROM (${winners}) WHERE ${partitionSql(table)} = '${partition}'
       ORDER BY ${[...new Set([...table.sortBy, ...keysOf(table)])].join(', ')}`,
    );
    keep(aside);
    asides.push(aside);
    files.push(await lakeFileOf(table, aside));
  }
  return { files, asides, skipped: [...leftOut, ...skipped], ...(await factsOf(engine, table, winners, newest)) };
}

function columnNames(table: FactTable): string {
  return storedColumns(table)
    .map(({ name }) => name)
    .join(', ');
}

function keysOf(table: FactTable): string[] {
  return table.columns.filter(({ key }) => key).map(({ name }) => name);
}

function keyText(table: FactTable): string {
  const keys = keysOf(table).map((name) => `nullif(CAST(${name} AS VARCHAR), '')`);
  return `concat_ws(' ', ${keys.join(', ')})`;
}

function timesOf(table: FactTable): string[] {
  return table.columns.filter(({ kind }) => kind === 'time').map(({ name }) => name);
}

/** The rows that are facts, and how many are none for want of a value: they say nothing, not even when they were seen. */
async function withoutLeftOut(
  engine: Engine,
  table: FactTable,
  rows: string,
  parts: readonly ReadyPart[],
): Promise<{ all: string; leftOut: readonly SkippedRows[] }> {
  const column = table.columns.find(({ leftOutIfMissing }) => leftOutIfMissing !== undefined);
  const isKnown = column !== undefined && parts.every(({ part }) => part.known.has(column.name));
  if (isKnown || column?.leftOutIfMissing === undefined) return { all: rows, leftOut: [] };
  const [found] = await engine.rows<{ rows: bigint; example: string | null }>(
    `SELECT count(*) AS rows, min(${keyText(table)}) AS example FROM (${rows}) WHERE ${column.name} IS NULL`,
  );
  if (found === undefined || found.rows === 0n) return { all: rows, leftOut: [] };
  return {
    all: `SELECT * FROM (${rows}) WHERE ${column.name} IS NOT NULL`,
    leftOut: [{ reason: column.leftOutIfMissing, rows: Number(found.rows), example: found.example ?? '' }],
  };
}

async function newestTime(engine: Engine, table: FactTable, rows: string): Promise<string> {
  const [found] = await engine.rows<{ newest: string | null }>(
    `SELECT max(greatest(${timesOf(table).join(', ')})) AS newest FROM (${rows})`,
  );
  return found?.newest ?? BEFORE_EVERYTHING;
}

/** The rows with what only the batch can say written down. */
async function filledRows(
  engine: Engine,
  workDir: string,
  table: FactTable,
  rows: string,
  newest: string,
): Promise<string> {
  const path = join(workDir, 'filled.parquet');
  await writeStage(engine, path, filled(table, rows, newest));
  return `SELECT * FROM read_parquet(${quote(path)})`;
}

/** What only the whole batch can say: when it was seen, and which device of a job on a machine comes in which slot. */
function filled(table: FactTable, rows: string, newest: string): string {
  const columns = storedColumns(table).map(({ name, type }) => {
    if (name === 'observed_at') return `COALESCE(observed_at, TIMESTAMP '${newest}') AS observed_at`;
    if (name === 'slot') {
      return `CAST(COALESCE(slot, dense_rank() OVER (PARTITION BY source, allocation_id, attempt, node_id, held_from
        ORDER BY COALESCE(device_id, '')) - 1) AS ${type}) AS slot`;
    }
    return name;
  });
  return `SELECT ${columns.join(', ')} FROM (${rows})`;
}

/** One row of each key, and what became of the others. */
async function winnersOf(
  engine: Engine,
  workDir: string,
  table: FactTable,
  rows: string,
): Promise<{ winners: string; skipped: readonly SkippedRows[] }> {
  const skipped: SkippedRows[] = [];
  const isEmpty = table.name === 'allocation' ? 'held_until = held_from' : 'false';
  const lasting = `SELECT * FROM (${rows}) WHERE NOT COALESCE(${isEmpty}, false)`;
  const keys = keysOf(table).join(', ');
  const [empty] = await engine.rows<{ rows: bigint; example: string | null }>(
    `SELECT count(*) AS rows, min(${keyText(table)}) AS example FROM (${rows}) WHERE ${isEmpty}`,
  );
  if (empty !== undefined && empty.rows > 0n) {
    skipped.push({ reason: 'held for no time at all', rows: Number(empty.rows), example: empty.example ?? '' });
  }
  // Nearly always no key comes twice, and looking at whole rows costs ten times as much as looking at keys.
  const [repeated] = await engine.rows<{ keys: bigint }>(
    `SELECT count(*) AS keys FROM (SELECT 1 FROM (${lasting}) GROUP BY ${keys} HAVING count(*) > 1)`,
  );
  if (repeated?.keys === 0n) return { winners: lasting, skipped };
  const text = `concat_ws(chr(31), ${storedColumns(table)
    .map(({ name }) => `COALESCE(CAST(${name} AS VARCHAR), '')`)
    .join(', ')})`;
  const [twice] = await engine.rows<{ same: bigint; others: bigint; sameExample: string; otherExample: string }>(`
    SELECT CAST(COALESCE(sum(n - texts), 0) AS BIGINT) AS same, CAST(COALESCE(sum(texts - 1), 0) AS BIGINT) AS others,
           min(key_text) FILTER (WHERE n > texts) AS "sameExample", min(key_text) FILTER (WHERE texts > 1) AS "otherExample"
    FROM (SELECT any_value(${keyText(table)}) AS key_text, count(*) AS n, count(DISTINCT ${text}) AS texts
          FROM (${lasting}) GROUP BY ${keys} HAVING count(*) > 1)`);
  if (twice === undefined || twice.same + twice.others === 0n) return { winners: lasting, skipped };
  if (twice.same > 0n) {
    skipped.push({ reason: 'the same row again', rows: Number(twice.same), example: twice.sameExample });
  }
  if (twice.others > 0n) {
    skipped.push({ reason: 'same key, another row won', rows: Number(twice.others), example: twice.otherExample });
  }
  const path = join(workDir, 'winners.parquet');
  await writeStage(
    engine,
    path,
    `SELECT ${columnNames(table)} FROM (
       SELECT *, row_number() OVER (PARTITION BY ${keys} ORDER BY observed_at DESC, ${text} DESC) AS place FROM (${lasting})
     ) WHERE place = 1`,
  );
  return { winners: `SELECT * FROM read_parquet(${quote(path)})`, skipped };
}

/** The folder a row lies in: `2026-11-01`, or `2026-11` where a day has so few rows that its file would be all overhead. */
function partitionSql(table: FactTable): string {
  const day = `CAST(CAST(${table.partitionBy} AS DATE) AS VARCHAR)`;
  return table.partition === 'day' ? day : `left(${day}, 7)`;
}

async function partitionsOf(engine: Engine, table: FactTable, rows: string): Promise<string[]> {
  const found = await engine.rows<{ partition: string }>(
    `SELECT DISTINCT ${partitionSql(table)} AS partition FROM (${rows}) ORDER BY partition`,
  );
  return found.map(({ partition }) => partition);
}

type Facts = Pick<
  WrittenRows,
  'observedAt' | 'firstAt' | 'newestAt' | 'clusters' | 'gpuUnitSeconds' | 'cpuMilliSeconds'
>;

async function factsOf(engine: Engine, table: FactTable, rows: string, newest: string): Promise<Facts> {
  const [seen] = await engine.rows<{ observedAt: string | null }>(
    `SELECT max(observed_at) AS "observedAt" FROM (${rows})`,
  );
  const observedAt = seen?.observedAt ?? newest;
  if (table.name === 'allocation') return { observedAt, ...(await allocationFacts(engine, rows, newest)) };
  const none = { gpuUnitSeconds: 0n, cpuMilliSeconds: 0n };
  if (table.name !== 'node' && table.name !== 'device') return { observedAt, firstAt: null, newestAt: null, ...none };
  const [span] = await engine.rows<{ firstAt: string | null; newestAt: string | null }>(`
    SELECT min(present_from) FILTER (WHERE present_from > TIMESTAMP '${BEFORE_EVERYTHING}') AS "firstAt",
           max(present_until) AS "newestAt" FROM (${rows})`);
  return { observedAt, firstAt: span?.firstAt ?? null, newestAt: span?.newestAt ?? null, ...none };
}

/** Open rows count to when they were last seen, or to the newest time of the batch. */
async function allocationFacts(engine: Engine, rows: string, newest: string): Promise<Omit<Facts, 'observedAt'>> {
  const [sums] = await engine.rows<{
    firstAt: string | null;
    newestAt: string | null;
    gpuUnitSeconds: bigint | null;
    cpuMilliSeconds: bigint | null;
  }>(`
    SELECT min(held_from) AS "firstAt",
           max(greatest(held_until, CASE WHEN held_until IS NULL THEN held_from END, CASE WHEN polled THEN observed_at END))
             AS "newestAt",
           CAST(sum(CAST(gpu_count * share_units AS HUGEINT) * seconds) AS HUGEINT) AS "gpuUnitSeconds",
           CAST(sum(CAST(cpu_millis AS HUGEINT) * seconds) AS HUGEINT) AS "cpuMilliSeconds"
    FROM (SELECT *, greatest(0, date_diff('second', held_from, COALESCE(held_until,
            CASE WHEN polled THEN observed_at ELSE TIMESTAMP '${newest}' END))) AS seconds FROM (${rows}))`);
  const clusters = await engine.rows<{ cluster: string | null }>(
    `SELECT DISTINCT cluster FROM (${rows}) ORDER BY cluster NULLS FIRST`,
  );
  return {
    firstAt: sums?.firstAt ?? null,
    newestAt: sums?.newestAt ?? null,
    gpuUnitSeconds: sums?.gpuUnitSeconds ?? 0n,
    cpuMilliSeconds: sums?.cpuMilliSeconds ?? 0n,
    clusters: clusters.map(({ cluster }) => cluster),
  };
}
