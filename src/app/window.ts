import { OperationError } from '../facts/operation-error.ts';
import { addDays, dayOf, startOf } from '../lake/calendar.ts';
import type { Params } from '../lake/engine.ts';
import type { Scope } from '../lake/scope.ts';
import { parseTime, parseWindow, YEARS_FROM } from '../money/period.ts';
import type { Period } from '../money/period.ts';
import { LENGTH_OF_TIME, lengthSeconds } from './config/length-of-time.ts';
import type { Now } from './now.ts';

const HOUR_MS = 3_600_000;
const STATED_DATES = /^\d{4}-\d{2}/;

/** A day of which only some hours count: those that begin in `[from, until)`. */
export interface CutDay {
  readonly day: string;
  readonly from: Date;
  readonly until: Date;
}

/** Which days of the ledger a question is about. */
export interface LedgerWindow {
  readonly asked: string;
  readonly from: Date;
  readonly until: Date;
  /** Days of the ledger in the window, up to now. */
  readonly days: readonly string[];
  /** Days all of whose hours count, first and last; they lie next to each other. */
  readonly whole: { readonly first: string; readonly last: string } | undefined;
  readonly cut: readonly CutDay[];
}

/**
 * What a window's text means for this ledger, as seen at `now`.
 *
 * Hours count that begin in the window and before now. Days of which every hour counts are answered from sums by day, the
 * others hour by hour.
 */
export function ledgerWindow(text: string, now: Date, scope: Scope | undefined): LedgerWindow {
  // A midnight is the end of the day before it: of the one that begins there nothing is over yet.
  const isMidnight = startOf(dayOf(now)).getTime() === now.getTime();
  const parsed = parseWindow(text, isMidnight ? new Date(now.getTime() - 1) : now);
  if (!parsed.ok) {
    throw new OperationError('bad-window', parsed.reason, {
      hint: 'For example 30d, all, 2026-11-01 or 2026-11-01/2026-11-08.',
    });
  }
  const ledgerDays = scope?.days ?? [];
  // Everything is everything, also what a bill has dated ahead; every other window ends now.
  if (parsed.window !== 'all') return windowOver(text.trim(), parsed.window, now, ledgerDays);
  const all = wholeLedger(ledgerDays, now);
  return windowOver(text.trim(), all, all.until, ledgerDays);
}

function windowOver(asked: string, { from, until }: Period, now: Date, ledgerDays: readonly string[]): LedgerWindow {
  const end = until < now ? until : now;
  const days = ledgerDays.filter((day) => startOf(addDays(day, 1)) > from && startOf(day) < end);
  const isWhole = (day: string): boolean =>
    startOf(day) >= from && startOf(addDays(day, 1)).getTime() - HOUR_MS < end.getTime();
  const whole = days.filter(isWhole);
  const [first, last] = [whole[0], whole.at(-1)];
  return {
    asked,
    from,
    until,
    days,
    whole: first === undefined || last === undefined ? undefined : { first, last },
    cut: days.filter((day) => !isWhole(day)).map((day) => cutDay(day, from, end)),
  };
}

/**
 * What a window's text means for a question about money.
 *
 * Dates that are over by the clock count whole, also what a bill dates after the newest fact: a month has to tie to its invoices and
 * to its statements. Lengths such as `30d` end at the newest fact, and everything ends at the moment that was asked for.
 */
export function moneyWindow(text: string, now: Now, clock: Date, scope: Scope | undefined): LedgerWindow {
  const window = ledgerWindow(text, now.at, scope);
  const isOver = STATED_DATES.test(window.asked) && window.until > now.at && window.until <= clock;
  return isOver && now.by === 'newest fact' ? ledgerWindow(text, window.until, scope) : window;
}

/** The window of the same elapsed length that ends where this one begins, and whether the facts reach back all of it. Of one that has not begun nothing is before. */
export function windowBefore(
  { from, until }: LedgerWindow,
  now: Date,
  scope: Scope | undefined,
): { readonly window: LedgerWindow; readonly isKnown: boolean } {
  const end = until < now ? until : now;
  const begin = new Date(
    Math.max(YEARS_FROM.getTime(), from.getTime() - Math.max(1000, end.getTime() - from.getTime())),
  );
  const text = (time: Date): string => `${time.toISOString().slice(0, 19)}Z`;
  const before = { from: begin, until: from };
  const window = windowOver(`${text(begin)}/${text(from)}`, before, now, scope?.days ?? []);
  const hasBegun = from < end;
  return { window, isKnown: hasBegun && window.days.length > 0 && (scope?.days[0] ?? '') <= dayOf(begin) };
}

/** The days of a table that a window's hours lie in. */
export function daysOf({ days }: LedgerWindow): { readonly first: string; readonly last: string } {
  return { first: days[0] ?? '', last: days.at(-1) ?? '' };
}

/**
 * The window with its days whole, for questions that are judged by days: money and what it is measured against are of the same hours.
 *
 * A day that is not over at `now` counts as far as facts go; where they go further it is left out, for a day has no more than its sum.
 */
export function wholeDays(window: LedgerWindow, now: Date, horizon: Date): LedgerWindow {
  const { cut, from, until } = window;
  const days = window.days.filter((day) => now >= horizon || startOf(addDays(day, 1)) <= now);
  const [first, last] = [days[0], days.at(-1)];
  if (first === undefined || last === undefined) return { ...window, days, whole: undefined, cut: [] };
  const isShorter = days.length < window.days.length;
  const isCut = cut.some((each) => {
    const end = startOf(addDays(each.day, 1));
    return each.from > startOf(each.day) || (each.until < end && each.until < horizon);
  });
  if (!isShorter && !isCut) return window;
  const begin = dayOf(from);
  const reached = isShorter ? startOf(last) : new Date(until.getTime() - 1);
  const end = addDays(dayOf(reached > startOf(last) ? reached : startOf(last)), 1);
  return { asked: `${begin}/${end}`, from: startOf(begin), until: startOf(end), days, whole: { first, last }, cut: [] };
}

/** The condition that an hour counts for the window. */
export function hoursSql(
  { whole, cut }: LedgerWindow,
  column: string,
): { readonly sql: string; readonly params: Params } {
  const spans = cut.map(({ from, until }) => ({ from, until }));
  if (whole !== undefined) spans.push({ from: startOf(whole.first), until: startOf(addDays(whole.last, 1)) });
  const params = Object.fromEntries(
    spans.flatMap(({ from, until }, place) => [
      [`hours${place}from`, from],
      [`hours${place}until`, until],
    ]),
  );
  const conditions = spans.map((_, place) => `(${column} >= $hours${place}from AND ${column} < $hours${place}until)`);
  return { sql: conditions.length === 0 ? 'FALSE' : `(${conditions.join(' OR ')})`, params };
}

/** The second at which the step of `elapsed` begins, both since the window's begin; NULL where it is asked for as a whole. Takes `$stepSeconds`. */
export function stepSql(stepSeconds: number | undefined, elapsed: string): string {
  return stepSeconds === undefined ? 'CAST(NULL AS BIGINT)' : `${elapsed} - (${elapsed}) % $stepSeconds`;
}

function wholeLedger(days: readonly string[], now: Date): Period {
  const today = dayOf(now);
  return { from: startOf(days[0] ?? today), until: startOf(addDays(days.at(-1) ?? today, 1)) };
}

function cutDay(day: string, from: Date, end: Date): CutDay {
  const [dayStart, dayEnd] = [startOf(day), startOf(addDays(day, 1))];
  return { day, from: from > dayStart ? from : dayStart, until: end < dayEnd ? end : dayEnd };
}

/** The moment `7d`, `2h`, `60m` or a date reaches back to: the same lengths bursar.yaml takes. */
export function windowStart(option: string, text: string, now: Date): Date {
  const trimmed = text.trim();
  if (LENGTH_OF_TIME.test(trimmed)) return new Date(now.getTime() - lengthSeconds(trimmed) * 1000);
  const time = parseTime(trimmed);
  if (time.ok) return new Date(time.ms);
  throw new OperationError('bad-time', `${option}: ${time.reason}`, {
    hint: `For example ${option} 7d, ${option} 2h or ${option} 2026-11-01.`,
  });
}
