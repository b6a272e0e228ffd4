import { describe, expect, it } from 'vitest';
import type { Device } from '../organisation.ts';
import type { Habit } from '../world/habit-schema.ts';
import type { Pool } from '../world/world-schema.ts';
import { courseOf } from './course.ts';
import { imaginedDevices } from './imagined-devices.ts';
import { always, BOX, NOTEBOOK, requestFor, secondsByReason, SERVING, SWEEP, TRAINING } from './small-work.ts';

const GREEDY = { ...TRAINING, cpus_per_gpu: always(40) };
const MIG = { sharing: 'mig', mig_profiles: ['3g.40gb', '2g.20gb', '1g.10gb'] } satisfies Partial<Pool>;
const slicedBy = (slices: number) => ({ sharing: 'time-slice', time_slices: slices }) satisfies Partial<Pool>;

/** A job of the habit on a GPU of such a pool, or on the slices of one. */
const onPool = (habit: Habit, changes: Partial<Pool>, shares: readonly number[] = [63_000]) => {
  const request = requestFor(habit, { gpus: shares.length });
  const pool = { ...request.job.pool, ...changes };
  const [whole] = imaginedDevices(request.world, pool, 1);
  const devices = shares.map((shareUnits): Device => ({ ...whole!, shareUnits }));
  return courseOf({ ...request, job: { ...request.job, pool }, devices });
};
const coresOn = (...asked: Parameters<typeof onPool>): number => onPool(...asked).cpusPerGpu;

describe('cores of a job', () => {
  const kinds: readonly Habit[] = [GREEDY, SWEEP, NOTEBOOK, SERVING, BOX];
  const cases: Record<string, { pool: Partial<Pool>; shares?: readonly number[]; want: number }> = {
    'on half a GPU are half of those beside it': { pool: MIG, shares: [31_500], want: 6 },
    'on an eighth of one are whole cores': { pool: MIG, shares: [7875], want: 1 },
    'on slices of two sizes fit the smaller': { pool: MIG, shares: [31_500, 15_750], want: 3 },
    'on a GPU that four share are a quarter': { pool: slicedBy(4), want: 3 },
    'on one with fewer cores than holders are a part of a core': {
      pool: { ...slicedBy(4), cpus_per_gpu: 1 },
      want: 0.25,
    },
  };
  describe.each(Object.entries(cases))('%s', (_, { pool, shares, want }) => {
    it.each(kinds)('of a $kind', (habit) => expect(coresOn(habit, pool, shares)).toBe(want));
  });

  it.each(kinds.slice(1))('on a whole GPU are those beside it, of a $kind', (habit) => {
    expect(coresOn(habit, {})).toBe(12);
  });

  it.each(kinds)('of all that share a GPU are no more than it has, of a $kind', (habit) => {
    for (let cores = 1; cores <= 24; cores += 1) {
      for (let slices = 1; slices <= 10; slices += 1) {
        expect(coresOn(habit, { ...slicedBy(slices), cpus_per_gpu: cores }) * slices).toBeLessThanOrEqual(cores);
      }
      const ofSlices = [31_500, 15_750, 7875].map((share) => coresOn(habit, { ...MIG, cpus_per_gpu: cores }, [share]));
      expect(ofSlices.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(cores);
    }
  });

  it('that a run asks for and does not get starve it', () => {
    // One core needs four times the step to load its batch.
    const course = onPool({ ...TRAINING, cpus_per_gpu: always(4) }, MIG, [7875]);
    const { stepping, 'waiting-for-data': waiting } = secondsByReason(course.spansOfDevice[0]!);
    expect(waiting! / stepping!).toBeCloseTo(3, 2);
  });

  it('of a run that asks for few are what it asks for', () => {
    expect(coresOn({ ...TRAINING, cpus_per_gpu: always(2) }, MIG, [31_500])).toBe(2);
  });
});
