import { expect, it } from 'vitest';
import {
  change,
  factDays,
  hours,
  hoursParts,
  lengthWords,
  percent,
  statedFactDays,
  unitUsd,
  usd,
  usdRange,
} from './figures.ts';

it.each([
  ['0', '$0'],
  [null, 'no price'],
  [undefined, '–'],
])('an amount of %s is shown as %s', (micros, want) => expect(usd(micros)).toBe(want));

it.each([
  ['104700000', '100000000', '+4.7%'],
  ['0', '100000000', '−100.0%'],
  ['100000000', '0', null],
  ['100000000', '-100000000', null],
  ['100000000', null, null],
  [null, '100000000', null],
])('%s after %s is told as %s', (now, before, want) => expect(change(now, before)).toBe(want));

it.each([
  ['1662000000', '$1,662'],
  ['35326200', '$35.33'],
  ['67700000', '$67.70'],
  ['999800', '$1.00'],
  ['713000', '$0.713'],
  ['21900', '$0.0219'],
  ['6290', '$0.00629'],
  [null, '–'],
])('a unit of %s micros costs %s', (micros, want) => expect(unitUsd(micros)).toBe(want));

it.each([
  [{ low: '3032000000', high: '8150000000' }, '$3,032–8,150'],
  [{ low: '940000000', high: '940000000' }, '$940'],
  [{ low: '0', high: '5222000000' }, 'up to $5,222'],
  [{ low: '3380000', high: '1457000000' }, '$3–1,457'],
  [{ low: '0', high: '0' }, '$0'],
])('%o is told as %s', (range, want) => expect(usdRange(range)).toBe(want));

it.each([
  ['2026-11-01T00:00:00Z', '2026-11-15T00:00:00Z', '14 days'],
  ['2026-11-01T00:00:00Z', '2026-11-02T00:00:00Z', '1 day'],
  ['2026-11-01T00:00:00Z', '2026-11-01T06:00:00Z', '6 h'],
])('%s to %s is %s', (from, until, want) => expect(lengthWords(from, until)).toBe(want));

it.each([
  [0, '0'],
  [727_200, '202.0'],
  [656_640, '182.4'],
  [3_599_640, '999.9'],
  [3_600_000, '1,000'],
  [6_602_400, '1,834'],
])('%d GPU-seconds are %s GPU-hours, one precision in a column', (seconds, want) => expect(hours(seconds)).toBe(want));

it.each([
  ['thirds of 4,000 hours add up', [4_800_000, 4_800_000, 4_800_000], ['1,334', '1,333', '1,333']],
  ['below a thousand by tenths', [360, 720], ['0.1', '0.2']],
  ['a second below a thousand by tenths', [1_800_000, 1_799_999], ['500.0', '500.0']],
  ['a thousand and more without', [1_800_000, 1_800_000], ['500', '500']],
])('GPU-hours of parts: %s', (_, seconds, want) => expect(hoursParts(seconds)).toEqual(want));

it.each([
  ['2026-10-01T00:00:00Z', '2026-11-01T00:00:00Z', 30, '30 of 31 days'],
  ['2026-10-01T00:00:00Z', '2026-10-14T09:00:00Z', 2, '2 of 14 days'],
  ['2026-10-01T00:00:00Z', '2026-11-01T00:00:00Z', 31, null],
  ['2026-10-01T12:00:00Z', '2026-10-02T12:00:00Z', 2, null],
])('of %s to %s with %d days of facts is said: %s', (from, until, ledgerDays, want) =>
  expect(factDays({ from, until }, ledgerDays)).toBe(want),
);

it.each([
  { missingDays: 1, want: '30 of 31 days' },
  { missingDays: 0, want: null },
  { missingDays: null, want: null },
])('of a month that lacks $missingDays days is said: $want', ({ missingDays, want }) => {
  const window = { from: '2026-10-01T00:00:00Z', until: '2026-11-01T00:00:00Z' };
  expect(statedFactDays({ window, missingDays })).toBe(want);
});

it.each([
  [3, 0, '<1%'],
  [0, 0, '0%'],
  [6, 0, '1%'],
  [0.2, 1, '<0.1%'],
  [515, 1, '51.5%'],
  [null, 1, '–'],
])('%s permille with %s digits is %s: what is there is not nothing', (permille, digits, want) =>
  expect(percent(permille, digits)).toBe(want),
);
