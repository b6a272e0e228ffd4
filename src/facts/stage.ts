/**
 * One step of a dollar's way: a SELECT over named tables, for a range of days.
 *
 * The text is portable SQL (see `test/tidy.test.ts`). Parameters: `$from`, `$until` (TIMESTAMP, whole days) and
 * what `params` names. It may read the tables in `reads`, with the days given there.
 */
export interface Stage {
  readonly name: string;
  /** Raised when the meaning of the SQL changes in a way its text does not show. */
  readonly version: number;
  /** What one file holds: a day, a bill, or everything. */
  readonly unit: 'day' | 'bill' | 'whole';
  readonly reads: readonly StageInput[];
  /** How many rows it may make of one that it reads, if many: a day is cut into hours. Bounds how many days go together. */
  readonly growth?: number;
  /** Values the caller hands in: `horizon`, `clusters` … ; part of the input hash of the days they change. */
  readonly params: readonly string[];
  /** The columns it writes, with their types: the contract for every engine that reads the files. */
  readonly writes: readonly (readonly [name: string, type: string])[];
  /** Order of the rows in a day's file. */
  readonly orderBy: string;
  readonly sql: string;
}

export interface StageInput {
  readonly table: string;
  /** Which days of it a day needs, counted from itself: 0 is the day, −1 the day before; or all. */
  readonly days: readonly number[] | 'all';
}
