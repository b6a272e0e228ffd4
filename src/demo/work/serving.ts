import { chanceOf } from '../chance.ts';
import type { Course, CourseRequest, Job, Outcome, Scope } from '../organisation.ts';
import { spanOf, type Seconds, type Span } from '../timeline.ts';
import type { Serving } from '../world/habit-schema.ts';
import { atFullPace, holdingMemory, kernelOf } from './activity.ts';
import { coresBeside } from './cores.ts';
import { ASKS_AGAIN_AFTER_S, outerEnd } from './lifetime.ts';
import { HOUR_S, neededReplicas, servingHour, type ServingHour } from './traffic.ts';
import { DAY_S } from './working-hours.ts';

/** A rollout replaces a quarter of the replicas at a time, so many seconds apart. */
const ROLLOUT_STEPS = 4;
const ROLLOUT_STEP_S = 300;
/** Nobody replaces a service at night: the first quarter goes after the one, the last before the other, by UTC. */
const ROLLOUTS_FROM_S = 8 * HOUR_S;
const ROLLOUTS_UNTIL_S = 17 * HOUR_S;
/** Seconds until the autoscaler takes back a replica that came when it was no longer needed. */
const TAKEN_BACK_AFTER_S = 60;

/** When a replica first asks for its GPU: at the beginning, or when the traffic first needs so many. */
export function replicaAsksFirstAt(habit: Serving, scope: Scope, job: Job): Seconds {
  return neededFrom(habit, scope, job, Math.min(scope.from, job.submittedAt));
}

/** What one replica of a service does until it is replaced, taken back or loses its machine. */
export function servingCourse(request: CourseRequest, habit: Serving): Course {
  const { scope, job, from, devices, progress } = request;
  const outer = outerEnd(request);
  const rollout = nextRollout(habit, scope, job, from);
  const takenBack = notNeededFrom(habit, job, from, outer.at);
  const until = Math.min(outer.at, rollout, takenBack);
  const outcome: Outcome = until === outer.at ? outer.by : 'completed';
  const spans = spansOf(request, habit, until);
  const asksAgainAt = neededFrom(habit, scope, job, outcome === 'completed' ? until : until + ASKS_AGAIN_AFTER_S);
  return {
    until,
    outcome,
    cpusPerGpu: coresBeside(devices),
    spansOfDevice: devices.map(() => spans),
    progress,
    ...(outcome !== 'running' && { asksAgainAt }),
  };
}

/** Only what is called can follow its calls. */
const follows = (habit: Serving): boolean => habit.autoscaled && habit.purpose === 'traffic';

const isNeeded = (habit: Serving, { place }: Job, moment: Seconds): boolean =>
  !follows(habit) || neededReplicas(habit, place.of, moment) > place.index;

const nextHour = (moment: Seconds): Seconds => (Math.floor(moment / HOUR_S) + 1) * HOUR_S;

/** The first moment from then on at which the traffic needs the replica; past the window if none does. */
function neededFrom(habit: Serving, scope: Scope, job: Job, from: Seconds): Seconds {
  let at = from;
  while (!isNeeded(habit, job, at) && at < scope.until + DAY_S) at = nextHour(at);
  return at;
}

function notNeededFrom(habit: Serving, job: Job, from: Seconds, limit: Seconds): Seconds {
  if (!follows(habit)) return Infinity;
  if (!isNeeded(habit, job, from)) return from + TAKEN_BACK_AFTER_S;
  let at = nextHour(from);
  while (isNeeded(habit, job, at) && at < limit) at = nextHour(at);
  return at;
}

/**
 * Rollouts are counted from the day the window begins, so that all replicas of a service have the same ones, each at the
 * hour and minute its people are used to. One that comes several times a day keeps its distance instead.
 */
function nextRollout(habit: Serving, scope: Scope, { place }: Job, from: Seconds): Seconds {
  if (habit.days_between_rollouts === 0) return Infinity;
  const everyS = Math.max(HOUR_S, Math.round(habit.days_between_rollouts * DAY_S));
  const stepS = Math.floor((place.index * ROLLOUT_STEPS) / place.of) * ROLLOUT_STEP_S;
  const origin = beginOfDay(scope.from);
  const ofDayS = rolloutOfDayS(habit, scope) + stepS;
  const rollout = (count: number): Seconds => {
    const due = origin + count * everyS;
    return (everyS < DAY_S ? due : beginOfDay(due)) + ofDayS;
  };
  let count = Math.max(1, Math.floor((from - origin - ofDayS) / everyS));
  while (rollout(count) <= from) count += 1;
  return rollout(count);
}

const beginOfDay = (moment: Seconds): Seconds => Math.floor(moment / DAY_S) * DAY_S;

function rolloutOfDayS(habit: Serving, { seed }: Scope): number {
  const lastS = ROLLOUTS_UNTIL_S - (ROLLOUT_STEPS - 1) * ROLLOUT_STEP_S;
  const minutes = chanceOf(seed, 'rollout', habit.name).whole((lastS - ROLLOUTS_FROM_S) / 60);
  return ROLLOUTS_FROM_S + minutes * 60;
}

function spansOf(request: CourseRequest, habit: Serving, until: Seconds): readonly Span[] {
  const { from } = request;
  const kernel = kernelOf(request);
  if (habit.purpose !== 'traffic') return [spanOf(from, until, habit.purpose, holdingMemory(kernel))];
  const levels = atFullPace(kernel);
  const spans: Span[] = [];
  for (let at = from; at < until; at = nextHour(at)) {
    const { parts, traffic } = hourOf(habit, request, at);
    spans.push({ from: at, until: Math.min(until, nextHour(at)), parts, levels, traffic });
  }
  return spans;
}

/** Hours of a service are alike from replica to replica: each is worked out once. */
const knownHours = new WeakMap<Serving, Map<string, ServingHour>>();

function hourOf(habit: Serving, { job: { place }, scope: { seed } }: CourseRequest, moment: Seconds): ServingHour {
  const needed = neededReplicas(habit, place.of, moment);
  const inService = follows(habit) ? Math.max(needed, place.index + 1) : place.of;
  const key = `${seed} ${place.of} ${inService} ${Math.floor(moment / HOUR_S)}`;
  let hours = knownHours.get(habit);
  if (hours === undefined) knownHours.set(habit, (hours = new Map()));
  let hour = hours.get(key);
  if (hour === undefined) hours.set(key, (hour = servingHour(habit, place.of, inService, moment, seed)));
  return hour;
}
