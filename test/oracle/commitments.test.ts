import { describe, expect, test } from 'vitest';
import { derivedLedger, rowText } from './derived-ledger.ts';
import { differences } from './differences.ts';
import type { ComponentPrice, Organisation } from './organisation.ts';
import { timeText } from './organisation.ts';
import { oracle } from './oracle.ts';
import { diceOf } from './random/dice.ts';
import { allocation, charge, device, node, organisation, rate } from './rows.ts';
import type { OracleEntry } from './rules/entry.ts';
import { eleven, nine, ten } from './told.ts';

const HOUR = 3600;
const noon = nine + 3 * HOUR;
const cluster = 'a';
const aws = { provider: 'AWS', billing_account: '111', cluster };
const gpuNode = (node_id: string, from: number, until: number, row: object = {}) =>
  node({ node_id, ...aws, present_from: from, present_until: until, purchase: 'on-demand', ...row });
const gpuOf = (...node_ids: string[]) => node_ids.map((node_id) => device({ device_id: `g-${node_id}`, node_id }));
const at = (hour: number) => ({ charge_from: hour, charge_until: hour + HOUR });
/** A scheduler that speaks and hands out nothing: what is there is empty. */
const idleSource = allocation({ allocation_id: 'cpu', held_from: nine, held_until: nine + 1, gpu_count: 0 });
const committed = { commitment_status: 'Used', pricing_category: 'Committed' };

/** `09 g1 gpu held a 5.000000 marginal 4.000000`: hour, thing, component, what became of it, holder, both prices in dollars. */
function told(entry: OracleEntry): string {
  const usd = (micros: bigint | null): string => (micros === null ? 'no price' : (Number(micros) / 1e6).toFixed(6));
  const thing = entry.device_id ?? entry.node_id ?? entry.resource_id ?? '-';
  const what = [entry.component, entry.disposition, ...(entry.allocation_id === null ? [] : [entry.allocation_id])];
  const hour = timeText(entry.hour_start).slice(11, 13);
  return `${hour} ${thing} ${what.join(' ')} ${usd(entry.usd_micros)} marginal ${usd(entry.marginal_usd_micros)}`;
}

const PRICES: readonly ComponentPrice[] = [
  { model: 'H100', usdPerGpuHour: '4', usdPerVcpuHour: '0.05', usdPerMemoryGibHour: '0.01' },
];

/** Figures worked out by hand; what the figure comes from stands beside it. */
const cases: Record<string, { facts: Partial<Organisation>; want: string[] }> = {
  'a floating reservation is one blended rate, wherever the bill puts it': {
    facts: {
      nodes: [gpuNode('n1', nine, ten), gpuNode('n2', nine, eleven), gpuNode('n3', nine, eleven)],
      devices: gpuOf('n1', 'n2', 'n3'),
      allocations: [idleSource],
      charges: [
        charge({ ...at(nine), effective: '4', resource_id: 'n1', sku_id: 's' }),
        charge({ ...at(nine), effective: '1.2', resource_id: 'n2', sku_id: 's', commitment_id: 'ri', ...committed }),
        charge({ ...at(nine), effective: '4', resource_id: 'n3', sku_id: 's' }),
        charge({ ...at(ten), effective: '4', resource_id: 'n2', sku_id: 's' }),
        charge({ ...at(ten), effective: '1.2', resource_id: 'n3', sku_id: 's', commitment_id: 'ri', ...committed }),
      ],
    },
    want: [
      // $9.20 over three; without all of them the bill falls by the $8.00 that are on demand, and by no more.
      '09 g-n1 gpu unallocated 3.066666 marginal 2.666666',
      '09 g-n2 gpu unallocated 3.066667 marginal 2.666667',
      '09 g-n3 gpu unallocated 3.066667 marginal 2.666667',
      // $5.20 over two, $4.00 of it on demand.
      '10 g-n2 gpu unallocated 2.600000 marginal 2.000000',
      '10 g-n3 gpu unallocated 2.600000 marginal 2.000000',
    ],
  },
  'a savings plan over three SKUs is blended within each, and its unused rest is a line of its own': {
    facts: {
      nodes: ['n1', 'n2', 'n3', 'n4'].map((node_id) => gpuNode(node_id, nine, ten)),
      devices: gpuOf('n1', 'n2', 'n3', 'n4'),
      allocations: [idleSource],
      charges: [
        charge({ ...at(nine), effective: '2', resource_id: 'n1', sku_id: 'a', commitment_id: 'sp', ...committed }),
        charge({ ...at(nine), effective: '0.5', resource_id: 'n2', sku_id: 'b', commitment_id: 'sp', ...committed }),
        charge({ ...at(nine), effective: '1.5', resource_id: 'n2', sku_id: 'b' }),
        charge({ ...at(nine), effective: '3', resource_id: 'n4', sku_id: 'b' }),
        charge({ ...at(nine), effective: '6', resource_id: 'n3', sku_id: 'c', commitment_id: 'sp', ...committed }),
        charge({ ...at(nine), effective: '0.75', commitment_id: 'sp', commitment_status: 'Unused' }),
      ],
    },
    want: [
      '09 g-n1 gpu unallocated 2.000000 marginal 0.000000',
      // $5.00 over two; of it $4.50 is on demand, for two machines.
      '09 g-n2 gpu unallocated 2.500000 marginal 2.250000',
      '09 g-n3 gpu unallocated 6.000000 marginal 0.000000',
      '09 g-n4 gpu unallocated 2.500000 marginal 2.250000',
      '09 sp gpu stranded 0.750000 marginal 0.000000',
    ],
  },
  'what a commitment left unused is GPU money only if it is for GPUs: by a machine it paid for, or by its words': {
    facts: {
      nodes: [gpuNode('n1', nine, ten), gpuNode('cpu', nine, ten, { gpu_count: 0 })],
      devices: gpuOf('n1'),
      allocations: [idleSource],
      charges: [
        charge({ ...at(nine), effective: '2', resource_id: 'n1', sku_id: 'a', commitment_id: 'sp', ...committed }),
        charge({ ...at(nine), effective: '1', resource_id: 'cpu', sku_id: 'c', commitment_id: 'm5', ...committed }),
        ...['sp', 'm5', 'rds'].map((commitment_id) =>
          charge({ ...at(nine), effective: '0.5', commitment_id, commitment_status: 'Unused' }),
        ),
        charge({
          ...at(nine),
          effective: '0.25',
          commitment_id: 'ec2',
          commitment_status: 'Unused',
          sku_id: 'USE1-EC2SP:p5.3yrNoUpfront',
        }),
        // Room for machines without GPUs is nobody's stranded GPU.
        charge({ ...at(nine), effective: '3', charge_category: 'Purchase', capacity_reservation_id: 'cr-m5' }),
      ],
    },
    want: [
      '09 cpu host beside 1.000000 marginal 0.000000',
      '09 g-n1 gpu unallocated 2.000000 marginal 0.000000',
      '09 sp gpu stranded 0.500000 marginal 0.000000',
      '09 ec2 gpu stranded 0.250000 marginal 0.000000',
      '09 m5 other beside 0.500000 marginal 0.000000',
      '09 rds other beside 0.500000 marginal 0.000000',
      '09 - other beside 3.000000 marginal 0.000000',
    ],
  },
  'a capacity block lies over its dates and on the machines that are in it, and is stranded while none is': {
    facts: {
      nodes: [gpuNode('n1', nine, noon), gpuNode('n2', ten, eleven)],
      devices: gpuOf('n1', 'n2'),
      allocations: [idleSource],
      charges: [
        charge({
          charge_from: nine,
          charge_until: nine + 6 * HOUR,
          effective: '24',
          charge_category: 'Purchase',
          capacity_reservation_id: 'cr-1',
        }),
        charge({ ...at(nine), effective: '0', resource_id: 'n1', capacity_reservation_id: 'cr-1', sku_id: 's' }),
        charge({ ...at(ten), effective: '0', resource_id: 'n2', capacity_reservation_id: 'cr-1', sku_id: 's' }),
      ],
    },
    want: [
      '09 g-n1 gpu unallocated 4.000000 marginal 0.000000',
      '10 g-n1 gpu unallocated 2.000000 marginal 0.000000',
      '10 g-n2 gpu unallocated 2.000000 marginal 0.000000',
      '11 g-n1 gpu unallocated 4.000000 marginal 0.000000',
      '12 cr-1 gpu stranded 4.000000 marginal 0.000000',
      '13 cr-1 gpu stranded 4.000000 marginal 0.000000',
      '14 cr-1 gpu stranded 4.000000 marginal 0.000000',
    ],
  },
  'a machine that ran in a reservation and that nobody lists is no block': {
    facts: {
      charges: [
        charge({ ...at(nine), effective: '3', resource_id: 'i-lost', sku_id: 'gpu', capacity_reservation_id: 'cr-1' }),
      ],
    },
    want: ['09 i-lost gpu unmatched 3.000000 marginal 0.000000'],
  },
  'disks and traffic of a machine are of the jobs that held it, the rest of the machine': {
    facts: {
      nodes: [gpuNode('n1', nine, eleven)],
      devices: ['g1', 'g2'].map((device_id) => device({ device_id, node_id: 'n1', present_until: ten })),
      allocations: [
        allocation({ allocation_id: 'a', node_id: 'n1', device_id: 'g1', held_from: nine, held_until: ten }),
        allocation({ allocation_id: 'b', node_id: 'n1', device_id: 'g2', held_from: nine, held_until: nine + 1800 }),
      ],
      charges: [
        charge({ ...at(nine), effective: '8', resource_id: 'n1', sku_id: 's' }),
        charge({ ...at(nine), effective: '4', resource_id: 'n1', sku_id: 's', service_category: 'Storage' }),
        charge({ ...at(nine), effective: '1', resource_id: 'vol-1', service_category: 'Storage' }),
        // No device is there any more.
        charge({ ...at(ten), effective: '2', resource_id: 'n1', sku_id: 'Egress', service_category: 'Networking' }),
      ],
    },
    want: [
      '09 g1 gpu held a 4.000000 marginal 4.000000',
      '09 g2 gpu held b 2.000000 marginal 2.000000',
      '09 g2 gpu unallocated 2.000000 marginal 2.000000',
      '09 n1 storage beside 1.000000 marginal 1.000000',
      '09 n1 storage beside a 2.000000 marginal 2.000000',
      '09 n1 storage beside b 1.000000 marginal 1.000000',
      '09 vol-1 storage beside 1.000000 marginal 1.000000',
      '10 n1 transfer beside 2.000000 marginal 2.000000',
    ],
  },
  'a machine is divided into its GPUs and their host, billed or not': {
    facts: {
      // $2.00 of processors and $2.00 of memory, so $2.00 of host for each of two GPUs that weigh $4.00.
      nodes: [
        gpuNode('n1', nine, ten, { vcpu: 40, memory_bytes: 200 * 2 ** 30, gpu_count: 2 }),
        node({
          ...gpuNode('own', nine, ten),
          provider: null,
          purchase: 'owned',
          vcpu: 40,
          memory_bytes: 200 * 2 ** 30,
        }),
        gpuNode('n2', nine, ten, { vcpu: 40, gpu_count: 1, model: 'NVIDIA H100' }),
      ],
      devices: [
        device({ device_id: 'g1', node_id: 'n1', model: 'NVIDIA H100' }),
        device({ device_id: 'g2', node_id: 'n1', model: 'Zorg' }),
        device({ device_id: 'o1', node_id: 'own', model: 'H100' }),
      ],
      allocations: [
        allocation({ allocation_id: 'a', node_id: 'n1', device_id: 'g1', held_from: nine, held_until: ten }),
      ],
      charges: [
        charge({ ...at(nine), effective: '10', resource_id: 'n1' }),
        charge({ ...at(nine), effective: '5', resource_id: 'n2' }),
      ],
      rates: [rate({ usd_per_gpu_hour: '2' })],
    },
    want: [
      '09 g1 gpu held a 3.333333 marginal 3.333333',
      '09 g1 host held a 1.666667 marginal 1.666667',
      // Nobody fitted a price for it.
      '09 g2 gpu unallocated 5.000000 marginal 5.000000',
      // Its memory is unknown.
      '09 n2/gpu0 gpu unallocated 5.000000 marginal 5.000000',
      // One GPU has all of the host: $2.00 in the ratio of $4.00 to $4.00, and owned.
      '09 o1 gpu unallocated 1.000000 marginal 0.000000',
      '09 o1 host unallocated 1.000000 marginal 0.000000',
    ],
  },
  'without a bill only a cloud, or somebody who says so, makes an hour one that a bill would fall by': {
    facts: {
      nodes: [
        node({ node_id: 'cellar', cluster, present_from: nine, present_until: ten }),
        node({
          node_id: 'hall',
          cluster,
          present_from: nine,
          present_until: ten,
          provider: 'our-dc',
          vcpu: 40,
          memory_bytes: 2 ** 38,
        }),
        node({ node_id: 'cloud', cluster, present_from: nine, present_until: ten, provider: 'CoreWeave' }),
        node({ node_id: 'rack', cluster, present_from: nine, present_until: ten, purchase: 'on-demand' }),
        node({ node_id: 'own', cluster, present_from: nine, present_until: ten, provider: 'AWS', purchase: 'owned' }),
      ],
      devices: ['cellar', 'hall', 'cloud', 'rack', 'own'].map((node_id) =>
        device({ device_id: `g-${node_id}`, node_id, model: 'H100' }),
      ),
      allocations: [idleSource],
      rates: [rate({ usd_per_gpu_hour: '2' })],
    },
    want: [
      '09 g-cellar gpu unallocated 2.000000 marginal no price',
      // $4.00 of GPU to $4.56 of host.
      '09 g-hall gpu unallocated 0.934579 marginal no price',
      '09 g-hall host unallocated 1.065421 marginal no price',
      '09 g-cloud gpu unallocated 2.000000 marginal 2.000000',
      '09 g-rack gpu unallocated 2.000000 marginal 2.000000',
      '09 g-own gpu unallocated 2.000000 marginal 0.000000',
    ],
  },
  'a bill of Google Cloud is of nodes of gcp': {
    facts: {
      nodes: [gpuNode('n1', nine, eleven, { provider: 'gcp' })],
      devices: gpuOf('n1'),
      allocations: [idleSource],
      charges: [charge({ ...at(nine), effective: '3', resource_id: 'n1', provider: 'Google Cloud' })],
      covered_until: eleven,
      rates: [rate({ usd_per_gpu_hour: '2' })],
    },
    want: ['09 g-n1 gpu unallocated 3.000000 marginal 3.000000', '10 g-n1 gpu unallocated no price marginal no price'],
  },
};

describe('commitments, machines and what stands beside them: by hand, by the oracle, by the ledger', () => {
  test.each(Object.entries(cases))('%s', async (_, { facts, want }) => {
    const org = organisation(facts);
    const { entries } = oracle(org, [], [], PRICES);
    expect(entries.map(told).sort()).toEqual([...want].sort());
    const prices = PRICES.map((price) => ({ ...price, asOf: '2026-03-01', source: 'made up' }));
    const derived = await derivedLedger(org, diceOf(1), prices);
    const lines = entries.map((entry) => rowText('ledger_entry', { ...entry }));
    expect(differences(derived.entries, lines)).toEqual([]);
  });
});
