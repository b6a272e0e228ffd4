import type { World } from '../../src/demo/world/world-schema.ts';

const GPUS_PER_NODE_MAX = 4;

/**
 * The part of a world that Kubernetes hands out, as a world of its own: there DCGM and kube-state-metrics together say all
 * there is to know, so that everything a ledger says of it can be compared with the truth. Machines have four GPUs at
 * most: a small fleet then has some of every kind, and large jobs run on several.
 */
export function kubernetesOnly(world: World): World {
  const pools = world.pools.filter(({ scheduler }) => scheduler === 'kubernetes');
  const shares = pools.reduce((sum, pool) => sum + pool.share_percent, 0);
  const names = new Set(pools.map(({ name }) => name));
  return {
    ...world,
    name: `${world.name}, Kubernetes only`,
    pools: pools.map((pool) => ({
      ...pool,
      share_percent: (pool.share_percent * 100) / shares,
      gpus_per_node: Math.min(GPUS_PER_NODE_MAX, pool.gpus_per_node),
    })),
    habits: world.habits.filter(({ pool }) => names.has(pool)),
  };
}
