import type { OpenFile } from '../files/read-file.ts';
import { identifier, literal } from '../values/sql-text.ts';
import { awsCategory, awsInstance } from './service-words.ts';
import type { BillColumns, BillView, GivenColumn } from './bill-view.ts';
import { billColumns, viewOf } from './bill-view.ts';

const NOTHING = 'CAST(NULL AS VARCHAR)';

/** Is this an AWS Cost and Usage Report, in either spelling of its columns? */
export function isAwsCur(columns: BillColumns): boolean {
  return columns.has('lineItem/UnblendedCost') && columns.has('lineItem/LineItemType');
}

/**
 * Question: what do the rows of an AWS Cost and Usage Report say in the words of FOCUS?
 *
 * Billed cost is the unblended cost. Effective cost follows the amortisation AWS documents for the report: used commitments
 * carry their effective cost, fees of commitments carry only what nobody used, and what negates or prepays carries nothing.
 */
export function awsCurView(file: OpenFile): BillView {
  const columns = billColumns(file.columns);
  const isLegacy =
    file.columns.some(({ name }) => name.includes('/') || /^resource_tags_/i.test(name)) ||
    columns.has('product/ProductName');
  const kind = columns.text('lineItem/LineItemType');
  const given: GivenColumn[] = [
    ['ProviderName', literal('AWS')],
    ['BillingAccountId', columns.text('bill/PayerAccountId')],
    ['SubAccountId', columns.text('lineItem/UsageAccountId')],
    ['InvoiceId', columns.text('bill/InvoiceId')],
    time(columns, 'BillingPeriodStart', 'bill/BillingPeriodStartDate'),
    time(columns, 'BillingPeriodEnd', 'bill/BillingPeriodEndDate'),
    time(columns, 'ChargePeriodStart', 'lineItem/UsageStartDate'),
    time(columns, 'ChargePeriodEnd', 'lineItem/UsageEndDate'),
    ['BillingCurrency', columns.firstOf('lineItem/CurrencyCode', 'pricing/currency')],
    ['ChargeCategory', categoryOf(columns, kind)],
    ['ChargeClass', `CASE WHEN ${kind} = 'Refund' THEN 'Correction' END`],
    ['ChargeFrequency', frequencyOf(kind)],
    ['ChargeDescription', columns.firstOf('lineItem/LineItemDescription', 'lineItem/UsageType')],
    ['PricingCategory', pricingOf(columns, kind)],
    ['BilledCost', columns.text('lineItem/UnblendedCost')],
    ['EffectiveCost', effectiveOf(columns, kind)],
    ['ListCost', columns.text('pricing/publicOnDemandCost')],
    ['ServiceName', serviceName(columns)],
    ['ServiceCategory', awsCategory(columns)],
    ['SkuId', columns.firstOf('product/sku', 'lineItem/UsageType')],
    ['SkuPriceId', columns.firstOf('pricing/RateCode', 'pricing/RateId')],
    ['RegionId', columns.firstOf('product/regionCode', 'product/region')],
    ['AvailabilityZone', columns.text('lineItem/AvailabilityZone')],
    ['ResourceId', columns.text('lineItem/ResourceId')],
    ['ResourceType', awsInstance(columns)],
    ...commitmentOf(columns, kind),
    ['ConsumedQuantity', columns.text('lineItem/UsageAmount')],
    ['ConsumedUnit', columns.text('pricing/unit')],
    ['Tags', ...tagsOf(columns)],
  ];
  return {
    format: isLegacy ? 'AWS CUR, legacy' : 'AWS CUR 2.0',
    file: viewOf(file, given),
    notes: [],
    used: columns.used,
  };
}

/** A report of today keeps the product's name in a map, as the engine's own or as JSON. */
function serviceName(columns: BillColumns): string {
  const plain = columns.firstOf('product/ProductName', 'product/servicename', 'lineItem/ProductCode');
  const type = columns.typeOf('product');
  if (type === undefined) return plain;
  const named = type.startsWith('MAP(')
    ? `${columns.raw('product')}['product_name']`
    : `TRY_CAST(${columns.text('product')} AS JSON) ->> '$.product_name'`;
  return `COALESCE(${named}, ${plain})`;
}

function time(columns: BillColumns, name: string, theirs: string): GivenColumn {
  const type = columns.typeOf(theirs);
  return type === undefined || type === 'VARCHAR' ? [name, columns.text(theirs)] : [name, columns.raw(theirs), type];
}

const isOneOf = (kind: string, ...names: readonly string[]): string => `${kind} IN (${names.map(literal).join(', ')})`;

/** A discount of a resource lowers the price of that resource; one of the whole bill is a credit. */
function categoryOf(columns: BillColumns, kind: string): string {
  const resource = columns.text('lineItem/ResourceId');
  return `CASE WHEN ${kind} IS NULL THEN NULL
    WHEN ${kind} = 'Tax' THEN 'Tax'
    WHEN ${isOneOf(kind, 'Credit', 'Refund')} THEN 'Credit'
    WHEN ${kind} LIKE '%Discount' AND ${resource} IS NULL THEN 'Credit'
    WHEN ${isOneOf(kind, 'Fee', 'RIFee', 'SavingsPlanUpfrontFee', 'SavingsPlanRecurringFee')} THEN 'Purchase'
    ELSE 'Usage' END`;
}

function frequencyOf(kind: string): string {
  return `CASE WHEN ${isOneOf(kind, 'RIFee', 'SavingsPlanRecurringFee')} THEN 'Recurring'
    WHEN ${isOneOf(kind, 'Fee', 'SavingsPlanUpfrontFee', 'Refund', 'Credit')} THEN 'One-Time' ELSE 'Usage-Based' END`;
}

function pricingOf(columns: BillColumns, kind: string): string {
  const isSpot = `COALESCE(${columns.text('lineItem/UsageType')} LIKE '%SpotUsage%' OR ${columns.text('pricing/purchaseOption')} = 'Spot', false)`;
  return `CASE WHEN ${isOneOf(kind, 'DiscountedUsage', 'SavingsPlanCoveredUsage')} THEN 'Committed'
    WHEN ${isSpot} THEN 'Dynamic' WHEN ${kind} = 'Usage' THEN 'Standard' END`;
}

/** Text to a wide decimal is slow, so only rows of fees come this way. */
const amount = (text: string): string => `COALESCE(TRY_CAST(${text} AS DECIMAL(38,18)), 0)`;

function effectiveOf(columns: BillColumns, kind: string): string {
  const billed = columns.text('lineItem/UnblendedCost');
  const paid = (name: string): string => `COALESCE(${columns.text(name)}, '0')`;
  const savingsUnused = `${amount(columns.text('savingsPlan/TotalCommitmentToDate'))} - ${amount(columns.text('savingsPlan/UsedCommitment'))}`;
  const reservedUnused = `${amount(columns.text('reservation/UnusedAmortizedUpfrontFeeForBillingPeriod'))}
    + ${amount(columns.text('reservation/UnusedRecurringFee'))}`;
  const isSavingsRefund = `${kind} = 'Refund' AND ${columns.text('lineItem/ProductCode')} = 'ComputeSavingsPlans'`;
  return `CASE ${kind}
    WHEN 'Usage' THEN ${billed}
    WHEN 'SavingsPlanCoveredUsage' THEN ${paid('savingsPlan/SavingsPlanEffectiveCost')}
    WHEN 'DiscountedUsage' THEN ${paid('reservation/EffectiveCost')}
    WHEN 'SavingsPlanNegation' THEN '0'
    WHEN 'SavingsPlanUpfrontFee' THEN '0'
    WHEN 'SavingsPlanRecurringFee' THEN CAST(${savingsUnused} AS VARCHAR)
    WHEN 'RIFee' THEN CAST(${reservedUnused} AS VARCHAR)
    ELSE CASE WHEN ${kind} = 'Fee' AND ${columns.text('reservation/ReservationARN')} IS NOT NULL THEN '0'
      WHEN ${isSavingsRefund} THEN '0' ELSE ${billed} END END`;
}

/** What is left of a fee after its use is stranded; the row says so only where there is something left. */
function commitmentOf(columns: BillColumns, kind: string): GivenColumn[] {
  const unused = `TRY_CAST(${effectiveOf(columns, kind)} AS DOUBLE) <> 0`;
  return [
    [
      'CommitmentDiscountId',
      columns.firstOf('savingsPlan/SavingsPlanARN', 'reservation/ReservationARN', 'reservation/SubscriptionId'),
    ],
    [
      'CommitmentDiscountStatus',
      `CASE WHEN ${isOneOf(kind, 'DiscountedUsage', 'SavingsPlanCoveredUsage')} THEN 'Used'
        WHEN ${isOneOf(kind, 'RIFee', 'SavingsPlanRecurringFee')} AND ${unused} THEN 'Unused' END`,
    ],
    ['CapacityReservationId', columns.text('capacityReservation/CapacityReservationArn')],
    [
      'CapacityReservationStatus',
      `CASE lower(${columns.text('capacityReservation/CapacityReservationStatus')}) WHEN 'used' THEN 'Used' WHEN 'unused' THEN 'Unused' END`,
    ],
  ];
}

/** `user:team`, `user_team` and `resourceTags/user_team` are the tag `team`; AWS's own keep their prefix. */
function tagsOf(columns: BillColumns): [sql: string, type?: string] {
  const single = columns.all.filter(({ name }) => /^resource_?tags?[/_](user|aws)[:_]/i.test(name));
  if (single.length > 0) {
    for (const { name } of single) columns.raw(name);
    const pairs = single.map(
      ({ name }) =>
        `{'key': ${literal(plainKey(name.replace(/^resource_?tags?[/_]/i, '')))}, 'value': nullif(CAST(${identifier(name)} AS VARCHAR), '')}`,
    );
    return [
      `map_from_entries(list_filter([${pairs.join(', ')}], lambda tag: tag.value IS NOT NULL))`,
      'MAP(VARCHAR, VARCHAR)',
    ];
  }
  const name = ['resource_tags', 'tags'].find((candidate) => columns.has(candidate));
  if (name === undefined) return [NOTHING];
  const type = columns.typeOf(name) ?? '';
  const value = columns.raw(name);
  const isMap = type.startsWith('MAP(');
  const map = isMap
    ? `CAST(${value} AS MAP(VARCHAR, VARCHAR))`
    : `CAST(TRY_CAST(nullif(trim(${columns.text(name)}), '') AS JSON) AS MAP(VARCHAR, VARCHAR))`;
  const key = `regexp_replace(tag.key, '^(resource_?[tT]ags/)?user[:_]', '')`;
  return [
    `map_from_entries(list_transform(map_entries(${map}), lambda tag: {'key': ${key}, 'value': tag.value}))`,
    'MAP(VARCHAR, VARCHAR)',
  ];
}

function plainKey(key: string): string {
  return key.replace(/^user[:_]/i, '');
}
