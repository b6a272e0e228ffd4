import { describe, expect, test } from 'vitest';
import { stagesOn } from '../../test/stage-on.ts';
import { gpuHour } from './gpu-hour.ts';

interface Case {
  /** What the device did from nine to ten: until which minute, and what. */
  readonly did?: readonly (readonly [untilMinute: number, what: string])[];
  /** Minutes of the hour that are pauses. */
  readonly paused?: readonly [from: number, until: number];
  readonly sensors?: Readonly<Record<string, number>>;
  readonly kind?: string;
  readonly classLabel?: string;
  readonly model?: string;
  readonly share?: number;
  readonly isPooled?: boolean;
  readonly isUnknown?: boolean;
  readonly want: Readonly<Record<string, string | number | null>>;
}

const U = 63_000;
const computing = [[60, 'computing']] as const;
const FOUR = { engine_permille: 970, sm_permille: 800, dram_permille: 400, tensor_permille: 500 };

const cases: Readonly<Record<string, Case>> = {
  'a gap is the part of the time that computed in which no kernel ran': {
    did: [
      [30, 'computing'],
      [60, 'idle'],
    ],
    sensors: { gap_permille: 333 },
    want: { manner: 'job', computing_s: 1800, idle_s: 1800, gap_s: 599, gap_units: 599.4 * U, pause_s: 0 },
  },
  'of a service it is time between requests, and still a gap here': {
    sensors: { gap_permille: 250 },
    kind: 'Deployment',
    want: { manner: 'serving', gap_s: 900 },
  },
  'people try things in bursts': {
    sensors: { gap_permille: 250, nvlink_mb_s: 100_000 },
    kind: 'Notebook',
    want: { manner: 'interactive', gap_s: 0, exchange_s: 0 },
  },
  'what the class label says goes before the kind': {
    sensors: { gap_permille: 250 },
    kind: 'Deployment',
    classLabel: 'experimentation',
    want: { manner: 'interactive', gap_s: 0 },
  },
  'of an unknown holder nothing finer is said': {
    sensors: { gap_permille: 250 },
    isUnknown: true,
    want: { manner: null, computing_s: 3600, gap_s: 0 },
  },
  'nor of a holder that may be on any of several devices': {
    sensors: { gap_permille: 250 },
    isPooled: true,
    want: { manner: 'job', computing_s: 3600, gap_s: 0, exchange_s: 0 },
  },
  'a pause is idle time, and money follows its share': {
    did: [
      [10, 'computing'],
      [40, 'idle'],
      [60, 'computing'],
    ],
    paused: [10, 40],
    share: 21_000,
    want: { idle_s: 1800, pause_s: 1800, pause_units: 1800 * 21_000, idle_units: 1800 * 21_000 },
  },
  'memory held makes idle time parked': { sensors: { fb_used_mib_max: 500 }, want: { idle_reason: 'parked' } },
  'less than a driver takes is bare': { sensors: { fb_used_mib_max: 499 }, want: { idle_reason: 'bare' } },
  'memory that is not measured says nothing': { sensors: { gap_permille: 0 }, want: { idle_reason: null } },
  'an exchange is traffic against what links carry': {
    sensors: { gap_permille: 0, nvlink_mb_s: 90_000 },
    want: { exchange_s: 1440, exchange_units: 1440 * U },
  },
  'links of another model carry another amount': {
    sensors: { gap_permille: 0, nvlink_mb_s: 90_000 },
    model: 'NVIDIA A100-SXM4-80GB',
    want: { exchange_s: 2160 },
  },
  'a model without links exchanges nothing that we know': {
    sensors: { gap_permille: 0, nvlink_mb_s: 90_000 },
    model: 'NVIDIA L4',
    want: { exchange_s: 0 },
  },
  'nor does a model nobody knows': {
    sensors: { gap_permille: 0, nvlink_mb_s: 90_000 },
    model: 'Zorg',
    want: { exchange_s: 0 },
  },
  'while SMs are busy the exchange is hidden behind the work': {
    sensors: { gap_permille: 0, nvlink_mb_s: 90_000, engine_permille: 1000, sm_permille: 900 },
    want: { exchange_s: 360 },
  },
  'SMs busier than the engine leave none': {
    sensors: { gap_permille: 0, nvlink_mb_s: 90_000, engine_permille: 800, sm_permille: 900 },
    want: { exchange_s: 0 },
  },
  'all four fields and nothing in the way: busy': {
    sensors: { computing_samples: 4, slowed_samples: 1, ...FOUR },
    want: { computing_reason: 'busy' },
  },
  'kernels that follow each other and leave most SMs out are bound by launches': {
    sensors: { ...FOUR, engine_permille: 901, sm_permille: 299 },
    want: { computing_reason: 'launch-bound' },
  },
  'with gaps between them it is the gaps that count': {
    sensors: { ...FOUR, engine_permille: 900, sm_permille: 299 },
    want: { computing_reason: 'busy' },
  },
  'memory at work half of the time while the tensor pipe waits': {
    sensors: { ...FOUR, dram_permille: 500, tensor_permille: 299 },
    want: { computing_reason: 'memory-bound' },
  },
  'memory and tensor pipe at work is how training looks': {
    sensors: { ...FOUR, dram_permille: 520, tensor_permille: 300 },
    want: { computing_reason: 'busy' },
  },
  'gaps between launches cannot keep the memory at work: decoding leaves most SMs out, too': {
    sensors: { engine_permille: 960, sm_permille: 180, dram_permille: 620, tensor_permille: 60 },
    want: { computing_reason: 'memory-bound' },
  },
  'nor is it told from decoding where the memory is not measured': {
    sensors: { engine_permille: 960, sm_permille: 180, tensor_permille: 60 },
    want: { computing_reason: null },
  },
  'or the tensor pipe is not': {
    sensors: { engine_permille: 960, sm_permille: 180, dram_permille: 620 },
    want: { computing_reason: null },
  },
  'decoding can be told without SMs': {
    sensors: { engine_permille: 990, dram_permille: 700, tensor_permille: 100 },
    want: { computing_reason: 'memory-bound' },
  },
  'but nothing is called busy of which a field is missing': {
    sensors: { engine_permille: 990, dram_permille: 300, tensor_permille: 400 },
    want: { computing_reason: null },
  },
  'heat in half of the samples goes before all': {
    sensors: { computing_samples: 4, slowed_samples: 2, ...FOUR, dram_permille: 700, tensor_permille: 0 },
    want: { computing_reason: 'throttled' },
  },
  'gap and exchange are never more than what computed': {
    sensors: { gap_permille: 700, nvlink_mb_s: 180_000 },
    want: { gap_s: 2520, exchange_s: 1080 },
  },
};

const minute = (place: number): string =>
  place === 60 ? '2026-03-02 10:00:00' : `2026-03-02 09:${String(place).padStart(2, '0')}:00`;

describe('a device-hour', () => {
  test.each(Object.entries(cases))('%s', async (_, given) => {
    const {
      did = computing,
      paused,
      sensors,
      kind = 'Job',
      classLabel,
      model = 'NVIDIA H100 80GB HBM3',
      share = U,
    } = given;
    const { isPooled = false, isUnknown = false, want } = given;
    const day = { day: '2026-03-02', device_id: 'g' };
    const holder = isUnknown ? {} : { source: 'slurm', allocation_id: '7', attempt: 0 };
    const begins = [0, ...did.map(([until]) => until)];
    const rows = await stagesOn([gpuHour], {
      held: [
        {
          ...day,
          ...holder,
          root_device_id: 'g',
          node_id: 'n',
          hour_start: minute(0),
          from_at: minute(0),
          until_at: minute(60),
          seconds: 3600,
          place: isUnknown ? 0 : 1,
          share_units: share,
          disposition: 'held',
          conflict: false,
          pooled: isPooled,
        },
      ],
      run: did.map(([until, what], place) => ({
        ...day,
        class: what,
        signal: 'engine',
        from_at: minute(begins[place] ?? 0),
        until_at: minute(until),
      })),
      pause:
        paused === undefined ? [] : [{ ...day, ...holder, from_at: minute(paused[0]), until_at: minute(paused[1]) }],
      activity_hour: sensors === undefined ? [] : [{ ...day, hour_start: minute(0), ...sensors }],
      holding: [
        {
          ...day,
          source: 'slurm',
          allocation_id: '7',
          attempt: 0,
          workload_kind: kind,
          held_from: '2026-03-01 00:00:00',
          ends_at: '2026-03-03 00:00:00',
          labels: classLabel === undefined ? null : `{class=${classLabel}}`,
        },
      ],
      presence: [{ ...day, root_device_id: 'g', model }],
    });
    expect(rows).toHaveLength(1);
    const got = Object.entries(rows[0] ?? {}).map(([name, value]) => [
      name,
      typeof value === 'bigint' ? Number(value) : value,
    ]);
    expect(Object.fromEntries(got)).toMatchObject(want);
  });
});
