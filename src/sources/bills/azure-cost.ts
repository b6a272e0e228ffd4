import type { Ask, OpenFile } from '../files/read-file.ts';
import { literal } from '../values/sql-text.ts';
import { momentSql } from './bill-dates.ts';
import type { BillColumns, BillView, GivenColumn } from './bill-view.ts';
import { billColumns, viewOf } from './bill-view.ts';
import { azureCategory } from './service-words.ts';

const COSTS = ['CostInBillingCurrency', 'Cost', 'PreTaxCost', 'CostInUsd'] as const;
const DATES = ['Date', 'UsageDate', 'UsageDateTime'] as const;

/** Is this an Azure cost and usage details file: EA, MCA, or the older ones? */
export function isAzureCost(columns: BillColumns): boolean {
  const hasMeter = columns.has('MeterCategory') || columns.has('MeterId');
  return hasMeter && DATES.some((name) => columns.has(name)) && COSTS.some((name) => columns.has(name));
}

/**
 * Question: what do the rows of an Azure cost export say in the words of FOCUS?
 *
 * Actual and amortised exports have the same columns. Usage that a reservation or savings plan pays for costs nothing in the
 * one and its share in the other, and in neither is it billed: the purchase was.
 */
export async function azureCostView(file: OpenFile, ask: Ask): Promise<BillView> {
  const columns = billColumns(file.columns);
  const cost = columns.text(COSTS.find((name) => columns.has(name)) ?? 'Cost');
  const kind = `COALESCE(lower(${columns.text('ChargeType')}), 'usage')`;
  const model = `COALESCE(lower(${columns.text('PricingModel')}), '')`;
  const isUnused = `${kind} LIKE 'unused%'`;
  const isCovered = `(${model} IN ('reservation', 'savingsplan') AND ${kind} = 'usage')`;
  const basis = await basisOf(file, ask, { cost, kind, isUnused, isCovered });
  const given: GivenColumn[] = [
    ['ProviderName', literal('Microsoft')],
    [
      'BillingAccountId',
      columns.firstOf('BillingAccountId', 'EnrollmentNumber', 'BillingProfileId', 'SubscriptionId', 'SubscriptionGuid'),
    ],
    ['SubAccountId', columns.firstOf('SubscriptionId', 'SubscriptionGuid')],
    ['InvoiceId', columns.firstOf('InvoiceId', 'InvoiceNumber')],
    ...timesOf(columns),
    ['BillingCurrency', currencyOf(columns)],
    [
      'ChargeCategory',
      `CASE WHEN ${kind} IN ('purchase', 'refund') THEN 'Purchase' WHEN ${kind} = 'tax' THEN 'Tax'
        WHEN ${kind} LIKE '%credit%' THEN 'Credit' WHEN ${kind} LIKE '%adjustment%' THEN 'Adjustment' ELSE 'Usage' END`,
    ],
    ['ChargeClass', `CASE WHEN ${kind} = 'refund' THEN 'Correction' END`],
    [
      'ChargeFrequency',
      `CASE lower(${columns.text('Frequency')}) WHEN 'onetime' THEN 'One-Time' WHEN 'recurring' THEN 'Recurring' ELSE 'Usage-Based' END`,
    ],
    ['ChargeDescription', columns.firstOf('ProductName', 'Product', 'MeterName')],
    [
      'PricingCategory',
      `CASE WHEN ${model} IN ('reservation', 'savingsplan') THEN 'Committed' WHEN ${model} = 'spot' THEN 'Dynamic'
        WHEN ${model} = 'ondemand' THEN 'Standard' END`,
    ],
    ['BilledCost', `CASE WHEN ${isUnused} OR ${isCovered} THEN '0' ELSE ${cost} END`],
    ['EffectiveCost', cost],
    ['ListCost', columns.firstOf('PaygCostInBillingCurrency')],
    ['ServiceName', columns.firstOf('MeterCategory', 'ConsumedService')],
    ['ServiceCategory', azureCategory(columns)],
    ['SkuId', columns.firstOf('MeterId', 'PartNumber')],
    ['SkuPriceId', columns.firstOf('PartNumber')],
    ['RegionId', columns.firstOf('ResourceLocation', 'ResourceLocationNormalized', 'Location', 'MeterRegion')],
    ['AvailabilityZone', columns.text('AvailabilityZone')],
    ['ResourceId', columns.firstOf('ResourceId', 'InstanceId', 'InstanceName')],
    ['ResourceName', columns.firstOf('ResourceName')],
    [
      'ResourceType',
      `COALESCE(TRY_CAST(${columns.text('AdditionalInfo')} AS JSON) ->> '$.ServiceType', ${columns.text('ConsumedService')})`,
    ],
    ['CommitmentDiscountId', columns.firstOf('ReservationId', 'BenefitId')],
    ['CommitmentDiscountStatus', `CASE WHEN ${isUnused} THEN 'Unused' WHEN ${isCovered} THEN 'Used' END`],
    ['ConsumedQuantity', columns.firstOf('Quantity', 'UsageQuantity', 'ConsumedQuantity')],
    ['ConsumedUnit', columns.firstOf('UnitOfMeasure')],
    ['Tags', tagsOf(columns.text('Tags'))],
  ];
  return {
    format: `Azure cost export, ${basis}`,
    basis,
    file: viewOf(file, given),
    notes: [
      basis === 'amortised'
        ? 'amortised export: purchases of reservations and savings plans are not in it, so billed is without them'
        : 'actual export: purchases of reservations and savings plans are effective on their day; the amortised export spreads them',
    ],
    used: columns.used,
  };
}

/** `"a": "b","c": "d"` lacks its braces; other exports have them. */
function tagsOf(tags: string): string {
  return `CASE WHEN ${tags} IS NULL OR prefix(${tags}, '{') THEN ${tags} ELSE '{' || ${tags} || '}' END`;
}

function currencyOf(columns: BillColumns): string {
  const inBilling = columns.firstOf('BillingCurrencyCode', 'BillingCurrency', 'Currency');
  const onlyUsd = columns.has('CostInUsd') && !COSTS.slice(0, 3).some((name) => columns.has(name));
  return onlyUsd ? literal('USD') : inBilling;
}

/** A charge is for a day. Periods end with their last day; a file without them is of the month of its rows. */
function timesOf(columns: BillColumns): GivenColumn[] {
  const momentOf = (name: string): { moment: string; text: string } => {
    const type = columns.typeOf(name);
    const text = columns.text(name);
    const moment =
      type === 'VARCHAR' || type === undefined
        ? momentSql(text, 'month first')
        : `CAST(${columns.raw(name)} AS TIMESTAMP)`;
    return { moment: `(${moment})`, text };
  };
  const asText = (moment: string, text: string): string => `COALESCE(CAST(${moment} AS VARCHAR), ${text})`;
  const date = momentOf(DATES.find((name) => columns.has(name)) ?? 'Date');
  const month = `date_trunc('month', ${date.moment})`;
  const hasPeriod = columns.has('BillingPeriodStartDate') && columns.has('BillingPeriodEndDate');
  const start = hasPeriod ? momentOf('BillingPeriodStartDate') : undefined;
  const end = hasPeriod ? momentOf('BillingPeriodEndDate') : undefined;
  const lastDay = `CASE WHEN day(${end?.moment}) = 1 AND ${end?.moment} > ${start?.moment} THEN ${end?.moment} ELSE date_trunc('day', ${end?.moment}) + INTERVAL 1 DAY END`;
  return [
    [
      'BillingPeriodStart',
      start === undefined
        ? asText(month, date.text)
        : `COALESCE(${asText(start.moment, start.text)}, CAST(${month} AS VARCHAR))`,
    ],
    [
      'BillingPeriodEnd',
      end === undefined
        ? asText(`(${month} + INTERVAL 1 MONTH)`, date.text)
        : `COALESCE(${asText(`(${lastDay})`, end.text)}, CAST(${month} + INTERVAL 1 MONTH AS VARCHAR))`,
    ],
    ['ChargePeriodStart', asText(date.moment, date.text)],
    ['ChargePeriodEnd', asText(`(${date.moment} + INTERVAL 1 DAY)`, date.text)],
  ];
}

/** What is unused, or used and not free, is only in an amortised export. */
async function basisOf(
  file: OpenFile,
  ask: Ask,
  { cost, kind, isUnused, isCovered }: Readonly<Record<'cost' | 'kind' | 'isUnused' | 'isCovered', string>>,
): Promise<'actual' | 'amortised'> {
  const [found] = await ask<{ amortised: boolean | null }>(
    `SELECT bool_or(${isUnused} OR (${isCovered} AND COALESCE(TRY_CAST(${cost} AS DOUBLE), 0) <> 0)) AS amortised
     FROM (SELECT * FROM ${file.from}) WHERE ${kind} LIKE 'unused%' OR ${kind} = 'usage'`,
  );
  return found?.amortised === true ? 'amortised' : 'actual';
}
