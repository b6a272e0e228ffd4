import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { permilleShares } from './shares.ts';

const cases: Record<string, { weights: readonly number[]; want: readonly number[] }> = {
  'one takes all': { weights: [7], want: [1000] },
  'three alike: the first gets the one left over': { weights: [1, 1, 1], want: [334, 333, 333] },
  'nothing stays nothing': { weights: [1, 0], want: [1000, 0] },
  'the largest remainder is rounded up': { weights: [1, 6], want: [143, 857] },
};

describe('shares in permille', () => {
  it.each(Object.entries(cases))('%s', (_, { weights, want }) => {
    expect(permilleShares(weights)).toEqual(want);
  });

  it('add up to 1000, whatever the weights', () => {
    const weight = fc.double({ min: 0, max: 1e6, noNaN: true });
    fc.assert(
      fc.property(fc.array(weight, { minLength: 1, maxLength: 6 }), (weights) => {
        fc.pre(weights.some((each) => each > 1e-9));
        const shares = permilleShares(weights);
        expect(shares.reduce((sum, share) => sum + share, 0)).toBe(1000);
        expect(shares.every((share) => Number.isInteger(share) && share >= 0)).toBe(true);
      }),
    );
  });

  it('of nothing at all are a mistake', () => {
    expect(() => permilleShares([0, 0])).toThrow('shares of nothing');
  });
});
