import { decideNow, FRESH_MS } from '../now.ts';
import type { Now } from '../now.ts';

/** Questions within a minute that are asked as of the clock are asked as of its beginning, and share their answers. */
const LIVE_STEP_MS = 60_000;
/** Where facts are history the clock decides only which days and months are over. */
const HISTORY_STEP_MS = 86_400_000;

/**
 * Promise: between two steps nothing is asked twice. The moment a question is asked at, and the clock, each in steps; whether it is the
 * clock or the newest fact that says what now is does not hang on the step.
 */
export function steppedMoment(
  horizon: Date | undefined,
  clock: Date,
  asOf: Date | undefined,
): { readonly now: Now; readonly clock: Date } {
  const horizonMs = horizon?.getTime() ?? 0;
  const stepped = (stepMs: number, atLeastMs: number): Date =>
    new Date(Math.max(Math.floor(clock.getTime() / stepMs) * stepMs, atLeastMs));
  const isHistory = decideNow(undefined, horizon, clock).by === 'newest fact';
  // Never before the newest fact: a look at less than everything gives findings no numbers.
  const told = isHistory ? stepped(HISTORY_STEP_MS, horizonMs + FRESH_MS + 1) : stepped(LIVE_STEP_MS, horizonMs);
  const now = decideNow(asOf, horizon, clock);
  return { now: now.by === 'clock' ? { at: told, by: 'clock' } : now, clock: told };
}
