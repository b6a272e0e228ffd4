import type { Seconds } from '../timeline.ts';
import type { Team, World } from '../world/world-schema.ts';

export const DAY_S = 86_400;

/** Days since 1970 on some clock. */
export type LocalDay = number;

/** Whether a day is one of Monday to Friday; 1970 began on a Thursday. */
export function isWorkday(day: LocalDay): boolean {
  return (((day + 3) % 7) + 7) % 7 < 5;
}

/** When a team works, by its own clock. A day is named by the number it has there. */
export interface WorkingHours {
  dayOf(moment: Seconds): LocalDay;
  morningOf(day: LocalDay): Seconds;
  eveningOf(day: LocalDay): Seconds;
  /** Whether people are there: a working day, from its morning until before its evening. */
  isWorking(moment: Seconds): boolean;
  /** The first morning of a working day after the moment: on Friday noon it is Monday’s. */
  nextMorning(moment: Seconds): Seconds;
}

export function workingHoursOf({ calendar }: World, { utc_offset_hours: offsetHours }: Team): WorkingHours {
  const dayOf = (moment: Seconds): LocalDay => Math.floor((moment + offsetHours * 3600) / DAY_S);
  const at = (day: LocalDay, hour: number): Seconds => day * DAY_S + (hour - offsetHours) * 3600;
  const morningOf = (day: LocalDay): Seconds => at(day, calendar.day_begins_hour);
  const eveningOf = (day: LocalDay): Seconds => at(day, calendar.day_ends_hour);
  return {
    dayOf,
    morningOf,
    eveningOf,
    isWorking: (moment) => {
      const day = dayOf(moment);
      return isWorkday(day) && moment >= morningOf(day) && moment < eveningOf(day);
    },
    nextMorning: (moment) => {
      let day = dayOf(moment);
      while (!isWorkday(day) || morningOf(day) <= moment) day += 1;
      return morningOf(day);
    },
  };
}
