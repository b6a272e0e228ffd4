import assert from 'node:assert/strict';
import { chanceOf, meanOf, type Chance } from '../chance.ts';
import { NO_PROGRESS, type Course, type CourseRequest, type Device, type Job, type Scope } from '../organisation.ts';
import type { Seconds } from '../timeline.ts';
import type { Habit, Notebook, Sweep, Training } from '../world/habit-schema.ts';
import type { Pool, Team, World } from '../world/world-schema.ts';
import { boxCourse } from './box.ts';
import { imaginedDevices } from './imagined-devices.ts';
import { notebookCourse } from './notebook.ts';
import { replicaAsksFirstAt, servingCourse } from './serving.ts';
import { sweepCourse, trialOf } from './sweep.ts';
import { trainingCourse } from './training.ts';
import { trainingRun } from './training-run.ts';
import { DAY_S, workingHoursOf } from './working-hours.ts';

/**
 * What will a job do with the GPUs it is given now? A function of its own stream of draws, its begin and the fate of
 * its machines: whoever asks twice gets the same answer, and nobody else's draws move.
 */
export function courseOf(request: CourseRequest): Course {
  const { from, devices, machineLost, job } = request;
  assert(devices.length > 0, `${job.id} begins without a device`);
  assert(machineLost.at > from, `${job.id} begins on a machine that is gone`);
  const { habit } = job;
  switch (habit.kind) {
    case 'training':
      return trainingCourse(request, habit);
    case 'sweep':
      return sweepCourse(request, habit);
    case 'notebook':
      return notebookCourse(request, habit);
    case 'serving':
      return servingCourse(request, habit);
    case 'box':
      return boxCourse(request, habit);
  }
}

/**
 * When a job first asks for GPUs. Replicas and machines of their users are there from the beginning, which is the
 * window's or, if they were submitted before it, theirs; a replica that follows the traffic comes when it is needed.
 */
export function asksFirstAt(_world: World, scope: Scope, job: Job): Seconds {
  const { habit } = job;
  if (habit.kind === 'serving') return replicaAsksFirstAt(habit, scope, job);
  return habit.kind === 'box' ? Math.min(scope.from, job.submittedAt) : job.submittedAt;
}

const JOBS_DRAWN = 300;
/** Lives of a job that are followed; one that crashes more often than that is not what decides the mean. */
const LIVES_MOST = 100;
const LIFE_DAYS_MOST = 40;
/** A Monday. */
const MONDAY: Seconds = 1_767_571_200;

type Asking = Training | Sweep | Notebook;

const knownMeans = new WeakMap<World, WeakMap<Habit, number>>();

/**
 * GPU-hours one job of a habit holds on average over all its lives, when no machine is lost and it never waits.
 *
 * Followed for some hundred jobs. Lengths have long tails, so that a few long runs more or less would move the mean
 * by a quarter; the mean length is known exactly, and the answer is corrected by what was drawn against it.
 */
export function meanGpuHours(world: World, habit: Habit): number {
  assert(habit.kind !== 'serving' && habit.kind !== 'box', `${habit.name}: a ${habit.kind} is there all the time`);
  let means = knownMeans.get(world);
  if (means === undefined) knownMeans.set(world, (means = new WeakMap()));
  let mean = means.get(habit);
  if (mean === undefined) means.set(habit, (mean = drawnMean(world, habit)));
  return mean;
}

function drawnMean(world: World, habit: Asking): number {
  const pool = world.pools.find(({ name }) => name === habit.pool)!;
  const team = world.teams.find(({ name }) => name === habit.team)!;
  let [heldS, drawnWorkS] = [0, 0];
  for (let index = 0; index < JOBS_DRAWN; index += 1) {
    const job = drawnJob(world, habit, { pool, team, index });
    const devices = imaginedDevices(world, pool, job.gpus);
    heldS += heldSeconds(world, job, devices) * job.gpus;
    drawnWorkS += workSeconds(job, habit) * job.gpus;
  }
  const expectedWorkS = meanWorkSeconds(habit);
  const correction = expectedWorkS === 0 ? 1 : (expectedWorkS * JOBS_DRAWN) / drawnWorkS;
  return (heldS * correction) / JOBS_DRAWN / 3600;
}

function drawnJob(world: World, habit: Asking, of: { pool: Pool; team: Team; index: number }): Job {
  const key = ['mean', habit.name, of.index];
  const chance = chanceOf(...key, 'asks');
  const hours = workingHoursOf(world, of.team);
  const morning = hours.nextMorning(MONDAY + chance.whole(7 * DAY_S));
  const submittedAt = morning + chance.whole(hours.eveningOf(hours.dayOf(morning)) - morning);
  const gpus = gpusOf(habit, chance);
  return {
    id: key.join('-'),
    habit,
    team: of.team,
    pool: of.pool,
    user: of.team.users[0]!,
    name: habit.name,
    gpus,
    submittedAt,
    tagged: true,
    place: {
      index: 0,
      of: 1,
    },
    key,
  };
}

function gpusOf(habit: Asking, chance: Chance): number {
  if (habit.kind === 'sweep') return habit.gpus_per_trial;
  if (habit.kind === 'notebook') return habit.gpus;
  return chance.pick(Object.entries(habit.gpus).map(([gpus, weight]) => [Number(gpus), weight] as const));
}

function heldSeconds(world: World, job: Job, devices: readonly Device[]): number {
  let [heldS, progress] = [0, NO_PROGRESS];
  let from: Seconds | undefined = job.submittedAt;
  for (let number = 0; from !== undefined && number < LIVES_MOST; number += 1) {
    const scope: Scope = { seed: 0, gpus: job.gpus, from, until: from + (LIFE_DAYS_MOST - 1) * DAY_S, stepS: 300 };
    const machineLost = { at: Infinity, by: 'node-fail' } as const;
    const course: Course = courseOf({ world, scope, job, number, progress, from, devices, machineLost });
    heldS += course.until - from;
    progress = course.progress;
    from = course.asksAgainAt;
  }
  return heldS;
}

/** How much work a job drew; sessions have days, which are short-tailed and need no correction. */
function workSeconds(job: Job, habit: Asking): number {
  if (habit.kind === 'training') return trainingRun(job, habit).workS;
  return habit.kind === 'sweep' ? trialOf(job.key, habit).workS : 0;
}

/** What GPUs times work is on average; a run's length does not depend on its size. */
function meanWorkSeconds(habit: Asking): number {
  if (habit.kind === 'notebook') return 0;
  const hours = meanOf(habit.hours) * 3600;
  if (habit.kind === 'sweep') return hours * habit.gpus_per_trial;
  const sizes = Object.entries(habit.gpus);
  const weights = sizes.reduce((sum, [, weight]) => sum + weight, 0);
  return (hours * sizes.reduce((sum, [gpus, weight]) => sum + Number(gpus) * weight, 0)) / weights;
}
