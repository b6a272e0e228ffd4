import { describe, expect, it } from 'vitest';
import type { Scope } from '../organisation.ts';
import type { Habit } from '../world/habit-schema.ts';
import type { Pool } from '../world/world-schema.ts';
import { JobNames } from './job-names.ts';
import { habitOf, poolOf, worldOf } from './small-world.ts';
import { standingJobs } from './standing-jobs.ts';

const scope: Scope = { seed: 1, gpus: 8, from: 0, until: 86_400, stepS: 300 };

function jobsOf(changes: Partial<Pool>, nodes: number, habits: readonly Habit[]) {
  const world = worldOf([poolOf(changes)], habits);
  const plan = { pool: world.pools[0]!, nodes };
  const shared = { world, scope, plan, team: world.teams[0]!, people: ['mchen', 'aortiz'], names: new JobNames(1) };
  return world.habits.map((habit) => {
    if (habit.kind !== 'serving' && habit.kind !== 'box') throw new Error('not a standing one');
    return standingJobs({ ...shared, asksFirstAt: (_world, _scope, { place }) => place.index * 10 }, habit);
  });
}

const service = (share: number) => habitOf('serving', { name: `service-${share}`, share_percent: share });
const box = (share: number) => habitOf('box', { name: `box-${share}`, share_percent: share });

const cases: Record<string, { pool?: Partial<Pool>; nodes: number; habits: Habit[]; want: number[] }> = {
  'a share of the GPUs': { nodes: 2, habits: [service(50), service(25)], want: [8, 4] },
  'shares below one GPU fill it together': {
    pool: { gpus_per_node: 1 },
    nodes: 1,
    habits: [service(40), service(35), service(25)],
    want: [0, 1, 0],
  },
  'a share of the slots where GPUs are shared': {
    pool: { sharing: 'time-slice', time_slices: 4 },
    nodes: 1,
    habits: [service(50)],
    want: [16],
  },
  'machines of one’s own are whole': { nodes: 4, habits: [box(50)], want: [2] },
  'nobody has anything in a pool without machines': { nodes: 0, habits: [service(80), box(20)], want: [0, 0] },
  'no pool has more than all of it': { nodes: 1, habits: [service(80), service(60)], want: [6, 2] },
};

describe('services and machines of one’s own', () => {
  it.each(Object.entries(cases))('%s', (_name, { pool = {}, nodes, habits, want }) => {
    expect(jobsOf(pool, nodes, habits).map((jobs) => jobs.length)).toEqual(want);
  });

  it('know their place and ask when their course says', () => {
    const [jobs] = jobsOf({ gpus_per_node: 1 }, 3, [service(100)]);
    expect(jobs!.map(({ place, submittedAt, gpus, key }) => ({ place, submittedAt, gpus, key }))).toEqual([
      { place: { index: 0, of: 3 }, submittedAt: 0, gpus: 1, key: [1, 'job', 'service-100', 1] },
      { place: { index: 1, of: 3 }, submittedAt: 10, gpus: 1, key: [1, 'job', 'service-100', 2] },
      { place: { index: 2, of: 3 }, submittedAt: 20, gpus: 1, key: [1, 'job', 'service-100', 3] },
    ]);
  });

  it('a machine of one’s own is all of its devices, and each has its own person', () => {
    const [jobs] = jobsOf({ scheduler: 'none' }, 2, [box(100)]);
    expect(jobs!.map(({ user, gpus, id }) => [user, gpus, id])).toEqual([
      ['mchen', 8, 'box-100-1'],
      ['aortiz', 8, 'box-100-2'],
    ]);
  });
});
