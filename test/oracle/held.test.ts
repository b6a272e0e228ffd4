import { describe, expect, test } from 'vitest';
import type { Organisation } from './organisation.ts';
import { oracle } from './oracle.ts';
import { allocation, device, node, organisation, sample } from './rows.ts';
import { eleven, held, nine, oneGpu, oneNode, period, tellAll, ten } from './told.ts';

const whoHasIt: Record<string, { facts: Partial<Organisation>; want: string[] }> = {
  'a device that nobody holds is empty': {
    facts: { ...oneGpu, allocations: [allocation({ ...held, allocation_id: 'a', gpu_count: 0 })] },
    want: ['09 g1 unallocated/empty 3600 s, unpriced'],
  },
  'an open holding of a file without observed_at lasts to the newest fact': {
    facts: {
      ...oneGpu,
      allocations: [allocation({ ...held, allocation_id: 'a', held_from: nine + 600, held_until: null })],
    },
    want: ['09 g1 held a 3000 s, unpriced', '09 g1 unallocated/empty 600 s, unpriced'],
  },
  'an open holding that was observed lasts two polls longer': {
    facts: {
      ...oneGpu,
      allocations: [allocation({ ...held, allocation_id: 'a', held_until: null, observed_at: nine + 600, poll_s: 30 })],
    },
    want: ['09 g1 held a 660 s, unpriced', '09 g1 unallocated/empty 2940 s, unpriced'],
  },
  'a holding of no node holds devices of its own': {
    facts: { allocations: [allocation({ allocation_id: 'a', held_from: nine, held_until: ten, gpu_count: 2 })] },
    want: ['09 held:slurm/a/0/0/0 held a 3600 s, unpriced', '09 held:slurm/a/0/0/1 held a 3600 s, unpriced'],
  },
  'a device is there while its row and its node are': {
    facts: {
      nodes: [node({ node_id: 'n1', present_from: nine, present_until: nine + 1000 })],
      devices: [device({ device_id: 'g1', node_id: 'n1', present_from: nine + 400, present_until: ten })],
      allocations: [allocation({ ...held, allocation_id: 'a', gpu_count: 0 })],
    },
    want: ['09 g1 unallocated/empty 600 s, unpriced'],
  },
  'a node that counts its devices has those that are not known by name, numbered': {
    facts: {
      nodes: [node({ node_id: 'n1', ...period, gpu_count: 2, model: 'L4' })],
      allocations: [allocation({ ...held, allocation_id: 'a', device_id: 'x', held_until: nine + 60 })],
    },
    want: ['09 n1/gpu0 unallocated/empty 3600 s, unpriced', '09 x held a 60 s, unpriced'],
  },
  'an inferred device is there from its first fact to its last, gaps included': {
    facts: {
      samples: [
        sample({ device_id: 'x', ts: nine, util_permille: 0 }),
        sample({ device_id: 'x', ts: nine + 1000, step_s: 30, util_permille: 0 }),
      ],
      allocations: [allocation({ ...held, allocation_id: 'a', device_id: 'x', gpu_count: 0 })],
    },
    want: ['09 x unallocated/empty 1030 s, unpriced'],
  },
  'a node that only holdings by count name has as many devices as were held at once': {
    facts: {
      allocations: [
        allocation({ allocation_id: 'a', node_id: 'z', held_from: nine, held_until: nine + 600, gpu_count: 2 }),
        allocation({ allocation_id: 'b', node_id: 'z', held_from: nine + 600, held_until: nine + 900, gpu_count: 1 }),
      ],
    },
    want: [
      '09 z/gpu0 held a 600 s, unpriced',
      '09 z/gpu0 held b 150 s, unpriced',
      '09 z/gpu0 unallocated/empty 150 s, unpriced',
      '09 z/gpu1 held a 600 s, unpriced',
      '09 z/gpu1 held b 150 s, unpriced',
      '09 z/gpu1 unallocated/empty 150 s, unpriced',
    ],
  },
  'slices take their part of a GPU while they are there, the rest is mig-rest': {
    facts: {
      ...oneGpu,
      devices: [
        ...oneGpu.devices,
        device({
          device_id: 'm1',
          node_id: 'n1',
          parent_device_id: 'g1',
          share_units: 7875,
          present_until: nine + 1600,
        }),
      ],
      allocations: [allocation({ ...held, allocation_id: 'a', device_id: 'm1', isolation: 'mig' })],
    },
    want: [
      '09 g1 unallocated/empty 2000 s, unpriced',
      '09 g1 unallocated/mig-rest 1400 s, unpriced',
      '09 m1 held a 200 s, unpriced',
    ],
  },
  'a short overlap belongs to the later of two': {
    facts: {
      ...oneGpu,
      allocations: [
        allocation({ ...held, allocation_id: 'a', held_until: nine + 1120 }),
        allocation({ ...held, allocation_id: 'b', held_from: nine + 1000 }),
      ],
    },
    want: ['09 g1 held a 1000 s, unpriced', '09 g1 held b 2600 s, unpriced'],
  },
  'a longer overlap is shared, and is a conflict': {
    facts: {
      ...oneGpu,
      allocations: [
        allocation({ ...held, allocation_id: 'a', held_until: nine + 1122 }),
        allocation({ ...held, allocation_id: 'b', held_from: nine + 1000 }),
      ],
    },
    want: ['09 g1 held a! 1061 s, unpriced', '09 g1 held b! 2539 s, unpriced'],
  },
  'two time-slices share what a fraction of a third leaves': {
    facts: {
      ...oneGpu,
      allocations: [
        allocation({ ...held, allocation_id: 'f', isolation: 'fraction', share_units: 21_000 }),
        allocation({ ...held, allocation_id: 't', isolation: 'time-slice' }),
        allocation({ ...held, allocation_id: 'u', isolation: 'time-slice' }),
      ],
    },
    want: ['09 g1 held f 1200 s, unpriced', '09 g1 held t 1200 s, unpriced', '09 g1 held u 1200 s, unpriced'],
  },
  'a lone fraction leaves the rest empty': {
    facts: {
      ...oneGpu,
      allocations: [allocation({ ...held, allocation_id: 'f', isolation: 'fraction', share_units: 31_500 })],
    },
    want: ['09 g1 held f 1800 s, unpriced', '09 g1 unallocated/empty 1800 s, unpriced'],
  },
  'fractions of more than the whole are scaled, and are a conflict': {
    facts: {
      ...oneGpu,
      allocations: [
        allocation({ ...held, allocation_id: 'f', isolation: 'fraction', share_units: 63_000 }),
        allocation({ ...held, allocation_id: 'g', isolation: 'fraction', share_units: 21_000 }),
      ],
    },
    want: ['09 g1 held f! 2700 s, unpriced', '09 g1 held g! 900 s, unpriced'],
  },
  'a holding by count is spread over the devices nobody holds by name': {
    facts: {
      nodes: oneNode,
      devices: ['g1', 'g2', 'g3'].map((device_id) => device({ device_id, node_id: 'n1' })),
      allocations: [
        allocation({ ...held, allocation_id: 'a' }),
        allocation({ ...held, allocation_id: 'b', device_id: null, gpu_count: 1 }),
      ],
    },
    want: [
      '09 g1 held a 3600 s, unpriced',
      '09 g2 held b 1800 s, unpriced',
      '09 g2 unallocated/empty 1800 s, unpriced',
      '09 g3 held b 1800 s, unpriced',
      '09 g3 unallocated/empty 1800 s, unpriced',
    ],
  },
  'holdings by count of more than is free are scaled, and are a conflict': {
    facts: { ...oneGpu, allocations: [allocation({ ...held, allocation_id: 'b', device_id: null, gpu_count: 3 })] },
    want: ['09 g1 held b! 3600 s, unpriced'],
  },
  'with nothing free a holding by count holds nothing': {
    facts: {
      ...oneGpu,
      allocations: [
        allocation({ ...held, allocation_id: 'a' }),
        allocation({ ...held, allocation_id: 'b', device_id: null }),
      ],
    },
    want: ['09 g1 held a 3600 s, unpriced'],
  },
  'what a node is in says why nobody has its devices': {
    facts: {
      ...oneGpu,
      nodes: [
        node({ node_id: 'n1', present_from: nine, state: 'drained' }),
        node({ node_id: 'n1', present_from: nine + 600, present_until: ten, state: 'up' }),
      ],
      allocations: [allocation({ ...held, allocation_id: 'a', gpu_count: 0 })],
    },
    want: ['09 g1 unallocated/drained 600 s, unpriced', '09 g1 unallocated/empty 3000 s, unpriced'],
  },
  'where no source speaks for the cluster the holder is unknown': {
    facts: {
      ...oneGpu,
      nodes: [node({ node_id: 'n1', ...period, cluster: 'b' })],
      allocations: [
        allocation({ allocation_id: 'a', held_from: nine, held_until: nine + 60, cluster: 'a', gpu_count: 0 }),
      ],
    },
    want: ['09 g1 held 3600 s, unpriced'],
  },
  'a machine of no cluster that no job ever named is held by nobody knows whom': {
    facts: {
      nodes: ['n1', 'n2'].map((node_id) => node({ node_id, ...period, gpu_count: 1 })),
      allocations: [allocation({ allocation_id: 'a', node_id: 'n1', held_from: nine, held_until: nine + 60 })],
    },
    want: [
      '09 n1/gpu0 held a 60 s, unpriced',
      '09 n1/gpu0 unallocated/empty 3540 s, unpriced',
      '09 n2/gpu0 held 3600 s, unpriced',
    ],
  },
  'so it is where the jobs name a cluster': {
    facts: {
      nodes: ['n1', 'n2'].map((node_id) => node({ node_id, ...period, gpu_count: 1 })),
      allocations: [
        allocation({ allocation_id: 'a', node_id: 'n1', held_from: nine, held_until: nine + 60, cluster: 'lab' }),
      ],
    },
    want: [
      '09 n1/gpu0 held a 60 s, unpriced',
      '09 n1/gpu0 unallocated/empty 3540 s, unpriced',
      '09 n2/gpu0 held 3600 s, unpriced',
    ],
  },
  'a job that names one device of a machine speaks for the others on it': {
    facts: {
      nodes: oneNode,
      devices: ['g1', 'g2'].map((device_id) => device({ device_id, node_id: 'n1' })),
      allocations: [allocation({ ...held, allocation_id: 'a', node_id: null })],
    },
    want: ['09 g1 held a 3600 s, unpriced', '09 g2 unallocated/empty 3600 s, unpriced'],
  },
  'a device on no machine is spoken for if a job has named it': {
    facts: {
      samples: ['x', 'y'].map((device_id) => sample({ device_id, ts: nine, step_s: 1000, util_permille: 0 })),
      allocations: [allocation({ allocation_id: 'a', device_id: 'x', held_from: nine, held_until: nine + 600 })],
    },
    want: ['09 x held a 600 s, unpriced', '09 x unallocated/empty 400 s, unpriced', '09 y held 1000 s, unpriced'],
  },
};

describe('every second of a present device has a holder or none', () => {
  test.each(Object.entries(whoHasIt))('%s', (_, { facts, want }) => {
    expect(tellAll(facts)).toEqual(want);
  });

  test('of a holder that names several clusters, the rows that hold the device in the hour speak, the least of them', () => {
    const row = (cluster: string | null, from: number, until: number) =>
      allocation({ allocation_id: 'a', held_from: from, held_until: until, cluster });
    const allocations = [
      row(null, nine, ten),
      row('c', ten, ten + 60),
      row('b', ten + 60, eleven),
      row('a', eleven, eleven + 60),
    ];
    const { entries } = oracle(organisation({ allocations }));
    expect(entries.map(({ cluster }) => cluster)).toEqual([null, 'b', 'a']);
  });
});

/** Seconds of computing, idle and unknown of one device held for an hour. */
function secondsByActivity(samples: Organisation['samples'], facts: Partial<Organisation> = {}): bigint[] {
  const all = organisation({
    ...oneGpu,
    allocations: [allocation({ ...held, allocation_id: 'a' })],
    samples,
    ...facts,
  });
  const { entries } = oracle(all);
  const sum = (column: 'computing_units' | 'idle_units' | 'unknown_units'): bigint =>
    entries.filter((entry) => entry.hour_start === nine).reduce((total, entry) => total + entry[column], 0n) / 63_000n;
  return [sum('computing_units'), sum('idle_units'), sum('unknown_units')];
}

const g1 = (after: number, values: Partial<Organisation['samples'][number]>) =>
  sample({ device_id: 'g1', ts: nine + after, ...values });

const activity: Record<string, { samples: Organisation['samples']; want: bigint[] }> = {
  'no sample is unknown': { samples: [], want: [0n, 0n, 3600n] },
  'a sample covers to the next within three steps': {
    samples: [g1(0, { engine_permille: 10 }), g1(180, { engine_permille: 9 })],
    want: [180n, 60n, 3360n],
  },
  'and one step where the next is further': {
    samples: [g1(0, { engine_permille: 10 }), g1(181, { engine_permille: 9 })],
    want: [60n, 60n, 3480n],
  },
  'sm stands in for engine, util for sm, each in its own rows': {
    samples: [g1(0, { sm_permille: 0 }), g1(30, { engine_permille: 500 }), g1(100, { util_permille: 5 })],
    want: [60n, 90n, 3450n],
  },
  'an idle engine beside a busy util is unknown': {
    samples: [g1(0, { engine_permille: 0, util_permille: 500 }), g1(60, { engine_permille: 0, util_permille: 499 })],
    want: [0n, 60n, 3540n],
  },
  'power above 1.3 times the least of the day makes idle unknown': {
    samples: [
      g1(0, { engine_permille: 0, power_w: 100 }),
      g1(60, { engine_permille: 0, power_w: 131 }),
      g1(120, { engine_permille: 0, power_w: 130 }),
      g1(180, { power_w: 0 }),
    ],
    want: [0n, 120n, 3480n],
  },
  'the least power of the day before counts, that of two days before does not': {
    samples: [
      g1(-86_400, { power_w: 100 }),
      g1(-2 * 86_400, { power_w: 10 }),
      g1(0, { engine_permille: 0, power_w: 131 }),
      g1(60, { engine_permille: 0, power_w: 120 }),
    ],
    want: [0n, 60n, 3540n],
  },
};

describe('activity', () => {
  test.each(Object.entries(activity))('%s', (_, { samples, want }) => {
    expect(secondsByActivity(samples)).toEqual(want);
  });

  const two = [device({ device_id: 'g1', node_id: 'n1' }), device({ device_id: 'g2', node_id: 'n1' })];
  const busyAndIdle = [
    sample({ device_id: 'g1', ts: nine, step_s: 3600, engine_permille: 900 }),
    sample({ device_id: 'g2', ts: nine, step_s: 1800, engine_permille: 900 }),
    sample({ device_id: 'g2', ts: nine + 1800, step_s: 1800, engine_permille: 0 }),
  ];
  test('a holding by count of all the devices is classed device by device', () => {
    const allocations = [allocation({ ...held, allocation_id: 'a', device_id: null, gpu_count: 2 })];
    expect(secondsByActivity(busyAndIdle, { devices: two, allocations })).toEqual([5400n, 1800n, 0n]);
  });
  test('a holding by count of some is known only where all the devices agree', () => {
    const allocations = [allocation({ ...held, allocation_id: 'a', device_id: null, gpu_count: 1 })];
    expect(secondsByActivity(busyAndIdle, { devices: two, allocations })).toEqual([1800n, 0n, 1800n]);
  });
});
