import { type Chance, chanceOf, meanOf } from '../chance.ts';
import { unitsPerNode } from '../fleet/machines.ts';
import type { PoolPlan } from '../fleet/plan-fleet.ts';
import type { Job, Scope } from '../organisation.ts';
import type { Seconds } from '../timeline.ts';
import { isWorkday, workingHoursOf } from '../work/working-hours.ts';
import type { Habit, Notebook, Sweep, Training } from '../world/habit-schema.ts';
import type { Team, World } from '../world/world-schema.ts';
import { devicesAsked, sizesAsked } from './job-size.ts';
import type { JobNames } from './job-names.ts';

const HOURS_A_WEEK = 168;

/** Habits whose jobs come one after the other, as people submit them. */
export type Asking = Training | Sweep | Notebook;

/** What arrivals are drawn from. */
export interface Demand {
  readonly world: World;
  readonly scope: Scope;
  /** When the first job may come: some time before the window, which begins in the middle of life. */
  readonly from: Seconds;
  readonly plan: PoolPlan;
  readonly team: Team;
  readonly people: readonly string[];
  readonly names: JobNames;
  readonly meanGpuHours: (world: World, habit: Habit) => number;
}

/** The jobs of one habit, in the order they are submitted. */
export interface Arrivals {
  /** When somebody next submits something; undefined if nobody will before the window ends. */
  nextAt(): Seconds | undefined;
  /** What is submitted then: a run, a session, or all trials of a sweep. */
  jobsAt(moment: Seconds): readonly Job[];
}

/**
 * When do people submit jobs of this habit, and what do they ask for? Undefined if nothing they would ask for can be had.
 *
 * As many come as it takes to ask for `load_percent` of the pool's hours, over a whole week. Waits are drawn at the pace
 * of the busiest hour, and of what they give as much is kept as the hour's weight says: no logarithm, no rounding
 * to hours, and the same jobs whatever the others do.
 */
export function arrivalsOf(demand: Demand, habit: Asking): Arrivals | undefined {
  const sizes = sizesOf(demand.plan, habit);
  const weightAt = weightsOf(demand, habit);
  const topWeight = Math.max(...weightAt.hours);
  const jobsAWeek = sizes.length === 0 || topWeight === 0 ? 0 : submissionsAWeek(demand, habit, sizes);
  if (jobsAWeek <= 0) return undefined;
  const weightOfWeek = weightAt.hours.reduce((sum, weight) => sum + weight, 0);
  const meanWaitS = (3600 * weightOfWeek) / (jobsAWeek * topWeight);
  const chance = chanceOf(demand.scope.seed, 'arrivals', habit.name);
  let at = demand.from;
  return {
    nextAt: () => {
      do {
        at += chance.wait(meanWaitS);
        if (at >= demand.scope.until) return undefined;
      } while (chance.fraction() * topWeight >= weightAt.moment(at));
      return Math.floor(at);
    },
    jobsAt: submissions(demand, habit, sizes),
  };
}

type Sizes = readonly (readonly [number, number])[];

function sizesOf(plan: PoolPlan, habit: Asking): Sizes {
  if (habit.kind === 'training') return sizesAsked(plan, habit.gpus);
  const asked = devicesAsked(plan, habit.kind === 'sweep' ? habit.gpus_per_trial : habit.gpus);
  return asked === undefined ? [] : [[asked, 1]];
}

/** How many submissions a week ask for the habit's part of what the pool has. */
function submissionsAWeek({ world, plan, meanGpuHours }: Demand, habit: Asking, sizes: Sizes): number {
  // What does not fit is not asked for, so it must not count in the mean either.
  const asked = habit.kind === 'training' ? { ...habit, gpus: Object.fromEntries(sizes) } : habit;
  const jobs = habit.kind === 'sweep' ? Math.max(1, meanOf(habit.trials)) : 1;
  const hoursEach = meanGpuHours(world, asked) * jobs;
  const hoursOfPool = plan.nodes * unitsPerNode(plan.pool) * HOURS_A_WEEK;
  return hoursEach > 0 ? ((habit.load_percent / 100) * hoursOfPool) / hoursEach : 0;
}

/** How much is submitted at a moment against others, and in each hour of the team's week from Monday on. */
function weightsOf({ world, team }: Demand, habit: Asking) {
  const { submissions_by_hour: byHour, weekend_submissions_percent: weekendPercent } = world.calendar;
  const working = workingHoursOf(world, team);
  const moment = (at: Seconds): number => {
    const hour = Math.floor((at + team.utc_offset_hours * 3600) / 3600) % 24;
    const weight = byHour[hour] ?? 0;
    if (habit.kind === 'notebook') return working.isWorking(at) ? weight : 0;
    return isWorkday(working.dayOf(at)) ? weight : (weight * weekendPercent) / 100;
  };
  const monday = (4 * 24 - team.utc_offset_hours) * 3600; // 1970-01-05, by the team's clock.
  return { moment, hours: Array.from({ length: HOURS_A_WEEK }, (_, hour) => moment(monday + hour * 3600)) };
}

function submissions({ scope, plan, team, people, names }: Demand, habit: Asking, sizes: Sizes) {
  let [serial, submission] = [0, 0];
  return (moment: Seconds): readonly Job[] => {
    submission += 1;
    const chance = chanceOf(scope.seed, 'submission', habit.name, submission);
    const user = people[chance.whole(people.length)]!;
    const tagged = !chance.happens(habit.untagged_percent);
    const gpus = chance.pick(sizes);
    const trials = trialsOf(habit, chance);
    return Array.from({ length: trials }, (_, index) => {
      serial += 1;
      const key = [scope.seed, 'job', habit.name, serial];
      const name = habit.kind === 'sweep' ? `${habit.name}-${submission}-${index}` : `${habit.name}-${serial}`;
      const id = names.idOf(plan.pool, name, key);
      const place = { index, of: trials };
      return { id, habit, team, pool: plan.pool, user, name, gpus, submittedAt: moment, tagged, place, key };
    });
  };
}

function trialsOf(habit: Asking, chance: Chance): number {
  return habit.kind === 'sweep' ? Math.max(1, Math.round(chance.from(habit.trials))) : 1;
}
