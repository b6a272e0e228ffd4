import { SHARE_UNITS } from '../../facts/column.ts';
import { FOCUS_COLUMNS } from '../../facts/focus-1-2.ts';
import type { BillFacts } from '../../facts/manifest.ts';
import { quote } from '../../lake/engine.ts';

export type FocusGrain = 'day' | 'hour';
export type FocusFormat = 'csv' | 'parquet';

const UNITS_PER_GPU_HOUR = SHARE_UNITS * 3600;

/** What rows are of, by the names of waterfall and ownership. */
const KEYS = [
  'w.day',
  'w.basis',
  'w.bill_id',
  'w.provider',
  'w.account',
  'w.region',
  'w.resource_id',
  'w.node_id',
  'w.cluster',
  'w.model',
  'w.purchase',
  'w.component',
  'w.disposition',
  'w.category',
  'w.subject',
  'o.workload_name',
  'o.team',
  'o.project',
  'o.user_name',
  'o.environment',
  'o.class',
  'o.rule',
] as const;

const COST = 'CAST(CAST(usd_micros AS DECIMAL(18,0)) * CAST(0.000001 AS DECIMAL(7,6)) AS DECIMAL(24,6))';

/** Exact to nine decimals, rounded half up: an hour of a GPU is 226,800,000 of its units. */
const GPU_HOURS =
  `CAST(CAST((CAST(gpu_units AS HUGEINT) * 1000000000 + ${UNITS_PER_GPU_HOUR / 2}) // ${UNITS_PER_GPU_HOUR} AS DECIMAL(28,0)) ` +
  '* CAST(0.000000001 AS DECIMAL(10,9)) AS DECIMAL(38,9))';

const IS_USAGE = "charge_category = 'Usage'";
/** What a commitment or reservation left unused: stranded where it is for GPUs, else of no component and bought ahead. */
const leftUnused = (row: string): string =>
  `(${row}disposition = 'stranded' OR (${row}disposition = 'beside' AND ${row}component = 'other' AND ${row}purchase = 'committed'))`;
const ONE = 'CAST(1 AS DECIMAL(24,6))';

/** Text of the specification's words for each component. */
const byComponent = (words: Readonly<Record<string, string>>, otherwise: string): string =>
  `CASE component ${Object.entries(words)
    .map(([component, word]) => `WHEN ${quote(component)} THEN ${quote(word)}`)
    .join(' ')} ELSE ${otherwise} END`;

const SUPPORT = "disposition = 'support'";

/** How each column of FOCUS follows from a row; what is not here is null: the ledger does not know it. */
const VALUES: Readonly<Record<string, string>> = {
  BilledCost: COST,
  BillingAccountId: 'account_id',
  BillingAccountType: "'Billing Account'",
  BillingCurrency: "'USD'",
  BillingPeriodEnd: 'period_end',
  BillingPeriodStart: 'period_start',
  CapacityReservationId: 'reservation_id',
  CapacityReservationStatus: "CASE WHEN reservation_id IS NOT NULL THEN 'Unused' END",
  ChargeCategory: 'charge_category',
  ChargeDescription: 'description',
  ChargeFrequency: `CASE WHEN ${IS_USAGE} THEN 'Usage-Based' ELSE 'One-Time' END`,
  ChargePeriodEnd: 'charge_end',
  ChargePeriodStart: 'charge_start',
  CommitmentDiscountCategory: "CASE WHEN commitment_id IS NOT NULL THEN 'Spend' END",
  CommitmentDiscountId: 'commitment_id',
  CommitmentDiscountQuantity: `CASE WHEN commitment_id IS NOT NULL THEN ${COST} END`,
  CommitmentDiscountStatus: "CASE WHEN commitment_id IS NOT NULL THEN 'Unused' END",
  CommitmentDiscountType: "CASE WHEN commitment_id IS NOT NULL THEN 'Commitment' END",
  CommitmentDiscountUnit: "CASE WHEN commitment_id IS NOT NULL THEN 'USD' END",
  ConsumedQuantity: `CASE WHEN NOT ${IS_USAGE} OR commitment_id IS NOT NULL THEN NULL
    WHEN gpu_units > 0 THEN gpu_hours ELSE CAST(hours AS DECIMAL(38,9)) END`,
  ConsumedUnit: `CASE WHEN NOT ${IS_USAGE} OR commitment_id IS NOT NULL THEN NULL
    WHEN gpu_units > 0 THEN 'GPU-Hours' ELSE 'Hours' END`,
  ContractedCost: COST,
  ContractedUnitPrice: `CASE WHEN ${IS_USAGE} THEN ${ONE} END`,
  EffectiveCost: COST,
  InvoiceIssuerName: 'provider_name',
  ListCost: COST,
  ListUnitPrice: `CASE WHEN ${IS_USAGE} THEN ${ONE} END`,
  PricingCategory: `CASE WHEN NOT ${IS_USAGE} THEN NULL WHEN commitment_id IS NOT NULL THEN 'Committed'
    WHEN purchase = 'spot' THEN 'Dynamic' WHEN purchase IN ('committed', 'owned') THEN 'Other' ELSE 'Standard' END`,
  PricingCurrency: "'USD'",
  PricingCurrencyContractedUnitPrice: `CASE WHEN ${IS_USAGE} THEN ${ONE} END`,
  PricingCurrencyEffectiveCost: COST,
  PricingCurrencyListUnitPrice: `CASE WHEN ${IS_USAGE} THEN ${ONE} END`,
  PricingQuantity: `CASE WHEN ${IS_USAGE} THEN ${COST} END`,
  PricingUnit: `CASE WHEN ${IS_USAGE} THEN 'USD' END`,
  ProviderName: 'provider_name',
  PublisherName: 'provider_name',
  RegionId: 'region',
  RegionName: 'region',
  ResourceId: 'resource',
  ResourceType: `CASE WHEN resource IS NULL THEN NULL WHEN ${leftUnused('')} AND node_id IS NULL THEN 'Commitment'
    ELSE ${byComponent({ gpu: 'GPU Machine', host: 'Machine', storage: 'Storage', transfer: 'Network', network: 'Network' }, "'Other'")} END`,
  ServiceCategory: `CASE WHEN ${SUPPORT} THEN 'Management and Governance' ELSE ${byComponent(
    { gpu: 'Compute', host: 'Compute', storage: 'Storage', transfer: 'Networking', network: 'Networking' },
    "'Other'",
  )} END`,
  ServiceName: 'service_name',
  ServiceSubcategory: `CASE WHEN ${SUPPORT} THEN 'Support' ELSE ${byComponent(
    {
      gpu: 'Virtual Machines',
      host: 'Virtual Machines',
      storage: 'Other (Storage)',
      transfer: 'Other (Networking)',
      network: 'Other (Networking)',
    },
    "'Other (Other)'",
  )} END`,
  SkuId: `CASE WHEN ${IS_USAGE} THEN sku END`,
  SkuMeter: `CASE WHEN ${IS_USAGE} THEN service_name END`,
  SkuPriceId: `CASE WHEN ${IS_USAGE} THEN sku END`,
  Tags: 'tags',
};

/** Our own columns, after those of FOCUS. */
const OWN_VALUES: Readonly<Record<string, string>> = {
  x_Team: 'team',
  x_Project: 'project',
  x_User: 'user_name',
  x_Environment: 'environment',
  x_Class: 'class',
  x_Workload: 'workload_name',
  x_Subject: 'subject',
  x_Rule: 'rule',
  x_Category: 'category',
  x_Component: 'component',
  x_Disposition: 'disposition',
  x_Basis: 'basis',
  x_Purchase: 'purchase',
  x_Cluster: 'cluster',
  x_Model: 'model',
  x_NodeId: 'node_id',
  x_BillId: 'bill_id',
  x_GpuHours: 'gpu_hours',
};

/** Names of an export's columns, in its order. */
export const EXPORT_COLUMNS: readonly string[] = [...FOCUS_COLUMNS.map(({ name }) => name), ...Object.keys(OWN_VALUES)];

const TYPES = { string: 'VARCHAR', decimal: 'DECIMAL(24,6)', datetime: 'TIMESTAMP', json: 'VARCHAR' } as const;

/**
 * Entries of the ledger as rows of FOCUS 1.2: one for each day or hour, owner, subject, resource, component and category.
 *
 * They are allocations of cost, not the provider's invoice: billed, contracted and list cost are the effective one, and what is
 * priced is the dollar itself, so that every product of price and quantity is exact. Time without a price has no cost to export
 * and is left out. `inHours` is the condition on `w.hour_start`.
 */
export function focusRowsSql(
  grain: FocusGrain,
  format: FocusFormat,
  bills: readonly BillFacts[],
  inHours: string,
): string {
  const columns = [
    ...FOCUS_COLUMNS.map(({ name, type }) => ({ name, type, sql: VALUES[name] ?? `CAST(NULL AS ${TYPES[type]})` })),
    ...Object.entries(OWN_VALUES).map(([name, sql]) => ({
      name,
      type: name === 'x_GpuHours' ? ('decimal' as const) : ('string' as const),
      sql,
    })),
  ];
  const shown = columns.map(({ name, type, sql }) => `${cell(type, sql, format)} AS "${name}"`).join(',\n  ');
  return `
    WITH entry AS (
      SELECT ${grain === 'hour' ? 'w.hour_start, ' : ''}${KEYS.join(', ')},
             CAST(sum(w.usd_micros) AS BIGINT) AS usd_micros, CAST(sum(w.gpu_units) AS BIGINT) AS gpu_units,
             ${grain === 'hour' ? '1' : 'count(DISTINCT w.hour_start)'} AS hours
      FROM waterfall w LEFT JOIN ownership o ON w.day = o.day AND w.subject = o.subject
      WHERE w.usd_micros IS NOT NULL AND ${inHours}
      GROUP BY ${grain === 'hour' ? 'w.hour_start, ' : ''}${KEYS.join(', ')}
    ), bill_period AS (${billPeriods(bills)}
    ), unused AS (
      SELECT bill_id, CASE WHEN min(commitment_id) = max(commitment_id) THEN min(commitment_id) END AS only_commitment
      FROM charge WHERE commitment_status = 'Unused' GROUP BY bill_id
    ), commitment AS (
      SELECT DISTINCT bill_id, commitment_id FROM charge WHERE commitment_id IS NOT NULL
    ), reservation AS (
      SELECT DISTINCT bill_id, capacity_reservation_id AS reservation_id FROM charge
      WHERE capacity_reservation_id IS NOT NULL
    ), dated AS (
      SELECT e.*, ${GPU_HOURS} AS gpu_hours, ${chargePeriod(grain)},
             COALESCE(b.period_start, date_trunc('month', CAST(e.day AS TIMESTAMP))) AS period_start,
             COALESCE(b.period_end, date_trunc('month', CAST(e.day AS TIMESTAMP)) + INTERVAL 1 MONTH) AS period_end,
             COALESCE(e.provider, CASE WHEN e.purchase = 'owned' THEN 'On-premises' ELSE 'Unknown' END) AS provider_name,
             COALESCE(e.account, 'unbilled') AS account_id, COALESCE(e.resource_id, e.node_id) AS resource,
             CASE e.disposition WHEN 'tax' THEN 'Tax' WHEN 'credit' THEN 'Credit' WHEN 'rounding' THEN 'Adjustment'
               ELSE 'Usage' END AS charge_category,
             CASE WHEN ${leftUnused('e.')} AND e.usd_micros > 0 THEN COALESCE(c.commitment_id,
               CASE WHEN e.resource_id IS NULL AND e.node_id IS NULL THEN u.only_commitment END) END AS commitment_id,
             CASE WHEN ${leftUnused('e.')} AND e.usd_micros > 0 AND c.commitment_id IS NULL
               THEN r.reservation_id END AS reservation_id,
             CASE WHEN ${SUPPORT.replace('disposition', 'e.disposition')} THEN 'Support' ELSE ${byComponent(
               {
                 gpu: 'GPU compute',
                 host: 'Host compute',
                 storage: 'Storage',
                 transfer: 'Data transfer',
                 network: 'Network',
               },
               "CASE e.disposition WHEN 'tax' THEN 'Tax' WHEN 'credit' THEN 'Credit' WHEN 'rounding' THEN 'Rounding' ELSE 'Other' END",
             ).replace('CASE component', 'CASE e.component')} END AS service_name,
             e.component || COALESCE('/' || e.model, '') AS sku
      FROM entry e LEFT JOIN bill_period b ON e.bill_id = b.bill_id
      LEFT JOIN unused u ON e.bill_id = u.bill_id
      LEFT JOIN commitment c ON e.bill_id = c.bill_id AND e.resource_id = c.commitment_id
      LEFT JOIN reservation r ON e.bill_id = r.bill_id AND e.resource_id = r.reservation_id
    ), described AS (
      SELECT *, service_name || COALESCE(' on ' || model, '') || CASE WHEN category = 'beside' THEN '' ELSE ', ' || category END
                AS description,
             ${TAGS} AS tags
      FROM dated
    )
    SELECT ${shown}
    FROM described ORDER BY charge_start, ${KEYS.map((key) => key.slice(2)).join(', ')}`;
}

/** Who owns it, as tags: they are what an import takes owners from. */
const TAGS = `CASE WHEN COALESCE(team, project, user_name, environment, class) IS NOT NULL THEN
  CAST(to_json(map_from_entries(list_filter([
    ${(
      [
        ['team', 'team'],
        ['project', 'project'],
        ['user', 'user_name'],
        ['environment', 'environment'],
        ['class', 'class'],
      ] as const
    )
      .map(([key, column]) => `{'k': '${key}', 'v': ${column}}`)
      .join(', ')}
  ], lambda entry: entry.v IS NOT NULL))) AS VARCHAR) END`;

function chargePeriod(grain: FocusGrain): string {
  return grain === 'hour'
    ? 'e.hour_start AS charge_start, e.hour_start + INTERVAL 1 HOUR AS charge_end'
    : 'CAST(e.day AS TIMESTAMP) AS charge_start, CAST(e.day AS TIMESTAMP) + INTERVAL 1 DAY AS charge_end';
}

function billPeriods(bills: readonly BillFacts[]): string {
  const rows = bills.map(
    ({ billId, periodStart, periodEnd }) =>
      `(${quote(billId)}, CAST(${quote(periodStart)} AS TIMESTAMP), CAST(${quote(periodEnd)} AS TIMESTAMP))`,
  );
  const none = `(CAST(NULL AS VARCHAR), CAST(NULL AS TIMESTAMP), CAST(NULL AS TIMESTAMP))`;
  return `
      SELECT * FROM (VALUES ${rows.length === 0 ? none : rows.join(', ')}) v (bill_id, period_start, period_end)`;
}

/** As `safeText` and `csvLine` have them, in the engine's words: what becomes a blank, what goes, what a spreadsheet would run. */
const BREAKING = String.raw`[\p{Cc}\x{2028}\x{2029}]`;
const INVISIBLE = String.raw`[\x{61c}\x{200b}-\x{200f}\x{202a}-\x{202e}\x{2060}-\x{2069}\x{feff}]`;
const FORMULA = String.raw`^\p{Z}*[=+@\-\x{ff1d}\x{ff0b}\x{ff0d}\x{ff20}]`;

/**
 * A value as the file has it. In CSV times are ISO 8601 in UTC, and text that a spreadsheet would run, or a terminal obey, is
 * kept from it; Parquet has the types themselves.
 */
function cell(type: 'string' | 'decimal' | 'datetime' | 'json', sql: string, format: FocusFormat): string {
  if (format === 'parquet') return sql;
  if (type === 'datetime') return `strftime(${sql}, '%Y-%m-%dT%H:%M:%SZ')`;
  if (type !== 'string' || /^'[^']*'$/.test(sql)) return sql;
  const plain = `regexp_replace(regexp_replace(${sql}, '${BREAKING}', ' ', 'g'), '${INVISIBLE}', '', 'g')`;
  // What hid before a formula is gone from the text that is written: that is the one to look at.
  return `CASE WHEN regexp_matches(${plain}, '${FORMULA}') THEN '''' || ${plain} ELSE ${plain} END`;
}
