import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BillReader } from '../../../test/read-bill.ts';
import { billReader, csv } from '../../../test/read-bill.ts';

let reader: BillReader;
beforeAll(async () => {
  reader = await billReader();
});
afterAll(() => reader.close());
const read: BillReader['read'] = (...asked) => reader.read(...asked);

const CUR = {
  'bill/PayerAccountId': '111',
  'bill/InvoiceId': 'INV-1',
  'bill/BillingPeriodStartDate': '2026-10-01T00:00:00Z',
  'bill/BillingPeriodEndDate': '2026-11-01T00:00:00Z',
  'lineItem/UsageAccountId': '222',
  'lineItem/LineItemType': 'Usage',
  'lineItem/UsageStartDate': '2026-10-05T00:00:00Z',
  'lineItem/UsageEndDate': '2026-10-05T01:00:00Z',
  'lineItem/ProductCode': 'AmazonEC2',
  'lineItem/UsageType': 'USE1-BoxUsage:p5.48xlarge',
  'lineItem/CurrencyCode': 'USD',
  'lineItem/UnblendedCost': '98.32',
  'lineItem/ResourceId': 'i-0abc',
  'lineItem/LineItemDescription': '$98.32 per On Demand Linux p5.48xlarge Instance Hour',
  'product/productFamily': 'Compute Instance',
  'reservation/EffectiveCost': '',
  'reservation/ReservationARN': '',
  'reservation/UnusedAmortizedUpfrontFeeForBillingPeriod': '',
  'reservation/UnusedRecurringFee': '',
  'savingsPlan/SavingsPlanARN': '',
  'savingsPlan/SavingsPlanEffectiveCost': '',
  'savingsPlan/TotalCommitmentToDate': '',
  'savingsPlan/UsedCommitment': '',
  'resourceTags/user:team': 'nlp',
  'resourceTags/aws:createdBy': '',
};
type Cur = Partial<Record<keyof typeof CUR, string>>;

const snake = (row: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name
        .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
        .replaceAll(/[/:]/g, '_')
        .toLowerCase(),
      value,
    ]),
  );

describe('a row of an AWS report, by its kind', () => {
  // The amortisation AWS documents for its report; what nobody used of a commitment is stranded.
  const cases: Record<string, { row: Cur; want: Record<string, unknown> }> = {
    'usage on demand is effective as billed': {
      row: {},
      want: {
        charge_category: 'Usage',
        billed: '98.32',
        effective: '98.32',
        commitment_status: null,
        resource_type: 'p5.48xlarge',
      },
    },
    'usage of a reservation is not billed, and carries its share': {
      row: {
        'lineItem/LineItemType': 'DiscountedUsage',
        'lineItem/UnblendedCost': '0',
        'reservation/EffectiveCost': '55.5',
        'reservation/ReservationARN': 'arn:ri',
      },
      want: {
        charge_category: 'Usage',
        billed: '0',
        effective: '55.5',
        commitment_status: 'Used',
        commitment_id: 'arn:ri',
      },
    },
    'usage of a savings plan carries its rate, not the price on demand': {
      row: {
        'lineItem/LineItemType': 'SavingsPlanCoveredUsage',
        'savingsPlan/SavingsPlanEffectiveCost': '60.1',
        'savingsPlan/SavingsPlanARN': 'arn:sp',
      },
      want: {
        charge_category: 'Usage',
        billed: '98.32',
        effective: '60.1',
        commitment_status: 'Used',
        commitment_id: 'arn:sp',
      },
    },
    'what negates the price on demand has no effect of its own': {
      row: { 'lineItem/LineItemType': 'SavingsPlanNegation', 'lineItem/UnblendedCost': '-98.32' },
      want: { charge_category: 'Usage', billed: '-98.32', effective: '0', commitment_status: null },
    },
    'the fee of a savings plan is stranded as far as nobody used it': {
      row: {
        'lineItem/LineItemType': 'SavingsPlanRecurringFee',
        'lineItem/UnblendedCost': '100',
        'savingsPlan/TotalCommitmentToDate': '100',
        'savingsPlan/UsedCommitment': '60.1',
      },
      want: { charge_category: 'Purchase', billed: '100', effective: '39.9', commitment_status: 'Unused' },
    },
    'a fee that was used up strands nothing': {
      row: {
        'lineItem/LineItemType': 'SavingsPlanRecurringFee',
        'lineItem/UnblendedCost': '100',
        'savingsPlan/TotalCommitmentToDate': '100',
        'savingsPlan/UsedCommitment': '100',
      },
      want: { charge_category: 'Purchase', billed: '100', effective: '0', commitment_status: null },
    },
    'the fee of a reservation is stranded with its unused upfront part': {
      row: {
        'lineItem/LineItemType': 'RIFee',
        'lineItem/UnblendedCost': '70',
        'reservation/UnusedAmortizedUpfrontFeeForBillingPeriod': '1.5',
        'reservation/UnusedRecurringFee': '2.25',
      },
      want: { charge_category: 'Purchase', billed: '70', effective: '3.75', commitment_status: 'Unused' },
    },
    'paying a reservation upfront is no cost yet': {
      row: { 'lineItem/LineItemType': 'Fee', 'lineItem/UnblendedCost': '5000', 'reservation/ReservationARN': 'arn:ri' },
      want: { charge_category: 'Purchase', billed: '5000', effective: '0' },
    },
    'any other fee is': {
      row: { 'lineItem/LineItemType': 'Fee', 'lineItem/UnblendedCost': '12' },
      want: { charge_category: 'Purchase', billed: '12', effective: '12' },
    },
    tax: {
      row: { 'lineItem/LineItemType': 'Tax', 'lineItem/UnblendedCost': '9' },
      want: { charge_category: 'Tax', effective: '9' },
    },
    'a credit': {
      row: { 'lineItem/LineItemType': 'Credit', 'lineItem/UnblendedCost': '-9' },
      want: { charge_category: 'Credit', effective: '-9' },
    },
    'a negotiated discount lowers what the machine cost': {
      row: { 'lineItem/LineItemType': 'EdpDiscount', 'lineItem/UnblendedCost': '-9' },
      want: { charge_category: 'Usage', effective: '-9' },
    },
    'one of the whole bill is a credit': {
      row: { 'lineItem/LineItemType': 'EdpDiscount', 'lineItem/UnblendedCost': '-9', 'lineItem/ResourceId': '' },
      want: { charge_category: 'Credit', effective: '-9' },
    },
    'spot is priced as the market goes': {
      row: { 'lineItem/UsageType': 'SpotUsage:p5.48xlarge' },
      want: { pricing_category: 'Dynamic', resource_type: 'p5.48xlarge', service_category: 'Compute' },
    },
    transfer: {
      row: { 'lineItem/UsageType': 'USE1-DataTransfer-Out-Bytes', 'product/productFamily': 'Data Transfer' },
      want: { service_category: 'Networking' },
    },
    'a disk': {
      row: { 'lineItem/UsageType': 'EBS:VolumeUsage.gp3', 'product/productFamily': 'Storage' },
      want: { service_category: 'Storage' },
    },
  };
  const plain = (name: string): string =>
    `regexp_replace(regexp_replace(CAST(${name} AS VARCHAR), '0+$', ''), '[.]$', '') AS ${name}`;
  const asked = `charge_category, ${plain('billed')}, ${plain('effective')}, commitment_status, commitment_id, resource_type,
    pricing_category, service_category`;
  for (const [name, { row, want }] of Object.entries(cases)) {
    it(name, async () => {
      const legacy = await read(csv([{ ...CUR, ...row }]), asked);
      expect(legacy.format).toBe('AWS CUR, legacy');
      expect(legacy.rows).toEqual([expect.objectContaining({ problem: null, ...want })]);
    });
  }

  it('a report of today spells its columns another way and says the same', async () => {
    const { 'resourceTags/user:team': team, 'resourceTags/aws:createdBy': _, ...row } = CUR;
    const cur2 = { ...snake(row), resource_tags: `{"user_team": "${team}", "aws_created_by": "x"}`, product: '{}' };
    const told = await read(
      csv([cur2]),
      'provider, billing_account, sub_account, invoice_id, charge_category, resource_type, tags',
    );
    const legacy = await read(
      csv([CUR]),
      'provider, billing_account, sub_account, invoice_id, charge_category, resource_type, tags',
    );
    expect(told.format).toBe('AWS CUR 2.0');
    expect(told.rows).toEqual([{ ...legacy.rows[0], tags: { team: 'nlp', aws_created_by: 'x' } }]);
    expect(legacy.rows[0]).toMatchObject({ provider: 'AWS', billing_account: '111', tags: { team: 'nlp' } });
  });
});
