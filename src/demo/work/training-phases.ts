import type { Chance } from '../chance.ts';
import type { Seconds } from '../timeline.ts';
import type { Training } from '../world/habit-schema.ts';
import { secondsForWork, workInSeconds, type Pace } from './pace.ts';

/** When checkpoints are written while steps are made: `writeS` of standing still after every `stepS`. */
export interface Checkpoints {
  readonly stepS: number;
  readonly writeS: number;
}

export type PhaseKind = 'starting-up' | 'training' | 'checkpointing' | 'validating-on-cpu';

export interface Phase {
  readonly kind: PhaseKind;
  readonly from: Seconds;
  readonly until: Seconds;
}

/** The way of a life from its start to its goal, or to where something stops it. */
export interface Way {
  /** Without gaps; none is empty, and none reaches past the limit. */
  readonly phases: readonly Phase[];
  readonly until: Seconds;
  readonly reachedGoal: boolean;
  readonly doneS: number;
  /** The end of its last checkpoint and the work in it; the first step, before there is one. */
  readonly kept: { readonly at: Seconds; readonly doneS: number };
}

export interface WayRequest {
  readonly from: Seconds;
  readonly startedAt: Seconds;
  readonly limit: Seconds;
  readonly doneS: number;
  readonly goalS: number;
  readonly pace: Pace;
  readonly checkpoints: Checkpoints | undefined;
}

/** Validations nearer to each other than this would be nothing but validations. */
const SHORTEST_BETWEEN_VALIDATIONS_S = 60;

export function checkpointsOf(habit: Training): Checkpoints | undefined {
  if (habit.checkpoint_minutes === 0) return undefined;
  return { stepS: habit.checkpoint_minutes * 60, writeS: habit.checkpoint_s };
}

/**
 * Which phases does a life go through? It starts up, then steps, with a checkpoint every so often. Validations come
 * after so much work, not after so much time: a starved run reaches them later. One with checkpoints writes one before
 * each validation, as the validation reads it.
 */
export function wayOf(chance: Chance, habit: Training, request: WayRequest): Way {
  const { startedAt, limit, goalS, pace, checkpoints } = request;
  const phases: Phase[] = [];
  let at = request.from;
  let doneS = request.doneS;
  let kept = { at: startedAt, doneS };
  const walk = (kind: PhaseKind, until: Seconds): boolean => {
    const stop = Math.min(until, limit);
    if (stop > at) phases.push({ kind, from: at, until: stop });
    at = stop;
    return stop === until;
  };

  let goesOn = walk('starting-up', startedAt);
  while (goesOn && doneS < goalS) {
    const [start, targetS] = [at, Math.min(goalS, nextValidationS(habit, doneS))];
    goesOn = walk('training', start + secondsOfSteps(secondsForWork(targetS - doneS, pace), checkpoints));
    const written = checkpoints === undefined ? 0 : Math.floor((at - start) / (checkpoints.stepS + checkpoints.writeS));
    if (checkpoints !== undefined && written > 0) {
      const stepS = written * checkpoints.stepS;
      kept = { at: start + stepS + written * checkpoints.writeS, doneS: doneS + workInSeconds(stepS, pace) };
    }
    doneS = goesOn ? targetS : doneS;
    if (!goesOn || doneS >= goalS) break;
    if (checkpoints !== undefined) {
      goesOn = walk('checkpointing', at + checkpoints.writeS);
      if (goesOn) kept = { at, doneS };
    }
    const validationS = Math.max(1, Math.round(chance.from(habit.validation_minutes) * 60));
    goesOn &&= walk('validating-on-cpu', at + validationS);
  }
  return { phases, until: at, reachedGoal: doneS >= goalS, doneS, kept };
}

function nextValidationS({ validation_hours: hours }: Training, doneS: number): number {
  if (hours === 0) return Infinity;
  const everyS = Math.max(SHORTEST_BETWEEN_VALIDATIONS_S, Math.round(hours * 3600));
  return (Math.floor(doneS / everyS) + 1) * everyS;
}

/** Seconds on the clock for so many of making steps: the checkpoint that would come right at the end is not awaited. */
function secondsOfSteps(stepsS: number, checkpoints: Checkpoints | undefined): number {
  if (checkpoints === undefined) return stepsS;
  return stepsS + Math.floor((stepsS - 1) / checkpoints.stepS) * checkpoints.writeS;
}
