import type { ChargeRow, Organisation } from './organisation.ts';
import { timeText } from './organisation.ts';

type Value = string | number | null | Readonly<Record<string, string>>;
type Row = Readonly<Record<string, Value>>;

const TIME_COLUMNS = new Set([
  'present_from',
  'present_until',
  'ts',
  'held_from',
  'held_until',
  'observed_at',
  'billing_period_start',
  'billing_period_end',
  'charge_from',
  'charge_until',
  'valid_from',
  'valid_until',
  'as_of',
  'window_from',
  'window_until',
  'submitted_at',
  'waited_until',
]);

/** The names bills use for the columns of a charge. */
export const FOCUS_NAMES: Readonly<Record<keyof ChargeRow, string>> = {
  provider: 'ProviderName',
  billing_account: 'BillingAccountId',
  billing_period_start: 'BillingPeriodStart',
  billing_period_end: 'BillingPeriodEnd',
  charge_from: 'ChargePeriodStart',
  charge_until: 'ChargePeriodEnd',
  charge_category: 'ChargeCategory',
  charge_class: 'ChargeClass',
  charge_frequency: 'ChargeFrequency',
  charge_description: 'ChargeDescription',
  pricing_category: 'PricingCategory',
  currency: 'BillingCurrency',
  effective: 'EffectiveCost',
  billed: 'BilledCost',
  list: 'ListCost',
  contracted: 'ContractedCost',
  service_category: 'ServiceCategory',
  service_name: 'ServiceName',
  sku_id: 'SkuId',
  sku_price_id: 'SkuPriceId',
  region: 'RegionId',
  zone: 'AvailabilityZone',
  resource_id: 'ResourceId',
  resource_name: 'ResourceName',
  resource_type: 'ResourceType',
  sub_account: 'SubAccountId',
  commitment_id: 'CommitmentDiscountId',
  commitment_status: 'CommitmentDiscountStatus',
  capacity_reservation_id: 'CapacityReservationId',
  capacity_reservation_status: 'CapacityReservationStatus',
  consumed_quantity: 'ConsumedQuantity',
  consumed_unit: 'ConsumedUnit',
  pricing_quantity: 'PricingQuantity',
  pricing_unit: 'PricingUnit',
  invoice_id: 'InvoiceId',
  tags: 'Tags',
};

function textOf(column: string, value: Value): string {
  if (value === null) return '';
  if (typeof value === 'string') return value;
  if (typeof value === 'object') return Object.keys(value).length === 0 ? '' : JSON.stringify(value);
  if (!TIME_COLUMNS.has(column)) return String(value);
  // 1970 stands for a start that was left out.
  return value === 0 ? '' : `${timeText(value).replace(' ', 'T')}Z`;
}

const quoted = (text: string): string => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** A column no row has a value in is left out: a file that has `observed_at` means something else than one without. */
function csvOf(rows: readonly Row[], header: (column: string) => string): string {
  const columns = Object.keys(rows[0] ?? {}).filter((column) =>
    rows.some((row) => textOf(column, row[column] ?? null) !== ''),
  );
  const lines = rows.map((row) => columns.map((column) => quoted(textOf(column, row[column] ?? null))).join(','));
  return `${[columns.map(header).join(','), ...lines].join('\n')}\n`;
}

/** The organisation as CSV files, by the word of `bursar import WORD`; tables without rows have no file. */
export function toFiles(org: Organisation): Record<string, string> {
  const tables: Record<string, readonly object[]> = {
    nodes: org.nodes,
    devices: org.devices,
    samples: org.samples,
    allocations: org.allocations,
    waiting: org.waiting,
    work: org.work,
    charges: org.charges,
    rates: org.rates,
    prices: org.prices,
    fx: org.fxRates,
  };
  const isCharge = (column: string): column is keyof ChargeRow => column in FOCUS_NAMES;
  const files = Object.entries(tables)
    .filter(([, rows]) => rows.length > 0)
    .map(([table, rows]) => {
      const header = (column: string): string =>
        table === 'charges' && isCharge(column) ? FOCUS_NAMES[column] : column;
      return [table, csvOf(rows as readonly Row[], header)] as const;
    });
  return Object.fromEntries(files);
}
