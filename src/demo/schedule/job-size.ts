import { devicesPerGpu } from '../fleet/machines.ts';
import type { PoolPlan } from '../fleet/plan-fleet.ts';
import type { Pool } from '../world/world-schema.ts';

/** Devices of one machine that a single job can hold. */
export function devicesPerNode(pool: Pool): number {
  return pool.gpus_per_node * devicesPerGpu(pool);
}

/**
 * How many devices does somebody ask for who needs so many? Undefined where the pool could never hold that: nobody
 * asks for what cannot be had.
 *
 * More than a machine has means whole machines, so that twelve on machines of eight are sixteen. Slices and slots are
 * never put together across machines.
 */
export function devicesAsked({ pool, nodes }: PoolPlan, gpus: number): number | undefined {
  const perNode = devicesPerNode(pool);
  if (nodes === 0) return undefined;
  if (gpus <= perNode) return gpus;
  const machines = Math.ceil(gpus / perNode);
  return pool.sharing === 'whole' && machines <= nodes ? machines * perNode : undefined;
}

/** The sizes of a habit that can be had, by weight, smallest first. */
export function sizesAsked(
  plan: PoolPlan,
  gpus: Readonly<Record<string, number>>,
): readonly (readonly [number, number])[] {
  const weights = new Map<number, number>();
  for (const [size, weight] of Object.entries(gpus)) {
    const asked = devicesAsked(plan, Number(size));
    if (asked !== undefined && weight > 0) weights.set(asked, (weights.get(asked) ?? 0) + weight);
  }
  return [...weights].sort(([a], [b]) => a - b);
}
