import fc from 'fast-check';
import { expect, it } from 'vitest';
import { dollarsOf, gpuHoursOf, nestedDollarsOf, nestedHoursOf } from './figures.ts';

/** Whole dollars or cents of a text; what is shown as "less than" counts nothing. */
const amount = (text: string): number =>
  text.includes('<') ? 0 : Number(text.replace('−', '-').replaceAll(/[$,.]/g, ''));

const groups = fc.array(fc.array(fc.bigInt({ min: 0n, max: 10n ** 12n }), { minLength: 1, maxLength: 6 }), {
  minLength: 1,
  maxLength: 6,
});
const sum = (parts: readonly bigint[]): bigint => parts.reduce((a, b) => a + b, 0n);
const added = (texts: readonly string[]): number => texts.reduce((total, text) => total + amount(text), 0);

it('parts of parts add up to the parts as they are shown, in dollars and in GPU-hours', () => {
  fc.assert(
    fc.property(groups, (parts) => {
      const money = dollarsOf(parts.map(sum)).parts;
      expect(nestedDollarsOf(parts).map(added)).toEqual(money.map(amount));
      const hours = gpuHoursOf(parts.map(sum)).parts;
      expect(nestedHoursOf(parts).map(added)).toEqual(hours.map(amount));
    }),
  );
});

it('what has no price has none within its group either', () => {
  expect(nestedDollarsOf([[null, 250_000_000n], [1n]])).toEqual([['no price', '$250'], ['<$1']]);
});
