import { describe, expect, it } from 'vitest';
import type { Job, Scope } from '../organisation.ts';
import { workingHoursOf } from '../work/working-hours.ts';
import type { Pool, Quantiles } from '../world/world-schema.ts';
import { arrivalsOf, type Asking } from './arrivals.ts';
import { JobNames } from './job-names.ts';
import { habitOf, poolOf, worldOf } from './small-world.ts';

const DAY_S = 86_400;
/** A Monday. */
const FROM = 1_767_571_200;
const scope: Scope = { seed: 1, gpus: 80, from: FROM, until: FROM + 28 * DAY_S, stepS: 300 };
const always = (value: number): Quantiles => ({
  p0: value,
  p10: value,
  p50: value,
  p90: value,
  p99: value,
  p100: value,
});

interface Case {
  readonly habit: Asking;
  readonly pool?: Partial<Pool>;
  readonly nodes?: number;
  readonly meanGpuHours?: number;
  readonly offsetHours?: number;
  readonly seed?: number;
}

function submissions({ habit, pool = {}, nodes = 10, meanGpuHours = 2, offsetHours = 0, seed = 1 }: Case) {
  const world = worldOf([poolOf(pool)], [habit], {
    teams: [{ name: 'nlp', users: ['mchen'], utc_offset_hours: offsetHours }],
  });
  const arrivals = arrivalsOf(
    {
      world,
      scope: { ...scope, seed },
      from: scope.from,
      plan: { pool: world.pools[0]!, nodes },
      team: world.teams[0]!,
      people: ['mchen', 'aortiz'],
      names: new JobNames(1),
      meanGpuHours: () => meanGpuHours,
    },
    habit,
  );
  const jobs: (readonly Job[])[] = [];
  if (arrivals !== undefined)
    for (let at = arrivals.nextAt(); at !== undefined; at = arrivals.nextAt()) jobs.push(arrivals.jobsAt(at));
  return { jobs, working: workingHoursOf(world, world.teams[0]!) };
}

const training = (changes: Partial<Asking & { kind: 'training' }> = {}) =>
  habitOf('training', { name: 'run', load_percent: 50, gpus: { '1': 3, '2': 1 }, ...changes });

describe('people submit', () => {
  it('as much as the habit’s part of the pool takes', () => {
    // Half of 80 GPUs for 28 days, two GPU-hours each.
    const want = (0.5 * 80 * 28 * 24) / 2;
    const count = submissions({ habit: training() }).jobs.length;
    expect(Math.abs(count / want - 1)).toBeLessThan(0.05);
  });

  it('as much where GPUs are shared, counted in slots', () => {
    const pool = { sharing: 'time-slice', time_slices: 4 } as const;
    const count = submissions({ habit: training(), pool, nodes: 2 }).jobs.length;
    expect(Math.abs(count / ((0.5 * 64 * 28 * 24) / 2) - 1)).toBeLessThan(0.05);
  });

  it('less on weekends', () => {
    const { jobs, working } = submissions({ habit: training() });
    const isWeekend = ([job]: readonly Job[]) => (working.dayOf(job!.submittedAt) + 3) % 7 >= 5;
    const weekendShare = jobs.filter(isWeekend).length / jobs.length;
    const factor = worldOf([poolOf({})], []).calendar.weekend_submissions_percent / 100;
    expect(Math.abs(weekendShare - (2 * factor) / (5 + 2 * factor))).toBeLessThan(0.03);
  });

  it('sessions only while they are there, by their own clock', () => {
    const habit = habitOf('notebook', { load_percent: 80 });
    for (const offsetHours of [-8, 0, 5]) {
      const { jobs, working } = submissions({ habit, offsetHours });
      expect(jobs.length).toBeGreaterThan(1000);
      expect(jobs.every(([job]) => working.isWorking(job!.submittedAt))).toBe(true);
    }
  });

  it('all trials of a sweep together, of one person', () => {
    const { jobs } = submissions({ habit: habitOf('sweep', { name: 'sweep', load_percent: 10, trials: always(3) }) });
    for (const trials of jobs) {
      expect(trials.map(({ place }) => place)).toEqual([0, 1, 2].map((index) => ({ index, of: 3 })));
      expect(new Set(trials.map(({ submittedAt, user, tagged }) => `${submittedAt} ${user} ${tagged}`)).size).toBe(1);
    }
    expect(jobs[1]!.map(({ key }) => key)).toEqual([4, 5, 6].map((serial) => [1, 'job', 'sweep', serial]));
    expect(new Set(jobs.flat().map(({ id }) => id)).size).toBe(jobs.length * 3);
  });

  it('the same jobs again by the same seed, and others by another', () => {
    const told = (seed: number) => JSON.stringify(submissions({ habit: training(), seed }).jobs);
    expect(told(1) === told(1)).toBe(true);
    expect(told(1) === told(2)).toBe(false);
  });

  const sizes: Record<string, { gpus: Record<string, number>; pool?: Partial<Pool>; nodes: number; want: number[] }> = {
    'any size a machine holds': { gpus: { '1': 1, '8': 1 }, nodes: 1, want: [1, 8] },
    'whole machines beyond that': { gpus: { '12': 1, '16': 1 }, nodes: 2, want: [16] },
    'nothing that cannot be had': { gpus: { '4': 1, '16': 9 }, nodes: 1, want: [4] },
    'nothing at all of sizes that do not fit': { gpus: { '16': 1 }, nodes: 1, want: [] },
    'nothing where there are no machines': { gpus: { '1': 1 }, nodes: 0, want: [] },
    'no slots of several machines': {
      gpus: { '1': 1, '2': 1 },
      pool: { sharing: 'time-slice', time_slices: 4, gpus_per_node: 1 },
      nodes: 9,
      want: [1],
    },
    'as many slices as a machine has': {
      gpus: { '4': 1, '5': 1 },
      pool: { sharing: 'mig', mig_profiles: ['3g.40gb', '3g.40gb'], gpus_per_node: 2 },
      nodes: 9,
      want: [4],
    },
  };
  it.each(Object.entries(sizes))('%s', (_name, { gpus, pool = {}, nodes, want }) => {
    const { jobs } = submissions({ habit: training({ gpus }), pool, nodes });
    const asked = new Set(jobs.map(([job]) => job!.gpus));
    expect([...asked].sort((a, b) => a - b)).toEqual(want);
  });

  it.each([
    ['a habit that asks for nothing', training({ load_percent: 0 }), 2],
    ['jobs that hold nothing', training(), 0],
  ])('nothing for %s', (_name, habit, meanGpuHours) => {
    expect(submissions({ habit, meanGpuHours }).jobs).toEqual([]);
  });
});
