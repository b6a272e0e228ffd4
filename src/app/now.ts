/** The moment a question is asked at, and what decided it. */
export interface Now {
  readonly at: Date;
  readonly by: 'asked' | 'newest fact' | 'clock';
}

/** Facts older than this are history: questions are asked as of their end, and the answer says so. */
export const FRESH_MS = 3_600_000;

/** Now is what the user says, else the newest fact if that is older than an hour, else the clock. */
export function decideNow(asked: Date | undefined, horizon: Date | undefined, clock: Date): Now {
  if (asked !== undefined) return { at: asked, by: 'asked' };
  if (horizon !== undefined && clock.getTime() - horizon.getTime() > FRESH_MS)
    return { at: horizon, by: 'newest fact' };
  return { at: clock, by: 'clock' };
}

/**
 * The last moment up to which facts speak for `now`: facts that end within an hour before it are current, because
 * sources are asked every few minutes. Undefined where nothing is known of now.
 */
export function lastKnownMoment(now: Date, horizon: Date): Date | undefined {
  if (horizon.getTime() >= now.getTime()) return now;
  return now.getTime() - horizon.getTime() <= FRESH_MS ? horizon : undefined;
}
