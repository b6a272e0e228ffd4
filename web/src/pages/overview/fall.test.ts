import fc from 'fast-check';
import { expect, it } from 'vitest';
import { STEPS } from '../../steps.ts';
import { fallOf } from './fall.ts';

const amounts = fc
  .array(fc.bigInt({ min: 0n, max: 10n ** 12n }), { minLength: STEPS.length, maxLength: STEPS.length })
  .filter((all) => all.some((micros) => micros > 0n))
  .map((all) => STEPS.map(({ category }, place) => ({ category, usdMicros: String(all[place]) })));

it('each bar begins where the one above ends, from all that was paid down to what computed', () => {
  fc.assert(
    fc.property(amounts, (given) => {
      const fall = fallOf(given);
      expect(fall[0]?.right).toBe(1);
      expect(fall.at(-1)?.left).toBe(0);
      const above = [1, ...fall.map(({ left }) => left)];
      for (const [place, { right, left }] of fall.entries()) {
        expect(left).toBeLessThanOrEqual(right);
        expect(right).toBeCloseTo(above[place] ?? 0, 5);
      }
    }),
  );
});

it('what has no price falls by nothing, and a credit is never drawn backwards', () => {
  const fall = fallOf([
    { category: 'beside', usdMicros: '-50' },
    { category: 'idle', usdMicros: null },
    { category: 'computing', usdMicros: '150' },
  ]);
  expect(fall.map(({ left, right }) => right >= left)).toEqual(STEPS.map(() => true));
  expect(fall.find(({ step }) => step.category === 'idle')).toMatchObject({ usdMicros: null });
});
