import fc from 'fast-check';
import { expect, it } from 'vitest';
import { axisUsd, ticksOf } from './scale.ts';

it.each([
  [15_800, 16_080, ['$15.8k', '$15.9k', '$16k', '$16.1k']],
  [15_880, 16_050, ['$15.85k', '$15.9k', '$15.95k', '$16k', '$16.05k']],
  [0, 1_200_000, ['$0', '$500k', '$1M', '$1.5M']],
  [0, 900, ['$0', '$250', '$500', '$750', '$1k']],
  [0, 0.02, ['$0', '$0.005', '$0.01', '$0.015', '$0.02']],
])('an axis from %d to %d says %j', (low, high, want) => {
  const ticks = ticksOf(low, high);
  expect(ticks.map((tick) => axisUsd(tick, ticks))).toEqual(want);
});

it('no two ticks of an axis read the same', () => {
  const amount = fc.double({ min: 0, max: 1e8, noNaN: true });
  fc.assert(
    fc.property(amount, amount, (a, b) => {
      const [low, high] = [Math.min(a, b), Math.max(a, b)];
      // Closer than a millionth nothing is drawn that differs.
      fc.pre(high - low > 0.001 && high - low > high / 1e5);
      const ticks = ticksOf(low, high);
      const words = ticks.map((tick) => axisUsd(tick, ticks));
      expect(new Set(words).size).toBe(words.length);
    }),
  );
});
