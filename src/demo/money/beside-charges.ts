import { hashOf } from '../chance.ts';
import type { OrganisationDay } from '../organisation.ts';
import type { Seconds } from '../timeline.ts';
import type { Pool } from '../world/world-schema.ts';
import type { BillRow } from './bill.ts';
import { gpuTimeMicros, percentMicros } from './currency.ts';
import { type Month, type Page, post } from './page.ts';
import { priceMicros } from './price.ts';
import { gpusText } from './tariff.ts';

const HOUR_S = 3600;
const UNLISTED_FROM_S = 9 * HOUR_S;
const UNLISTED_MOST_S = 12 * HOUR_S;

/**
 * Machines somebody starts in the morning outside of everything that keeps lists: on the bill, and nowhere else. They are of the
 * dearest type there is, at its list price, for as long as the amount lasts.
 */
export function postUnlisted(page: Page, month: Month, day: OrganisationDay, machinesMicros: number): void {
  const { provider, currency } = month.bill;
  const hourMicros = (pool: Pool): number => pool.gpus_per_node * priceMicros(pool.list_price_per_gpu_hour);
  const pools = day.world.pools.filter((pool) => pool.provider === provider.name && hourMicros(pool) > 0);
  const like = pools.toSorted((a, b) => hourMicros(b) - hourMicros(a))[0];
  if (like === undefined) return;
  const amountMicros = percentMicros(currency, machinesMicros, provider.unlisted_percent);
  let leftS = Math.floor((amountMicros * HOUR_S) / hourMicros(like));
  for (let machine = 0; leftS > 0; machine += 1, leftS -= UNLISTED_MOST_S) {
    const resourceId = `i-0${hexOf('unlisted', provider.name, provider.account, String(machine))}`;
    const end = day.from + UNLISTED_FROM_S + Math.min(leftS, UNLISTED_MOST_S);
    for (let from = day.from + UNLISTED_FROM_S; from < end; from += HOUR_S) {
      post(
        page,
        month,
        unlistedRow(month, day, like, resourceId, from, Math.min(end, from + HOUR_S)),
        'unlisted-machine',
      );
    }
  }
}

function unlistedRow(
  { bill }: Month,
  { world }: OrganisationDay,
  like: Pool,
  resourceId: string,
  from: Seconds,
  until: Seconds,
): BillRow {
  const price = priceMicros(like.list_price_per_gpu_hour);
  return {
    ...usage(from, until, gpuTimeMicros(bill.currency, like.gpus_per_node, price, until - from)),
    description: `${like.instance_type} Linux/UNIX, ${gpusText(world, like)}`,
    serviceCategory: 'Compute',
    serviceName: 'Compute',
    sku: `${like.instance_type}-on-demand`,
    region: like.region,
    resourceId,
    resourceType: like.instance_type,
    quantityMicros: Math.round(((until - from) * 1_000_000) / HOUR_S),
    unit: 'Hours',
  };
}

/** Storage and what is sent out, by the day. */
export function postBeside(page: Page, month: Month, day: OrganisationDay, machinesMicros: number): void {
  const { provider, currency } = month.bill;
  const storageMicros = percentMicros(currency, machinesMicros, provider.storage_percent);
  const volume: BillRow = {
    ...usage(day.from, day.until, storageMicros),
    description: 'volumes, by the day',
    serviceCategory: 'Storage',
    serviceName: 'Block Storage',
    sku: 'block-storage',
    resourceId: `vol-0${hexOf('volume', provider.name, provider.account)}`,
    resourceType: 'volume',
  };
  if (storageMicros !== 0) post(page, month, volume, 'storage');
  const egressMicros = percentMicros(currency, machinesMicros, provider.egress_percent);
  const sent: BillRow = {
    ...usage(day.from, day.until, egressMicros),
    description: 'data transfer out',
    serviceCategory: 'Networking',
    serviceName: 'Data Transfer',
    sku: 'data-transfer-out',
  };
  if (egressMicros !== 0) post(page, month, sent, 'egress');
}

function usage(from: Seconds, until: Seconds, amountMicros: number) {
  return {
    from,
    until,
    category: 'Usage',
    frequency: 'Usage-Based',
    pricing: 'Standard',
    billedMicros: amountMicros,
    effectiveMicros: amountMicros,
    listMicros: amountMicros,
    contractedMicros: amountMicros,
  } as const;
}

/** Sixteen digits nobody else has. */
function hexOf(...names: readonly string[]): string {
  return [1, 2].map((salt) => hashOf(names, salt).toString(16).padStart(8, '0')).join('');
}
