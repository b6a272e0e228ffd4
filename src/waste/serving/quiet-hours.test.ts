import { describe, expect, it } from 'vitest';
import { clockText, isWithin, quietHours } from './quiet-hours.ts';

/** Ten days; a letter is an hour: q quiet on all of them, m on nine, n on eight, . never, - never measured. */
function hoursOf(text: string) {
  const quiet: Record<string, number> = { q: 10, m: 9, n: 8, '.': 0 };
  return text
    .split('')
    .flatMap((letter, hour) =>
      letter === '-' ? [] : [{ hour, days: 10, quietDays: quiet[letter] ?? 0, neededMost: letter === 'q' ? 2 : 3 }],
    );
}

describe('quiet hours of a day', () => {
  const cases: Record<string, { day: string; want: string | undefined; needed?: number }> = {
    'a night over midnight is one piece': { day: 'qqqqqqq...............qq', want: '22:00–07:00 UTC', needed: 2 },
    'nearly the whole day is told by what is left of it': {
      day: 'qqqqqqqqqqqqqqq.qqqqqqqq',
      want: 'in all hours but 15:00–16:00 UTC',
      needed: 2,
    },
    'the longest counts': { day: 'qqq.qqqq................', want: '04:00–08:00 UTC', needed: 2 },
    'of two as long the one that needs less': { day: 'mmm..qqq................', want: '05:00–08:00 UTC', needed: 2 },
    'nine days of ten are enough': { day: 'qmq.....................', want: '00:00–03:00 UTC', needed: 3 },
    'eight are not': { day: 'qnq.....................', want: undefined },
    'two hours are over before replicas have gone': { day: 'qq......................', want: undefined },
    'a service that is never busy has no nights': {
      day: 'qqqqqqqqqqqqqqqqqqqqqqqq',
      want: 'at any hour',
      needed: 2,
    },
    'what nobody measured is not quiet': { day: 'qq-qq-qq-qq-qq-qq-qq-qq-', want: undefined },
    'nothing is known': { day: '------------------------', want: undefined },
  };
  it.each(Object.entries(cases))('%s', (_, { day, want, needed }) => {
    const found = quietHours(hoursOf(day), 900);
    expect(found === undefined ? undefined : clockText(found)).toBe(want);
    expect(found?.neededMost).toEqual(needed);
  });

  it('tells which hours are in it, also over midnight', () => {
    const night = quietHours(hoursOf('qq....................qq'), 900);
    expect([21, 22, 0, 1, 2].map((hour) => night !== undefined && isWithin(night, hour))).toEqual([
      false,
      true,
      true,
      true,
      false,
    ]);
  });
});
