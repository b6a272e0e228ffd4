import { describe, expect, it } from 'vitest';
import type { FactRow } from '../../../facts/source.ts';
import { DevicePresence } from './device-presence.ts';
import type { Machine } from './machines.ts';
import type { SeenSeries } from './series-devices.ts';

const HOUR = 3600;
/** A sighting: device, machine, first and last hour. */
type Sighting = readonly [device: string, node: string, from: number, until: number];
const seen = ([deviceId, nodeId, from, until]: Sighting): SeenSeries => ({
  deviceId,
  nodeId,
  exporter: 'a',
  model: 'H100',
  device: 0,
  firstMs: from * HOUR * 1000,
  lastMs: until * HOUR * 1000,
});

/** Hour by hour what was seen; the rows that count in the end, as [device, node, from, until] in hours. */
interface Case {
  readonly hours: readonly (readonly Sighting[])[];
  /** Machines that are listed: from, until, GPUs. */
  readonly listed?: Readonly<Record<string, readonly [number, number | undefined, number?]>>;
  readonly want: readonly (readonly [string, string, number, number | undefined])[];
}

const cases: Record<string, Case> = {
  'a device that is seen on and on is one row without end': {
    hours: [[['g', 'n', 0, 1]], [['g', 'n', 1, 2]], [['g', 'n', 2, 3]]],
    want: [['g', 'n', 0, undefined]],
  },
  'one that vanishes beside others ends with its last sample': {
    hours: [
      [
        ['g', 'n', 0, 1],
        ['h', 'm', 0, 1],
      ],
      [['h', 'm', 1, 2]],
      [['h', 'm', 2, 3]],
      [['h', 'm', 3, 4]],
    ],
    want: [
      ['g', 'n', 0, 1],
      ['h', 'm', 0, undefined],
    ],
  },
  'on a machine that still stands it is the exporter that is gone': {
    hours: [
      [
        ['g', 'n', 0, 1],
        ['h', 'm', 0, 1],
      ],
      [['h', 'm', 1, 2]],
      [['h', 'm', 2, 3]],
      [['h', 'm', 3, 4]],
    ],
    listed: { n: [0, undefined] },
    want: [
      ['g', 'n', 0, undefined],
      ['h', 'm', 0, undefined],
    ],
  },
  'one that is back within a day was there, its exporter was not': {
    hours: [[['g', 'n', 0, 1]], [['h', 'm', 1, 2]], [['h', 'm', 2, 3]], [['h', 'm', 3, 4]], [['g', 'n', 9, 10]]],
    want: [
      ['g', 'n', 0, undefined],
      ['h', 'm', 1, 4],
    ],
  },
  'one that is back after more than a day is there anew': {
    hours: [[['g', 'n', 0, 1]], [['g', 'n', 30, 31]]],
    want: [
      ['g', 'n', 0, 1],
      ['g', 'n', 30, undefined],
    ],
  },
  'one that is seen in another machine afterwards has moved': {
    hours: [[['g', 'n', 0, 1]], [['g', 'm', 2, 3]]],
    want: [
      ['g', 'n', 0, 1],
      ['g', 'm', 2, undefined],
    ],
  },
  'also within one hour, and when that hour is read again': {
    hours: [
      [
        ['g', 'm', 0.5, 1],
        ['g', 'n', 0, 0.4],
      ],
      [
        ['g', 'm', 0.5, 1],
        ['g', 'n', 0, 0.4],
      ],
    ],
    want: [
      ['g', 'n', 0, 0.4],
      ['g', 'm', 0.5, undefined],
    ],
  },
  'one whose exporter was silent from the beginning was there as long as its machine': {
    hours: [[['h', 'm', 4, 5]], [['g', 'n', 40, 41]], [['g', 'n', 41, 42]]],
    listed: { n: [3, undefined, 1] },
    want: [
      ['g', 'n', 3, undefined],
      ['h', 'm', 4, 5],
    ],
  },
  'one that is back after days on a machine that stood all the time was there': {
    hours: [[['g', 'n', 0, 1]], [['h', 'm', 1, 2]], [['h', 'm', 50, 51]], [['g', 'n', 80, 81]]],
    listed: { n: [0, undefined, 1], m: [0, undefined, 1] },
    want: [
      ['g', 'n', 0, undefined],
      ['h', 'm', 0, undefined],
    ],
  },
  'one that is never back was there until its machine left': {
    hours: [[['g', 'n', 0, 1]], [['h', 'm', 1, 20]], [['h', 'm', 20, 40]]],
    listed: { n: [0, 30, 1] },
    want: [
      ['g', 'n', 0, 30],
      ['h', 'm', 1, undefined],
    ],
  },
  'another GPU in its place ends it when that comes, not when its exporter fell silent': {
    hours: [
      [
        ['g', 'n', 0, 1],
        ['h', 'n', 0, 1],
      ],
      [
        ['h', 'n', 30, 31],
        ['i', 'n', 30.5, 31],
      ],
      [
        ['h', 'n', 30, 31],
        ['i', 'n', 30.5, 31],
      ],
    ],
    listed: { n: [0, undefined, 2] },
    want: [
      ['g', 'n', 0, 30.5],
      ['h', 'n', 0, undefined],
      ['i', 'n', 30.5, undefined],
    ],
  },
  'also where both are seen in one hour, and that hour is read again': {
    hours: [
      [
        ['g', 'n', 0, 0.2],
        ['i', 'n', 0.5, 1],
      ],
      [
        ['g', 'n', 0, 0.2],
        ['i', 'n', 0.5, 1],
      ],
    ],
    listed: { n: [0, undefined, 1] },
    want: [
      ['g', 'n', 0, 0.5],
      ['i', 'n', 0.5, undefined],
    ],
  },
  'and when the first is put back it begins anew': {
    hours: [[['g', 'n', 0, 1]], [['i', 'n', 2, 3]], [['g', 'n', 7, 8]]],
    listed: { n: [0, undefined, 1] },
    want: [
      ['g', 'n', 0, 2],
      ['g', 'n', 7, undefined],
      ['i', 'n', 2, 7],
    ],
  },
  'more GPUs than a machine is said to have are all there while they are seen': {
    hours: [
      [
        ['g', 'n', 2, 3],
        ['h', 'n', 2, 3],
      ],
      [['g', 'n', 3, 4]],
      [['g', 'n', 4, 5]],
    ],
    listed: { n: [0, undefined, 1] },
    want: [
      ['g', 'n', 0, undefined],
      ['h', 'n', 2, 3],
    ],
  },
  'one that comes from another machine is there from its first sample on': {
    hours: [[['g', 'm', 0, 1]], [['g', 'n', 5, 6]]],
    listed: { n: [0, undefined, 8], m: [0, undefined, 8] },
    want: [
      ['g', 'm', 0, 1],
      ['g', 'n', 5, undefined],
    ],
  },
  'a place that another GPU has left is taken from then on': {
    hours: [[['g', 'n', 0, 1]], [['g', 'm', 2, 3]], [['h', 'n', 9, 10]]],
    listed: { n: [0, undefined, 1], m: [0, undefined, 1] },
    want: [
      ['g', 'n', 0, 1],
      ['g', 'm', 2, undefined],
      ['h', 'n', 1, undefined],
    ],
  },
  'two names of one machine at the same time are no move': {
    hours: [
      [
        ['g', 'n', 0, 1],
        ['g', 'n.example', 0, 1],
      ],
      [
        ['g', 'n.example', 1, 2],
        ['g', 'n', 1, 2],
      ],
    ],
    want: [['g', 'n', 0, undefined]],
  },
};

function machinesFrom(listed: NonNullable<Case['listed']>): ReadonlyMap<string, Machine> {
  return new Map(
    Object.entries(listed).map(([name, [from, until, gpus]]) => [
      name,
      {
        fromS: from * HOUR,
        ...(until !== undefined && { untilS: until * HOUR }),
        ...(gpus !== undefined && { gpus }),
      },
    ]),
  );
}

describe.each(Object.entries(cases))('%s', (_, { hours, listed = {}, want }) => {
  it.each([
    ['in one run', false],
    ['with the cursor written and read between hours', true],
  ] as const)('%s', (__, restarts) => {
    const machines = machinesFrom(listed);
    let presence = new DevicePresence();
    const rows = new Map<string, readonly [string, string, number, number | undefined]>();
    for (const sightings of hours) {
      presence.list(machines);
      presence.see(sightings.map(seen));
      const now = Math.max(...sightings.map(([, , , until]) => until)) * HOUR;
      presence.settle(now);
      for (const row of presence.changes(0, undefined, new Set()).devices) {
        const [from, until] = [row['present_from'] as Date, row['present_until'] as Date | undefined];
        const [device, node] = [row['device_id'] as string, row['node_id'] as string];
        const inHours = (time: Date) => time.getTime() / 1000 / HOUR;
        rows.set(`${device} ${from.getTime()}`, [device, node, inHours(from), until && inHours(until)]);
      }
      if (restarts) presence = new DevicePresence(JSON.parse(JSON.stringify(presence.kept(now))));
    }
    expect([...rows.values()].toSorted((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : a[2] - b[2]))).toEqual(want);
  });
});

describe('machines nobody lists', () => {
  it('are there as long as a device of theirs is', () => {
    const presence = new DevicePresence();
    presence.see([seen(['g', 'n', 0, 1]), seen(['h', 'n', 0, 4]), seen(['i', 'k8s', 0, 4])]);
    presence.settle(5 * HOUR);
    expect(presence.changes(30, 'train', new Set(['k8s'])).nodes).toEqual([
      {
        node_id: 'n',
        present_from: new Date(0),
        present_until: undefined,
        presence: 'inferred',
        cluster: 'train',
        observed_at: new Date(4 * HOUR * 1000),
      },
    ]);
  });

  it('dead for two hours and back: the newer row says so, of the machine and of its device', () => {
    const presence = new DevicePresence();
    const said: { nodes: unknown[]; devices: unknown[] } = { nodes: [], devices: [] };
    const hour = (at: number, ...sightings: Sighting[]) => {
      presence.see(sightings.map(seen));
      presence.settle(at * HOUR);
      const changes = presence.changes(30, undefined, new Set());
      const wordOf = (row: FactRow) => [row['present_until'], Number(row['observed_at']) / 1000];
      said.nodes.push(...changes.nodes.filter((row) => row['node_id'] === 'n').map(wordOf));
      said.devices.push(...changes.devices.filter((row) => row['device_id'] === 'g').map(wordOf));
    };
    hour(1, ['g', 'n', 0, 1], ['h', 'm', 0, 1]);
    hour(2, ['h', 'm', 1, 2]);
    hour(3, ['h', 'm', 2, 3]);
    hour(4, ['g', 'n', 3, 4], ['h', 'm', 3, 4]);
    const end = HOUR + 30;
    const want = [
      [undefined, HOUR],
      [new Date(end * 1000), end],
      [undefined, 4 * HOUR],
    ];
    expect(said).toEqual({ nodes: want, devices: want });
  });
});

describe('slices', () => {
  const slice = (instance: number, from: number, until: number): SeenSeries => ({
    ...seen([`g/${instance}`, 'n', from, until]),
    parentDeviceId: 'g',
    migProfile: '1g.10gb',
    gpuIndex: 4,
    pod: { namespace: 'nlp', name: 'a' },
  });

  it('stand beside the GPU they are cut from, which is there from the first of them on', () => {
    const presence = new DevicePresence();
    presence.see([slice(3, 1, 2), slice(4, 0, 1), seen(['whole', 'n', 0, 2])]);
    const { devices } = presence.changes(30, undefined, new Set());
    expect(devices.map((row) => [row['device_id'], row['kind'], row['parent_device_id'], row['model']])).toEqual(
      expect.arrayContaining([
        ['g', 'gpu', undefined, 'H100'],
        ['g/3', 'mig', 'g', 'H100'],
        ['g/4', 'mig', 'g', 'H100'],
      ]),
    );
    expect(devices.find((row) => row['device_id'] === 'g')).toMatchObject({
      node_id: 'n',
      present_from: new Date(0),
      mig_profile: undefined,
    });
    expect([...presence.gpusBesideSlices()]).toEqual([['n', 2]]);
  });

  it('of a GPU whose own series come too make no second one', () => {
    const presence = new DevicePresence();
    presence.see([slice(3, 0, 2), seen(['g', 'n', 0, 2])]);
    const { devices } = presence.changes(30, undefined, new Set());
    expect(devices.map((row) => row['device_id'])).toEqual(expect.arrayContaining(['g', 'g/3']));
    expect(devices).toHaveLength(2);
  });
});
