import { describe, expect, it } from 'vitest';
import { stagesOn, type Row } from '../../test/stage-on.ts';
import { serviceDay } from './service-day.ts';
import { serviceHour } from './service-hour.ts';

const DAY = '2026-03-02';
const WHOLE = 63_000;
const hourStart = (hour: number): string => `${DAY} ${String(hour).padStart(2, '0')}:00:00`;

interface Pod {
  readonly id: string;
  readonly name: string;
  readonly kind?: string;
  readonly namespace?: string;
  /** Computing seconds and gap seconds of each hour it was held, from midnight on. */
  readonly hours: readonly (readonly [computingS: number, gapS: number, unknownS?: number])[];
  readonly gpus?: number;
}

const holding = ({ id, name, kind = 'Deployment', namespace = 'serving' }: Pod) => ({
  day: DAY,
  source: 'kubernetes',
  allocation_id: id,
  attempt: 0,
  node_id: 'n1',
  cluster: 'a',
  namespace,
  workload_kind: kind,
  workload_name: name,
});

const gpuHours = ({ id, kind = 'Deployment', hours, gpus = 1 }: Pod) =>
  hours.flatMap(([computing, gap, unknown = 0], hour) =>
    Array.from({ length: gpus }, (_, gpu) => ({
      day: DAY,
      hour_start: hourStart(hour),
      device_id: `${id}-${gpu}`,
      root_device_id: `${id}-${gpu}`,
      disposition: 'held',
      source: 'kubernetes',
      allocation_id: id,
      attempt: 0,
      manner: kind === 'Deployment' ? 'serving' : 'job',
      held_s: 3600,
      computing_s: computing,
      unknown_s: unknown,
      units: 3600 * WHOLE,
      computing_units: computing * WHOLE,
      gap_units: gap * WHOLE,
      unknown_units: unknown * WHOLE,
    })),
  );

const work = (unit: string, quantity: string, by: Record<string, string>, hour = 0) => ({
  day: DAY,
  source: 'vllm',
  work_id: JSON.stringify(by),
  unit,
  window_from: hourStart(hour),
  quantity,
  model_name: 'chat-8b',
  ...by,
});

const rowsOf = (
  pods: readonly Pod[],
  works: readonly ReturnType<typeof work>[] = [],
  stage = serviceHour,
  paid: readonly Row[] = [],
) =>
  stagesOn(stage === serviceDay ? [serviceDay] : [serviceDay, serviceHour], {
    holding: pods.map(holding),
    gpu_hour: pods.flatMap(gpuHours),
    work: works,
    subject_day: paid,
  });

describe('replicas of a day', () => {
  const paid = (subject: string, over: Row = {}): Row => ({
    day: DAY,
    subject,
    source: 'kubernetes',
    allocation_id: subject.split('/')[1] ?? '',
    attempt: 0,
    category: 'idle',
    usd_micros: 5,
    gpu_units: 3600 * WHOLE,
    unpriced_units: 0,
    ...over,
  });

  it('have what their GPUs cost, without what a bill names beside them, and say what has no price', async () => {
    const pods: Pod[] = ['u1', 'u2', 'u3'].map((id) => ({ id, name: `chat-${id}`, hours: [[600, 0]] }));
    const rows = await rowsOf(pods, [], serviceDay, [
      paid('kubernetes/u1'),
      paid('kubernetes/u1', { category: 'computing', usd_micros: 7 }),
      paid('kubernetes/u1', { category: 'beside', usd_micros: 1000, gpu_units: 0 }),
      paid('kubernetes/u2', { usd_micros: null, unpriced_units: 3600 * WHOLE }),
    ]);
    const told = rows.map(({ allocation_id: id, usd_micros: usd, paid_units: units, unpriced_units: unpriced }) => [
      id,
      usd,
      units,
      unpriced,
    ]);
    const hour = BigInt(3600 * WHOLE);
    expect(told).toEqual([
      ['u1', 12n, 2n * hour, 0n],
      ['u2', null, hour, hour],
      ['u3', null, 0n, 0n],
    ]);
  });
});

describe('services by hour', () => {
  it('are the replicas of one name, wherever a machine numbered or hashed it, and what of their time was busy', async () => {
    const pods: Pod[] = [
      { id: 'u1', name: 'chat-7f9c8d6b5-x2x4l', hours: [[1800, 800]] },
      { id: 'u2', name: 'chat-1', hours: [[600, 0, 100]] },
      { id: 'u3', name: 'chat', namespace: 'other', hours: [[0, 0]] },
      { id: 'u4', name: 'train-1', kind: 'Job', hours: [[3600, 0]] },
    ];
    expect(await rowsOf(pods)).toMatchObject([
      { service: 'a/other/chat', replicas: 1n, busy_units: 0n, requests: null, models: 0n },
      {
        service: 'a/serving/chat',
        replicas: 2n,
        replica_units: BigInt(WHOLE),
        held_units: BigInt(7200 * WHOLE),
        busy_units: BigInt(1600 * WHOLE),
        unknown_units: BigInt(100 * WHOLE),
      },
    ]);
  });

  it('know how large a replica is', async () => {
    const rows = await rowsOf([{ id: 'u1', name: 'big', gpus: 4, hours: [[3600, 0]] }]);
    expect(rows).toMatchObject([
      { replicas: 1n, replica_units: BigInt(4 * WHOLE), held_units: BigInt(4 * 3600 * WHOLE) },
    ]);
  });

  it('leave out a replica that serves nothing for hours while others do', async () => {
    const quiet = Array.from({ length: 6 }, () => [0, 0] as const);
    const busy = Array.from({ length: 6 }, () => [1000, 0] as const);
    const pods: Pod[] = [
      { id: 'u1', name: 'chat-1', hours: busy },
      { id: 'u2', name: 'chat-2', hours: quiet },
    ];
    expect(await rowsOf(pods)).toMatchObject(busy.map(() => ({ replicas: 1n })));
    const days = await rowsOf(pods, [], serviceDay);
    expect(days.map((day) => [day['allocation_id'], day['is_silent']])).toEqual([
      ['u1', false],
      ['u2', true],
    ]);
    // With nothing measured, nobody knows whether it served.
    const unmeasured: Pod = { id: 'u2', name: 'chat-2', hours: quiet.map(() => [0, 0, 3600] as const) };
    expect(await rowsOf([pods[0]!, unmeasured])).toMatchObject(busy.map(() => ({ replicas: 2n })));
  });

  it('have what their jobs or pods counted, seconds in thousandths, and no number where nobody counted', async () => {
    const pod: Pod = {
      id: 'u1',
      name: 'chat',
      hours: [
        [100, 0],
        [100, 0],
      ],
    };
    const rows = await rowsOf(
      [pod],
      [
        work('request', '7', { allocation_id: 'u1' }),
        work('request', '5', { namespace: 'serving', pod: 'chat-7f9c8d6b5-x2x4l' }),
        work('request', '90', { namespace: 'other', pod: 'chat-7f9c8d6b5-x2x4l' }),
        work('request_second', '1.328', { allocation_id: 'u1' }),
        work('step', '4', { allocation_id: 'u1' }),
      ],
    );
    expect(rows).toMatchObject([
      { requests: 12n, request_ms: 1328n, prompt_tokens: null, models: 1n },
      { requests: null, request_ms: null, models: 0n },
    ]);
  });

  it.each([
    ['chat-standby-2', true],
    ['warm-chat', true],
    ['chat-Secondary-0', true],
    ['hot-spare', true],
    ['sparerib', false],
    ['chat-api-2', false],
    ['swarm-api', false],
    ['drone', false],
  ])('%s: called a standby is %s', async (name, want) => {
    const rows = await rowsOf([{ id: 'u1', name, hours: [[1, 0]] }], [], serviceDay);
    expect(rows).toMatchObject([{ is_standby: want }]);
  });
});
