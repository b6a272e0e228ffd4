import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CounterGrowth } from './counter-growth.ts';

/** What a counter grew by, the long way: differences, and all of a value that lies below the one before. */
function grownBy(values: readonly number[]): number {
  return values.slice(1).reduce((sum, value, place) => {
    const before = values[place] ?? 0;
    return sum + (value >= before ? value - before : value);
  }, 0);
}

const grow = (growth: CounterGrowth, values: readonly number[], fromMs = 0): CounterGrowth => {
  for (const [place, value] of values.entries()) growth.add(fromMs + place * 1000, value);
  return growth;
};

describe('the growth of a counter', () => {
  const cases: Record<string, { before?: number; values: readonly number[]; want: number | undefined }> = {
    'is the sum of its differences': { values: [10, 12, 20], want: 10 },
    'counts all of what came after a reset': { values: [10, 12, 3, 5], want: 7 },
    'begins with the value before the window': { before: 7, values: [10], want: 3 },
    'and with a reset between the two': { before: 7, values: [2], want: 2 },
    'of one value alone is unknown, not 0': { values: [4711], want: undefined },
    'of no value is unknown': { values: [], want: undefined },
    'of a counter that stands still is 0': { values: [5, 5], want: 0 },
    'passes over what is no count': { values: [5, NaN, -1, Infinity, 2 ** 60, 6], want: 1 },
  };
  it.each(Object.entries(cases))('%s', (_, { before, values, want }) => {
    const growth = before === undefined ? new CounterGrowth() : CounterGrowth.since(before);
    expect(grow(growth, values).grown).toBe(want);
  });

  it('adds up, however the samples are cut into hours', () => {
    const samples = fc.array(fc.nat({ max: 1_000_000 }), { minLength: 2, maxLength: 40 });
    fc.assert(
      fc.property(samples, fc.array(fc.nat({ max: 39 })), (values, cuts) => {
        const at = [...new Set(cuts.filter((cut) => cut > 0 && cut < values.length))].toSorted((a, b) => a - b);
        const hours = [0, ...at].map((from, place) => values.slice(from, at[place] ?? values.length));
        const parts = hours.map((hour, place) => {
          const before = hours[place - 1]?.at(-1);
          return grow(before === undefined ? new CounterGrowth() : CounterGrowth.since(before), hour).grown ?? 0;
        });
        expect(parts.reduce((sum, part) => sum + part, 0)).toBe(grownBy(values));
      }),
    );
  });

  it('is the same when an answer comes once more from its first sample', () => {
    const growth = grow(new CounterGrowth(), [1, 5, 2]);
    expect(grow(growth, [1, 5, 2, 4]).grown).toBe(grownBy([1, 5, 2, 4]));
  });
});
