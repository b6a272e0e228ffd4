import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { at, collect, DAY, hauls, holding, place, rowsOf, sourceOf } from '../../../test/made-source.ts';
import type { DeviceBinding, FactRow, Source } from '../../facts/source.ts';

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'bursar-collect-'));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

describe('which devices a holding has', () => {
  const scheduler = (rows: FactRow[], hints: object[], mode: 'replace' | 'extend' = 'extend'): Source =>
    sourceOf({
      name: 'hpc',
      kind: 'slurm',
      priority: 20,
      pull: hauls([{ facts: [{ table: 'allocation', batch: 'ended/1', mode, rows, hints }] }]),
    });
  const telemetry = (bindings: DeviceBinding[]): Source => sourceOf({ pull: hauls([{ bindings }]) });
  const held = (): Promise<Record<string, unknown>[]> =>
    rowsOf(dataDir, 'allocation', 'allocation_id, slot, device_id, gpu_count, held_from, held_until');
  const row = (slot: number, device: string | null, count = 1, from = '08:00:00', until = '10:00:00'): object => ({
    allocation_id: '1',
    slot: BigInt(slot),
    device_id: device,
    gpu_count: BigInt(count),
    held_from: `${DAY} ${from}`,
    held_until: `${DAY} ${until}`,
  });
  const cases: Record<string, { gpus: number; hint: object; bindings: DeviceBinding[]; want: object[] }> = {
    'indices name the devices at their places': {
      gpus: 2,
      hint: { gpuIndices: [0, 1] },
      bindings: [place('GPU-a', 0), place('GPU-b', 1), place('GPU-c', 2)],
      want: [row(0, 'GPU-a'), row(1, 'GPU-b')],
    },
    'a GPU exchanged in mid-job is two rows of one place': {
      gpus: 1,
      hint: { gpuIndices: [0] },
      bindings: [place('GPU-a', 0, '07:00:00', '08:59:00'), place('GPU-b', 0, '09:05:00', '11:00:00')],
      want: [row(0, 'GPU-a', 1, '08:00:00', '09:05:00'), row(1, 'GPU-b', 1, '09:05:00', '10:00:00')],
    },
    'a place nobody has seen stays a count': {
      gpus: 2,
      hint: { gpuIndices: [0, 5] },
      bindings: [place('GPU-a', 0)],
      want: [row(0, 'GPU-a'), row(1, null)],
    },
    'without telemetry the count stays': {
      gpus: 2,
      hint: { gpuIndices: [0, 1] },
      bindings: [],
      want: [row(0, null, 2)],
    },
    'an exporter that names the pod names its devices from its beginning': {
      gpus: 2,
      hint: { pod: { namespace: 'nlp', name: 'p' } },
      bindings: ['GPU-a', 'GPU-b'].map((id) => ({
        ...place(id, 0, '08:00:25', '09:59:55'),
        pod: { namespace: 'nlp', name: 'p' },
      })),
      want: [row(0, 'GPU-a'), row(1, 'GPU-b')],
    },
    'an earlier pod of the same name is another one': {
      gpus: 1,
      hint: { pod: { namespace: 'nlp', name: 'p' } },
      bindings: [
        { ...place('GPU-a', 0, '06:00:00', '07:30:00'), pod: { namespace: 'nlp', name: 'p' } },
        { ...place('GPU-b', 1, '08:00:30', '09:30:00'), pod: { namespace: 'nlp', name: 'p' } },
      ],
      want: [row(0, 'GPU-b')],
    },
  };
  it.each(Object.entries(cases))('%s', async (_, { gpus, hint, bindings, want }) => {
    // Telemetry comes after the scheduler, as on first contact: the holding waits for its names.
    await collect(dataDir, [scheduler([holding({ gpu_count: gpus })], [hint]), telemetry(bindings)]);
    expect(await held()).toEqual(want);
  });
});

describe('one machine, one name', () => {
  const inventory = sourceOf({
    name: 'hpc',
    kind: 'slurm',
    priority: 20,
    pull: hauls([
      {
        facts: [
          {
            table: 'node',
            batch: 'nodes',
            mode: 'replace',
            rows: [{ node_id: 'gpu-01', gpu_count: 8, resource_id: 'i-0ab' }],
          },
        ],
      },
    ]),
  });
  const from = (
    name: string,
    kind: Source['kind'],
    priority: number,
    rows: FactRow[],
    table: 'node' | 'device' = 'node',
  ): Source =>
    sourceOf({ name, kind, priority, pull: hauls([{ facts: [{ table, batch: table, mode: 'replace', rows }] }]) });

  it('an exporter that says the full name speaks of the machine the scheduler lists', async () => {
    const device = { device_id: 'GPU-a', node_id: 'GPU-01.lab.example', present_from: at('08:00:00') };
    await collect(dataDir, [inventory, from('tele', 'scrape', 10, [device], 'device')]);
    expect(await rowsOf(dataDir, 'device', 'device_id, node_id')).toEqual([{ device_id: 'GPU-a', node_id: 'gpu-01' }]);
  });

  it('a cloud does not list again what a cluster lists', async () => {
    await collect(dataDir, [
      inventory,
      from('aws', 'aws', 5, [
        { node_id: 'i-0ab', gpu_count: 8 },
        { node_id: 'i-0cd', gpu_count: 1 },
      ]),
    ]);
    expect(await rowsOf(dataDir, 'node', 'node_id')).toEqual([{ node_id: 'gpu-01' }, { node_id: 'i-0cd' }]);
  });

  it('a device whose exporter died stays while its machine is listed; one that was exchanged goes', async () => {
    const device = (id: string): FactRow => ({
      device_id: id,
      node_id: 'gpu-01',
      present_from: at('06:00:00'),
      present_until: at('09:00:00'),
    });
    const bindings = [
      { ...place('GPU-a', 0, '06:00:00', '09:00:00'), nodeId: 'gpu-01' },
      { ...place('GPU-b', 1, '06:00:00', '09:00:00'), nodeId: 'gpu-01' },
      { ...place('GPU-c', 1, '09:10:00', '11:00:00'), nodeId: 'gpu-01' },
    ];
    const facts = [{ table: 'device', batch: 'd', mode: 'replace', rows: [device('GPU-a'), device('GPU-b')] }] as const;
    await collect(dataDir, [inventory, sourceOf({ pull: hauls([{ facts, bindings }]) })]);
    expect(await rowsOf(dataDir, 'device', 'device_id, present_until')).toEqual([
      { device_id: 'GPU-a', present_until: null },
      { device_id: 'GPU-b', present_until: `${DAY} 09:00:00` },
    ]);
  });
});

describe('two sources that tell of the same pods', () => {
  it('the one with the higher priority speaks alone', async () => {
    const pod = (row: FactRow): FactRow => holding({ source: 'kubernetes', allocation_id: 'uid-1', ...row });
    const rows = ['GPU-a', 'GPU-b'].map((id) => pod({ device_id: id }));
    await collect(dataDir, [
      sourceOf({ pull: hauls([{ facts: [{ table: 'allocation', batch: 'p', mode: 'replace', rows }] }]) }),
      sourceOf({
        name: 'kube',
        kind: 'kubernetes',
        priority: 20,
        pull: hauls([{ facts: [{ table: 'allocation', batch: 'p', mode: 'replace', rows: [pod({ gpu_count: 2 })] }] }]),
      }),
    ]);
    expect(await rowsOf(dataDir, 'allocation', 'allocation_id, gpu_count, device_id')).toEqual([
      { allocation_id: 'uid-1', gpu_count: 2n, device_id: null },
    ]);
  });
});

describe('a scheduler that falls silent', () => {
  const listing = (until: string, rows: FactRow[]): Source =>
    sourceOf({
      name: 'hpc',
      kind: 'slurm',
      priority: 20,
      pull: hauls([
        {
          facts: [
            { table: 'node', batch: 'nodes', mode: 'replace', rows: [{ node_id: 'n1', gpu_count: 1, cluster: 'hpc' }] },
            { table: 'allocation', batch: 'open', mode: 'replace', rows },
          ],
          coveredFrom: at('09:00:00'),
          coveredUntil: at(until),
        },
      ]),
    });
  const telemetry = sourceOf({
    pull: hauls([
      {
        facts: [
          {
            table: 'gpu_sample',
            batch: 's',
            mode: 'replace',
            rows: ['08:00:00', '11:59:00'].map((time) => ({
              device_id: 'GPU-a',
              ts: at(time),
              step_s: 60,
              util_permille: 0,
            })),
          },
          {
            table: 'device',
            batch: 'd',
            mode: 'replace',
            rows: [{ device_id: 'GPU-a', node_id: 'n1', present_from: at('08:00:00') }],
          },
        ],
      },
    ]),
  });
  const dispositions = async (): Promise<unknown[]> => {
    const rows = await rowsOf(dataDir, 'held', 'hour_start, disposition, allocation_id');
    return rows.map((row) => [String(row['hour_start']).slice(11, 13), row['disposition'], row['allocation_id']]);
  };

  it('leaves a holder unknown, not a free GPU; so does the time before it was first heard', async () => {
    await collect(dataDir, [listing('10:00:00', []), telemetry]);
    expect(await dispositions()).toEqual([
      ['08', 'held', null],
      ['09', 'unallocated', null],
      ['10', 'held', null],
      ['11', 'held', null],
    ]);
  });

  it('is believed again for all of it once it has spoken', async () => {
    await collect(dataDir, [listing('10:00:00', []), telemetry]);
    await collect(dataDir, [
      { ...listing('12:00:00', []), pull: (_, request) => listing('12:00:00', []).pull(undefined, request) },
    ]);
    expect(await dispositions()).toEqual([
      ['08', 'held', null],
      ...['09', '10', '11'].map((hour) => [hour, 'unallocated', null]),
    ]);
  });
});
