import type { Column } from '../../facts/column.ts';
import { BLANK_SENSOR } from '../../facts/incoming.ts';
import type { Cell, ParsedColumn } from './parsed-column.ts';
import { isFloat, isInteger, isText } from './parsed-column.ts';
import { literal, noneOf } from './sql-text.ts';

/** Beyond this nothing in a fleet is counted, and the product with any unit still fits 38 digits. */
const MAGNITUDE_MAX = 1_000_000_000_000_000n;
const NUMBER_PATTERN = String.raw`[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?`;
/** Words exporters and drivers write where there is no value. */
const BLANK_WORDS = ['nan', 'inf', '+inf', '-inf', '[n/a]', '[not supported]', '[unknown error]', 'unknown', '-'];
const EXCESS_DECIMALS_MAX = 18;

/**
 * DCGM's blanks: 0x7FFFFFF0 and up in 32 bits, 2⁴⁷ and up as a float, near 2⁶³ in 64 bits.
 * They are told apart before units are applied, while they can still be recognised.
 */
function isBlank(number: string): string {
  return `(${number} BETWEEN 2147483632 AND 2147483647 OR ${number} >= 140737488355328)`;
}

/** Reads a whole number in the column's unit, rounding half away from zero. */
export function parseInteger(cell: Cell, column: Column, unit: string | undefined): ParsedColumn {
  const factor = column.unit?.from[unit ?? column.unit.name] ?? ([1, 1] as const);
  if (isInteger(cell.type)) return wholeNumber(cell, column, factor);
  if (isFloat(cell.type)) return floatNumber(cell, column, factor);
  return exactNumber(cell, column, factor);
}

type Factor = readonly [numerator: number, denominator: number];

function wholeNumber(cell: Cell, column: Column, factor: Factor): ParsedColumn {
  const { ref, stats } = cell;
  const range = column.knownRange;
  const identity = factor[0] === 1 && factor[1] === 1;
  const inRange =
    identity &&
    range !== undefined &&
    stats !== undefined &&
    Number(stats.min) >= range[0] &&
    Number(stats.max) <= range[1];
  if (inRange) return { helpers: [], value: ref, inRange: true, ...(stats.nulls === 0 && { known: true }) };
  if (identity && range !== undefined) {
    const value = `CASE WHEN ${ref} IS NULL THEN NULL WHEN ${isBlank(ref)} THEN ${BLANK_SENSOR}
      ELSE COALESCE(TRY_CAST(${ref} AS BIGINT), ${BLANK_SENSOR}) END`;
    return { helpers: [], value };
  }
  return exactNumber(cell, column, factor);
}

/** Only sensors send floats; a double carries more digits than their integers can hold. */
function floatNumber(cell: Cell, column: Column, [numerator, denominator]: Factor): ParsedColumn {
  if (column.knownRange === undefined) return exactNumber(cell, column, [numerator, denominator]);
  const { ref } = cell;
  const scaled = denominator === 1 ? `${ref} * ${numerator}` : `${ref} * ${numerator} / ${denominator}`;
  return {
    helpers: [],
    value: `CASE WHEN ${ref} IS NULL OR NOT isfinite(${ref}) THEN NULL
      WHEN ${isBlank(ref)} OR abs(${ref}) >= ${MAGNITUDE_MAX} THEN ${BLANK_SENSOR}
      ELSE COALESCE(TRY_CAST(round(${scaled}) AS BIGINT), ${BLANK_SENSOR}) END`,
  };
}

/**
 * Text and decimals are multiplied and divided as whole numbers. Denominators are even, so half a unit is a whole number
 * and what lies behind the point cannot change the rounding.
 */
function exactNumber(cell: Cell, column: Column, factor: Factor): ParsedColumn {
  return column.knownRange === undefined ? exactCount(cell, column, factor) : exactReading(cell, factor);
}

function exactCount({ ref }: Cell, column: Column, factor: Factor): ParsedColumn {
  const number = `${ref}_n`;
  const isCount = column.unit === undefined;
  return {
    helpers: [[number, exactDecimal(ref, factor)]],
    value: converted(number, factor),
    problem: `CASE WHEN ${ref} IS NULL THEN NULL
      WHEN ${number} IS NULL AND regexp_full_match(CAST(${ref} AS VARCHAR), ${literal(NUMBER_PATTERN)}) THEN 'is too large'
      WHEN ${number} IS NULL THEN 'is not a number'
      WHEN ${number} < 0 THEN 'is negative'
      WHEN ${isCount} AND ${number} <> floor(${number}) THEN 'is not a whole number' END`,
  };
}

/** Of a sensor: a blank is no value, a word for "nothing" neither, any other word is a problem. */
function exactReading({ ref, type }: Cell, factor: Factor): ParsedColumn {
  const quick = `${ref}_quick`;
  const number = exactDecimal(ref, factor);
  const isNumber = `regexp_full_match(${ref}, ${literal(NUMBER_PATTERN)})`;
  const exact = `CASE WHEN ${ref} IS NULL THEN NULL
    WHEN ${number} IS NULL THEN ${isText(type) ? `CASE WHEN ${isNumber} THEN ${BLANK_SENSOR} END` : BLANK_SENSOR}
    WHEN ${isBlank(number)} THEN ${BLANK_SENSOR} ELSE COALESCE(${converted(number, factor)}, ${BLANK_SENSOR}) END`;
  if (!isText(type)) return { helpers: [], value: exact };
  return {
    quick: [quick, quickReading(ref, factor)],
    helpers: [],
    value: `CASE WHEN ${quick} IS NOT NULL THEN ${quick} ELSE ${exact} END`,
    problem: `CASE WHEN ${quick} IS NULL AND ${ref} IS NOT NULL AND ${noneOf(`lower(${ref})`, BLANK_WORDS)} AND NOT ${isNumber}
      THEN 'is not a number' END`,
  };
}

/** Short plain numbers in 64 bits, exactly; NULL for whatever needs a closer look. */
function quickReading(ref: string, [numerator, denominator]: Factor): string {
  if (numerator === 1 && denominator === 1) {
    return `CASE WHEN TRY_CAST(${ref} AS INTEGER) BETWEEN 0 AND 2147483631 THEN TRY_CAST(${ref} AS BIGINT) END`;
  }
  if (denominator === 1 && numerator < 100_000) {
    // Eight characters hold at most seven decimals.
    const number = `TRY_CAST(${ref} AS DECIMAL(12,7))`;
    return `CASE WHEN length(${ref}) <= 8 AND ${number} >= 0
      THEN CAST(round(${number} * CAST(${numerator} AS DECIMAL(5,0)), 0) AS BIGINT) END`;
  }
  const whole = `TRY_CAST(split_part(${ref}, '.', 1) AS BIGINT)`;
  const isPlain = `length(${ref}) <= 14 AND NOT contains(lower(${ref}), 'e') AND ${whole} >= 0 AND NOT ${isBlank(whole)}`;
  return numerator === 1 ? `CASE WHEN ${isPlain} THEN (${whole} + ${denominator / 2}) // ${denominator} END` : 'NULL';
}

function converted(number: string, [numerator, denominator]: Factor): string {
  const product = `abs(${number}) * CAST(${numerator} AS DECIMAL(10,0))`;
  const magnitude =
    denominator === 1
      ? `round(${product}, 0)`
      : `(CAST(floor(${product}) AS HUGEINT) + ${denominator / 2}) // ${denominator}`;
  return `TRY_CAST(CASE WHEN ${number} < 0 THEN -(${magnitude}) ELSE ${magnitude} END AS BIGINT)`;
}

/**
 * A number below 10¹⁵ as DECIMAL(28,13), by way of 64 bits: text to a 128-bit decimal takes the engine 45 µs a value, a
 * hundred times as long. Values too large for all 13 decimals keep three.
 */
function exactDecimal(ref: string, [numerator, denominator]: Factor): string {
  const narrow = (scale: number): string => `CAST(TRY_CAST(${ref} AS DECIMAL(18,${scale})) AS DECIMAL(28,13))`;
  return numerator > denominator ? `COALESCE(${narrow(13)}, ${narrow(3)})` : narrow(3);
}

/**
 * Reads an amount to DECIMAL(38,18) through its decimal text, so that no float touches money: a DOUBLE enters as the
 * shortest text that means it. What does not fit exactly is refused, never rounded.
 */
export function parseDecimal(cell: Cell): ParsedColumn {
  const text = isText(cell.type) ? cell.ref : `CAST(${cell.ref} AS VARCHAR)`;
  const ref = isText(cell.type) ? cell.ref : `${cell.ref}_text`;
  const quick = `${cell.ref}_quick`;
  const amount = `${cell.ref}_amount`;
  const isNumber = `regexp_full_match(${ref}, ${literal(NUMBER_PATTERN)})`;
  return {
    quick: [quick, quickAmount(cell)],
    helpers: [
      ...(isText(cell.type) ? [] : [[ref, `CASE WHEN ${quick} IS NULL THEN ${text} END`] as const]),
      [
        amount,
        `CASE WHEN ${quick} IS NOT NULL THEN CAST(${quick} AS DECIMAL(38,18)) WHEN ${cell.ref} IS NOT NULL THEN ${amountSql(text)} END`,
      ],
    ],
    value: amount,
    problem: `CASE WHEN ${quick} IS NOT NULL OR ${ref} IS NULL THEN NULL
      WHEN ${amount} IS NOT NULL AND length(${ref}) <= ${EXCESS_DECIMALS_MAX} AND NOT contains(lower(${ref}), 'e')
        AND NOT contains(${ref}, '_') THEN NULL
      WHEN NOT ${isNumber} THEN
        CASE WHEN regexp_matches(${ref}, '[$€£¥,]')
          THEN 'has a currency sign or a thousands separator: export it as a plain number like 10000.00'
          ELSE 'is not a number' END
      WHEN ${amount} IS NULL THEN 'is too large'
      WHEN ${decimalsOf(ref)} > ${EXCESS_DECIMALS_MAX} THEN 'has more than ${EXCESS_DECIMALS_MAX} decimals' END`,
  };
}

/**
 * Most amounts, exactly and without a text; NULL for whatever needs a closer look.
 *
 * A decimal of at most 15 digits that reads back as the same double is the shortest text of it: no two such decimals are one double.
 * Of a text, up to six digits before the point and twelve behind it fit 64 bits as they are.
 */
function quickAmount({ ref, type }: Cell): string {
  if (type === 'DOUBLE') {
    const narrow = `TRY_CAST(${ref} AS DECIMAL(15,12))`;
    return `CASE WHEN CAST(${narrow} AS DOUBLE) = ${ref} THEN ${narrow} END`;
  }
  if (isExactType(type)) return `TRY_CAST(${ref} AS DECIMAL(38,18))`;
  if (!isText(type)) return 'CAST(NULL AS DECIMAL(18,12))';
  return `CASE WHEN length(${ref}) <= 18 AND length(${ref}) - strpos(${ref}, '.') <= 12 AND NOT contains(${ref}, 'e')
    AND NOT contains(${ref}, 'E') AND NOT contains(${ref}, '_') THEN TRY_CAST(${ref} AS DECIMAL(18,12)) END`;
}

/** Whole numbers, and decimals that have no more behind the point than an amount can keep. */
function isExactType(type: string): boolean {
  const scale = /^DECIMAL\(\d+,\s*(\d+)\)$/.exec(type)?.[1];
  return isInteger(type) || (scale !== undefined && Number(scale) <= EXCESS_DECIMALS_MAX);
}

/**
 * A decimal text as DECIMAL(38,18), put together from whole and fraction in 64 bits each where it fits: the engine's own way is a
 * hundred times slower. The second form is how the engine writes small floats.
 */
function amountSql(text: string): string {
  const sign = `CASE WHEN prefix(${text}, '-') THEN -1 ELSE 1 END`;
  const fraction = (digits: string): string => `CAST(TRY_CAST('0.' || ${digits} AS DECIMAL(18,18)) AS DECIMAL(38,18))`;
  const whole = `CAST(TRY_CAST(ltrim(split_part(${text}, '.', 1), '+-') AS BIGINT) AS DECIMAL(38,18))`;
  const mantissa = `replace(regexp_extract(${text}, '^[+-]?([0-9.]+)', 1), '.', '')`;
  const zeros = `repeat('0', CAST(regexp_extract(${text}, '([0-9]+)$', 1) AS INTEGER) - 1)`;
  return `CASE
    WHEN regexp_full_match(${text}, '[+-]?[0-9]{1,18}([.][0-9]{1,18})?')
      THEN (${whole} + ${fraction(`COALESCE(nullif(split_part(${text}, '.', 2), ''), '0')`)}) * ${sign}
    WHEN regexp_full_match(${text}, '[+-]?[0-9]([.][0-9]{1,17})?[eE]-(0[1-9]|1[0-9])')
      THEN ${fraction(`${zeros} || ${mantissa}`)} * ${sign}
    ELSE TRY_CAST(${text} AS DECIMAL(38,18)) END`;
}

/** Decimals that are not trailing zeros, exponent included; 0 for a zero however it is written. */
function decimalsOf(ref: string): string {
  const mantissa = `regexp_extract(${ref}, '^[+-]?([0-9.]*)', 1)`;
  const digits = `replace(${mantissa}, '.', '')`;
  const fraction = `length(CASE WHEN contains(${mantissa}, '.') THEN split_part(${mantissa}, '.', 2) ELSE '' END)`;
  const exponent = `COALESCE(TRY_CAST(nullif(regexp_extract(${ref}, '[eE]([+-]?[0-9]+)$', 1), '') AS INTEGER), 0)`;
  const trailingZeros = `(length(${digits}) - length(rtrim(${digits}, '0')))`;
  return `(CASE WHEN rtrim(${digits}, '0') = '' THEN 0 ELSE ${fraction} - ${trailingZeros} - ${exponent} END)`;
}
