import type { Column } from './column.ts';
import type { FactTable } from './fact-table.ts';

const text = (name: string, focusName: string, meaning: string, example = ''): Column => ({
  name,
  kind: 'text',
  meaning,
  example,
  alsoKnownAs: [{ name: focusName }],
});

const amount = (name: string, focusName: string, meaning: string, example: string, required?: true): Column => ({
  name,
  kind: 'decimal',
  ...(required && { required }),
  meaning,
  example,
  alsoKnownAs: [{ name: focusName }],
});

/** A bill: provider | account | period, and its rows. The names people's files use are those of FOCUS 1.0–1.2. */
export const chargeTable: FactTable = {
  name: 'charge',
  importName: 'charges',
  meaning: 'A row of a bill, as the provider wrote it.',
  partitionBy: 'billing_period_start',
  partition: 'month',
  sortBy: ['bill_id', 'part', 'ordinal'],
  merge: 'bill',
  columns: [
    { ...text('provider', 'ProviderName', 'Who sends the bill.', 'AWS'), required: true },
    { ...text('billing_account', 'BillingAccountId', 'The account billed.', '123456789012'), required: true },
    { name: 'billing_period_start', kind: 'time', required: true, meaning: 'First second of the period billed.', example: '2026-10-01T00:00:00Z', alsoKnownAs: [{ name: 'BillingPeriodStart' }] },
    { name: 'billing_period_end', kind: 'time', required: true, meaning: 'First second after it.', example: '2026-11-01T00:00:00Z', alsoKnownAs: [{ name: 'BillingPeriodEnd' }] },
    { name: 'charge_from', kind: 'time', required: true, meaning: 'First second the charge is for.', example: '2026-10-30T09:00:00Z', alsoKnownAs: [{ name: 'ChargePeriodStart' }] },
    { name: 'charge_until', kind: 'time', required: true, meaning: 'First second after it.', example: '2026-10-30T10:00:00Z', alsoKnownAs: [{ name: 'ChargePeriodEnd' }] },
    { ...text('charge_category', 'ChargeCategory', 'Usage, Purchase, Tax, Credit or Adjustment.', 'Usage'), required: true },
    text('charge_class', 'ChargeClass', 'Correction, where it corrects an earlier bill.'),
    text('charge_frequency', 'ChargeFrequency', 'One-Time, Recurring or Usage-Based.', 'Usage-Based'),
    text('charge_description', 'ChargeDescription', 'What it is for, in words.', '8 x H100, on demand'),
    text('pricing_category', 'PricingCategory', 'Standard, Dynamic (spot), Committed or Other.', 'Standard'),
    { ...text('currency', 'BillingCurrency', 'ISO 4217 code.', 'USD'), required: true },
    amount('effective', 'EffectiveCost', 'Amortised cost after discounts: what the ledger adds up to.', '98.32', true),
    amount('billed', 'BilledCost', 'What the invoice says.', '98.32', true),
    amount('list', 'ListCost', 'At list prices.', '98.32'),
    amount('contracted', 'ContractedCost', 'At contracted prices.', '98.32'),
    text('service_category', 'ServiceCategory', 'Compute, Storage, Networking, …', 'Compute'),
    text('service_name', 'ServiceName', 'The service.', 'Amazon Elastic Compute Cloud'),
    text('sku_id', 'SkuId', 'The thing that has a price.', 'P5-48XL'),
    text('sku_price_id', 'SkuPriceId', 'The price of it that was used.'),
    text('region', 'RegionId', 'Where.', 'us-east-1'),
    text('zone', 'AvailabilityZone', 'Where exactly.'),
    text('resource_id', 'ResourceId', 'What was charged for; met with a node by its last path segment, in lower case.', 'i-0a1b2c3d4e5f60001'),
    text('resource_name', 'ResourceName', 'Its name.'),
    text('resource_type', 'ResourceType', 'Its type.', 'p5.48xlarge'),
    text('sub_account', 'SubAccountId', 'The account inside the account.'),
    text('commitment_id', 'CommitmentDiscountId', 'The commitment that paid for it.'),
    text('commitment_status', 'CommitmentDiscountStatus', 'Used, or Unused: the stranded part.'),
    text('capacity_reservation_id', 'CapacityReservationId', 'The reservation it ran in.'),
    text('capacity_reservation_status', 'CapacityReservationStatus', 'Used, or Unused: the stranded part.'),
    amount('consumed_quantity', 'ConsumedQuantity', 'How much was used.', '1'),
    text('consumed_unit', 'ConsumedUnit', 'Of what.', 'Hours'),
    amount('pricing_quantity', 'PricingQuantity', 'How much was priced.', '1'),
    text('pricing_unit', 'PricingUnit', 'Of what.', 'Hours'),
    text('invoice_id', 'InvoiceId', 'The invoice it stands on.'),
    { name: 'tags', kind: 'map', meaning: 'Tags of the resource, as JSON.', example: '{"team": "nlp"}', alsoKnownAs: [{ name: 'Tags' }] },
  ],
};
