/** Money is a whole number of micro-dollars: `bigint` here, `BIGINT` in SQL, a string in JSON. */
export const MICROS_PER_USD = 1_000_000n;

const MICROS_PER_CENT = 10_000n;
const DECIMAL_TEXT = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,4}))?$/;
/** Twice what a double can reach; beyond it a text is a mistake, and its power of ten would fill the memory. */
const EXPONENT_MAX = 640;
const MINUS = '\u2212';

/** Divides and rounds half away from zero, the only rounding money knows. */
export function divideRounded(numerator: bigint, denominator: bigint): bigint {
  if (denominator === 0n) throw new RangeError('division of an amount by zero');
  const magnitudeTwice = 2n * magnitude(numerator);
  const divisor = magnitude(denominator);
  const quotient = (magnitudeTwice + divisor) / (2n * divisor);
  return numerator < 0n === denominator < 0n ? quotient : -quotient;
}

/**
 * The amount a decimal text stands for, times ten to the power of `digits`; undefined if it is no decimal.
 *
 * Texts with an exponent count, because the shortest text of a float may have one. Group separators do not: `1,950`
 * is two different amounts in two countries.
 */
export function parseDecimal(text: string, digits: number): bigint | undefined {
  const match = DECIMAL_TEXT.exec(text.trim());
  if (match === null) return undefined;
  const [, sign = '', whole = '', fraction = '', exponentText = '0'] = match;
  const significant = whole + fraction;
  const exponent = Number(exponentText);
  if (significant === '' || Math.abs(exponent) > EXPONENT_MAX) return undefined;
  const unsigned = BigInt(significant);
  const amount = sign === '-' ? -unsigned : unsigned;
  const shift = digits + exponent - fraction.length;
  return shift >= 0 ? amount * 10n ** BigInt(shift) : divideRounded(amount, 10n ** BigInt(-shift));
}

/**
 * `$412,900`: an amount for screens, in whole dollars.
 *
 * `shownMicros` is what the amount was rounded to where parts must add up (`roundLargestRemainder`). Money that is
 * there is never shown as `$0`, however little it is.
 */
export function formatWholeUsd(micros: bigint, shownMicros: bigint = roundTo(micros, MICROS_PER_USD)): string {
  if (shownMicros === 0n && micros !== 0n) return `${signOf(micros)}<$1`;
  return `${signOf(shownMicros)}$${grouped(divideRounded(magnitude(shownMicros), MICROS_PER_USD))}`;
}

/** `$25.60`: for rates and small amounts. */
export function formatUsdCents(micros: bigint): string {
  const cents = divideRounded(micros, MICROS_PER_CENT);
  if (cents === 0n && micros !== 0n) return `${signOf(micros)}<$0.01`;
  return `${signOf(cents)}$${withFraction(magnitude(cents), 2)}`;
}

/** `$98.320000`: every micro, for the ledger's own pages. */
export function formatUsdMicros(micros: bigint): string {
  return `${signOf(micros)}$${withFraction(magnitude(micros), 6)}`;
}

function roundTo(micros: bigint, unit: bigint): bigint {
  return divideRounded(micros, unit) * unit;
}

function magnitude(amount: bigint): bigint {
  return amount < 0n ? -amount : amount;
}

function signOf(amount: bigint): string {
  return amount < 0n ? MINUS : '';
}

function withFraction(scaled: bigint, digits: number): string {
  const unit = 10n ** BigInt(digits);
  return `${grouped(scaled / unit)}.${String(scaled % unit).padStart(digits, '0')}`;
}

function grouped(whole: bigint): string {
  return String(whole).replace(/\B(?=(\d{3})+$)/g, ',');
}
