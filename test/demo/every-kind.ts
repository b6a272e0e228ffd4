import { PRESETS } from '../../src/demo/world/presets.ts';
import type { World } from '../../src/demo/world/world-schema.ts';

/**
 * The unmanaged world made so dense that forty GPUs and a few days have everything in them: small machines, so that each
 * pool has some, and faults of sensors, machines and bills that come many times as often.
 */
export function everyKind(): World {
  const world = PRESETS.unmanaged;
  return {
    ...world,
    name: 'every kind',
    providers: world.providers.map((provider) => ({
      ...provider,
      corrected_hours: 12,
      reissued: true,
      unlisted_percent: Math.min(0.4, provider.unlisted_percent),
    })),
    pools: world.pools.map((pool) => ({
      ...pool,
      gpus_per_node: Math.min(2, pool.gpus_per_node),
      days_between_failures: 6,
      drained_percent: 5,
      ...(pool.purchase === 'spot' && { spot_hours_between_interruptions: 7 }),
      // More than ten who share a GPU have parts of it that do not come out even.
      ...(pool.sharing === 'time-slice' && { time_slices: 13 }),
    })),
    habits: world.habits.map((habit) => {
      const isShared = world.pools.some(({ name, sharing }) => name === habit.pool && sharing === 'time-slice');
      return isShared && 'load_percent' in habit ? { ...habit, load_percent: 40 } : habit;
    }),
    sensors: {
      ...world.sensors,
      blank_percent: 30,
      dead_exporter_percent: 30,
      no_profiling_percent: 20,
      clock_off_percent: 20,
      two_exporters_percent: 30,
      profiler_sessions: 4,
    },
  };
}
