import { describe, expect, it } from 'vitest';
import { DAY, HOUR, MONDAY, smallWorld } from './small-work.ts';
import { isWorkday, workingHoursOf } from './working-hours.ts';

const hoursAt = (utcOffsetHours: number) => {
  const world = smallWorld([], { utc_offset_hours: utcOffsetHours });
  return workingHoursOf(world, world.teams[0]!);
};

describe('working hours', () => {
  const moments: Record<string, { offset: number; at: number; working: boolean }> = {
    'Monday at nine': { offset: 0, at: 9 * HOUR, working: true },
    'a second before nine': { offset: 0, at: 9 * HOUR - 1, working: false },
    'a second before six': { offset: 0, at: 18 * HOUR - 1, working: true },
    'at six people are gone': { offset: 0, at: 18 * HOUR, working: false },
    'Saturday at noon': { offset: 0, at: 5 * DAY + 12 * HOUR, working: false },
    'in Tokyo Monday begins on Sunday': { offset: 9, at: 0, working: true },
    'in Tokyo Saturday begins on Friday': { offset: 9, at: 5 * DAY, working: false },
    'in California Friday ends on Saturday': { offset: -8, at: 5 * DAY + HOUR, working: true },
  };
  it.each(Object.entries(moments))('%s', (_, { offset, at, working }) => {
    expect(hoursAt(offset).isWorking(MONDAY + at)).toBe(working);
  });

  const mornings: Record<string, { at: number; want: number }> = {
    'before work it is today’s': { at: 3 * HOUR, want: 9 * HOUR },
    'at nine sharp it is tomorrow’s': { at: 9 * HOUR, want: DAY + 9 * HOUR },
    'on Friday noon it is Monday’s': { at: 4 * DAY + 12 * HOUR, want: 7 * DAY + 9 * HOUR },
    'on Sunday too': { at: 6 * DAY + 12 * HOUR, want: 7 * DAY + 9 * HOUR },
  };
  it.each(Object.entries(mornings))('the next morning: %s', (_, { at, want }) => {
    expect(hoursAt(0).nextMorning(MONDAY + at)).toBe(MONDAY + want);
  });

  it('days are the team’s own', () => {
    const tokyo = hoursAt(9);
    const day = tokyo.dayOf(MONDAY);
    expect([tokyo.morningOf(day), tokyo.eveningOf(day)]).toEqual([MONDAY, MONDAY + 9 * HOUR]);
  });

  it('weeks begin on Monday, also before 1970', () => {
    const week = [MONDAY / DAY, -3, 4].map((monday) => [0, 1, 2, 3, 4, 5, 6].map((day) => isWorkday(monday + day)));
    expect(week).toEqual(Array.from({ length: 3 }, () => [true, true, true, true, true, false, false]));
  });
});
