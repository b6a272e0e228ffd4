import type { CsvShape } from './csv-text.ts';
import type { FileFormat } from './file-format.ts';
import type { SourceColumn } from './match-columns.ts';
import { identifier, literal } from '../values/sql-text.ts';

/** A file that was opened: its columns, and the SQL that gives its rows as they are. */
export interface OpenFile {
  readonly format: FileFormat;
  readonly columns: readonly SourceColumn[];
  readonly from: string;
  /** SQL of the row's number, from 1. */
  readonly rowNumber: string;
  /** Of a CSV file: what it separates with. */
  readonly delimiter?: string;
}

/** Asks the engine; sources know no engine of their own. */
export type Ask = <T>(sql: string) => Promise<T[]>;

/** All columns are read as text: a guessed DOUBLE would touch money, a guessed date would lose its zone. */
export function openCsv(path: string, shape: CsvShape): OpenFile {
  const columns = shape.columns.map((name) => `${literal(name)}: 'VARCHAR'`).join(', ');
  return {
    format: 'csv',
    columns: shape.columns.map((name) => ({ name, type: 'VARCHAR' })),
    from: `read_csv(${literal(path)}, auto_detect = false, header = true, delim = ${literal(shape.delimiter)},
      quote = '"', escape = '"', columns = {${columns}})`,
    rowNumber: 'row_number() OVER ()',
    delimiter: shape.delimiter,
  };
}

/** The whole file is looked through for keys, because a key may come up in the last line only. */
export async function openJson(path: string, ask: Ask): Promise<OpenFile> {
  const found = await ask<{ column_name: string }>(
    `DESCRIBE SELECT * FROM read_json(${literal(path)}, format = 'auto', records = true, sample_size = -1, maximum_depth = 1)`,
  );
  const names = found.map((row) => row.column_name);
  const columns = names.map((name) => `${literal(name)}: 'JSON'`).join(', ');
  const texts = names.map((name) => `${identifier(name)} ->> '$' AS ${identifier(name)}`).join(', ');
  return {
    format: 'json',
    columns: names.map((name) => ({ name, type: 'VARCHAR' })),
    from: `(SELECT ${texts} FROM read_json(${literal(path)}, format = 'auto', records = true, columns = {${columns}}))`,
    rowNumber: 'row_number() OVER ()',
  };
}

/** Statistics count only where every row group has them. */
export async function openParquet(path: string, ask: Ask): Promise<OpenFile> {
  const described = await ask<{ column_name: string; column_type: string }>(
    `DESCRIBE SELECT * FROM read_parquet(${literal(path)})`,
  );
  const stats = await ask<{ name: string; min: string | null; max: string | null; nulls: bigint | null }>(`
    SELECT path_in_schema AS name,
           CASE WHEN any_value(type) IN ('INT32', 'INT64') AND bool_and(TRY_CAST(stats_min_value AS BIGINT) IS NOT NULL)
             THEN CAST(min(TRY_CAST(stats_min_value AS BIGINT)) AS VARCHAR) ELSE min(stats_min_value) END AS min,
           CASE WHEN any_value(type) IN ('INT32', 'INT64') AND bool_and(TRY_CAST(stats_max_value AS BIGINT) IS NOT NULL)
             THEN CAST(max(TRY_CAST(stats_max_value AS BIGINT)) AS VARCHAR) ELSE max(stats_max_value) END AS max,
           CAST(sum(stats_null_count) AS BIGINT) AS nulls
    FROM parquet_metadata(${literal(path)}) GROUP BY path_in_schema
    HAVING bool_and(stats_min_value IS NOT NULL AND stats_max_value IS NOT NULL AND stats_null_count IS NOT NULL)`);
  const statsByName = new Map(stats.map((row) => [row.name, row]));
  return {
    format: 'parquet',
    columns: described.map(({ column_name: name, column_type: type }) => {
      const known = statsByName.get(name);
      if (known === undefined || known.min === null || known.max === null) return { name, type };
      return { name, type, stats: { min: known.min, max: known.max, nulls: Number(known.nulls ?? 0) } };
    }),
    from: `read_parquet(${literal(path)}, file_row_number = true)`,
    rowNumber: 'file_row_number + 1',
  };
}
