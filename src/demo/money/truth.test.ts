import { describe, expect, it } from 'vitest';
import type { Attempt, Node } from '../organisation.ts';
import type { Pool } from '../world/world-schema.ts';
import { createBooks, TRUTH_HEADER } from './books.ts';
import {
  attemptOf,
  cellsOf,
  DAY_S,
  daysOf,
  FROM,
  machineOf,
  poolOf,
  providerOf,
  scopeOf,
  spanFrom,
  worldOf,
} from './hand-made-days.ts';

const HOUR_S = 3600;

function truthOf(pool: Pool, node: Node, attempts: readonly Attempt[], days = 1) {
  const world = worldOf([providerOf()], [pool]);
  const books = createBooks(world, scopeOf(days));
  return daysOf(world, scopeOf(days), [node], attempts).map((day) =>
    books.day(day).truth.map((line) => cellsOf(TRUTH_HEADER, line)),
  );
}

type Row = ReturnType<typeof truthOf>[number][number];
const columns =
  (...names: readonly string[]) =>
  (row: Row) =>
    names.map((name) => row[name]).join(' ');

const rent = poolOf({ gpus_per_node: 1 });
const single = (until = FROM + HOUR_S) => machineOf(rent, 'a', { until });
const stepping = { parts: [{ reason: 'stepping', permille: 1000 }] } as const;
const starved = {
  parts: [
    { reason: 'stepping', permille: 400 },
    { reason: 'waiting-for-data', permille: 600 },
  ],
} as const;

describe('why the time of a GPU was spent', () => {
  it('a row says who held which device, for how long, why, and what it cost', () => {
    const node = single();
    const job = attemptOf('job-7', node.devices, [spanFrom(FROM, FROM + HOUR_S, stepping)]);
    expect(truthOf(rent, node, [job])[0]).toEqual([
      {
        from: '2026-10-29T00:00:00Z',
        until: '2026-10-29T01:00:00Z',
        source: 'slurm',
        allocation_id: 'job-7',
        attempt: '0',
        node_id: 'a',
        device_id: 'GPU-a-0',
        share_units: '63000',
        reason: 'stepping',
        category: 'computing',
        seconds: '3600.000',
        usd: '2.5',
      },
    ]);
  });

  it('nobody keeps a list of who is on plain machines', () => {
    const plain = poolOf({ gpus_per_node: 1, scheduler: 'none' });
    const node = machineOf(plain, 'a', { until: FROM + HOUR_S });
    const job = attemptOf('ada', node.devices, [spanFrom(FROM, FROM + HOUR_S, stepping)]);
    const [row] = truthOf(plain, node, [job])[0]!;
    expect(row).toMatchObject({ source: '', allocation_id: '', attempt: '', reason: 'stepping', usd: '2.5' });
  });

  it('what takes turns many times a second has its part of the time and of the money', () => {
    const node = single();
    const job = attemptOf('j', node.devices, [spanFrom(FROM, FROM + HOUR_S, starved)]);
    expect(truthOf(rent, node, [job])[0]!.map(columns('reason', 'seconds', 'usd'))).toEqual([
      'stepping 1440.000 1',
      'waiting-for-data 2160.000 1.5',
    ]);
  });

  it('pauses are taken before the parts, and a reason that is both has one row', () => {
    const node = single();
    const pause = { everyS: 600, forS: 60, reason: 'checkpointing' } as const;
    const other = { everyS: 600, forS: 60, reason: 'stepping' } as const;
    const spans = [
      spanFrom(FROM, FROM + 1800, { ...starved, pause }),
      spanFrom(FROM + 1800, FROM + HOUR_S, { ...starved, pause: other }),
    ];
    expect(
      truthOf(rent, node, [attemptOf('j', node.devices, spans)])[0]!.map(columns('reason', 'seconds', 'usd')),
    ).toEqual([
      'checkpointing 180.000 0.125',
      'stepping 648.000 0.45',
      'waiting-for-data 972.000 0.675',
      'stepping 828.000 0.575',
      'waiting-for-data 972.000 0.675',
    ]);
  });

  it('hours of one span are one row, and a day ends it', () => {
    const node = single(FROM + 3 * DAY_S);
    const job = attemptOf('j', node.devices, [spanFrom(FROM + HOUR_S, FROM + DAY_S + HOUR_S, stepping)]);
    expect(truthOf(rent, node, [job], 2).map((rows) => rows.map(columns('from', 'until', 'reason', 'usd')))).toEqual([
      [
        '2026-10-29T00:00:00Z 2026-10-29T01:00:00Z empty 2.5',
        '2026-10-29T01:00:00Z 2026-10-30T00:00:00Z stepping 57.5',
      ],
      [
        '2026-10-30T00:00:00Z 2026-10-30T01:00:00Z stepping 2.5',
        '2026-10-30T01:00:00Z 2026-10-31T00:00:00Z empty 57.5',
      ],
    ]);
  });

  it('what nobody has is empty, or in the state of its machine; a job on a drained one goes on', () => {
    const node = machineOf(rent, 'a', {
      until: FROM + 4 * HOUR_S,
      states: [
        [FROM + HOUR_S, 'down'],
        [FROM + 2 * HOUR_S, 'drained'],
      ],
    });
    const job = attemptOf('j', node.devices, [spanFrom(FROM + 2 * HOUR_S, FROM + 3 * HOUR_S, stepping)]);
    expect(truthOf(rent, node, [job])[0]!.map(columns('reason', 'source', 'usd'))).toEqual([
      'empty  2.5',
      'down  2.5',
      'stepping slurm 2.5',
      'drained  2.5',
    ]);
  });
});

describe('GPUs that are shared', () => {
  it('pods on a time-sliced GPU have equal parts while they are there, and what does not divide goes by their names', () => {
    const shared = poolOf({ gpus_per_node: 1, sharing: 'time-slice', price_per_gpu_hour: 6.3 });
    const node = machineOf(shared, 'a', { until: FROM + HOUR_S });
    const pods = Array.from({ length: 11 }, (_, index) =>
      attemptOf(`pod-${index}`, node.devices, [spanFrom(FROM, FROM + (index === 0 ? HOUR_S : 1800), stepping)]),
    );
    const rows = truthOf(shared, node, pods)[0]!;
    expect(rows.map(columns('allocation_id', 'share_units', 'seconds'))).toEqual([
      // 63,000 · n ÷ 11 cut toward zero, as the ledger does: 5727, 11454, 17181, 22909 …
      ...[0, 1, 10].map((pod) => `pod-${pod} 5727 1800.000`),
      'pod-2 5728 1800.000',
      ...[3, 4, 5].map((pod) => `pod-${pod} 5727 1800.000`),
      'pod-6 5728 1800.000',
      ...[7, 8].map((pod) => `pod-${pod} 5727 1800.000`),
      'pod-9 5728 1800.000',
      'pod-0 63000 1800.000',
    ]);
    expect(rows.at(-1)?.['usd']).toBe('3.15');
  });

  it('a neighbour that is replaced in the same second changes nothing for the others', () => {
    const shared = poolOf({ gpus_per_node: 1, sharing: 'time-slice' });
    const node = machineOf(shared, 'a', { until: FROM + HOUR_S });
    const pod = (id: string, from: number, until: number) =>
      attemptOf(id, node.devices, [spanFrom(FROM + from, FROM + until, stepping)]);
    const rows = truthOf(shared, node, [pod('stays', 0, 3600), pod('one', 0, 1800), pod('two', 1800, 3600)])[0]!;
    expect(rows.map(columns('allocation_id', 'seconds', 'usd'))).toEqual([
      'one 1800.000 0.625',
      'stays 3600.000 1.25',
      'two 1800.000 0.625',
    ]);
  });

  it('slices have their units, free ones are empty, and what they leave of the GPU is a rest', () => {
    const cutPool = poolOf({ gpus_per_node: 1, sharing: 'mig', price_per_gpu_hour: 8 });
    const node = machineOf(cutPool, 'a', { until: FROM + HOUR_S, slices: [31_500, 7875] });
    const slice = node.devices[1]!;
    const job = attemptOf('j', [slice], [spanFrom(FROM, FROM + 1800, stepping)]);
    expect(truthOf(cutPool, node, [job])[0]!.map(columns('device_id', 'share_units', 'reason', 'usd'))).toEqual([
      'MIG-a-0-0 31500 stepping 2',
      'MIG-a-0-1 7875 empty 1',
      'GPU-a-0 23625 mig-rest 3',
      'MIG-a-0-0 31500 empty 2',
    ]);
  });
});

describe('what is not a machine’s', () => {
  it('has its reason and its dollars, and nothing else', () => {
    const signed = poolOf({ purchase: 'committed', commitment_used_percent: 50, gpus_per_node: 1 });
    const percents = { storage_percent: 10, egress_percent: 10, unlisted_percent: 10 };
    const monthly = { support_percent: 10, credit_percent: 10, tax_percent: 10 };
    const world = worldOf([providerOf({ bills_by: 'day', ...percents, ...monthly })], [signed]);
    const [day] = daysOf(world, scopeOf(1), [machineOf(signed, 'a')]);
    const rows = createBooks(world, scopeOf(1))
      .day(day!)
      .truth.map((line) => cellsOf(TRUTH_HEADER, line))
      .filter((row) => row['node_id'] === '');
    expect(rows.map(columns('reason', 'category', 'usd'))).toEqual([
      'commitment-unused stranded 60',
      // An hour and a half of the same machine at its list price.
      'unlisted-machine unknown 4',
      'unlisted-machine unknown 2',
      'storage beside 6',
      'egress beside 6',
      // The fee is $120, of which the machine and the unused half are the cost.
      'support beside 13.8',
      'credit beside -6',
      'tax beside 14.58',
    ]);
    for (const row of rows) {
      expect(row['from']! >= '2026-10-29T00:00:00Z' && row['until']! <= '2026-10-30T00:00:00Z').toBe(true);
      expect(row).toMatchObject({ source: '', allocation_id: '', device_id: '', share_units: '', seconds: '' });
    }
  });
});
