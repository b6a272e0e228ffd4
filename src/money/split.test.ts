import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { roundLargestRemainder } from './split.ts';
import { divideRounded } from './usd.ts';

const amount = fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n });
const sum = (amounts: readonly bigint[]) => amounts.reduce((total, each) => total + each, 0n);

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

  it('adds up to a total that was itself rounded as a part of a greater one, two levels deep', () => {
    fc.assert(
      fc.property(fc.array(fc.array(amount, { minLength: 1, maxLength: 8 }), { maxLength: 8 }), (groups) => {
        const unit = 10_000n;
        const totals = roundLargestRemainder(groups.map(sum), unit);
        expect(sum(totals)).toBe(divideRounded(sum(groups.flat()), unit) * unit);
        for (const [index, group] of groups.entries()) {
          const shown = roundLargestRemainder(group, unit, totals[index]);
          expect(sum(shown)).toBe(totals[index]);
          for (const [place, part] of shown.entries()) {
            const off = part - (group[place] ?? 0n);
            expect(off < unit && off > -unit).toBe(true);
          }
        }
      }),
    );
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
