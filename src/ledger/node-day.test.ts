import { describe, expect, it } from 'vitest';
import { stagesOn, type Row } from '../../test/stage-on.ts';
import { bareTime } from './bare-time.ts';
import { nodeDay } from './node-day.ts';

const DAY = '2026-03-02';
const HOUR = 3600 * 63_000;

/** An hour of GPU `a` of node `n1` on demand, for $4, that nobody has. */
const row = (over: Row = {}): Row => ({
  day: DAY,
  subject: 'node n1',
  node_id: 'n1',
  device_id: 'a',
  cluster: 'atlas',
  model: 'H100',
  provider: 'AWS',
  region: 'us-east-1',
  purchase: 'on-demand',
  category: 'unallocated',
  reason: 'empty',
  usd_micros: 4_000_000,
  marginal_usd_micros: 4_000_000,
  gpu_units: HOUR,
  ...over,
});
const held = (over: Row = {}): Row => row({ subject: 'job slurm/1/0', category: 'computing', reason: null, ...over });

const nodesOf = (rows: readonly Row[], lives: readonly Row[] = []) =>
  stagesOn([nodeDay], { subject_day: rows, life_day: lives });

describe('a node on a day', () => {
  it('is what its GPUs did together, by what became of them', async () => {
    const [node, ...others] = await nodesOf([
      row(),
      row({ device_id: 'b', reason: 'drained', gpu_units: 2 * HOUR }),
      held({ device_id: 'b' }),
      held({ device_id: 'c', category: 'idle' }),
    ]);
    expect(others).toEqual([]);
    expect(node).toMatchObject({
      node_id: 'n1',
      subject: 'node n1',
      node_gpus: 3n,
      gpus: 3n,
      held_gpus: 2n,
      drained_gpus: 1n,
      down_gpus: 0n,
      held_units: BigInt(2 * HOUR),
      unallocated_units: BigInt(3 * HOUR),
      empty_units: BigInt(HOUR),
      drained_units: BigInt(2 * HOUR),
      stranded_units: 0n,
      usd_micros: 16_000_000n,
      is_serving: false,
    });
  });

  it('has a row for each way it was bought, each with the size of the whole', async () => {
    const nodes = await nodesOf([held(), held({ device_id: 'b', purchase: 'committed' })]);
    expect(nodes.map(({ purchase, gpus, node_gpus: size }) => [purchase, gpus, size])).toEqual([
      ['committed', 1n, 2n],
      ['on-demand', 1n, 2n],
    ]);
  });

  const cash: Record<string, { rows: readonly Row[]; lives?: readonly Row[]; want: readonly (bigint | null)[] }> = {
    'what computes on demand could move': { rows: [held()], want: [4_000_000n, 4_000_000n] },
    'what is idle is cash, and another finding has it': {
      rows: [held({ category: 'idle' })],
      want: [4_000_000n, null],
    },
    'what serves stays where its users are': {
      rows: [held()],
      lives: [{ day: DAY, subject: 'job slurm/1/0', manner: 'serving' }],
      want: [4_000_000n, null],
    },
    'of what is committed no bill falls': { rows: [held({ marginal_usd_micros: 0 })], want: [null, null] },
    'what nobody has moves nowhere': { rows: [row()], want: [null, null] },
    'what is unknown may be anything': { rows: [held({ category: 'unknown' })], want: [null, null] },
  };
  it.each(Object.entries(cash))('%s', async (_, { rows, lives, want }) => {
    const [node] = await nodesOf(rows, lives);
    expect([node?.['cash_usd_micros'], node?.['movable_usd_micros']]).toEqual(want);
  });

  it('stands apart from what is beside the GPU, and from a price that nobody knows', async () => {
    const nodes = await nodesOf([
      row({ category: 'beside', device_id: null, node_id: null, gpu_units: 0 }),
      held({ usd_micros: null, marginal_usd_micros: null }),
    ]);
    expect(nodes).toHaveLength(1);
    expect(nodes[0]).toMatchObject({ node_id: 'n1', usd_micros: null, held_units: BigInt(HOUR) });
  });
});

describe('bare time of a node', () => {
  const stint = (from: string, until: string, over: Row = {}): Row => ({
    day: DAY,
    subject: 'job slurm/1/0',
    node_id: 'n1',
    device_id: 'a',
    held_from: `${DAY} ${from}`,
    held_until: until === '24:00' ? '2026-03-03 00:00:00' : `${DAY} ${until}`,
    ...over,
  });
  const cases: Record<
    string,
    { stints: readonly Row[]; paid?: readonly Row[]; unheld?: readonly Row[]; want: readonly string[] }
  > = {
    'nobody came': { stints: [], want: ['00:00-00:00'] },
    'from edge to edge, around one holder': { stints: [stint('08:00', '10:00')], want: ['00:00-08:00', '10:00-00:00'] },
    'a GPU held beside makes the node not bare': {
      stints: [stint('08:00', '12:00'), stint('10:00', '20:00', { device_id: 'b' })],
      want: ['00:00-08:00', '20:00-00:00'],
    },
    'one that leaves before another does not open it': {
      stints: [stint('08:00', '20:00'), stint('09:00', '10:00', { device_id: 'b' }), stint('21:00', '24:00')],
      want: ['00:00-08:00', '20:00-21:00'],
    },
    'held from midnight to midnight': { stints: [stint('00:00', '24:00')], want: [] },
    'an hour in which a GPU computes for nobody known': {
      stints: [stint('08:00', '10:00')],
      unheld: [{ day: DAY, node_id: 'n1', device_id: 'b', hour_start: `${DAY} 12:00`, computing_s: 3600 }],
      want: ['00:00-08:00', '10:00-12:00', '13:00-00:00'],
    },
    'a day without empty time is not asked about': {
      stints: [stint('08:00', '10:00')],
      paid: [held()],
      want: [],
    },
  };
  it.each(Object.entries(cases))('%s', async (_, { stints, paid = [row()], unheld = [], want }) => {
    const stretches = await stagesOn([nodeDay, bareTime], {
      subject_day: paid,
      life_day: [],
      stint_day: stints,
      unheld_hour: unheld,
    });
    const clock = (at: unknown): string => String(at).slice(11, 16);
    expect(stretches.map(({ from_at: from, until_at: until }) => `${clock(from)}-${clock(until)}`)).toEqual(want);
  });
});
