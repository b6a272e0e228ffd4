import type { OrganisationDay } from '../organisation.ts';
import type { Pool, Provider } from '../world/world-schema.ts';
import type { BillRow } from './bill.ts';
import { dayPriceMicros, priceMicros } from './price.ts';

const PURCHASE_WORDS = { 'on-demand': 'on demand', spot: 'spot', committed: 'committed', owned: 'owned' } as const;
const PRICING = { 'on-demand': 'Standard', spot: 'Dynamic', committed: 'Committed', owned: 'Standard' } as const;

/** What the machines of a pool cost on one day, and what all their rows say. */
export interface Tariff {
  readonly pool: Pool;
  readonly priceMicros: number;
  readonly listMicros: number;
  readonly cells: Pick<
    BillRow,
    | 'category'
    | 'frequency'
    | 'description'
    | 'pricing'
    | 'serviceCategory'
    | 'serviceName'
    | 'sku'
    | 'region'
    | 'resourceType'
  >;
  readonly tags: string | undefined;
}

/** The tariffs of a provider on one day, by the name of the pool. */
export function tariffsOf(day: OrganisationDay, provider: Provider): ReadonlyMap<string, Tariff> {
  const pools = day.world.pools.filter((pool) => pool.provider === provider.name);
  return new Map(pools.map((pool) => [pool.name, tariffOf(day, pool)]));
}

function tariffOf({ world, scope, from }: OrganisationDay, pool: Pool): Tariff {
  return {
    pool,
    priceMicros: dayPriceMicros(scope, pool, from),
    listMicros: priceMicros(pool.list_price_per_gpu_hour),
    cells: {
      category: 'Usage',
      frequency: 'Usage-Based',
      description: `${pool.instance_type}, ${gpusText(world, pool)}, ${PURCHASE_WORDS[pool.purchase]}`,
      pricing: PRICING[pool.purchase],
      serviceCategory: 'Compute',
      serviceName: 'Compute',
      // One machine type bought in two ways has two prices, so it is two things that have a price.
      sku: `${pool.instance_type}-${pool.purchase}`,
      region: pool.region,
      resourceType: pool.instance_type,
    },
    tags: Object.keys(pool.tags).length === 0 ? undefined : JSON.stringify(pool.tags),
  };
}

/** `8 x NVIDIA H100 80GB HBM3 GPU` */
export function gpusText({ gpus }: OrganisationDay['world'], pool: Pool): string {
  return `${pool.gpus_per_node} x ${gpus[pool.gpu]?.model ?? pool.gpu} GPU`;
}

export function commitmentIdOf({ name }: Pool): string {
  return `commitment-${name}`;
}
