import { chanceOf, type Chance } from '../chance.ts';
import type { Course, CourseRequest, Outcome, Progress } from '../organisation.ts';
import { NOTHING, spanOf, type Part, type Pause, type Seconds, type Span } from '../timeline.ts';
import type { Training } from '../world/habit-schema.ts';
import type { Kernel, Reason } from '../world/world-schema.ts';
import { atPace, holdingMemory, kernelOf } from './activity.ts';
import { allOf } from './bursts.ts';
import { ASKS_AGAIN_AFTER_S, outerEnd, type OuterEnd } from './lifetime.ts';
import { partsOf, type Pace } from './pace.ts';
import { checkpointsOf, wayOf, type Checkpoints, type Way } from './training-phases.ts';
import { onDevices, touchedCount, trainingPace, trainingRun, type TrainingRun } from './training-run.ts';
import { DAY_S } from './working-hours.ts';

/** How a life ends. */
type End = 'done' | 'cancelled' | 'failed-early' | 'crashed' | 'given-up' | OuterEnd['by'];

/** Runs that died early whose owner mends them at once and starts the same run again; the others submit a new one. */
const MENDED_PERCENT = 15;
const MENDING_S = 600;
const OUT_OF_MEMORY_PERCENT = 20;

/**
 * What a training run does with the GPUs it was given. Nothing here is drawn as lost or wasted: steps are made, then
 * something ends the life, and only then is it known what had become of them.
 */
export function trainingCourse(request: CourseRequest, habit: Training): Course {
  const { job, number, from, devices, progress } = request;
  const chance = chanceOf(...job.key, 'life', number);
  const run = onDevices(trainingRun(job, habit), devices);
  const touched = touchedCount(run, devices);
  const pace = trainingPace(run, habit, devices.slice(0, touched));
  const checkpoints = checkpointsOf(habit);
  const outer = outerEnd(request);

  const startedAt = from + Math.round(chance.from(habit.startup_minutes) * 60);
  const failsEarly = run.failsEarly && number === 0;
  const ownEnd = failsEarly
    ? startedAt + Math.max(1, Math.round(chance.from(habit.early_minutes) * 60))
    : startedAt + crashAfterS(chance, habit, touched);
  const way = wayOf(chance, habit, {
    from,
    startedAt,
    limit: Math.min(outer.at, ownEnd),
    doneS: progress.done,
    goalS: Math.max(progress.done + 1, Math.min(run.workS, run.cancelledAtWorkS)),
    pace,
    checkpoints,
  });
  const end = endOf({ way, run, failsEarly, outer, ownEnd, isLastTry: progress.crashes >= habit.retries });

  const kernel = kernelOf(request);
  const spans = spansOf({ way, end, pace, checkpoints, kernel });
  const stay = end === 'done' ? stayOf(chance, habit, way.until, outer) : { until: way.until, end };
  if (stay.until > way.until) {
    spans.push(spanOf(way.until, stay.until, 'finished-still-holding', holdingMemory(kernel)));
  }
  const untouched = [spanOf(from, stay.until, 'never-touched', NOTHING)];
  return {
    until: stay.until,
    outcome: outcomeOf(stay.end, chance),
    cpusPerGpu: run.cpusPerGpu,
    spansOfDevice: devices.map((_, index) => (index < touched ? spans : untouched)),
    progress: progressOf(end, way, progress),
    ...asksAgain(end, way.until, chance),
  };
}

/** A crash comes with the GPU-days computed, so a run on many GPUs meets one sooner. */
function crashAfterS(chance: Chance, habit: Training, gpus: number): number {
  if (habit.gpu_days_between_crashes === 0) return Infinity;
  return Math.max(1, Math.round((chance.wait(habit.gpu_days_between_crashes) * DAY_S) / gpus));
}

interface EndRequest {
  readonly way: Way;
  readonly run: TrainingRun;
  readonly failsEarly: boolean;
  readonly outer: OuterEnd;
  readonly ownEnd: Seconds;
  readonly isLastTry: boolean;
}

function endOf({ way, run, failsEarly, outer, ownEnd, isLastTry }: EndRequest): End {
  // A run with a mistake in it is not done, however short its work would have been.
  if (way.reachedGoal && failsEarly) return 'failed-early';
  if (way.reachedGoal) return run.cancelledAtWorkS < run.workS ? 'cancelled' : 'done';
  if (outer.at <= ownEnd) return outer.by;
  if (failsEarly) return 'failed-early';
  return isLastTry ? 'given-up' : 'crashed';
}

/** What became of the steps made before and after the last checkpoint. */
function fatesOf(end: End): { readonly before: Reason; readonly after: Reason } {
  switch (end) {
    case 'done':
    case 'running':
      return { before: 'stepping', after: 'stepping' };
    case 'cancelled':
      return { before: 'cancelled-work', after: 'cancelled-work' };
    case 'given-up':
      return { before: 'failed-for-good', after: 'failed-for-good' };
    case 'failed-early':
      return { before: 'failed-early', after: 'failed-early' };
    case 'preempted':
      return { before: 'stepping', after: 'preempted' };
    case 'crashed':
    case 'node-fail':
      return { before: 'stepping', after: 'lost-since-checkpoint' };
  }
}

interface Telling {
  readonly way: Way;
  readonly end: End;
  readonly pace: Pace;
  readonly checkpoints: Checkpoints | undefined;
  readonly kernel: Kernel;
}

/** The life as it will be told. Levels and parts are made once: a long life has thousands of spans. */
function spansOf({ way, end, pace, checkpoints, kernel }: Telling): Span[] {
  const isFailedEarly = end === 'failed-early';
  const [levels, holding] = [atPace(kernel, pace), holdingMemory(kernel)];
  const pause: Pause | undefined =
    checkpoints === undefined || checkpoints.writeS === 0
      ? undefined
      : {
          everyS: checkpoints.stepS + checkpoints.writeS,
          forS: checkpoints.writeS,
          reason: isFailedEarly ? 'failed-early' : 'checkpointing',
          levels: holding,
        };
  const fates = fatesOf(end);
  const [before, after] = [fates.before, fates.after].map((steps) => partsOf(pace, steps)) as [
    readonly Part[],
    readonly Part[],
  ];
  const steps = (from: Seconds, until: Seconds, parts: readonly Part[]): Span => ({
    from,
    until,
    parts,
    levels,
    ...(pause && { pause }),
  });
  const keptAt = fates.before === fates.after ? Infinity : way.kept.at;
  return way.phases.flatMap(({ kind, from, until }) => {
    if (kind === 'starting-up') return [{ from, until, parts: allOf(kind), levels: NOTHING }];
    if (kind !== 'training') {
      return [{ from, until, parts: allOf(isFailedEarly ? 'failed-early' : kind), levels: holding }];
    }
    // The last checkpoint lies a whole number of rounds after its phase began, so the pauses of the rest stay in step.
    if (keptAt <= from) return [steps(from, until, after)];
    if (keptAt >= until) return [steps(from, until, before)];
    return [steps(from, keptAt, before), steps(keptAt, until, after)];
  });
}

/** The work is done; do its pods go, too? */
function stayOf(chance: Chance, habit: Training, doneAt: Seconds, outer: OuterEnd): { until: Seconds; end: End } {
  if (!chance.happens(habit.stays_percent)) return { until: doneAt, end: 'done' };
  const until = doneAt + Math.round(chance.from(habit.stays_hours) * 3600);
  return until < outer.at ? { until, end: 'done' } : { until: outer.at, end: outer.by };
}

function outcomeOf(end: End, chance: Chance): Outcome {
  switch (end) {
    case 'done':
      return 'completed';
    case 'failed-early':
      return 'failed';
    case 'crashed':
    case 'given-up':
      return chance.happens(OUT_OF_MEMORY_PERCENT) ? 'out-of-memory' : 'failed';
    default:
      return end;
  }
}

function progressOf(end: End, { doneS, kept }: Way, { crashes }: Progress): Progress {
  switch (end) {
    case 'done':
    case 'cancelled':
      return { done: doneS, crashes };
    case 'failed-early':
      return { done: 0, crashes };
    case 'crashed':
    case 'given-up':
      return { done: kept.doneS, crashes: crashes + 1 };
    default:
      return { done: kept.doneS, crashes };
  }
}

function asksAgain(end: End, until: Seconds, chance: Chance): { asksAgainAt?: Seconds } {
  switch (end) {
    case 'crashed':
    case 'preempted':
    case 'node-fail':
      return { asksAgainAt: until + ASKS_AGAIN_AFTER_S };
    case 'failed-early':
      return chance.happens(MENDED_PERCENT) ? { asksAgainAt: until + MENDING_S + chance.whole(MENDING_S) } : {};
    default:
      return {};
  }
}
