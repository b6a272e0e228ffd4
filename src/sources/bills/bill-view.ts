import { chargeTable } from '../../facts/charge.ts';
import { plainName } from '../../facts/nearest-name.ts';
import type { SourceColumn } from '../files/match-columns.ts';
import type { OpenFile } from '../files/read-file.ts';
import { identifier } from '../values/sql-text.ts';

/** What a bill is, by its columns: its file with FOCUS names for what they mean. */
export interface BillView {
  /** For people: `AWS CUR 2.0`, `FOCUS 1.2`. */
  readonly format: string;
  /** `actual` and `amortised` exports of one month are two views of the same money. */
  readonly basis?: 'actual' | 'amortised';
  readonly file: OpenFile;
  /** What was assumed on the way, to be said aloud. */
  readonly notes: readonly string[];
  /** Columns of the file that were read, by their own names. */
  readonly used: ReadonlySet<string>;
}

/** The columns of a file, asked by any spelling: `lineItem/UnblendedCost` is `line_item_unblended_cost`. */
export interface BillColumns {
  has(name: string): boolean;
  /** The engine's type; undefined where the file has no such column. */
  typeOf(name: string): string | undefined;
  /** The value as it is; NULL where the file has no such column. */
  raw(name: string): string;
  /** The value as text without the space around it; NULL where it is blank. */
  text(name: string): string;
  /** The first of these that has a value. */
  firstOf(...names: readonly string[]): string;
  readonly used: ReadonlySet<string>;
  readonly all: readonly SourceColumn[];
}

export function billColumns(columns: readonly SourceColumn[]): BillColumns {
  const byName = new Map<string, SourceColumn>();
  for (const column of columns) {
    const plain = plainName(column.name);
    if (!byName.has(plain)) byName.set(plain, column);
  }
  const used = new Set<string>();
  const raw = (name: string): string => {
    const column = byName.get(plainName(name));
    if (column === undefined) return 'CAST(NULL AS VARCHAR)';
    used.add(column.name);
    return identifier(column.name);
  };
  const text = (name: string): string => {
    const type = byName.get(plainName(name))?.type;
    const value = raw(name);
    if (type === undefined) return value;
    return type === 'VARCHAR' ? `nullif(trim(${value}), '')` : `CAST(${value} AS VARCHAR)`;
  };
  return {
    has: (name) => byName.has(plainName(name)),
    typeOf: (name) => byName.get(plainName(name))?.type,
    raw,
    text,
    firstOf: (...names) => {
      const there = names.filter((name) => byName.has(plainName(name))).map(text);
      if (there.length <= 1) return there[0] ?? 'CAST(NULL AS VARCHAR)';
      return `COALESCE(${there.join(', ')})`;
    },
    used,
    all: columns,
  };
}

/** A column a converter gives: its FOCUS name, its SQL, and its type where it is not text. */
export type GivenColumn = readonly [name: string, sql: string, type?: string];

/** Names by which the charge table would take a column of the file for its own. */
const OWN_NAMES = new Set(
  chargeTable.columns
    .flatMap(({ name, alsoKnownAs = [] }) => [name, ...alsoKnownAs.map((other) => other.name)])
    .map(plainName),
);

/**
 * The file seen through its converter: the columns it gives, and the file's own beside them for `--map`. A column of the file
 * that only shares a name with ours (`provider` of an Azure export is a line of business) is not taken for it.
 */
export function viewOf(file: OpenFile, given: readonly GivenColumn[]): OpenFile {
  const taken = new Set(given.map(([name]) => name.toLowerCase()));
  const others = file.columns.filter(({ name }) => !taken.has(name.toLowerCase()) && !OWN_NAMES.has(plainName(name)));
  const select = [
    ...given.map(([name, sql]) => `${sql} AS ${identifier(name)}`),
    ...others.map(({ name }) => identifier(name)),
    ...(file.format === 'parquet' ? ['file_row_number'] : []),
  ];
  return {
    ...file,
    columns: [
      ...given.map(([name, , type = 'VARCHAR']) => ({ name, type })),
      ...others.map(({ name, type }) => ({ name, type })),
    ],
    from: `(SELECT ${select.join(', ')} FROM ${file.from})`,
  };
}
