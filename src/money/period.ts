/** A half-open span of time: `from` belongs to it, `until` does not. */
export interface Period {
  readonly from: Date;
  readonly until: Date;
}

/** What a user's word for a window means; `all` is whatever the facts cover. */
export type WindowResult =
  { readonly ok: true; readonly window: Period | 'all' } | { readonly ok: false; readonly reason: string };

export type TimeResult = { readonly ok: true; readonly ms: number } | { readonly ok: false; readonly reason: string };

const DAY_MS = 86_400_000;
const DAYS_MAX = 36_500;
/** Before it no window begins. */
export const YEARS_FROM = new Date('0001-01-01T00:00:00Z');
const YEARS_UNTIL = new Date('+010000-01-01T00:00:00Z');
const FORMS =
  'a window is 30d, today, lastweek, lastmonth, 2026-11, 2026-11-01, all, or FROM/UNTIL as 2026-11-01/2026-11-08';
const TIME = /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?([Zz]|[+-]\d{2}:\d{2})?)?$/;

/**
 * The time a window's text stands for, as seen at `now`; all of it in UTC.
 *
 * `30d` is the day of now and the 29 before it, to the end of that day: windows begin and end with days, so that asking
 * twice on one day compares the same days.
 */
export function parseWindow(text: string, now: Date): WindowResult {
  const result = windowOf(text, now);
  if (!result.ok || result.window === 'all') return result;
  const { from, until } = result.window;
  // A date further away is written with more digits, and nobody could ask for it again.
  if (from >= YEARS_FROM && until < YEARS_UNTIL) return result;
  return bad(`"${text.trim()}" is not within the years 1 to 9999`);
}

function windowOf(text: string, now: Date): WindowResult {
  const word = text.trim();
  const lowerCase = word.toLowerCase();
  if (lowerCase === 'all') return { ok: true, window: 'all' };
  if (lowerCase === 'today') return lastDays(1, now);
  if (lowerCase === 'lastweek') return lastWeek(now);
  if (lowerCase === 'lastmonth') return month(now.getUTCFullYear(), now.getUTCMonth() - 1);
  const days = /^(\d{1,6})d$/.exec(lowerCase);
  if (days !== null) return lastDays(Number(days[1]), now);
  const yearMonth = /^(\d{4})-(\d{2})$/.exec(word);
  if (yearMonth !== null) {
    const monthNumber = Number(yearMonth[2]);
    if (monthNumber < 1 || monthNumber > 12) return bad(`"${word}" is not a month`);
    return month(Number(yearMonth[1]), monthNumber - 1);
  }
  if (/^\d{4}-\d{2}-\d{2}$/.test(word)) {
    const day = parseTime(word);
    return day.ok ? period(day.ms, day.ms + DAY_MS) : day;
  }
  const ends = word.split('/');
  if (ends.length === 2) return between(ends[0] ?? '', ends[1] ?? '');
  return bad(`"${word}" is not a window; ${FORMS}`);
}

function lastDays(days: number, now: Date): WindowResult {
  if (days < 1 || days > DAYS_MAX) return bad(`a window has 1 to ${DAYS_MAX} days, not ${days}`);
  const until = startOfDayMs(now) + DAY_MS;
  return period(until - days * DAY_MS, until);
}

function lastWeek(now: Date): WindowResult {
  const daysSinceMonday = (now.getUTCDay() + 6) % 7;
  const until = startOfDayMs(now) - daysSinceMonday * DAY_MS;
  return period(until - 7 * DAY_MS, until);
}

function month(year: number, monthIndex: number): WindowResult {
  return period(utcMs(year, monthIndex, 1), utcMs(year, monthIndex + 1, 1));
}

function between(fromText: string, untilText: string): WindowResult {
  const from = parseTime(fromText.trim());
  if (!from.ok) return from;
  const until = parseTime(untilText.trim());
  if (!until.ok) return until;
  if (from.ms >= until.ms) return bad(`a window ends after it begins: "${fromText}" is not before "${untilText}"`);
  return period(from.ms, until.ms);
}

/** The moment a date (its first second, UTC) or a time with its zone stands for. */
export function parseTime(text: string): TimeResult {
  const match = TIME.exec(text);
  if (match === null) return bad(`"${text}" is not a date or time; write 2026-11-01 or 2026-11-01T09:00:00Z`);
  const [, year, monthNumber, day, hour, minute, second, fraction = '', zone] = match;
  const midnight = utcMs(Number(year), Number(monthNumber) - 1, Number(day));
  // Date carries 30 February over into March; a date that does not come back as it went in does not exist.
  if (new Date(midnight).toISOString().slice(0, 10) !== text.slice(0, 10)) return bad(`"${text}" is not a date`);
  if (hour === undefined) return { ok: true, ms: midnight };
  if (zone === undefined) return bad(`"${text}" does not say its time zone; end it with Z for UTC`);
  const [hours, minutes, seconds] = [Number(hour), Number(minute), Number(second ?? '0')];
  const offset = offsetMinutes(zone);
  if (hours > 23 || minutes > 59 || seconds > 59 || offset === undefined) return bad(`"${text}" is not a time`);
  const milliseconds = Number(fraction.padEnd(3, '0').slice(0, 3));
  return { ok: true, ms: midnight + (((hours * 60 + minutes - offset) * 60 + seconds) * 1000 + milliseconds) };
}

function offsetMinutes(zone: string): number | undefined {
  if (zone === 'Z' || zone === 'z') return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(4, 6));
  if (hours > 23 || minutes > 59) return undefined;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}

function period(fromMs: number, untilMs: number): WindowResult {
  return { ok: true, window: { from: new Date(fromMs), until: new Date(untilMs) } };
}

function bad(reason: string): { readonly ok: false; readonly reason: string } {
  return { ok: false, reason };
}

function startOfDayMs(time: Date): number {
  return utcMs(time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate());
}

/** `Date.UTC` takes the years 0 to 99 for 1900 to 1999; this does not. */
function utcMs(year: number, monthIndex: number, day: number): number {
  return new Date(0).setUTCFullYear(year, monthIndex, day);
}
