/** A value of the file, before it is understood: a name in the innermost SELECT, and its type. */
export interface Cell {
  readonly ref: string;
  readonly type: string;
  readonly stats?: { readonly min: string; readonly max: string; readonly nulls: number };
}

/**
 * How a value is read. `quick` reads what nearly every value looks like, at little cost; `helpers` may use it to leave the rest
 * to themselves; `value` and the others may use both. Each is computed once a row.
 */
export interface ParsedColumn {
  readonly quick?: readonly [name: string, sql: string];
  readonly helpers: readonly (readonly [name: string, sql: string])[];
  readonly value: string;
  /** SQL that gives the reason a value is refused, NULL where it is fine; undefined where no value can be wrong. */
  readonly problem?: string;
  /** True where an hour past 23 was carried into the next day. */
  readonly carried?: string;
  /** No value is missing, by the statistics of the file. */
  readonly known?: true;
  /** No value lies outside the known range, by the statistics of the file. */
  readonly inRange?: true;
}

export function isText(type: string): boolean {
  return type === 'VARCHAR';
}

export function isInteger(type: string): boolean {
  return /^U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?$/.test(type);
}

export function isFloat(type: string): boolean {
  return type === 'DOUBLE' || type === 'FLOAT';
}
