import type { World } from '../world/world-schema.ts';
import type { BillRow } from './bill.ts';
import { percentMicros } from './currency.ts';
import { type Month, type Page, post } from './page.ts';
import { commitmentIdOf, gpusText } from './tariff.ts';

/** What is reckoned over the month, or over what of it lies in the window: fees, support, credit, then tax on it all. */
export function postMonth(page: Page, month: Month): void {
  const { provider, currency } = month.bill;
  for (const row of feeRows(page.world, month)) post(page, month, row);
  const supportMicros = percentMicros(currency, month.billedMicros, provider.support_percent);
  const support = { description: 'support plan', serviceName: 'Support Plan', sku: 'support-plan' };
  postNonZero(page, month, { ...support, ...monthly(month, supportMicros), category: 'Purchase' }, 'support');
  const creditMicros = 0 - percentMicros(currency, month.machinesMicros, provider.credit_percent);
  const credit = { description: 'credit by agreement', serviceName: 'Credit', frequency: 'One-Time' } as const;
  postNonZero(page, month, { ...monthly(month, creditMicros), ...credit, category: 'Credit' }, 'credit');
  const taxMicros = percentMicros(currency, month.billedMicros, provider.tax_percent);
  const tax = { description: 'tax', serviceName: 'Tax' };
  postNonZero(page, month, { ...tax, ...monthly(month, taxMicros), category: 'Tax' }, 'tax');
}

/** The fee of each commitment. Its cost is in the rows that use it and those that do not, so that it has none itself. */
function feeRows(world: World, month: Month): BillRow[] {
  return world.pools.flatMap((pool) => {
    const feeMicros = month.feeMicros.get(pool.name) ?? 0;
    if (feeMicros === 0) return [];
    const row: BillRow = {
      ...monthly(month, feeMicros),
      category: 'Purchase',
      description: `commitment, ${pool.instance_type}, ${gpusText(world, pool)}`,
      pricing: 'Committed',
      effectiveMicros: 0,
      // At list and by contract the hours count, which have rows of their own.
      listMicros: 0,
      contractedMicros: 0,
      serviceCategory: 'Compute',
      serviceName: 'Compute',
      sku: `${pool.instance_type}-commitment`,
      region: pool.region,
      commitmentId: commitmentIdOf(pool),
    };
    return [row];
  });
}

function postNonZero(page: Page, month: Month, row: BillRow, reason: 'support' | 'credit' | 'tax'): void {
  if (row.effectiveMicros !== 0) post(page, month, row, reason);
}

function monthly({ bill }: Month, amountMicros: number) {
  return {
    from: bill.from,
    until: bill.until,
    frequency: 'Recurring',
    billedMicros: amountMicros,
    effectiveMicros: amountMicros,
    listMicros: amountMicros,
    contractedMicros: amountMicros,
    serviceCategory: 'Other',
  } as const;
}
