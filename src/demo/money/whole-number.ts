import { divideRounded } from '../../money/usd.ts';

/**
 * Arithmetic on whole micros that is exact whatever the size: as long as a product is a safe integer the quotient of
 * two doubles, cut or rounded, is the right one; beyond it the long way is taken.
 */

/** `total · part ÷ whole`, cut toward zero. Differences of it at growing parts split a total without a rest. */
export function cut(total: number, part: number, whole: number): number {
  const product = total * part;
  if (Math.abs(product) <= Number.MAX_SAFE_INTEGER) return Math.trunc(product / whole) + 0;
  return Number((BigInt(total) * BigInt(part)) / BigInt(whole));
}

/** `amount · times ÷ over`, rounded half away from zero. */
export function scaled(amount: number, times: number, over: number): number {
  const twice = 2 * Math.abs(amount * times) + over;
  if (twice > Number.MAX_SAFE_INTEGER) return Number(divideRounded(BigInt(amount) * BigInt(times), BigInt(over)));
  const magnitude = Math.trunc(twice / (2 * over));
  return amount < 0 ? -magnitude + 0 : magnitude;
}
