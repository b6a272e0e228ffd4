import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { askRoute, askRouteBytes } from '../../../../test/ask-route.ts';
import type { FleetFolder } from '../../../../test/fleet-folder.ts';
import { csv, fleetFolder } from '../../../../test/fleet-folder.ts';
import { SMALL_FLEET } from '../../../../test/small-fleet.ts';
import { readTile } from '../../../../web/src/pages/fleet/tile.ts';
import { fleetRoute } from './fleet.ts';
import type { FleetReply } from './fleet.ts';
import { fleetGpuRoute } from './fleet-gpu.ts';
import type { GpuReply } from './fleet-gpu.ts';
import { fleetTilesRoute } from './fleet-tiles.ts';
import { spendRoute } from '../spend/spend.ts';
import type { SpendReply } from '../spend/spend.ts';

const window = '2026-03-02';
let fleet: FleetFolder;
beforeAll(async () => {
  fleet = await fleetFolder(SMALL_FLEET);
});
afterAll(() => fleet.remove());

const LETTERS = new Map([
  [250, 'f'],
  [251, 'x'],
  [252, 'n'],
  [253, 'p'],
  [255, '-'],
]);

/** The rows of a tile as text, from 08:00 to 12:00: a digit is a level. */
async function rows({ part, ...query }: Record<string, string>): Promise<Record<string, string>> {
  const bytes = await askRouteBytes(fleet.dataDir, fleetTilesRoute, { query: { window, ...query } });
  const tile = readTile(bytes);
  const of = (row: number | undefined): string => {
    if (row === undefined) return 'none';
    const each = 3_600_000 / tile.stepMs;
    const [from, until] = part === 'all' ? [0, tile.steps] : [8 * each, 12 * each];
    const cells = tile.cells.subarray(row * tile.steps + from, row * tile.steps + until);
    return [...cells].map((cell) => LETTERS.get(cell) ?? String(cell)).join('');
  };
  const gpus = ['a1-0', 'a1-1', 'a2-0', 'a2-1'].map((gpu) => [gpu, of(tile.rowOf(gpu.slice(0, 2), gpu, 'gpu'))]);
  const nodes = ['a1', 'a2'].map((node) => [
    node,
    `${of(tile.rowOf(node, null, 'mean'))} ${of(tile.rowOf(node, null, 'worst'))}`,
  ]);
  return Object.fromEntries([...gpus, ...nodes].filter(([, cells]) => cells?.replaceAll(/none| /g, '') !== ''));
}

describe('the map', () => {
  // a1-0: an hour at 855 ‰, an idle one, then nobody. a1-1: held and never measured. a2: half of each GPU is held by count,
  // known only while both compute.
  const cases: Record<string, { query: Record<string, string>; want: Record<string, string> }> = {
    'activity by the hour': {
      query: { step: '1h' },
      want: { 'a1-0': '50ff', 'a1-1': 'xxxx', 'a2-0': '3xxx', 'a2-1': '3xxx' },
    },
    'activity by half hours, of the samples themselves': {
      query: { step: '30m', filter: 'node=a1' },
      want: { 'a1-0': '5500ffff', 'a1-1': 'xxxxxxxx' },
    },
    'machines: the mean of their GPUs, and the one that does least': {
      query: { step: '1h', rows: 'nodes', node: 'a1' },
      want: { a1: '50xx 50--' },
    },
    'three hours at a time': {
      query: { step: '3h', filter: 'node=a1', part: 'all' },
      want: { 'a1-0': '--5f----', 'a1-1': '--xx----' },
    },
    'a day at a time, of sums by day': {
      query: { step: '1d', filter: 'node=a1', part: 'all', window: '2026-03-02' },
      want: { 'a1-0': '3', 'a1-1': 'x' },
    },
    'money wasted in a day at a time, by sums by day': {
      query: { measure: 'wasted', step: '1d', filter: 'node=a1', part: 'all' },
      want: { 'a1-0': '4', 'a1-1': 'x' },
    },
    'nobody measured memory': {
      query: { step: '1h', measure: 'memory', node: 'a1' },
      want: { 'a1-0': 'xxff', 'a1-1': 'xxxx' },
    },
    'money wasted: a seventh of an hour at 855 ‰, $1.625 an hour while idle or free, nothing of what is not measured': {
      query: { measure: 'wasted', filter: 'node=a1' },
      want: { 'a1-0': '1444', 'a1-1': 'xxxx' },
    },
  };
  test.each(Object.entries(cases))('%s', async (_, { query, want }) => {
    expect(await rows(query)).toEqual(want);
  });

  test.each([
    ['7m', 'is not a step of the map'],
    ['1s', 'is not a step of the map'],
    ['$1h', 'is not a step of the map'],
  ])('the step %s is refused', async (step, want) => {
    await expect(rows({ step })).rejects.toThrow(want);
  });

  test('a month in minutes is refused, and told what fits', async () => {
    expect(Object.keys(await rows({ step: '15m', window: 'all' }))).not.toEqual([]);
    await expect(rows({ step: '5m', window: '2026-01-01/2026-12-31' })).rejects.toThrow('too short a step');
  });
});

describe('the fleet', () => {
  const ask = (query: Record<string, string> = {}): Promise<FleetReply> =>
    askRoute<FleetReply>(fleet.dataDir, fleetRoute, { query: { window, ...query } });

  test('what it cost adds up to what the command says of every device', async () => {
    const { total } = await ask();
    const spend = await askRoute<SpendReply>(fleet.dataDir, spendRoute, { query: { window, by: 'device,category' } });
    const sum = (categories: readonly string[]): string =>
      String(
        spend.rows
          .filter((row) => row['device'] !== null && categories.includes(String(row['category'])))
          .reduce((micros, { costUsdMicros }) => micros + BigInt(costUsdMicros ?? 0), 0n),
      );
    expect(total).toMatchObject({
      gpus: 7,
      activeUsdMicros: sum(['computing', 'starved', 'lost']),
      idleUsdMicros: sum(['idle']),
      unallocatedUsdMicros: sum(['unallocated']),
      unknownUsdMicros: sum(['unknown']),
      unpricedSeconds: 7200,
    });
    const parts = [total.activeUsdMicros, total.idleUsdMicros, total.unallocatedUsdMicros, total.unknownUsdMicros];
    expect(String(parts.reduce((micros, part) => micros + BigInt(part ?? 0), 0n))).toBe(total.costUsdMicros);
  });

  test('a machine is its GPUs, and a GPU without a price has none', async () => {
    const { groups } = await ask();
    const nodes = groups.flatMap((group) => group.nodes);
    const a1 = nodes.find(({ node }) => node === 'a1');
    expect(
      a1?.devices.map(({ deviceId, costUsdMicros, idleUsdMicros, activePermille }) => ({
        deviceId,
        costUsdMicros,
        idleUsdMicros,
        activePermille,
      })),
    ).toEqual([
      { deviceId: 'a1-0', costUsdMicros: '6500000', idleUsdMicros: '1625000', activePermille: 427 },
      { deviceId: 'a1-1', costUsdMicros: '6500000', idleUsdMicros: '0', activePermille: null },
    ]);
    expect(nodes.find(({ node }) => node === 'odd1')?.costUsdMicros).toBeNull();
  });

  test('it is filtered by where a GPU stands, and says so where it is asked for whose', async () => {
    expect((await ask({ filter: 'cluster=b' })).total.gpus).toBe(1);
    expect((await ask({ node: 'a1' })).total.gpus).toBe(2);
    await expect(ask({ filter: 'team=nlp' })).rejects.toThrow('the map of GPUs knows no team');
  });

  test('a window without a day of the ledger is empty, not an error', async () => {
    expect(await ask({ window: '2025-01-01' })).toMatchObject({ total: { gpus: 0, costUsdMicros: '0' }, groups: [] });
  });

  test('as CSV: a line for each GPU', async () => {
    const lines =
      fleetRoute
        .csv?.(await ask())
        .trim()
        .split('\n') ?? [];
    expect(lines).toHaveLength(8);
    expect(lines).toContain('a,H100,a1,a1-0,6500000,1625000,1625000,3250000,0,0,427');
  });
});

describe('one GPU', () => {
  const ask = (gpu: string): Promise<GpuReply> =>
    askRoute<GpuReply>(fleet.dataDir, fleetGpuRoute, { query: { window }, params: { gpu } });

  test('who had it, what it did, and where its money went', async () => {
    const reply = await ask('a1-0');
    expect(
      reply.holders.map(({ allocationId, job, from, until, activePermille, costUsdMicros }) => [
        allocationId,
        job,
        from,
        until,
        activePermille,
        costUsdMicros,
      ]),
    ).toEqual([
      ['101', 'train-7b', '2026-03-02T08:00:00Z', '2026-03-02T10:00:00Z', 427, '3250000'],
      [null, null, '2026-03-02T10:00:00Z', '2026-03-02T12:00:00Z', null, '3250000'],
    ]);
    const parts = reply.categories.reduce((micros, { costUsdMicros }) => micros + BigInt(costUsdMicros ?? 0), 0n);
    expect([reply.costUsdMicros, String(parts)]).toEqual(['6500000', '6500000']);
    expect(reply).toMatchObject({
      node: 'a1',
      place: 0,
      model: 'H100',
      cluster: 'a',
      health: { samples: 12, xid: null },
    });
  });

  test('each time nobody had it stands where it was, with its own money', async () => {
    const one = await fleetFolder({
      nodes: csv(`
        node_id|present_from|present_until|cluster|gpu_count|model
        n1|2026-03-02T00:00:00Z|2026-03-03T00:00:00Z|a|1|H100`),
      devices: csv(`
        device_id|node_id|model
        n1-0|n1|H100`),
      allocations: csv(`
        source|allocation_id|node_id|device_id|held_from|held_until|gpu_count|cluster
        slurm|1|n1|n1-0|2026-03-02T08:00:00Z|2026-03-02T10:00:00Z|1|a
        slurm|2|n1|n1-0|2026-03-02T12:30:00Z|2026-03-02T12:45:00Z|1|a
        slurm|3|n1|n1-0|2026-03-02T14:00:00Z|2026-03-02T15:00:00Z|1|a`),
      rates: csv(`
        model|usd_per_gpu_hour
        H100|2.00`),
    });
    const reply = await askRoute<GpuReply>(one.dataDir, fleetGpuRoute, { query: { window }, params: { gpu: 'n1-0' } });
    expect(
      reply.holders.map(({ allocationId, from, until, costUsdMicros }) => [
        allocationId ?? 'nobody',
        from.slice(11, 16),
        until.slice(11, 16),
        costUsdMicros,
      ]),
    ).toEqual([
      ['nobody', '00:00', '08:00', '16000000'],
      ['1', '08:00', '10:00', '4000000'],
      ['nobody', '10:00', '12:30', '5000000'],
      ['2', '12:30', '12:45', '500000'],
      ['nobody', '12:45', '14:00', '2500000'],
      ['3', '14:00', '15:00', '2000000'],
      ['nobody', '15:00', '00:00', '18000000'],
    ]);
    expect(reply.costUsdMicros).toBe('48000000');
    await one.remove();
  });

  test('one that is not there is refused, and the nearest is named', async () => {
    await expect(ask('a1-9')).rejects.toMatchObject({ code: 'unknown-gpu', hint: expect.stringContaining('a1-') });
  });
});
