import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Engine } from '../../lake/engine.ts';
import { openEngine } from '../../lake/engine.ts';
import { chargeTable } from '../../facts/charge.ts';
import { readPart } from '../files/incoming-part.ts';

let engine: Engine;
let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bursar-recognise-'));
  engine = await openEngine({ threads: 1, memoryLimitMb: 300 });
});
afterAll(async () => {
  engine.close();
  await rm(folder, { recursive: true, force: true });
});

/** Reads a bill from its text and gives what was asked of each row. */
async function read(text: string, columns: string, name = 'bill.csv') {
  const path = join(folder, name);
  await writeFile(path, text);
  const format = name.endsWith('.json') ? 'json' : 'csv';
  const { part, bill } = await readPart(
    chargeTable,
    { path, label: name, format, isPiped: false },
    0,
    { mappings: [], constants: [] },
    (sql) => engine.rows(sql),
  );
  const rows = await engine.rows<Record<string, unknown>>(`SELECT problem, ${columns} FROM (${part.select})`);
  return { format: bill?.format, basis: bill?.basis, notes: bill?.notes ?? [], rows };
}

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

const csv = (rows: readonly Readonly<Record<string, string>>[]): string =>
  [Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row))]
    .map((cells) => cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(','))
    .join('\n');
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

const AZURE = {
  BillingAccountId: '77',
  SubscriptionId: 'sub-1',
  Date: '10/05/2026',
  BillingPeriodStartDate: '10/01/2026',
  BillingPeriodEndDate: '10/31/2026',
  MeterCategory: 'Virtual Machines',
  MeterId: 'm-1',
  MeterName: 'ND96asr v4',
  Quantity: '1',
  CostInBillingCurrency: '27.2',
  BillingCurrencyCode: 'EUR',
  ChargeType: 'Usage',
  PricingModel: 'OnDemand',
  ResourceId: '/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/gpu-1',
  Tags: '"team": "vision","env": "prod"',
  AdditionalInfo: '{"ServiceType": "Standard_ND96asr_v4"}',
  provider: 'Azure line of business',
};

describe('a row of an Azure export', () => {
  it('is of its day, in its currency, with its size and its tags', async () => {
    const { format, rows } = await read(
      csv([AZURE]),
      'provider, billing_account, billing_period_start, billing_period_end, charge_from, charge_until, currency, resource_type, tags, service_category',
    );
    expect(format).toBe('Azure cost export, actual');
    expect(rows).toEqual([
      {
        problem: null,
        provider: 'Microsoft',
        billing_account: '77',
        billing_period_start: '2026-10-01 00:00:00',
        billing_period_end: '2026-11-01 00:00:00',
        charge_from: '2026-10-05 00:00:00',
        charge_until: '2026-10-06 00:00:00',
        currency: 'EUR',
        resource_type: 'Standard_ND96asr_v4',
        tags: { env: 'prod', team: 'vision' },
        service_category: 'Compute',
      },
    ]);
  });

  it('of an amortised export is effective where it is used and stranded where it is not, and billed in neither', async () => {
    const { basis, rows } = await read(
      csv([
        { ...AZURE, PricingModel: 'Reservation', CostInBillingCurrency: '10' },
        { ...AZURE, ChargeType: 'UnusedReservation', PricingModel: 'Reservation', CostInBillingCurrency: '4' },
        AZURE,
      ]),
      'CAST(CAST(billed AS DECIMAL(9,1)) AS VARCHAR) AS billed, CAST(CAST(effective AS DECIMAL(9,1)) AS VARCHAR) AS effective, commitment_status',
    );
    expect(basis).toBe('amortised');
    expect(rows).toEqual([
      { problem: null, billed: '0.0', effective: '10.0', commitment_status: 'Used' },
      { problem: null, billed: '0.0', effective: '4.0', commitment_status: 'Unused' },
      { problem: null, billed: '27.2', effective: '27.2', commitment_status: null },
    ]);
  });

  it('of an older export has other names, and is of the month of its day', async () => {
    const older = {
      SubscriptionGuid: 'sub-9',
      UsageDateTime: '2021-02-27T00:00:00',
      MeterCategory: 'Storage',
      MeterId: 'm',
      PreTaxCost: '0.5',
      Currency: 'USD',
      InstanceId: '/x/disk-1',
      UsageQuantity: '2',
    };
    const { rows } = await read(
      csv([older]),
      'billing_account, billing_period_start, billing_period_end, currency, resource_key',
    );
    expect(rows).toEqual([
      {
        problem: null,
        billing_account: 'sub-9',
        billing_period_start: '2021-02-01 00:00:00',
        billing_period_end: '2021-03-01 00:00:00',
        currency: 'USD',
        resource_key: 'disk-1',
      },
    ]);
  });
});

it('a row of a Google Cloud export costs what it costs less its credits', async () => {
  const row = {
    billing_account_id: '01AB',
    service: { id: 's', description: 'Compute Engine' },
    sku: { id: 'k', description: 'Nvidia H100 80GB GPU running in Americas' },
    usage_start_time: '2026-10-05T00:00:00Z',
    usage_end_time: '2026-10-05T01:00:00Z',
    project: { id: 'p-1' },
    labels: [{ key: 'team', value: 'nlp' }],
    location: { region: 'us-central1' },
    cost: 10.1,
    currency: 'USD',
    credits: [
      { name: 'CUD', amount: -3.3 },
      { name: 'SUD', amount: -0.1 },
    ],
    invoice: { month: '202610' },
    cost_type: 'regular',
    resource: { name: 'projects/p-1/instances/gpu-7' },
  };
  const { format, rows } = await read(
    JSON.stringify(row),
    'provider, billing_account, billing_period_end, CAST(CAST(effective AS DECIMAL(9,2)) AS VARCHAR) AS effective, service_category, resource_key, tags',
    'gcp.json',
  );
  expect(format).toBe('Google Cloud billing export');
  expect(rows).toEqual([
    {
      problem: null,
      provider: 'Google Cloud',
      billing_account: '01AB',
      billing_period_end: '2026-11-01 00:00:00',
      effective: '6.70',
      service_category: 'Compute',
      resource_key: 'gpu-7',
      tags: { team: 'nlp' },
    },
  ]);
});

const FOCUS = {
  BillingAccountId: '1',
  BillingCurrency: 'USD',
  BillingPeriodStart: '2026-10-01T00:00:00Z',
  BillingPeriodEnd: '2026-11-01T00:00:00Z',
  ChargePeriodStart: '2026-10-05T00:00:00Z',
  ChargePeriodEnd: '2026-10-05T01:00:00Z',
  ChargeCategory: 'Usage',
  BilledCost: '1',
  EffectiveCost: '1',
};

describe('a FOCUS file', () => {
  const versions: Record<string, { row: Record<string, string>; want: string; provider?: string }> = {
    'with the columns of the beginning is 1.0': { row: { ProviderName: 'AWS' }, want: 'FOCUS 1.0' },
    'with reservations of capacity is 1.1': {
      row: { ProviderName: 'AWS', CapacityReservationId: '' },
      want: 'FOCUS 1.1',
    },
    'with invoices and virtual currencies is 1.2': {
      row: { ProviderName: 'AWS', InvoiceId: 'I', PricingCurrency: 'Token' },
      want: 'FOCUS 1.2',
    },
    'with providers apart is 1.3': {
      row: { ServiceProviderName: 'CoreWeave', HostProviderName: 'AWS', InvoiceIssuerName: 'Reseller' },
      want: 'FOCUS 1.3',
      provider: 'CoreWeave',
    },
    'of 1.3 that still has the old name keeps it': {
      row: { ProviderName: 'AWS', ServiceProviderName: 'Amazon' },
      want: 'FOCUS 1.3',
      provider: 'AWS',
    },
    'that says its version is believed': { row: { ProviderName: 'AWS', x_FocusVersion: '1.2' }, want: 'FOCUS 1.2' },
  };
  for (const [name, { row, want, provider = 'AWS' }] of Object.entries(versions)) {
    it(name, async () => {
      const told = await read(csv([{ ...FOCUS, ...row }]), 'provider');
      expect(told).toMatchObject({ format: want, rows: [{ problem: null, provider }] });
    });
  }

  const unknown: Record<string, Record<string, string>> = {
    'a version of the future is refused': { ProviderName: 'AWS', FocusVersion: '2.0' },
    'the version of the past that had amortised cost is refused': { ProviderName: 'AWS', AmortizedCost: '1' },
    'the preview that told commitments in other words is refused': {
      ProviderName: 'AWS',
      ChargeSubcategory: 'On-Demand',
    },
  };
  for (const [name, row] of Object.entries(unknown)) {
    it(name, async () => {
      await expect(read(csv([{ ...FOCUS, ...row }]), 'provider')).rejects.toMatchObject({
        code: 'unknown-focus-version',
      });
    });
  }

  it('with dates like 4/1/25 is read so that its periods are months', async () => {
    const dated = {
      ...FOCUS,
      ProviderName: 'A',
      BillingPeriodStart: '4/1/25',
      BillingPeriodEnd: '5/1/25',
      ChargePeriodStart: '4/2/25',
      ChargePeriodEnd: '4/3/25',
      BilledCost: '$10,000.00 ',
    };
    const told = await read(csv([dated]), 'charge_from, CAST(CAST(billed AS DECIMAL(9,2)) AS VARCHAR) AS billed');
    expect(told.rows).toEqual([{ problem: null, charge_from: '2025-04-02 00:00:00', billed: '10000.00' }]);
    expect(told.notes).toHaveLength(2);
  });

  it('whose dates could be read both ways is not guessed', async () => {
    const both = { ...FOCUS, ProviderName: 'A', BillingPeriodStart: '4/5/25', BillingPeriodEnd: '5/5/25' };
    expect((await read(csv([both]), 'provider')).rows[0]?.['problem']).toMatch(/is not a time like/);
  });
});
