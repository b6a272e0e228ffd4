import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { divideRounded } from '../../money/usd.ts';
import { cut, scaled } from './whole-number.ts';

const amount = fc.maxSafeInteger();
/** Small enough that the quotient is a safe integer too. */
const part = fc.integer({ min: 0, max: 100_000_000 });
const whole = fc.integer({ min: 1, max: 100_000_000 });
const fits = (total: number, times: number, over: number) => Math.abs(total) * (times / over) < 2 ** 52;

describe('whole micros', () => {
  it('are cut as bigints would be, however large the product', () => {
    fc.assert(
      fc.property(amount, part, whole, (total, times, over) => {
        fc.pre(fits(total, times, over));
        expect(cut(total, times, over)).toBe(Number((BigInt(total) * BigInt(times)) / BigInt(over)));
      }),
    );
  });

  it('are rounded half away from zero, however large the product', () => {
    fc.assert(
      fc.property(amount, part, whole, (total, times, over) => {
        fc.pre(fits(total, times, over));
        const want = Number(divideRounded(BigInt(total) * BigInt(times), BigInt(over)));
        expect(scaled(total, times, over)).toBe(want);
      }),
    );
  });

  it.each([
    ['a quotient just below a whole number stays below it', cut(9_007_199_254_740_990, 1, 9_007_199_254_740_991), 0],
    ['half is rounded up', scaled(5, 1, 2), 3],
    ['and down below zero', scaled(-5, 1, 2), -3],
    ['nothing stays nothing', scaled(-1, 0, 2), 0],
  ])('%s', (_, got, want) => {
    expect(got).toBe(want);
  });
});
