import type { Column } from './column.ts';
import { sqlType } from './column.ts';
import type { FactTable } from './fact-table.ts';

/** A column as it lies in the lake. */
export interface StoredColumn {
  readonly name: string;
  readonly type: string;
}

/** Columns the lake keeps beside those of the contract: nobody writes them into a file, they follow from it. */
const BESIDE: Readonly<Record<string, readonly StoredColumn[]>> = {
  allocation: [{ name: 'polled', type: 'BOOLEAN' }],
  charge: [
    { name: 'bill_id', type: 'VARCHAR' },
    { name: 'part', type: 'INTEGER' },
    { name: 'ordinal', type: 'BIGINT' },
    { name: 'resource_key', type: 'VARCHAR' },
    { name: 'row_hash', type: 'VARCHAR' },
  ],
};

/** Every column of a table's Parquet files, in order. */
export function storedColumns(table: FactTable): readonly StoredColumn[] {
  const contract = table.columns.map((column) => ({ name: column.name, type: sqlType(column) }));
  return [...contract, ...(BESIDE[table.name] ?? [])];
}

/** Numbers that say what a device measured; a row of samples without any of them says nothing. */
export function metricColumns(table: FactTable): readonly Column[] {
  return table.columns.filter((column) => column.knownRange !== undefined && column.name !== 'step_s');
}

/** What a sensor sends when it has nothing to say, once units are converted: never a value, never a wrong unit. */
export const BLANK_SENSOR = -9_223_372_036_854_775_807n;

/** Parts of the `problem` of a row: column, reason, value. */
export const PROBLEM_SEPARATOR = '\u001f';

/**
 * Rows on their way into the lake: a SELECT over one file, as a source hands it to `append`.
 *
 * It gives every stored column in its type, with two exceptions that need to see the whole batch: columns with a
 * known range come as they were sent (whole numbers, blanks as BLANK_SENSOR), and `step_s`, `slot`, `observed_at` may be NULL
 * where the file does not say. A row without a column that is `leftOutIfMissing` has no problem, whatever else is in it, and
 * is left out. Beside the columns stand `problem` (VARCHAR, NULL where the row is fine) and `carried` (BOOLEAN, a time of the
 * row had an hour past 23).
 */
export interface IncomingPart {
  /** The file, as the person named it. */
  readonly label: string;
  readonly select: string;
  /** A typed file with statistics, which may be read again instead of being staged. */
  readonly rereadable: boolean;
  /**
   * The rows lie in a table of the engine already, no key of them twice, and reading them again costs next to nothing. If
   * `observed_at` is known they are whole: nothing has to be looked up in the batch.
   */
  readonly isTable?: true;
  /** The file's own statistics rule out a problem in any row. */
  readonly clean: boolean;
  /** Columns of which no value is missing, and those of which none lies outside its known range, by the file's statistics. */
  readonly known: ReadonlySet<string>;
  readonly inRange: ReadonlySet<string>;
  /** The first and last value of the partition column, where statistics tell. */
  readonly span?: readonly [first: string, last: string];
  /** Columns the file speaks about. */
  readonly given: ReadonlySet<string>;
  /** The column of the file each column came from, and the unit it was read in. */
  readonly origins: ReadonlyMap<string, { readonly source: string; readonly unit?: string }>;
  /** When the file was last written: a bill cannot cover what came after it. */
  readonly writtenAt?: Date;
  /** Where a row stands in the file; asked only when something is wrong with it. */
  readonly place: (row: number) => Promise<string>;
  /** What a failure to read the file means to a person; the failure itself where it does not speak of the file. */
  readonly explain: (failure: unknown) => Promise<unknown>;
}

/** Parts that are replaced together under one name. */
export interface IncomingBatch {
  readonly name: string;
  /** Where it came from, for people. */
  readonly importedFrom: string;
  readonly priority: number;
  readonly parts: readonly IncomingPart[];
}
