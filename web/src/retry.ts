import { Problem } from './ask.ts';

const [TOO_MANY, NOT_NOW] = [429, 503];
const WAIT_MAX_MS = 60_000;
const GONE_WAIT_MS = 2000;

/**
 * What the server refuses it refuses again; what it cannot answer just now it is asked for when it says. One that is gone is asked until it
 * is back: meanwhile the page keeps what it has.
 */
export function isWorthAnother(tries: number, failure: Error): boolean {
  if (!(failure instanceof Problem)) return tries < 1;
  if (failure.isOnItsWay || failure.isGone) return true;
  // The frame hears when there is some, and asks then.
  if (failure.hasNoData) return false;
  if (failure.status === TOO_MANY || failure.status === NOT_NOW) return tries < 3;
  return tries < 1 && failure.status >= 500;
}

/** As long as Retry-After says, else twice as long each time; a little more by chance, so that pages do not come back together. */
export function waitMs(tries: number, failure: Error, chance: number = Math.random()): number {
  if (failure instanceof Problem && failure.isGone) return GONE_WAIT_MS + Math.round(chance * 1000);
  const told = failure instanceof Problem ? failure.retryAfterMs : null;
  return Math.min(WAIT_MAX_MS, told ?? 1000 * 2 ** tries) + Math.round(chance * 1000);
}
