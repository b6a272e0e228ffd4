import { EPOCH_UNITS_PER_SECOND } from '../../facts/column.ts';
import { OperationError } from '../../facts/operation-error.ts';
import type { Cell, ParsedColumn } from './parsed-column.ts';
import { isFloat, isInteger, isText } from './parsed-column.ts';
import { literal } from './sql-text.ts';

export interface TimeOptions {
  /** Where clocks without an offset stand. */
  readonly zone?: string;
  /** strptime pattern for dates that are not ISO 8601. */
  readonly dateFormat?: string;
  /** Times without offset are UTC by the table's own contract (FOCUS). */
  readonly utcByContract: boolean;
}

/** A clock that was never set says 1970, and one such row would make a ledger of twenty thousand days. */
const FIRST = `TIMESTAMP '2000-01-01 00:00:00'`;
const LAST = `TIMESTAMP '2100-01-01 00:00:00'`;
/** The zone at the end of a text; only after a clock, or the day of `2026-10-01` would be one. */
const ZONE_PATTERN = String.raw`:\d{2}(?:[.,]\d+)?\s*([zZ]|UTC|GMT|[+-]\d{2}(?::?\d{2})?)$`;
const NUMBER_PATTERN = String.raw`^[+]?\d+(\.\d*)?([eE][+]?\d+)?$`;
/** The specification of FOCUS itself has `2023-02-01T30:00:00Z`. */
const LATE_HOUR_PATTERN = String.raw`^(\d{4}-\d{2}-\d{2})[T ](2[4-9]|3\d|4[0-7])(:\d{2}(?::\d{2})?)`;
/** Bare numbers that can only be meant in one way: from 2001 to 5138, with a gap of ten between the units. */
const GUESSED_UNITS = [
  { unit: 's', from: 1e9, until: 1e11 },
  { unit: 'ms', from: 1e12, until: 1e14 },
  { unit: 'us', from: 1e15, until: 1e17 },
  { unit: 'ns', from: 1e18, until: 9e18 },
] as const;

/** An unknown zone is said before any row is read. */
export function checkZone(zone: string): void {
  try {
    Intl.DateTimeFormat('en', { timeZone: zone });
  } catch (error) {
    throw new OperationError('unknown-zone', `--zone ${zone} is not a time zone`, {
      hint: 'Use a name like Europe/Berlin or UTC.',
      cause: error,
    });
  }
}

/** Reads a time as UTC, cut to whole seconds. */
export function parseTime(cell: Cell, unit: string | undefined, options: TimeOptions): ParsedColumn {
  const { ref, type } = cell;
  if (type.startsWith('TIMESTAMP WITH TIME ZONE')) return typedTime(cell, `timezone('UTC', ${ref})`);
  if (type.startsWith('TIMESTAMP') || type === 'DATE') {
    // A typed time without zone is UTC, as the lake itself writes it, unless the person knows better.
    return typedTime(cell, inZone(`CAST(${ref} AS TIMESTAMP)`, options.zone));
  }
  if (isText(type)) return textTime(ref, unit, options);
  if (isInteger(type) || isFloat(type) || type.startsWith('DECIMAL')) return numberTime(ref, unit);
  return textTime(`CAST(${ref} AS VARCHAR)`, unit, options);
}

function typedTime(cell: Cell, sql: string): ParsedColumn {
  const value = `date_trunc('second', ${sql})`;
  if (isPlausible(cell)) return { helpers: [], value, known: true };
  return { helpers: [], value, problem: implausible(cell.ref, value) };
}

function isPlausible({ type, stats }: Cell): boolean {
  return type === 'TIMESTAMP' && stats?.nulls === 0 && stats.min >= '2001' && stats.max < '2099';
}

function implausible(ref: string, value: string): string {
  return `CASE WHEN ${ref} IS NOT NULL AND NOT COALESCE(${value} >= ${FIRST} AND ${value} < ${LAST}, false)
    THEN 'is not a time between 2000 and 2100' END`;
}

function inZone(local: string, zone: string | undefined): string {
  return zone === undefined ? local : `timezone('UTC', timezone(${literal(zone)}, ${local}))`;
}

/** Whole seconds of a whole number since 1970; NULL where the unit is neither said nor plain. */
function epochSeconds(whole: string, unit: string | undefined): string {
  if (unit !== undefined) return `${whole} // ${EPOCH_UNITS_PER_SECOND[unit] ?? 1}`;
  const guesses = GUESSED_UNITS.map(
    ({ unit: guess, from, until }) =>
      `WHEN ${whole} >= ${BigInt(from)} AND ${whole} < ${BigInt(until)} THEN ${whole} // ${EPOCH_UNITS_PER_SECOND[guess]}`,
  );
  return `CASE ${guesses.join(' ')} END`;
}

/** The whole part of a number in a text; one with an exponent takes the slow way. */
function wholeOf(input: string): string {
  return `CASE WHEN contains(lower(${input}), 'e') THEN TRY_CAST(floor(TRY_CAST(${input} AS DECIMAL(38,9))) AS BIGINT)
    ELSE TRY_CAST(split_part(${input}, '.', 1) AS BIGINT) END`;
}

const SECONDS_MIN = 946_684_800; // 2000-01-01
const SECONDS_MAX = 4_102_444_800; // 2100-01-01

function fromSeconds(seconds: string): string {
  return `CASE WHEN ${seconds} >= ${SECONDS_MIN} AND ${seconds} < ${SECONDS_MAX} THEN make_timestamp(${seconds} * 1000000) END`;
}

function numberTime(ref: string, unit: string | undefined): ParsedColumn {
  const seconds = `${ref}_s`;
  const value = fromSeconds(seconds);
  return {
    helpers: [[seconds, epochSeconds(`TRY_CAST(floor(${ref}) AS BIGINT)`, unit)]],
    value,
    problem: `CASE WHEN ${ref} IS NOT NULL AND ${value} IS NULL THEN ${numberReason(unit)} END`,
  };
}

function numberReason(unit: string | undefined): string {
  return unit === undefined
    ? `'is a number: say its unit with --map, :s, :ms, :us or :ns'`
    : `'is not a time between 2000 and 2100 in ${unit}'`;
}

/** `2026-10-01T09:00:00Z`, the same without its zone where that is known, and numbers: what nearly every file has. */
function quickTime(input: string, unit: string | undefined, zoneless: ((local: string) => string) | undefined): string {
  const clock = `substr(${input}, 17, 1) = ':' AND substr(${input}, 12, 2) < '24'`;
  const local = `TRY_CAST(${input} AS TIMESTAMP)`;
  const bare = zoneless === undefined ? '' : `WHEN length(${input}) = 19 AND ${clock} THEN ${zoneless(local)}`;
  return `CASE WHEN length(${input}) = 20 AND suffix(${input}, 'Z') AND ${clock} THEN ${local}
    ${bare}
    WHEN ${isNumber(input)} THEN ${fromSeconds(epochSeconds(wholeOf(input), unit))} END`;
}

function isNumber(input: string): string {
  return `regexp_full_match(${input}, ${literal(NUMBER_PATTERN)})`;
}

function textTime(input: string, unit: string | undefined, options: TimeOptions): ParsedColumn {
  const name = input.replaceAll(/\W+/g, '_');
  const [quick, zone, local, late, own] = [
    `${name}_quick`,
    `${name}_zone`,
    `${name}_local`,
    `${name}_late`,
    `${name}_own`,
  ];
  const zoneText = `CASE WHEN suffix(${input}, 'Z') THEN 'Z' ELSE regexp_extract(${input}, ${literal(ZONE_PATTERN)}, 1) END`;
  const stripped = `rtrim(left(${input}, length(${input}) - length(${zoneText})))`;
  const isLate = `regexp_matches(${input}, ${literal(LATE_HOUR_PATTERN)})`;
  const part = (index: number): string => `regexp_extract(${input}, ${literal(LATE_HOUR_PATTERN)}, ${index})`;
  const earlier = `${part(1)} || ' ' || CAST(CAST(${part(2)} AS INTEGER) - 24 AS VARCHAR) || ${part(3)}`;
  const moment = `CASE WHEN ${late} THEN ${local} + INTERVAL 1 DAY ELSE ${local} END`;
  const zoneless = zonelessRule(options);
  const unlessQuick = (sql: string): string => `CASE WHEN ${quick} IS NULL THEN ${sql} END`;
  const value = `CASE WHEN ${quick} IS NOT NULL THEN ${quick} ELSE date_trunc('second', CASE
    WHEN ${own} IS NOT NULL THEN ${own}
    WHEN ${local} IS NULL OR NOT isfinite(${local}) THEN NULL
    WHEN ${zone} <> '' THEN ${moment} - ${offsetOf(zone)}
    ELSE ${zoneless?.(moment) ?? 'NULL'} END) END`;
  return {
    quick: [quick, quickTime(input, unit, zoneless)],
    helpers: [
      [zone, unlessQuick(zoneText)],
      [late, `COALESCE(${unlessQuick(isLate)}, false)`],
      [
        local,
        unlessQuick(
          `CASE WHEN ${isLate} THEN TRY_CAST(${earlier} AS TIMESTAMP) ELSE TRY_CAST(${stripped} AS TIMESTAMP) END`,
        ),
      ],
      [own, unlessQuick(dateFormatSql(input, options) ?? 'CAST(NULL AS TIMESTAMP)')],
    ],
    value,
    problem: `CASE WHEN ${input} IS NULL OR (${value} >= ${FIRST} AND ${value} < ${LAST}) THEN NULL
      WHEN ${value} IS NOT NULL AND regexp_matches(${input}, '^\\d{4}-') THEN 'is not a time between 2000 and 2100'
      WHEN ${isNumber(input)} THEN ${numberReason(unit)}
      WHEN ${zoneless === undefined} AND (${withoutZone(input, local, zone, options)})
        THEN 'is a time without a zone: say where the clock stood with --zone, e.g. --zone Europe/Berlin or --zone UTC'
      ELSE ${literal(unreadableReason(options))} END`,
    carried: `COALESCE(${late} AND ${local} IS NOT NULL AND ${own} IS NULL, false)`,
  };
}

/** How a clock without a zone is read; undefined where nobody said. */
function zonelessRule({ zone, utcByContract }: TimeOptions): ((local: string) => string) | undefined {
  if (zone !== undefined) return (local) => inZone(local, zone);
  return utcByContract ? (local) => local : undefined;
}

/** `+05:30`, `-0800` or `+02` as an interval; the zones that are letters are UTC. */
function offsetOf(zone: string): string {
  return `CASE WHEN left(${zone}, 1) IN ('+', '-') THEN
    CAST(left(${zone}, 3) AS INTEGER) * INTERVAL 1 HOUR
    + CAST(left(${zone}, 1) || COALESCE(nullif(substr(replace(${zone}, ':', ''), 4), ''), '0') AS INTEGER) * INTERVAL 1 MINUTE
    ELSE INTERVAL 0 HOUR END`;
}

/** A text that would be a time if only its zone were known. */
function withoutZone(input: string, local: string, zone: string, { dateFormat }: TimeOptions): string {
  const iso = `isfinite(${local}) AND ${zone} = ''`;
  return dateFormat === undefined ? iso : `${iso} OR try_strptime(${input}, ${literal(dateFormat)}) IS NOT NULL`;
}

function unreadableReason({ dateFormat }: TimeOptions): string {
  return dateFormat === undefined
    ? 'is not a time like 2026-10-01T09:00:00Z; say how it is written with --date-format, e.g. %m/%d/%y'
    : `is not a time like ${dateFormat}`;
}

/** The time as `--date-format` reads it; a format without `%z` follows the same rule of zones as any other text. */
function dateFormatSql(input: string, options: TimeOptions): string | undefined {
  if (options.dateFormat === undefined) return undefined;
  const parsed = `try_strptime(${input}, ${literal(options.dateFormat)})`;
  if (options.dateFormat.includes('%z')) return `timezone('UTC', ${parsed})`;
  return zonelessRule(options)?.(parsed);
}
