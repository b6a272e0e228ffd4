import { OperationError } from '../../facts/operation-error.ts';
import type { Pool, World } from '../world/world-schema.ts';

/** Beyond this nobody has looked at what a window takes in memory and time. */
const GPUS_MAX = 200_000;

export interface PoolPlan {
  readonly pool: Pool;
  readonly nodes: number;
}

/**
 * How many machines does each pool get in a fleet of so many GPUs?
 *
 * Machines cannot be cut, so the parts of the pools are rounded to whole machines by largest remainder, and what is then
 * left goes to machines small enough for it: the GPUs add up exactly wherever a pool has machines of one GPU. Elsewhere
 * they may add up to less, never to more; `plannedGpus` says to how many.
 */
export function planFleet(world: World, gpus: number): readonly PoolPlan[] {
  refuseBadCount(gpus);
  const shares = world.pools.reduce((sum, pool) => sum + pool.share_percent, 0);
  const parts = world.pools.map((pool) => {
    const exact = shares > 0 ? (gpus * pool.share_percent) / shares / pool.gpus_per_node : 0;
    const nodes = Math.floor(exact);
    return { pool, nodes, remainder: exact - nodes };
  });
  let left = gpus - plannedGpus(parts);
  for (const part of sortedBy(parts, ({ remainder }) => -remainder)) {
    if (part.remainder === 0 || part.pool.gpus_per_node > left) continue;
    part.nodes += 1;
    left -= part.pool.gpus_per_node;
  }
  const usable = parts.filter(({ pool }) => pool.share_percent > 0);
  const single = usable.filter(({ pool }) => pool.gpus_per_node === 1);
  if (single.length > 0) spreadOver(single, left);
  else fillUp(usable, left);
  const plan = parts.map(({ pool, nodes }) => ({ pool, nodes }));
  if (plannedGpus(plan) === 0) refuseTooFew(usable, gpus);
  return plan;
}

export function plannedGpus(plan: readonly PoolPlan[]): number {
  return plan.reduce((sum, { pool, nodes }) => sum + nodes * pool.gpus_per_node, 0);
}

function refuseBadCount(gpus: number): void {
  const hint = { hint: 'give a whole number from 1 on: --gpus 250' };
  if (!Number.isFinite(gpus) || !Number.isInteger(gpus))
    throw new OperationError('bad-option', `a fleet has a whole number of GPUs, not ${gpus}: --gpus 250`, hint);
  if (gpus < 1) throw new OperationError('bad-option', 'a fleet needs at least one GPU: --gpus 250', hint);
  if (gpus > GPUS_MAX)
    throw new OperationError('bad-option', `a fleet of ${gpus} GPUs is too large: at most --gpus ${GPUS_MAX}`, hint);
}

function refuseTooFew(usable: readonly Part[], gpus: number): never {
  const least = usable.reduce((smallest, { pool }) => Math.min(smallest, pool.gpus_per_node), Infinity);
  if (least === Infinity)
    throw new OperationError('bad-world', 'no pool of this world has a part of the fleet', {
      hint: 'give at least one pool a share_percent above 0',
    });
  throw new OperationError('bad-option', `a fleet of ${gpus} has no machine: the smallest has ${least} GPUs`, {
    hint: `ask for at least one of them: --gpus ${least}`,
  });
}

interface Part {
  readonly pool: Pool;
  nodes: number;
}

/** GPUs over pools of single-GPU machines by their share, to the last one. */
function spreadOver(parts: readonly Part[], gpus: number): void {
  const shares = parts.reduce((sum, { pool }) => sum + pool.share_percent, 0);
  let [sharesSoFar, given] = [0, 0];
  for (const [index, part] of parts.entries()) {
    sharesSoFar += part.pool.share_percent;
    const until = index === parts.length - 1 ? gpus : Math.round((gpus * sharesSoFar) / shares);
    part.nodes += until - given;
    given = until;
  }
}

/** Adds the machines that come nearest to `gpus` from below: sums that can be reached, each by the pool added last. */
function fillUp(parts: readonly Part[], gpus: number): void {
  const lastAdded: (Part | undefined)[] = Array.from({ length: gpus + 1 });
  let best = 0;
  for (let sum = 1; sum <= gpus; sum += 1) {
    lastAdded[sum] = parts.find(({ pool: { gpus_per_node: size } }) => sum === size || lastAdded[sum - size]);
    if (lastAdded[sum] !== undefined) best = sum;
  }
  for (let sum = best; sum > 0;) {
    const part = lastAdded[sum]!;
    part.nodes += 1;
    sum -= part.pool.gpus_per_node;
  }
}

/** By key, those with equal keys in the order they stand in the world file. */
function sortedBy<Item>(items: readonly Item[], key: (item: Item) => number): Item[] {
  return [...items].sort((a, b) => key(a) - key(b));
}
