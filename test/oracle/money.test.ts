import { describe, expect, test } from 'vitest';
import type { ListPrice, Organisation } from './organisation.ts';
import { oracle } from './oracle.ts';
import { allocation, at, charge, device, node, organisation, rate, sample } from './rows.ts';
import { kindOf } from './rules/charges.ts';
import { eleven, held, nine, oneGpu, period, tellAll, ten } from './told.ts';

const cluster = 'a';
const aws = { provider: 'aws', billing_account: '111', region: 'r1', purchase: 'on-demand', cluster } as const;
const billedNode = (node_id: string, row: object = {}) =>
  node({ node_id, present_from: nine, present_until: eleven, ...aws, ...row });
const hourly = { charge_from: nine, charge_until: ten };
const idleSource = allocation({ allocation_id: 'cpu', held_from: nine, held_until: nine + 1, gpu_count: 0 });

const money: Record<string, { facts: Partial<Organisation>; listPrices?: ListPrice[]; want: string[] }> = {
  'micros are differences of a rounded running sum, the rest of the bill is one rounding entry': {
    facts: {
      charges: [
        ...['0.0000004', '0.0000004', '0.0000004'].map((effective) =>
          charge({ ...hourly, effective, resource_id: 'disk' }),
        ),
        charge({ charge_from: nine + 86_400, charge_until: ten + 86_400, effective: '0.0000004', resource_id: 'disk' }),
      ],
    },
    want: ['09 disk beside 0 s, 1 µ$', '23 - rounding 0 s, 1 µ$'],
  },
  'halves are rounded away from zero, also below it': {
    facts: { charges: [charge({ ...hourly, effective: '-0.0000005', charge_category: 'Credit' })] },
    want: ['09 - credit 0 s, -1 µ$'],
  },
  'another currency is posted at the newest rate dated up to the end of the period': {
    facts: {
      charges: [charge({ ...hourly, effective: '1', currency: 'EUR', charge_category: 'Tax' })],
      fxRates: [
        { currency: 'EUR', as_of: at('2026-03-31'), usd_per_unit: '1.1' },
        { currency: 'EUR', as_of: at('2026-04-01'), usd_per_unit: '1.2' },
        { currency: 'EUR', as_of: at('2026-04-01 00:00:01'), usd_per_unit: '1.3' },
      ],
    },
    want: ['09 - tax 0 s, 1200000 µ$'],
  },
  'without one the bill is not posted': {
    facts: { charges: [charge({ ...hourly, effective: '1', currency: 'EUR' })] },
    want: [],
  },
  'a charge of a node goes to the hours in which the node was there': {
    facts: {
      nodes: [node({ node_id: 'n1', ...aws, present_from: ten - 900, present_until: ten + 2700 })],
      devices: [device({ device_id: 'g1', node_id: 'n1' })],
      allocations: [idleSource],
      charges: [
        charge({ charge_from: nine, charge_until: nine + 86_400, effective: '0.000007', resource_id: 'arn:x/N1' }),
      ],
    },
    want: ['09 g1 unallocated/empty 900 s, 1 µ$', '10 g1 unallocated/empty 2700 s, 6 µ$'],
  },
  'a charge of no node goes by its seconds': {
    facts: {
      charges: [
        charge({ charge_from: ten - 900, charge_until: ten + 2700, effective: '0.000007', resource_id: 'd' }),
        charge({ charge_from: ten, charge_until: ten, effective: '0.000001', resource_id: 'e' }),
      ],
    },
    want: ['09 d beside 0 s, 1 µ$', '10 d beside 0 s, 6 µ$', '10 e beside 0 s, 1 µ$'],
  },
  'charges of one SKU and hour are blended over the nodes charged, spot apart': {
    facts: {
      nodes: [billedNode('n1'), billedNode('n2'), billedNode('n3')],
      allocations: [idleSource],
      devices: ['n1', 'n2', 'n3'].map((node_id) => device({ device_id: `g-${node_id}`, node_id, present_until: ten })),
      charges: [
        charge({ ...hourly, effective: '1', resource_id: 'n1', sku_id: 's' }),
        charge({ ...hourly, effective: '3', resource_id: 'n2', sku_id: 's' }),
        charge({ ...hourly, effective: '5', resource_id: 'n3', sku_id: 's', pricing_category: 'Dynamic' }),
      ],
    },
    want: [
      '09 g-n1 unallocated/empty 3600 s, 2000000 µ$',
      '09 g-n2 unallocated/empty 3600 s, 2000000 µ$',
      '09 g-n3 unallocated/empty 3600 s, 5000000 µ$',
    ],
  },
  'money of a node follows the seconds of its devices': {
    facts: {
      nodes: [billedNode('n1')],
      allocations: [idleSource],
      devices: [
        device({ device_id: 'g1', node_id: 'n1', present_until: nine + 1200 }),
        device({ device_id: 'g2', node_id: 'n1', present_until: nine + 600 }),
      ],
      charges: [charge({ ...hourly, effective: '3', resource_id: 'n1' })],
    },
    want: ['09 g1 unallocated/empty 1200 s, 2000000 µ$', '09 g2 unallocated/empty 600 s, 1000000 µ$'],
  },
  'a node without a device that hour is absent, a node without GPUs is a host': {
    facts: {
      nodes: [billedNode('n1'), billedNode('n2', { gpu_count: 0 })],
      charges: [
        charge({ ...hourly, effective: '3', resource_id: 'n1' }),
        charge({ ...hourly, effective: '2', resource_id: 'n2' }),
      ],
    },
    want: ['09 n1 unmatched/absent 0 s, 3000000 µ$', '09 n2 beside 0 s, 2000000 µ$'],
  },
  'hours a bill covers and does not charge are unpriced, later ones estimated': {
    facts: {
      nodes: [billedNode('n1')],
      devices: [device({ device_id: 'g1', node_id: 'n1' })],
      allocations: [idleSource],
      charges: [charge({ ...hourly, effective: '2', resource_id: 'elsewhere' })],
      rates: [rate({ usd_per_gpu_hour: '1.5' })],
    },
    want: [
      '09 elsewhere beside 0 s, 2000000 µ$',
      '09 g1 unallocated/empty 3600 s, unpriced',
      '10 g1 unallocated/empty 3600 s, 1500000 µ$',
    ],
  },
  'the rate of the node goes before that of the model, the longest model before any, any before the list': {
    facts: {
      nodes: ['n1', 'n2', 'n3'].map((node_id) => node({ node_id, ...period, cluster })),
      devices: [
        device({ device_id: 'g1', node_id: 'n1', model: 'NVIDIA H100 NVL' }),
        device({ device_id: 'g2', node_id: 'n2', model: 'NVIDIA H100 NVL' }),
        device({ device_id: 'g3', node_id: 'n3', model: 'NVIDIA L4', present_until: nine + 1 }),
      ],
      allocations: [idleSource],
      rates: [
        rate({ node_id: 'n1', usd_per_gpu_hour: '1' }),
        rate({ model: 'h100', usd_per_gpu_hour: '2' }),
        rate({ model: 'H100 NVL', usd_per_gpu_hour: '3' }),
        rate({ model: '*', usd_per_gpu_hour: '4' }),
      ],
    },
    listPrices: [{ model: 'L4', usdPerGpuHour: '9' }],
    want: [
      '09 g1 unallocated/empty 3600 s, 1000000 µ$',
      '09 g2 unallocated/empty 3600 s, 3000000 µ$',
      '09 g3 unallocated/empty 1 s, 1111 µ$',
    ],
  },
  'an owned node costs its rate while it is away': {
    facts: {
      nodes: [node({ node_id: 'n1', purchase: 'owned', gpu_count: 2, present_from: nine + 900, present_until: ten })],
      allocations: [
        allocation({ allocation_id: 'cpu', node_id: 'n1', held_from: nine, held_until: eleven, gpu_count: 0 }),
      ],
      rates: [rate({ node_id: 'n1', usd_per_gpu_hour: '4', valid_from: nine })],
    },
    want: [
      '09 n1 stranded/absent 1800 s, 2000000 µ$',
      '09 n1/gpu0 unallocated/empty 2700 s, 3000000 µ$',
      '09 n1/gpu1 unallocated/empty 2700 s, 3000000 µ$',
      '10 n1 stranded/absent 7200 s, 8000000 µ$',
    ],
  },
};

describe('money', () => {
  test.each(Object.entries(money))('%s', (_, { facts, listPrices, want }) => {
    expect(tellAll(facts, listPrices).sort()).toEqual([...want].sort());
  });

  test('a stated rate is the price where no bill exists, else an estimate; the list is always one', () => {
    const basisOf = (facts: Partial<Organisation>): string[] =>
      oracle(organisation({ ...oneGpu, allocations: [idleSource], ...facts }), [{ model: 'L4', usdPerGpuHour: '1' }])
        .entries.filter((entry) => entry.device_id === 'g1')
        .map((entry) => entry.basis);
    const rates = [rate({ usd_per_gpu_hour: '1' })];
    const nodes = [node({ node_id: 'n1', ...period, ...aws })];
    const charges = [charge({ ...hourly, effective: '1', charge_category: 'Tax' })];
    expect(basisOf({ rates, nodes })).toEqual(['rate']);
    expect(basisOf({ rates, nodes, charges })).toEqual(['estimated']);
    expect(basisOf({ devices: [device({ device_id: 'g1', node_id: 'n1', model: 'L4' })] })).toEqual(['estimated']);
    expect(basisOf({})).toEqual(['unpriced']);
  });

  test('units are counted once, on the first of two bills; the waterfall of each follows what the device did', () => {
    const { entries, waterfall } = oracle(
      organisation({
        nodes: [billedNode('n1', { present_until: ten })],
        devices: [device({ device_id: 'g1', node_id: 'n1' })],
        samples: [
          sample({ device_id: 'g1', ts: nine, step_s: 900, engine_permille: 665 }),
          sample({ device_id: 'g1', ts: nine + 900, step_s: 900, engine_permille: 0 }),
        ],
        allocations: [allocation({ ...held, allocation_id: 'a' })],
        charges: [
          charge({ ...hourly, effective: '0.000005', resource_id: 'n1' }),
          charge({ ...hourly, effective: '0.000002', resource_id: 'n1', billing_account: '110' }),
        ],
      }),
    );
    const whole = 63_000n * 3600n;
    expect(entries.map((entry) => [entry.bill_id, entry.usd_micros, entry.gpu_units])).toEqual([
      ['AWS|110|2026-03', 2n, whole],
      ['AWS|111|2026-03', 5n, 0n],
    ]);
    expect(waterfall.map((row) => [row.category, row.reason, row.usd_micros, row.gpu_units])).toEqual([
      ['unknown', null, 1n, whole / 2n],
      ['idle', null, 0n, whole / 4n],
      ['starved', 'gap', 0n, (whole / 40n) * 3n],
      ['computing', null, 1n, (whole / 40n) * 7n],
      ['unknown', null, 2n, 0n],
      ['idle', null, 1n, 0n],
      ['starved', 'gap', 1n, 0n],
      ['computing', null, 1n, 0n],
    ]);
  });

  const kinds: [string, object, string][] = [
    ['tax', { charge_category: 'Tax', resource_id: 'n1' }, 'tax'],
    ['credit', { charge_category: 'Credit', commitment_status: 'Unused' }, 'credit'],
    ['an unused commitment', { commitment_status: 'Unused', resource_id: 'n1' }, 'unused'],
    ['one for GPUs', { commitment_status: 'Unused', resource_type: 'p5.48xlarge' }, 'stranded'],
    ['an unused reservation', { capacity_reservation_status: 'Unused', service_name: 'Amazon RDS' }, 'unused'],
    ['one for GPUs', { capacity_reservation_status: 'Unused', sku_id: 'UnusedBox:p5.48xlarge' }, 'stranded'],
    ['a node by its resource', { resource_id: 'arn:aws:ec2:i-1', service_name: 'Support' }, 'node'],
    ['a node of another provider', { resource_id: 'i-1', provider: 'GCP' }, 'other'],
    ['a node that has a resource is not met by its name', { resource_id: 'n1' }, 'other'],
    ['support', { service_name: 'AWS Support (Business)', service_category: 'Storage' }, 'support'],
    ['storage', { service_category: 'Storage', charge_description: 'gpu scratch' }, 'storage'],
    ['transfer', { service_category: 'Networking', sku_id: 'DataTransfer-Out' }, 'transfer'],
    ['network', { service_category: 'Networking', charge_description: 'NAT gateway' }, 'network'],
    ['a GPU nobody listed', { service_category: 'Compute', resource_type: 'p5.48xlarge' }, 'unmatched'],
    ['a host', { service_category: 'Compute', resource_type: 'm7i.large' }, 'host'],
    ['anything else', {}, 'other'],
  ];
  test.each(kinds)('kind of a charge: %s', (_, row, want) => {
    const nodes = [node({ node_id: 'n1', provider: 'aws', resource_id: 'pool/I-1' })];
    expect(kindOf(charge({ ...hourly, effective: '1', ...row }), nodes)).toBe(want);
  });
});
