import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OperationError } from '../../facts/operation-error.ts';
import { PRESETS } from '../world/presets.ts';
import { poolOf, worldOf } from '../schedule/small-world.ts';
import { planFleet, plannedGpus } from './plan-fleet.ts';

/** Shares of the pools and GPUs of their machines; `want` are their nodes. */
const cases: Record<string, { shares: number[]; sizes: number[]; gpus: number; want: number[] }> = {
  'shares that come out even': { shares: [80, 20], sizes: [8, 1], gpus: 40, want: [4, 8] },
  'what whole machines leave over goes to single ones': { shares: [80, 20], sizes: [8, 1], gpus: 45, want: [4, 13] },
  'the machine that misses least of its share comes first': { shares: [48, 52], sizes: [8, 8], gpus: 24, want: [1, 2] },
  'a tiny fleet has no large machines': { shares: [90, 6, 4], sizes: [8, 1, 1], gpus: 6, want: [0, 3, 3] },
  'one GPU is a fleet': { shares: [90, 10], sizes: [8, 1], gpus: 1, want: [0, 1] },
  'without single machines the nearest below': { shares: [50, 50], sizes: [8, 4], gpus: 30, want: [2, 3] },
  'machines that do not divide each other': { shares: [50, 50], sizes: [5, 3], gpus: 6, want: [0, 2] },
  'a pool without a share has none': { shares: [0, 100], sizes: [1, 8], gpus: 17, want: [0, 2] },
};

describe('a fleet is planned', () => {
  it.each(Object.entries(cases))('%s', (_name, { shares, sizes, gpus, want }) => {
    const world = worldOf(
      shares.map((share, index) => poolOf({ name: `p${index}`, share_percent: share, gpus_per_node: sizes[index]! })),
      [],
    );
    expect(planFleet(world, gpus).map(({ nodes }) => nodes)).toEqual(want);
  });

  it('of any size exactly, where a pool has single machines', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200_000 }), fc.constantFrom('unmanaged', 'well-run'), (gpus, preset) => {
        const plan = planFleet(PRESETS[preset], gpus);
        expect(plannedGpus(plan)).toBe(gpus);
        expect(plan.every(({ nodes }) => nodes >= 0)).toBe(true);
      }),
    );
  });

  it.each([
    [0, 'a fleet needs at least one GPU: --gpus 250'],
    [-3, 'a fleet needs at least one GPU: --gpus 250'],
    [2.5, 'a fleet has a whole number of GPUs, not 2.5: --gpus 250'],
    [Number.NaN, 'a fleet has a whole number of GPUs, not NaN: --gpus 250'],
    [200_001, 'a fleet of 200001 GPUs is too large: at most --gpus 200000'],
  ])('but not of %s GPUs', (gpus, message) => {
    const error = refusal(() => planFleet(PRESETS.unmanaged, gpus));
    expect(error).toMatchObject({ code: 'bad-option', message, hint: 'give a whole number from 1 on: --gpus 250' });
  });

  it('and not of less than one machine', () => {
    const error = refusal(() => planFleet(worldOf([poolOf({})], []), 7));
    expect(error).toMatchObject({ code: 'bad-option', hint: 'ask for at least one of them: --gpus 8' });
  });
});

function refusal(act: () => unknown): OperationError {
  try {
    act();
  } catch (error) {
    if (error instanceof OperationError) return error;
    throw error;
  }
  throw new Error('was not refused');
}
