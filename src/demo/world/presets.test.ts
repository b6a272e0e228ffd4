import { describe, expect, it } from 'vitest';
import { meanOf } from '../chance.ts';
import { checkWorld } from './check/check-world.ts';
import { PRESETS } from './presets.ts';
import { worldSchema } from './world-schema.ts';

describe.each(Object.entries(PRESETS))('the world %s', (name, world) => {
  it('is one that could be', () => {
    expect(worldSchema.safeParse(world).error).toBeUndefined();
    expect(checkWorld(world)).toEqual([]);
    expect(world.name).toBe(name);
  });

  it('gives every pool something to do', () => {
    expect(world.pools.filter((pool) => !world.habits.some((habit) => habit.pool === pool.name))).toEqual([]);
  });

  it('has in an hour the requests its weight says: bursts are 1 on average', () => {
    const means = world.habits.flatMap((habit) => (habit.kind === 'serving' ? [meanOf(habit.burst)] : []));
    expect(means.filter((mean) => Math.abs(mean - 1) > 0.005)).toEqual([]);
  });

  it('asks for no more cores than the machines have', () => {
    const coresOf = (wanted: string) => world.pools.find((pool) => pool.name === wanted)?.cpus_per_gpu ?? 0;
    const greedy = world.habits.filter(
      (habit) => habit.kind === 'training' && habit.cpus_per_gpu.p100 > coresOf(habit.pool),
    );
    expect(greedy).toEqual([]);
  });
});

it('shows what newcomers should meet: all schedulers, ways to buy and to share, kinds of work', () => {
  const { pools, habits, providers } = PRESETS.unmanaged;
  expect(new Set(pools.map((pool) => pool.scheduler))).toEqual(new Set(['slurm', 'kubernetes', 'none']));
  expect(new Set(pools.map((pool) => pool.purchase))).toEqual(new Set(['on-demand', 'spot', 'committed', 'owned']));
  expect(new Set(pools.map((pool) => pool.sharing))).toEqual(new Set(['whole', 'mig', 'time-slice']));
  expect(new Set(habits.map((habit) => habit.kind))).toEqual(
    new Set(['training', 'sweep', 'notebook', 'serving', 'box']),
  );
  expect(new Set(providers.map((provider) => provider.bills_by))).toEqual(new Set(['hour', 'day']));
});
