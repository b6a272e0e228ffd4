import { hashOf } from '../chance.ts';
import { amountText, csvLine, timeText } from '../csv.ts';
import type { Scope } from '../organisation.ts';
import type { Seconds } from '../timeline.ts';
import type { Provider, World } from '../world/world-schema.ts';
import { type Currency, currencyOf, usdMicrosOf } from './currency.ts';

/** FOCUS 1.2, the columns such a bill fills. */
export const CHARGE_HEADER = csvLine([
  'ProviderName',
  'BillingAccountId',
  'BillingPeriodStart',
  'BillingPeriodEnd',
  'InvoiceId',
  'ChargePeriodStart',
  'ChargePeriodEnd',
  'ChargeCategory',
  'ChargeClass',
  'ChargeFrequency',
  'ChargeDescription',
  'PricingCategory',
  'BillingCurrency',
  'BilledCost',
  'EffectiveCost',
  'ListCost',
  'ContractedCost',
  'ServiceCategory',
  'ServiceName',
  'SkuId',
  'RegionId',
  'ResourceId',
  'ResourceType',
  'CommitmentDiscountId',
  'CommitmentDiscountStatus',
  'ConsumedQuantity',
  'ConsumedUnit',
  'Tags',
]);

const LATE_S = 3 * 86_400;

/** One row of a bill, written. */
export interface Charge {
  readonly provider: string;
  /** Which bill it is on: `2026-10`. */
  readonly month: string;
  /** Whether it stands on a first bill too, which this one replaces; never where a provider sends only one. */
  readonly inFirstIssue: boolean;
  /** As CSV, with its line end. */
  readonly line: string;
  /** Its effective cost in dollars, exactly. */
  readonly usdMicros: number;
}

/** A month of a provider. */
export interface Bill {
  readonly provider: Provider;
  readonly currency: Currency;
  readonly month: string;
  /** What of the month lies inside the window. */
  readonly from: Seconds;
  readonly until: Seconds;
  /** The cells every row begins with. */
  readonly head: readonly string[];
}

/** What a row of a bill says; amounts in micros of the bill's currency. */
export interface BillRow {
  readonly from: Seconds;
  readonly until: Seconds;
  readonly category: 'Usage' | 'Purchase' | 'Tax' | 'Credit';
  readonly class?: 'Correction' | undefined;
  readonly frequency: 'Usage-Based' | 'Recurring' | 'One-Time';
  readonly description: string;
  readonly pricing?: 'Standard' | 'Dynamic' | 'Committed' | undefined;
  readonly billedMicros: number;
  readonly effectiveMicros: number;
  readonly listMicros: number;
  readonly contractedMicros: number;
  readonly serviceCategory: string;
  readonly serviceName: string;
  readonly sku?: string | undefined;
  readonly region?: string | undefined;
  readonly resourceId?: string | undefined;
  readonly resourceType?: string | undefined;
  readonly commitmentId?: string | undefined;
  readonly commitmentStatus?: 'Used' | 'Unused' | undefined;
  readonly quantityMicros?: number | undefined;
  readonly unit?: string | undefined;
  readonly tags?: string | undefined;
}

/** The bill on which a provider puts what happens at this moment. */
export function billAt(world: World, scope: Scope, provider: Provider, moment: Seconds): Bill {
  const date = new Date(moment * 1000);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  const from = Date.UTC(year, month, 1) / 1000;
  const until = Date.UTC(year, month + 1, 1) / 1000;
  const name = timeText(from).slice(0, 7);
  const invoice = `INV-${name}-${hashOf([provider.name, provider.account, name])}`;
  return {
    provider,
    currency: currencyOf(world, provider),
    month: name,
    from: Math.max(from, scope.from),
    until: Math.min(until, scope.until),
    head: [provider.name, provider.account, timeText(from), timeText(until), invoice],
  };
}

/**
 * The row on the bill. A bill that is issued twice lacks its last three days at first, and with them all that is
 * reckoned over the month, which ends with the last of them.
 */
export function chargeOf(bill: Bill, row: BillRow): Charge {
  return {
    provider: bill.provider.name,
    month: bill.month,
    inFirstIssue: bill.provider.reissued && row.until <= bill.until - LATE_S,
    line: csvLine([
      ...bill.head,
      timeText(row.from),
      timeText(row.until),
      row.category,
      row.class,
      row.frequency,
      row.description,
      row.pricing,
      bill.currency.code,
      amountText(row.billedMicros),
      amountText(row.effectiveMicros),
      amountText(row.listMicros),
      amountText(row.contractedMicros),
      row.serviceCategory,
      row.serviceName,
      row.sku,
      row.region,
      row.resourceId,
      row.resourceType,
      row.commitmentId,
      row.commitmentStatus,
      row.quantityMicros === undefined ? undefined : amountText(row.quantityMicros),
      row.unit,
      row.tags,
    ]),
    usdMicros: usdMicrosOf(bill.currency, row.effectiveMicros),
  };
}
