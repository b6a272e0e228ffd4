import { factTableByName } from '../src/facts/fact-table.ts';
import { storedColumns } from '../src/facts/incoming.ts';
import type { Stage } from '../src/facts/stage.ts';
import { openEngine, quote } from '../src/lake/engine.ts';
import { STAGES } from '../src/ledger/stages.ts';

type Value = string | number | boolean | null | Readonly<Record<string, string>>;
export type Row = Readonly<Record<string, Value>>;

/**
 * Runs stages on rows written down by hand, for the day 2026-03-02 and its neighbours, and returns the last one's rows. Columns
 * that are not given are unknown; `day` of samples is that of `ts`. `given` are the other parameters of the stages.
 */
export async function stagesOn(
  stages: readonly Stage[],
  tables: Readonly<Record<string, readonly Row[]>>,
  given: Readonly<Record<string, string>> = {},
): Promise<Record<string, unknown>[]> {
  const engine = await openEngine({ threads: 1, memoryLimitMb: 300 });
  try {
    const day = "SELECT DATE '2026-03-02' AS day, TIMESTAMP '2026-03-02 00:00:00' AS day_start";
    await engine.run(`CREATE TABLE calendar_day AS SELECT *, day_start + INTERVAL '1' DAY AS day_end FROM (${day})`);
    await engine.run(`CREATE TABLE calendar_hour AS SELECT day, day_start + to_hours(h) AS hour_start,
      day_start + to_hours(h + 1) AS hour_end FROM calendar_day, (SELECT CAST(range AS INTEGER) AS h FROM range(24)) g`);
    for (const [name, rows] of Object.entries(tables)) await engine.run(tableOf(name, rows));
    const params = { from: new Date('2026-03-02'), until: new Date('2026-03-03'), ...given };
    let rows: Record<string, unknown>[] = [];
    for (const stage of stages) {
      rows = await engine.rows(`SELECT * FROM (${stage.sql}) s ORDER BY ${stage.orderBy}`, params);
      await engine.run(`CREATE OR REPLACE TABLE ${stage.name} AS ${stage.sql}`, params);
    }
    return rows;
  } finally {
    engine.close();
  }
}

/** A statement that makes a table of the lake with these rows; columns that are not given are unknown. */
export function tableOf(name: string, rows: readonly Row[]): string {
  const stage = STAGES.find((candidate) => candidate.name === name);
  const columns = stage?.writes ?? [
    ...storedColumns(factTableByName(name)).map((column) => [column.name, column.type] as const),
    ['day', 'DATE'] as const,
  ];
  const literal = (value: Value | undefined): string => {
    if (value === null || value === undefined) return 'NULL';
    if (typeof value === 'object')
      return `MAP {${Object.entries(value)
        .map(([key, text]) => `${quote(key)}: ${quote(text)}`)
        .join(', ')}}`;
    return typeof value === 'string' ? quote(value) : String(value);
  };
  const select = (row: Row): string =>
    `SELECT ${columns.map(([column, type]) => `CAST(${literal(row[column])} AS ${type}) AS ${column}`).join(', ')}`;
  return `CREATE TABLE ${name} AS ${rows.length > 0 ? rows.map(select).join(' UNION ALL ') : `${select({})} WHERE FALSE`}`;
}
