import { chanceOf } from '../chance.ts';
import { unitsPerNode } from '../fleet/machines.ts';
import type { PoolPlan } from '../fleet/plan-fleet.ts';
import type { Job, Scope } from '../organisation.ts';
import type { Seconds } from '../timeline.ts';
import type { Box, Serving } from '../world/habit-schema.ts';
import type { Team, World } from '../world/world-schema.ts';
import { devicesPerNode } from './job-size.ts';
import type { JobNames } from './job-names.ts';

/** Habits that are there all the time: replicas of services, machines of one's own. */
export type Standing = Serving | Box;

export interface StandingDemand {
  readonly world: World;
  /** From where the courses of its jobs are told, which is before the window. */
  readonly scope: Scope;
  readonly plan: PoolPlan;
  readonly team: Team;
  readonly people: readonly string[];
  readonly names: JobNames;
  readonly asksFirstAt: (world: World, scope: Scope, job: Job) => Seconds;
}

/** Which replicas or machines of their own do people ask for, and when first? */
export function standingJobs(demand: StandingDemand, habit: Standing): readonly Job[] {
  const { world, scope, plan, team, people, names, asksFirstAt } = demand;
  const of = howMany(world, plan, habit);
  return Array.from({ length: of }, (_, index) => {
    const key = [scope.seed, 'job', habit.name, index + 1];
    const chance = chanceOf(...key, 'standing');
    const name = `${habit.name}-${index + 1}`;
    const job = {
      id: names.idOf(plan.pool, name, key),
      habit,
      team,
      pool: plan.pool,
      // A service is looked after by one person; machines of one's own belong to one after the other.
      user: people[habit.kind === 'box' ? index % people.length : 0]!,
      name,
      gpus: habit.kind === 'box' ? devicesPerNode(plan.pool) : 1,
      submittedAt: scope.from,
      tagged: !chance.happens(habit.untagged_percent),
      place: { index, of },
      key,
    };
    return { ...job, submittedAt: asksFirstAt(world, scope, job) };
  });
}

/**
 * The habit's part of the pool. Parts of one pool are rounded along their running sum, so that together they fill
 * what their shares add up to, also where each alone is less than one.
 */
function howMany(world: World, { pool, nodes }: PoolPlan, habit: Standing): number {
  const whole = habit.kind === 'box' ? nodes : nodes * unitsPerNode(pool);
  let before = 0;
  for (const other of world.habits) {
    if (other === habit) break;
    if (other.kind === habit.kind && other.pool === habit.pool) before += other.share_percent;
  }
  const upTo = (percent: number): number => Math.round((whole * Math.min(100, percent)) / 100);
  return upTo(before + habit.share_percent) - upTo(before);
}
