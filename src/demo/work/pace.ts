import type { Part } from '../timeline.ts';
import type { Reason } from '../world/world-schema.ts';
import { permilleShares } from './shares.ts';

/** Where the time of one step after the other goes, in permille that add up to 1000. */
export interface Pace {
  readonly stepping: number;
  readonly allReduce: number;
  readonly waiting: number;
}

export interface StepTimes {
  readonly stepMs: number;
  readonly allReduceMs: number;
  readonly loadMs: number;
}

/**
 * How a run goes whose loader works ahead: the next batch is loaded while this step computes and exchanges its
 * gradients, so a loader that is fast enough costs nothing, and a slower one sets the pace.
 */
export function paceOf({ stepMs, allReduceMs, loadMs }: StepTimes): Pace {
  const cycleMs = Math.max(stepMs + allReduceMs, loadMs);
  const [stepping, allReduce, waiting] = permilleShares([stepMs, allReduceMs, cycleMs - stepMs - allReduceMs]) as [
    number,
    number,
    number,
  ];
  if (stepping > 0) return { stepping, allReduce, waiting };
  // However slow the rest is, steps are made: a run that made none would never end.
  return waiting >= allReduce
    ? { stepping: 1, allReduce, waiting: waiting - 1 }
    : { stepping: 1, allReduce: allReduce - 1, waiting };
}

/** Seconds on the clock until so many seconds of work are done, at least one. */
export function secondsForWork(workS: number, pace: Pace): number {
  return Math.max(1, Math.ceil((workS * 1000) / (pace.stepping + pace.allReduce)));
}

/** Seconds of work done in so many seconds on the clock. */
export function workInSeconds(seconds: number, pace: Pace): number {
  return (seconds * (pace.stepping + pace.allReduce)) / 1000;
}

/** The parts of such a stretch. What became of the steps is `steps`; waits are waits, whatever becomes of the run. */
export function partsOf(pace: Pace, steps: Reason): readonly Part[] {
  const parts: readonly Part[] = [
    { reason: steps, permille: pace.stepping },
    { reason: 'all-reduce', permille: pace.allReduce },
    { reason: 'waiting-for-data', permille: pace.waiting },
  ];
  return parts.filter(({ permille }) => permille > 0);
}
