const QUANTITY = /^([+-]?)(\d*)(?:\.(\d*))?(?:([numkKMGTPE]i?)|[eE]([+-]?\d{1,2}))?$/;
const CHARS_MAX = 64;

const POWER_OF_TEN: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const POWER_OF_1024: Readonly<Record<string, bigint>> = { Ki: 1n, Mi: 2n, Gi: 3n, Ti: 4n, Pi: 5n, Ei: 6n };

/**
 * How much is `1500m`, `64Gi`, `2e3`? In `perUnit`ths of a unit, rounded up as Kubernetes does; undefined if that is no quantity.
 *
 * Negative quantities are none: nothing can be asked for less than not at all.
 */
export function quantity(value: unknown, perUnit = 1n): bigint | undefined {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string' || text.length > CHARS_MAX) return undefined;
  const match = QUANTITY.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = '', decimals = '', suffix = '', exponent] = match;
  if (sign === '-' || whole + decimals === '') return undefined;
  const binary = POWER_OF_1024[suffix];
  const ten = suffix === '' || binary !== undefined ? Number(exponent ?? 0) : POWER_OF_TEN[suffix];
  if (ten === undefined) return undefined;
  const power = BigInt(ten - decimals.length);
  const digits = BigInt(whole + decimals) * perUnit * (binary === undefined ? 1n : 1024n ** binary);
  if (power >= 0n) return digits * 10n ** power;
  const divisor = 10n ** -power;
  return (digits + divisor - 1n) / divisor;
}

/** A quantity as a plain number; undefined beyond what one can hold exactly. */
export function quantityNumber(value: unknown, perUnit = 1n): number | undefined {
  const exact = quantity(value, perUnit);
  return exact === undefined || exact > BigInt(Number.MAX_SAFE_INTEGER) ? undefined : Number(exact);
}
