import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BillReader } from '../../../test/read-bill.ts';
import { billReader, csv } from '../../../test/read-bill.ts';

let reader: BillReader;
beforeAll(async () => {
  reader = await billReader();
});
afterAll(() => reader.close());
const read: BillReader['read'] = (...asked) => reader.read(...asked);

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
