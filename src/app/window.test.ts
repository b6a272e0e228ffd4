import { describe, expect, it } from 'vitest';
import { OperationError } from '../facts/operation-error.ts';
import { ledgerWindow, moneyWindow, wholeDays, windowBefore, windowStart } from './window.ts';
import type { Now } from './now.ts';
import type { LedgerWindow } from './window.ts';

const scope = {
  begin: new Date('2026-03-01T00:00:00Z'),
  horizon: new Date('2026-03-05T09:30:00Z'),
  days: ['2026-03-01', '2026-03-02', '2026-03-03', '2026-03-04', '2026-03-05', '2026-03-06'],
  spoken: '',
  heard: '',
  bills: [],
};
const time = (text: string): Date => new Date(`2026-03-${text}Z`);

const cases: Record<string, { window: string; now?: Date; want: Partial<LedgerWindow> }> = {
  'the day of now is cut at now, the days before are whole': {
    window: '3d',
    want: {
      from: time('03T00:00'),
      until: time('06T00:00'),
      whole: { first: '2026-03-03', last: '2026-03-04' },
      cut: [{ day: '2026-03-05', from: time('05T00:00'), until: time('05T09:30') }],
    },
  },
  'all is everything, also what a bill has dated ahead of now': {
    window: 'all',
    want: { from: time('01T00:00'), until: time('07T00:00'), whole: { first: '2026-03-01', last: '2026-03-06' } },
  },
  'a day whose last hour has begun is whole': {
    window: 'today',
    now: time('05T23:00:01'),
    want: { whole: { first: '2026-03-05', last: '2026-03-05' }, cut: [] },
  },
  'one whose last hour begins now is not': {
    window: 'today',
    now: time('05T23:00'),
    want: { whole: undefined, cut: [{ day: '2026-03-05', from: time('05T00:00'), until: time('05T23:00') }] },
  },
  'both ends may be cut': {
    window: '2026-03-02T06:00:00Z/2026-03-04T18:00:00Z',
    want: {
      whole: { first: '2026-03-03', last: '2026-03-03' },
      cut: [
        { day: '2026-03-02', from: time('02T06:00'), until: time('03T00:00') },
        { day: '2026-03-04', from: time('04T00:00'), until: time('04T18:00') },
      ],
    },
  },
  'before the facts there is nothing': { window: '30d', now: time('01T00:00'), want: { days: [], cut: [] } },
};

const later = time('09T00:00');
const moneyCases: Record<string, { window: string; by?: Now['by']; want: string }> = {
  'dates that are over count whole, also what a bill dates after the newest fact': {
    window: '2026-03-01/2026-03-07',
    want: '2026-03-06',
  },
  'dates that are not over end at the newest fact': { window: '2026-03', want: '2026-03-04' },
  'a length ends at the newest fact': { window: '30d', want: '2026-03-04' },
  'a moment that was asked for ends everything': {
    window: '2026-03-01/2026-03-07',
    by: 'asked',
    want: '2026-03-04',
  },
};

describe('a window of a question about money', () => {
  for (const [name, { window, by = 'newest fact', want }] of Object.entries(moneyCases)) {
    it(name, () => {
      expect(moneyWindow(window, { at: scope.horizon, by }, later, scope).whole?.last).toBe(want);
    });
  }
});

describe('a window of the ledger', () => {
  for (const [name, { window, now = scope.horizon, want }] of Object.entries(cases)) {
    it(name, () => expect(ledgerWindow(window, now, scope)).toMatchObject(want));
  }

  it('facts that end at midnight are about the day that ends there', () => {
    const whole = { ...scope, horizon: time('06T00:00') };
    expect(ledgerWindow('2d', whole.horizon, whole).days).toEqual(['2026-03-04', '2026-03-05']);
    expect(ledgerWindow('2d', time('06T00:00:01'), whole).from).toEqual(time('05T00:00'));
  });

  it('a midnight that was asked for is the end of its day, whatever came after it', () => {
    expect(ledgerWindow('2d', time('04T00:00'), scope).days).toEqual(['2026-03-02', '2026-03-03']);
  });

  it('refuses what is no window, with a hint', () => {
    expect(() => ledgerWindow('soon', scope.horizon, scope)).toThrow('"soon" is not a window');
  });
});

describe('the whole days of a window', () => {
  const wholes = {
    'a day that is cut by the window is its day': {
      window: '2026-03-02T06:00Z/2026-03-02T08:00Z',
      want: ['02T00:00', '03T00:00'],
    },
    'the day of the newest fact counts as far as facts go': { window: '2d', want: ['04T00:00', '06T00:00'] },
    'a day that went on after the moment is left out': {
      window: '2d',
      now: time('04T02:00'),
      want: ['03T00:00', '04T00:00'],
    },
    'so is all that came after': { window: 'all', now: time('04T02:00'), want: ['01T00:00', '04T00:00'] },
  };
  it.each(Object.entries(wholes))('%s', (_, each) => {
    const { now = scope.horizon } = each as { now?: Date };
    const whole = wholeDays(ledgerWindow(each.window, now, scope), now, scope.horizon);
    expect([whole.from, whole.until].map((end) => end.toISOString().slice(8, 16))).toEqual(each.want);
  });

  it('of a moment whose day is the only one there is none', () => {
    const now = time('04T02:00');
    expect(wholeDays(ledgerWindow('today', now, scope), now, scope.horizon).days).toEqual([]);
  });
});

describe('the window before', () => {
  // Of the fourth and what is to come 33.5 h have gone by.
  const befores = {
    'is as long as what has gone by': { window: '2026-03-04/2026-03-10', want: { from: '02T14:30', isKnown: true } },
    'may reach beyond the facts': { window: '2026-03-02/2026-03-05', want: { from: '27T00:00', isKnown: false } },
    'of one that has not begun is nothing to compare with': {
      window: '2026-04-01/2026-05-01',
      want: { isKnown: false },
    },
  };
  it.each(Object.entries(befores))('%s', (_, { window, want }) => {
    const before = windowBefore(ledgerWindow(window, scope.horizon, scope), scope.horizon, scope);
    const from = before.window.from.toISOString().slice(8, 16);
    expect({ from, isKnown: before.isKnown }).toMatchObject(want);
  });

  it('of all years there are is empty, and nothing is known of it', () => {
    const all = ledgerWindow('0001-01-01/9999-12-31', scope.horizon, scope);
    const { window, isKnown } = windowBefore(all, scope.horizon, scope);
    expect([window.from.toISOString(), isKnown]).toEqual(['0001-01-01T00:00:00.000Z', false]);
  });
});

describe('how far back --since reaches', () => {
  it.each([
    ['60m', '05T08:30'],
    ['1h', '05T08:30'],
    ['90s', '05T09:28:30'],
    [' 2d ', '03T09:30'],
    ['2026-03-01', '01T00:00'],
    ['2026-03-01T06:00:00Z', '01T06:00'],
  ])('%s', (text, want) => {
    expect(windowStart('--since', text, scope.horizon)).toEqual(time(want));
  });

  it.each(['1', 'h', '0h', '1.5h', '-1h', '1w', 'yesterday', '9999999d'])('%s is refused', (text) => {
    expect(() => windowStart('--since', text, scope.horizon)).toThrow(OperationError);
  });
});
