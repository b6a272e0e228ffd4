import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { roundLargestRemainder, splitExact } from './split.ts';
import { divideRounded } from './usd.ts';

const amount = fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n });
const weights = fc.array(fc.bigInt({ min: 0n, max: 10n ** 9n }), { minLength: 1, maxLength: 40 });
const sum = (amounts: readonly bigint[]) => amounts.reduce((total, each) => total + each, 0n);

describe('splitting exactly', () => {
  const cases: Record<string, { total: bigint; weights: bigint[]; want: bigint[] }> = {
    'by weight': { total: 100n, weights: [1n, 3n], want: [25n, 75n] },
    'the micro that is left goes where the running sum turns': {
      total: 10n,
      weights: [1n, 1n, 1n],
      want: [3n, 3n, 4n],
    },
    'a credit is split like a charge': { total: -10n, weights: [1n, 1n, 1n], want: [-3n, -3n, -4n] },
    'a weight of zero gets nothing': { total: 7n, weights: [0n, 2n, 0n], want: [0n, 7n, 0n] },
    'no weights at all: even': { total: 7n, weights: [0n, 0n], want: [3n, 4n] },
    'nothing over nobody': { total: 0n, weights: [], want: [] },
  };
  it.each(Object.entries(cases))('%s', (_, { total, weights: given, want }) => {
    expect(splitExact(total, given)).toEqual(want);
  });

  it('refuses to lose money', () => {
    expect(() => splitExact(1n, [])).toThrow('over nobody');
    expect(() => splitExact(1n, [2n, -1n])).toThrow('negative weight');
  });

  it('adds up, keeps the sign and is less than one micro from the exact part', () => {
    fc.assert(
      fc.property(amount, weights, (total, given) => {
        const parts = splitExact(total, given);
        expect(sum(parts)).toBe(total);
        const whole = sum(given);
        for (const [index, part] of parts.entries()) {
          expect(total >= 0n ? part >= 0n : part <= 0n).toBe(true);
          if (whole === 0n) continue;
          const offTimesWhole = part * whole - total * (given[index] ?? 0n);
          expect(offTimesWhole < whole && offTimesWhole > -whole).toBe(true);
        }
      }),
    );
  });
});

describe('rounding parts that are shown', () => {
  const cases: Record<string, { parts: bigint[]; unit: bigint; want: bigint[] }> = {
    'the largest remainder is rounded up': { parts: [14n, 17n, 19n], unit: 10n, want: [10n, 20n, 20n] },
    'three thirds make a whole': { parts: [333n, 333n, 334n], unit: 100n, want: [300n, 300n, 400n] },
    'of equals the first': { parts: [5n, 5n], unit: 10n, want: [10n, 0n] },
    'a credit among charges': { parts: [96n, -3n], unit: 10n, want: [90n, 0n] },
    'whole units stay': { parts: [10n, 0n, -20n], unit: 10n, want: [10n, 0n, -20n] },
    'nothing to show': { parts: [], unit: 10n, want: [] },
  };
  it.each(Object.entries(cases))('%s', (_, { parts, unit, want }) => {
    expect(roundLargestRemainder(parts, unit)).toEqual(want);
  });

  it('refuses a unit that is none', () => {
    expect(() => roundLargestRemainder([1n], 0n)).toThrow(RangeError);
  });

  it('adds up to the rounded total, each part less than a unit from its amount', () => {
    fc.assert(
      fc.property(fc.array(amount, { maxLength: 40 }), fc.bigInt({ min: 1n, max: 10n ** 7n }), (parts, unit) => {
        const shown = roundLargestRemainder(parts, unit);
        expect(sum(shown)).toBe(divideRounded(sum(parts), unit) * unit);
        for (const [index, part] of shown.entries()) {
          const off = part - (parts[index] ?? 0n);
          expect(part % unit).toBe(0n);
          expect(off < unit && off > -unit).toBe(true);
        }
      }),
    );
  });
});
