import type { OpenFile } from '../files/read-file.ts';
import { literal } from '../values/sql-text.ts';
import type { BillColumns, BillView, GivenColumn } from './bill-view.ts';
import { billColumns, viewOf } from './bill-view.ts';

const NOTHING = 'CAST(NULL AS VARCHAR)';

/** Is this a Google Cloud billing export, as BigQuery gives it? */
export function isGcpBilling(columns: BillColumns): boolean {
  const hasSku = columns.has('sku') || columns.has('sku.description');
  return columns.has('billing_account_id') && columns.has('usage_start_time') && columns.has('cost') && hasSku;
}

/**
 * Question: what do the rows of a Google Cloud billing export say in the words of FOCUS?
 *
 * Its cost stands before credits; committed use, sustained use and promotions are credits of the same row. Billed and
 * effective are therefore the same: cost with its credits.
 */
export function gcpBillingView(file: OpenFile): BillView {
  const columns = billColumns(file.columns);
  const service = fieldOf(columns, 'service', 'description');
  const sku = fieldOf(columns, 'sku', 'description');
  const words = `lower(COALESCE(${service}, '') || ' ' || COALESCE(${sku}, ''))`;
  const kind = `COALESCE(lower(${columns.text('cost_type')}), 'regular')`;
  const month = monthOf(columns);
  const cost = costOf(columns);
  const given: GivenColumn[] = [
    ['ProviderName', literal('Google Cloud')],
    ['BillingAccountId', columns.text('billing_account_id')],
    ['SubAccountId', fieldOf(columns, 'project', 'id')],
    ['BillingPeriodStart', `CAST(${month} AS VARCHAR)`],
    ['BillingPeriodEnd', `CAST(${month} + INTERVAL 1 MONTH AS VARCHAR)`],
    time(columns, 'ChargePeriodStart', 'usage_start_time'),
    time(columns, 'ChargePeriodEnd', 'usage_end_time'),
    ['BillingCurrency', columns.text('currency')],
    [
      'ChargeCategory',
      `CASE ${kind} WHEN 'tax' THEN 'Tax' WHEN 'adjustment' THEN 'Adjustment' WHEN 'rounding_error' THEN 'Adjustment' ELSE 'Usage' END`,
    ],
    ['ChargeDescription', sku],
    [
      'PricingCategory',
      `CASE WHEN regexp_matches(${words}, 'spot|preemptible') THEN 'Dynamic' WHEN regexp_matches(${words}, 'commitment') THEN 'Committed' ELSE 'Standard' END`,
    ],
    ['BilledCost', cost],
    ['EffectiveCost', cost],
    ['ListCost', columns.firstOf('cost_at_list')],
    ['ServiceName', service],
    [
      'ServiceCategory',
      `CASE WHEN regexp_matches(${words}, 'egress|ingress|network|load balanc|ip address|interconnect|data transfer') THEN 'Networking'
        WHEN regexp_matches(${words}, 'storage|pd capacity|snapshot|filestore|parallelstore') THEN 'Storage'
        WHEN regexp_matches(${words}, 'compute engine|kubernetes engine|cloud run|cloud tpu') THEN 'Compute' ELSE 'Other' END`,
    ],
    ['SkuId', `COALESCE(${fieldOf(columns, 'sku', 'id')}, ${sku})`],
    ['RegionId', `COALESCE(${fieldOf(columns, 'location', 'region')}, ${fieldOf(columns, 'location', 'location')})`],
    ['AvailabilityZone', fieldOf(columns, 'location', 'zone')],
    ['ResourceId', `COALESCE(${fieldOf(columns, 'resource', 'name')}, ${fieldOf(columns, 'resource', 'global_name')})`],
    ['ConsumedQuantity', fieldOf(columns, 'usage', 'amount')],
    ['ConsumedUnit', fieldOf(columns, 'usage', 'unit')],
    ['Tags', ...labelsOf(columns)],
  ];
  return { format: 'Google Cloud billing export', file: viewOf(file, given), notes: [], used: columns.used };
}

function time(columns: BillColumns, name: string, theirs: string): GivenColumn {
  const type = columns.typeOf(theirs);
  return type === undefined || type === 'VARCHAR' ? [name, columns.text(theirs)] : [name, columns.raw(theirs), type];
}

/** `service.description` is a column of that name, a field of a struct, or one of a JSON text. */
function fieldOf(columns: BillColumns, record: string, field: string): string {
  if (columns.has(`${record}.${field}`)) return columns.text(`${record}.${field}`);
  const type = columns.typeOf(record);
  if (type === undefined) return NOTHING;
  if (type.startsWith('STRUCT')) {
    return new RegExp(`["( ]${field}"? `, 'i').test(type)
      ? `CAST(${columns.raw(record)}.${field} AS VARCHAR)`
      : NOTHING;
  }
  return `(TRY_CAST(${columns.text(record)} AS JSON) ->> ${literal(`$.${field}`)})`;
}

/** `invoice.month` is 202610; a row without it is of the month it was used in. */
function monthOf(columns: BillColumns): string {
  const month = fieldOf(columns, 'invoice', 'month');
  const type = columns.typeOf('usage_start_time');
  const used =
    type === 'VARCHAR'
      ? `TRY_CAST(replace(${columns.text('usage_start_time')}, ' UTC', '') AS TIMESTAMP)`
      : `CAST(${columns.raw('usage_start_time')} AS TIMESTAMP)`;
  return `COALESCE(try_strptime(${month}, '%Y%m'), date_trunc('month', ${used}))`;
}

/** No float is added to another: each amount enters as the shortest text that means it. */
function costOf(columns: BillColumns): string {
  const cost = columns.text('cost');
  const type = columns.typeOf('credits');
  if (type === undefined) return cost;
  const exact = (text: string): string => `COALESCE(TRY_CAST(${text} AS DECIMAL(38,18)), 0)`;
  const amounts = type.endsWith('[]')
    ? `list_transform(${columns.raw('credits')}, lambda credit: ${exact('CAST(credit.amount AS VARCHAR)')})`
    : `list_transform(from_json(TRY_CAST(${columns.text('credits')} AS JSON), '[{"amount":"VARCHAR"}]'), lambda credit: ${exact('credit.amount')})`;
  const credits = `list_sum(${amounts})`;
  return `CASE WHEN ${credits} IS NULL THEN ${cost} ELSE CAST(${exact(cost)} + ${credits} AS VARCHAR) END`;
}

function labelsOf(columns: BillColumns): [sql: string, type?: string] {
  const type = columns.typeOf('labels');
  if (type === undefined) return [NOTHING];
  if (type !== 'VARCHAR') return [columns.raw('labels'), type];
  const pairs = `from_json(TRY_CAST(${columns.text('labels')} AS JSON), '[{"key":"VARCHAR","value":"VARCHAR"}]')`;
  return [`map_from_entries(${pairs})`, 'MAP(VARCHAR, VARCHAR)'];
}
