/** Decimals are bigints in units of 10⁻¹⁸, the precision of a bill's columns. */
export const ONE = 10n ** 18n;

export function decimal(text: string): bigint {
  const match = /^(-?)([0-9]+)(?:\.([0-9]{1,18}))?$/.exec(text);
  if (match === null) throw new Error(`not a decimal of at most 18 places: ${text}`);
  const size = BigInt(match[2] ?? '0') * ONE + BigInt((match[3] ?? '').padEnd(18, '0'));
  return match[1] === '-' ? -size : size;
}

/** `value ÷ divisor` to the nearest integer, halves away from zero. */
export function dividedAndRounded(value: bigint, divisor: bigint): bigint {
  const size = value < 0n ? -value : value;
  const rounded = (2n * size + divisor) / (2n * divisor);
  return value < 0n ? -rounded : rounded;
}

export interface SplitPart {
  readonly part: bigint;
  readonly before: bigint;
  readonly weight: bigint;
  readonly total: bigint;
}

/** The page's `split`: bigint division truncates toward zero, as asked. */
export function split(total: bigint, weights: readonly bigint[]): SplitPart[] {
  const stated = weights.reduce((sum, weight) => sum + weight, 0n);
  const used = stated === 0n ? weights.map(() => 1n) : weights;
  const whole = used.reduce((sum, weight) => sum + weight, 0n);
  let before = 0n;
  return used.map((weight) => {
    const part = (total * (before + weight)) / whole - (total * before) / whole;
    const row = { part, before, weight, total: whole };
    before += weight;
    return row;
  });
}
