import { describe, expect, it } from 'vitest';
import { parseWindow } from './period.ts';

// A Saturday.
const NOW = new Date('2026-11-14T10:14:02Z');

const written = (text: string, now: Date) => {
  const result = parseWindow(text, now);
  if (!result.ok) return `refused: ${result.reason}`;
  if (result.window === 'all') return 'all';
  return `${result.window.from.toISOString()}/${result.window.until.toISOString()}`;
};

describe('the window a text stands for', () => {
  const cases: Record<string, { text: string; now?: string; want: string }> = {
    'thirty days are today and the 29 before': {
      text: '30d',
      want: '2026-10-16T00:00:00.000Z/2026-11-15T00:00:00.000Z',
    },
    'one day is today, to its end': { text: '1d', want: '2026-11-14T00:00:00.000Z/2026-11-15T00:00:00.000Z' },
    today: { text: 'today', want: '2026-11-14T00:00:00.000Z/2026-11-15T00:00:00.000Z' },
    'midnight belongs to the day it begins': {
      text: 'today',
      now: '2026-11-14T00:00:00Z',
      want: '2026-11-14T00:00:00.000Z/2026-11-15T00:00:00.000Z',
    },
    'everything there is': { text: 'all', want: 'all' },
    'capitals and blanks do not matter': { text: ' ALL ', want: 'all' },
    'last week runs from Monday to Monday': {
      text: 'lastweek',
      want: '2026-11-02T00:00:00.000Z/2026-11-09T00:00:00.000Z',
    },
    'on a Monday last week has just ended': {
      text: 'lastweek',
      now: '2026-11-09T00:00:00Z',
      want: '2026-11-02T00:00:00.000Z/2026-11-09T00:00:00.000Z',
    },
    'on a Sunday this week still runs': {
      text: 'lastweek',
      now: '2026-11-15T23:59:59Z',
      want: '2026-11-02T00:00:00.000Z/2026-11-09T00:00:00.000Z',
    },
    'last month': { text: 'lastmonth', want: '2026-10-01T00:00:00.000Z/2026-11-01T00:00:00.000Z' },
    'last month in January is December': {
      text: 'lastmonth',
      now: '2027-01-31T12:00:00Z',
      want: '2026-12-01T00:00:00.000Z/2027-01-01T00:00:00.000Z',
    },
    'a month by name': { text: '2024-02', want: '2024-02-01T00:00:00.000Z/2024-03-01T00:00:00.000Z' },
    'a day by name': { text: '2024-02-29', want: '2024-02-29T00:00:00.000Z/2024-03-01T00:00:00.000Z' },
    'dates are half-open': {
      text: '2026-11-01/2026-11-08',
      want: '2026-11-01T00:00:00.000Z/2026-11-08T00:00:00.000Z',
    },
    'times to the second': {
      text: '2026-11-01T09:00:00Z/2026-11-01T17:30:01Z',
      want: '2026-11-01T09:00:00.000Z/2026-11-01T17:30:01.000Z',
    },
    'a date and a time': {
      text: '2026-11-01/2026-11-01T06:00:00Z',
      want: '2026-11-01T00:00:00.000Z/2026-11-01T06:00:00.000Z',
    },
    'an offset is taken off': {
      text: '2026-11-01T09:00:00+02:00/2026-11-01T09:00:00.250-05:30',
      want: '2026-11-01T07:00:00.000Z/2026-11-01T14:30:00.250Z',
    },
  };
  it.each(Object.entries(cases))('%s', (_, { text, now, want }) => {
    expect(written(text, now === undefined ? NOW : new Date(now))).toBe(want);
  });
});

describe('a text that is no window says why', () => {
  const cases: Record<string, { text: string; now?: string; want: string }> = {
    'an unknown word': { text: 'yesterweek', want: '"yesterweek" is not a window' },
    'nothing at all': { text: '', want: '"" is not a window' },
    'no days': { text: '0d', want: 'a window has 1 to 36500 days, not 0' },
    'more days than a century has': { text: '36501d', want: 'a window has 1 to 36500 days' },
    'a day that is none': { text: '2026-02-30', want: '"2026-02-30" is not a date' },
    'a moment is not as long as a window': { text: '2026-11-01T09:00:00Z', want: 'is not a window' },
    'a thirteenth month': { text: '2026-13', want: '"2026-13" is not a month' },
    'the 30th of February': { text: '2026-02-30/2026-03-01', want: '"2026-02-30" is not a date' },
    'an end that is no time': { text: '2026-11-01/soon', want: '"soon" is not a date or time' },
    'an hour that does not exist': { text: '2026-11-01/2026-11-01T24:00:00Z', want: 'is not a time' },
    'a time without its zone': { text: '2026-11-01/2026-11-01T09:00:00', want: 'does not say its time zone' },
    'an end before its beginning': { text: '2026-11-08/2026-11-01', want: 'ends after it begins' },
    'days that begin before the first year': { text: '30d', now: '0001-01-10T00:00:00Z', want: 'the years 1 to 9999' },
    'a day that ends after the last year': {
      text: '9999-12-31',
      want: '"9999-12-31" is not within the years 1 to 9999',
    },
    'an empty window': { text: '2026-11-08/2026-11-08', want: 'ends after it begins' },
  };
  it.each(Object.entries(cases))('%s', (_, { text, now, want }) => {
    const told = written(text, now === undefined ? NOW : new Date(now));
    expect(told).toContain(want);
    expect(told).toMatch(/^refused: /);
  });
});
