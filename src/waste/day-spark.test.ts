import { expect, it } from 'vitest';
import { addedSpark, daySpark } from './day-spark.ts';

const until = new Date('2026-03-04T00:00:00Z');
const day = (no: number, permille: number | null) => ({ day: `2026-03-0${no}`, permille });

it.each([
  { name: 'nothing is no line', days: [], want: [] },
  { name: 'it ends with the window', days: [day(1, 5), day(3, 7)], want: [5, null, 7] },
  { name: 'after its last day nothing is known', days: [day(2, 5)], want: [5, null] },
  { name: 'an unknown day stays unknown', days: [day(2, 0), day(3, null)], want: [0, null] },
])('$name', ({ days, want }) => expect(daySpark(days, { until })).toEqual(want));

it('of a long time the last thirty days', () =>
  expect(daySpark([{ day: '2025-01-01', permille: 1 }, day(3, 9)], { until })).toEqual([
    ...Array.from({ length: 29 }, () => null),
    9,
  ]));

it('adds up what was at work of what is known, never of what is not', () =>
  expect(addedSpark([['2026-03-02 100 200', '2026-03-03 0 0'], ['2026-03-02 50 200'], null], { until })).toEqual([
    375,
    null,
  ]));
