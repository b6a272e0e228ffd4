import { describe, expect, test } from 'vitest';
import { dayOfFile, providerOfFile } from './feed-origin.ts';
import { flatCsv, perHour } from './flat-list.ts';
import { isGcpCalculator, readGcpCalculator } from './gcp-calculator.ts';
import { nestedList } from './nested-json.ts';
import { priceColumns } from './price-columns.ts';

describe('whose prices are in', () => {
  test.each([
    ['catalogs/v8_gcp_vms.csv', 'gcp'],
    ['catalogs/v8/aws/vms.csv', 'aws'],
    ['lambda_price_changes.csv.gz', 'lambda'],
    ['aws_spot_2024_us.csv.gz', 'aws'],
    ['azure/2026/prices.json', 'azure'],
    ['v9_somecloud_vms.csv', 'somecloud'],
    ['prices.csv', undefined],
  ])('%s', (path, want) => expect(providerOfFile(path)).toBe(want));
});

describe('the day of', () => {
  test.each([
    ['skypilot-catalog-2026-08-22/v8_gcp_vms.csv', '2026-08-22'],
    ['gcp-pricing-20260730.yml', '2026-07-30'],
    ['prices_2026_02_31.csv', undefined],
    ['v8_gcp_vms.csv', undefined],
    ['run-1202608221/x.csv', undefined],
  ])('%s', (path, want) => expect(dayOfFile(path)).toBe(want));
});

describe('a price list is recognised by its columns', () => {
  test('in whatever order and case they come', () => {
    const found = priceColumns(['AvailabilityZone', 'InstanceType', 'Region', 'SpotPrice', 'Price', 'GpuInfo']);
    expect(Object.fromEntries(found?.byRole ?? [])).toEqual({
      zone: 'AvailabilityZone',
      instance_type: 'InstanceType',
      region: 'Region',
      spot: 'SpotPrice',
      price: 'Price',
    });
    expect(found?.notUnderstood).toEqual(['GpuInfo']);
  });

  test.each([
    ['a list of images', ['Tag', 'Region', 'OS']],
    ['prices of nothing', ['Price', 'Region']],
    ['machines without prices', ['InstanceType', 'Region']],
  ])('and %s is none', (_, names) => expect(priceColumns(names)).toBeUndefined());
});

test('a month of a Google price list is 730 hours, to nine decimals', () => {
  expect(perHour('2209.6977798', 730n)).toBe('3.026983260');
  expect(perHour('0.5', 730n)).toBe('0.000684931');
  expect(perHour('n/a', 730n)).toBeUndefined();
});

describe('the price list of google-cloud-pricing-cost-calculator', () => {
  const list = `---
about:
  generated: Thu Jul 30 06:13:17 2026
  timestamp: 1785391997
compute:
  instance:
    a2-highgpu-1g:
      a100: 1
      cost:
        us-central1:
          hour: 3.673385
          hour_spot: 1.2
          month: 2681.57105
          month_1y: 1689.39
      cpu: 12
      ram: 85
    n1-standard-8:
      cost:
        us-central1:
          hour: 0.38
      cpu: 8
      ram: 30
  license:
    a2-highgpu-1g:
      cost:
        rhel:
          hour: 0.1296
storage:
  bucket: {}
`;
  test('gives a row for each machine and region', () => {
    expect(isGcpCalculator(list)).toBe(true);
    expect(readGcpCalculator(list)).toEqual({
      shape: 'GCP price list',
      provider: 'gcp',
      asOf: new Date('2026-07-30T06:13:17Z'),
      rows: [
        {
          instance_type: 'a2-highgpu-1g',
          covers: 'instance',
          accelerator: 'a100',
          accelerator_count: '1',
          vcpu: '12',
          memory_gib: '85',
          region: 'us-central1',
          price: '3.673385',
          spot: '1.2',
          committed_1y: '2.314232876',
        },
        {
          instance_type: 'n1-standard-8',
          covers: 'host',
          vcpu: '8',
          memory_gib: '30',
          region: 'us-central1',
          price: '0.38',
        },
      ],
      notes: ['not prices of machines, not read: compute license, storage'],
    });
  });
});

describe('nested JSON is laid flat', () => {
  test('machines with prices by region, what is missing left out', () => {
    const machines = [
      {
        apiName: 'p4d.24xlarge',
        gpu: 'NVIDIA A100',
        gpuCount: 8,
        vcpu: 96,
        memory: '1152 GiB',
        pricing: { 'us-east-1': { onDemand: 21.957642, reserved: 13.921094 }, 'eu-north-1': { onDemand: 23.71569 } },
      },
      { apiName: 'p9.large', pricing: {} },
    ];
    expect(nestedList(machines)?.rows).toEqual([
      {
        instance_type: 'p4d.24xlarge',
        accelerator: 'NVIDIA A100',
        accelerator_count: 8,
        vcpu: 96,
        memory_gib: '1152 GiB',
        region: 'us-east-1',
        price: 21.957642,
        committed_1y: 13.921094,
      },
      {
        instance_type: 'p4d.24xlarge',
        accelerator: 'NVIDIA A100',
        accelerator_count: 8,
        vcpu: 96,
        memory_gib: '1152 GiB',
        region: 'eu-north-1',
        price: 23.71569,
      },
      { instance_type: 'p9.large' },
    ]);
  });

  test('what the AWS command line prints of spot prices', () => {
    const history = {
      SpotPriceHistory: [
        {
          AvailabilityZone: 'us-east-1a',
          InstanceType: 'p5.48xlarge',
          ProductDescription: 'Linux/UNIX',
          SpotPrice: '24.91',
          Timestamp: '2026-10-14T08:00:00+00:00',
        },
      ],
    };
    expect(nestedList(history)).toMatchObject({
      provider: 'aws',
      rows: [
        { instance_type: 'p5.48xlarge', zone: 'us-east-1a', region: 'us-east-1', purchase: 'spot', price: '24.91' },
      ],
    });
  });

  test('what Azure answers: a reservation is a price of all its hours', () => {
    const item = {
      currencyCode: 'USD',
      retailPrice: 87600,
      armRegionName: 'eastus',
      armSkuName: 'Standard_ND96isr_H100_v5',
      type: 'Reservation',
      reservationTerm: '1 Year',
      unitOfMeasure: '1 Hour',
      meterName: 'ND96isr H100 v5',
      productName: 'NDsr H100 v5',
    };
    expect(nestedList({ Items: [item] })?.rows).toEqual([
      {
        instance_type: 'Standard_ND96isr_H100_v5',
        region: 'eastus',
        currency: 'USD',
        purchase: 'committed-1y',
        price: '10.000000000',
      },
    ]);
  });

  test.each([[null], [42], [[]], [{ a: 1 }], [[{ price: 1 }]]])('%j is not nested', (value) =>
    expect(nestedList(value)).toBeUndefined(),
  );
});

test('a value that holds a separator survives', () => {
  expect(flatCsv([{ region: 'Denmark, "DK"', price: 1.5 }])).toBe('region,price\n"Denmark, ""DK""",1.5\n');
});
