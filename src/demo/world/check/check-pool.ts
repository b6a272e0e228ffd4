import type { Path } from '../../../facts/yaml/schema-walk.ts';
import { nearestHint, type FileProblem } from '../../../facts/yaml/file-problem.ts';
import { DOLLARS_MAX, type Pool, type World } from '../world-schema.ts';

/** A card is cut along eight slots of memory and seven of compute, on a card of 80 GB as on one of 40. */
const MEMORY_SLOTS = 8;
const COMPUTE_SLOTS = 7;
const MIG_SLOTS: Readonly<
  Record<NonNullable<Pool['mig_profiles']>[number], { memory: number; compute: number; gb: number }>
> = {
  '1g.10gb': { memory: 1, compute: 1, gb: 10 },
  '2g.20gb': { memory: 2, compute: 2, gb: 20 },
  '3g.40gb': { memory: 4, compute: 3, gb: 40 },
  '1g.5gb': { memory: 1, compute: 1, gb: 5 },
  '2g.10gb': { memory: 2, compute: 2, gb: 10 },
  '3g.20gb': { memory: 4, compute: 3, gb: 20 },
};
const MIB_PER_GB = 1024;
/** What is committed is what is used, divided by this: near 0 it is without bounds. */
const COMMITMENT_USED_PERCENT_MIN = 1;

export function checkPool(world: World, pool: Pool, index: number): FileProblem[] {
  const at = (field: keyof Pool): Path => ['pools', index, field];
  return [
    ...unknownName('gpu', pool.gpu, Object.keys(world.gpus), at('gpu')),
    ...checkBuying(world, pool, at),
    ...checkPrices(world, pool, at),
    ...checkSharing(world, pool, at),
    ...(pool.days_between_failures > 0
      ? []
      : [{ path: at('days_between_failures'), what: 'must be more than 0, but is 0' }]),
  ];
}

/** One problem if nothing is called that. */
export function unknownName(kind: string, name: string, known: readonly string[], path: Path): FileProblem[] {
  if (known.includes(name)) return [];
  const names = known.length === 0 ? 'there is none' : `there are ${known.join(', ')}`;
  return [{ path, what: `there is no ${kind} ${JSON.stringify(name)}; ${names}${nearestHint(name, known)}` }];
}

/** Whether a number is written with at most so many decimals. */
export function hasDecimals(value: number, most: number): boolean {
  return Number(value.toFixed(most)) === value;
}

function checkBuying(world: World, pool: Pool, at: (field: keyof Pool) => Path): FileProblem[] {
  const known = world.providers.map(({ name }) => name);
  const problems: FileProblem[] = [];
  if (pool.purchase === 'owned') {
    if (pool.provider !== undefined) {
      problems.push({
        path: at('provider'),
        what: `nobody bills what is owned, but is ${JSON.stringify(pool.provider)}`,
      });
    }
  } else if (pool.provider === undefined) {
    problems.push({
      path: at('provider'),
      what: `is missing: machines bought ${pool.purchase} are billed by somebody`,
    });
  } else problems.push(...unknownName('provider', pool.provider, known, at('provider')));

  if (pool.purchase === 'committed') {
    problems.push(...needed(pool, 'commitment_used_percent', 'purchase committed', at, COMMITMENT_USED_PERCENT_MIN));
  }
  if (pool.purchase === 'spot') {
    problems.push(...needed(pool, 'spot_hours_between_interruptions', 'purchase spot', at));
    problems.push(...needed(pool, 'spot_hours_until_replaced', 'purchase spot', at));
  }
  return problems;
}

function needed(
  pool: Pool,
  field: keyof Pool,
  by: string,
  at: (field: keyof Pool) => Path,
  least?: number,
): FileProblem[] {
  const path = at(field);
  const value = pool[field];
  if (value === undefined) return [{ path, what: `is missing, and ${by} needs it` }];
  if (typeof value !== 'number') return [];
  if (least !== undefined) {
    return value < least ? [{ path, what: `must be at least ${least} for ${by}, but is ${value}` }] : [];
  }
  return value === 0 ? [{ path, what: `must be more than 0 for ${by}, but is 0` }] : [];
}

/** Prices are exact to the micro-dollar, also once a row of another currency is changed into dollars. */
function checkPrices(world: World, pool: Pool, at: (field: keyof Pool) => Path): FileProblem[] {
  const provider = world.providers.find(({ name }) => name === pool.provider);
  const { currency, usd_per_unit: rate } = provider ?? { currency: 'USD', usd_per_unit: 1 };
  const most = currency === 'USD' ? 6 : 2;
  return (['price_per_gpu_hour', 'list_price_per_gpu_hour'] as const).flatMap((field) => {
    const price = pool[field];
    const path = at(field);
    if (!hasDecimals(price, most)) {
      return [{ path, what: `must have at most ${most} decimals in ${currency}, but is ${price}` }];
    }
    // What a dollar is worth when it is not 1 is told at the provider.
    const dollars = currency === 'USD' ? price : Math.round(price * rate * 100) / 100;
    if (dollars <= DOLLARS_MAX) return [];
    const what = `must be worth at most ${DOLLARS_MAX} dollars, but ${price} ${currency} are worth ${dollars}`;
    return [{ path, what }];
  });
}

function checkSharing(world: World, pool: Pool, at: (field: keyof Pool) => Path): FileProblem[] {
  if (pool.sharing === 'time-slice') return needed(pool, 'time_slices', 'sharing time-slice', at);
  if (pool.sharing === 'whole') return [];
  const path = at('mig_profiles');
  const profiles = pool.mig_profiles ?? [];
  if (profiles.length === 0) return [{ path, what: 'is missing or empty, and sharing mig needs it' }];
  const total = (slots: 'memory' | 'compute') => profiles.reduce((sum, profile) => sum + MIG_SLOTS[profile][slots], 0);
  if (total('memory') > MEMORY_SLOTS || total('compute') > COMPUTE_SLOTS) {
    const what =
      `${profiles.join(', ')} do not fit one GPU: they take ${total('memory')} of ${MEMORY_SLOTS} slots of memory ` +
      `and ${total('compute')} of ${COMPUTE_SLOTS} of compute`;
    return [{ path, what }];
  }
  const gpu = Object.hasOwn(world.gpus, pool.gpu) ? world.gpus[pool.gpu] : undefined;
  if (gpu === undefined) return [];
  return profiles.flatMap((profile, place) => {
    const { gb, memory } = MIG_SLOTS[profile];
    const hasGb = (gpu.memory_mib * memory) / MEMORY_SLOTS / MIB_PER_GB;
    // A slice is called after its memory, roughly.
    if (hasGb > gb * 0.8 && hasGb < gb * 1.25) return [];
    return [{ path: [...path, place], what: `${profile} is no slice of a GPU of ${gpu.memory_mib} MiB` }];
  });
}
