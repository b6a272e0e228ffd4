import type { Snapshot } from '../../facts/manifest.ts';
import type { ReadSpace } from '../workspace.ts';

/** Batches of a demo carry this, so that screens made from it can say so. */
export const DEMO_BATCH = 'bursar demo: ';

/** What stands before every line of a screen that somebody could take for a real fleet's; empty for real data. */
export function demoMark({ batches }: Snapshot): string {
  return batches.some(isDemo) ? 'DEMO  ' : '';
}

export function isDemo({ origin }: { readonly origin: string }): boolean {
  return origin.startsWith(DEMO_BATCH);
}

const HOURS_PAST_END = 2;

/**
 * The clock questions are asked by. A demo is history wherever the clock stands, also before its days: what is asked about
 * it is asked as of its end, and its screens are the same on every machine.
 */
export function clockOf({ snapshot, scope }: Pick<ReadSpace, 'snapshot' | 'scope'>): Date {
  const clock = new Date();
  if (scope === undefined || !snapshot.batches.some(isDemo)) return clock;
  const pastEnd = new Date(scope.horizon.getTime() + HOURS_PAST_END * 3_600_000);
  return clock < pastEnd ? pastEnd : clock;
}
