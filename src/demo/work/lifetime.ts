import type { CourseRequest, Outcome } from '../organisation.ts';
import type { Seconds } from '../timeline.ts';
import { DAY_S } from './working-hours.ts';

/** What a life does not decide itself: the loss of its machine, or the end of what anybody will look at. */
export interface OuterEnd {
  readonly at: Seconds;
  readonly by: 'preempted' | 'node-fail' | 'running';
}

/** Seconds until something that was cut off asks for GPUs again. */
export const ASKS_AGAIN_AFTER_S = 60;

/**
 * When a life ends at the latest. A day past the window everything is cut, so that a life of years costs no more
 * than one of weeks: whatever ends there is still running at the window’s end.
 */
export function outerEnd({ scope, from, machineLost }: CourseRequest): OuterEnd {
  const horizon = Math.max(scope.until + DAY_S, from + 1);
  return machineLost.at <= horizon ? machineLost : { at: horizon, by: 'running' };
}

/** When it asks again after such an end: soon after a loss, and never while it is still running. */
export function asksAgainAfter(outcome: Outcome, until: Seconds): { asksAgainAt?: Seconds } {
  return outcome === 'preempted' || outcome === 'node-fail' ? { asksAgainAt: until + ASKS_AGAIN_AFTER_S } : {};
}
