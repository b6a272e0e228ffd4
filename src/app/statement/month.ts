import { OperationError } from '../../facts/operation-error.ts';
import type { Scope } from '../../lake/scope.ts';
import { parseWindow } from '../../money/period.ts';
import { decideNow } from '../now.ts';
import { ledgerWindow } from '../window.ts';
import type { LedgerWindow } from '../window.ts';

/** `2026-10`, or a clear word. */
export function parseMonth(text: string): string {
  const month = text.trim();
  const parsed = /^\d{4}-\d{2}$/.test(month) ? parseWindow(month, new Date(0)) : undefined;
  if (parsed?.ok === true) return month;
  throw new OperationError('bad-month', `"${text}" is not a month`, { hint: 'A month is written 2026-10.' });
}

/** First second of a month, in UTC. */
export function monthStart(month: string): Date {
  return new Date(`${month}-01T00:00:00Z`);
}

/** The month so many months later; earlier, where the number is below zero. */
export function monthPlus(month: string, months: number): string {
  const start = monthStart(month);
  start.setUTCMonth(start.getUTCMonth() + months);
  return start.toISOString().slice(0, 7);
}

export function monthOf(time: Date): string {
  return time.toISOString().slice(0, 7);
}

/** Both included. */
export function monthsBetween(first: string, last: string): string[] {
  const months: string[] = [];
  for (let month = first; month <= last; month = monthPlus(month, 1)) months.push(month);
  return months;
}

export interface MonthWindow {
  readonly month: string;
  readonly window: LedgerWindow;
  /** Not over yet: it is counted up to `asOf`. */
  readonly isRunning: boolean;
  readonly asOf: Date;
}

/**
 * The days of the ledger that a month's statement is about.
 *
 * A month that is over counts whole, also what a bill dates after the newest fact: it has to tie to the invoice. The running one
 * ends now, as in every other question.
 */
export function monthWindow(month: string, clock: Date, scope: Scope | undefined): MonthWindow {
  const end = monthStart(monthPlus(month, 1));
  const now = decideNow(undefined, scope?.horizon, clock).at;
  const isRunning = clock < end;
  const asOf = isRunning || now > end ? now : end;
  return { month, window: ledgerWindow(month, asOf, scope), isRunning, asOf };
}

/** The month before; of a running month only as much of it as has gone by, so that equal lengths are compared. */
export function windowBefore({ month, isRunning, asOf }: MonthWindow, scope: Scope | undefined): LedgerWindow {
  const before = monthPlus(month, -1);
  const [start, end] = [monthStart(before), monthStart(month)];
  const elapsedMs = asOf.getTime() - monthStart(month).getTime();
  const until = new Date(Math.min(end.getTime(), start.getTime() + elapsedMs));
  if (!isRunning || until <= start || until.getTime() === end.getTime()) return ledgerWindow(before, end, scope);
  return ledgerWindow(`${start.toISOString()}/${until.toISOString()}`, until, scope);
}

/** Months of which the ledger has a day, oldest first. */
export function ledgerMonths(scope: Scope | undefined): string[] {
  return [...new Set((scope?.days ?? []).map((day) => day.slice(0, 7)))].toSorted();
}

/** The last month that is over and has data, else the newest: what a statement is about where nobody says. */
export function usualMonth(scope: Scope | undefined, clock: Date): string {
  const months = ledgerMonths(scope);
  return months.findLast((month) => monthStart(monthPlus(month, 1)) <= clock) ?? months.at(-1) ?? monthOf(clock);
}
