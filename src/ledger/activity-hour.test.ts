import { describe, expect, test } from 'vitest';
import { stagesOn } from '../../test/stage-on.ts';
import { activityHour } from './activity-hour.ts';
import { seen } from './seen.ts';

type Metrics = Readonly<Record<string, number | null>>;

// Samples of one device in the hour of nine, a minute apart.
const cases: Readonly<
  Record<string, { readonly samples: readonly Metrics[]; readonly yesterday?: number; readonly want: Metrics }>
> = {
  'means are of the samples that computed': {
    samples: [
      { engine_permille: 900, sm_permille: 700, nvlink_mb_s: 3000 },
      { engine_permille: 801, sm_permille: 501, nvlink_mb_s: 1001 },
      { engine_permille: 9, sm_permille: 0, nvlink_mb_s: 0 },
    ],
    want: {
      samples: 3,
      computing_samples: 2,
      engine_permille: 850,
      sm_permille: 600,
      gap_permille: 105,
      nvlink_mb_s: 2000,
    },
  },
  'a gap is what the engine leaves of a full one, whatever utilisation says': {
    samples: [{ engine_permille: 700, util_permille: 1000 }],
    want: { gap_permille: 264 },
  },
  'what passes between two kernels of a healthy run is no gap': {
    samples: [{ engine_permille: 950 }, { engine_permille: 1000 }],
    want: { gap_permille: 0, engine_permille: 975 },
  },
  'nor does a moment with a full engine make up for one with a gap': {
    samples: [{ engine_permille: 1000 }, { engine_permille: 475 }],
    want: { gap_permille: 250 },
  },
  'a gap is what utilisation leaves where there is no engine': {
    samples: [{ sm_permille: 400, util_permille: 950 }],
    want: { gap_permille: 50, sm_permille: 400, engine_permille: null },
  },
  'without either there is no gap to speak of': {
    samples: [{ sm_permille: 400 }],
    want: { computing_samples: 1, gap_permille: null },
  },
  'a metric that is missing now and then is a mean of the rest': {
    samples: [{ engine_permille: 600, tensor_permille: 300 }, { engine_permille: 400 }],
    want: { engine_permille: 500, tensor_permille: 300, gap_permille: 474 },
  },
  'memory and power are the most and the least of all samples': {
    samples: [
      { engine_permille: 0, fb_used_mib: 40_000, power_w: 70 },
      { fb_used_mib: 3 },
      { engine_permille: 800, power_w: 400 },
    ],
    want: { fb_used_mib_max: 40_000, fb_used_mib_min: 3, power_w_max: 400, power_w_min: 70 },
  },
  'memory that nobody measured is unknown, not empty': {
    samples: [{ engine_permille: 0 }],
    want: { fb_used_mib_max: null, samples: 1, computing_samples: 0, gap_permille: null },
  },
  'busy utilisation beside an idle engine is a lie of one of them; errors and throttling are counted': {
    samples: [
      { engine_permille: 0, util_permille: 500, throttle: 8 },
      { engine_permille: 0, util_permille: 499, throttle: 0 },
    ],
    want: { lying_samples: 1, throttled_samples: 1, xid: null },
  },
  'an error is told when it appears in the gauge': {
    samples: [{ xid: 0 }, { xid: 79 }, { xid: 79 }],
    want: { xid: 79 },
  },
  'one that was there before anybody looked came nobody knows when': {
    samples: [{ xid: 79 }, { xid: 79 }],
    want: { xid: null },
  },
  'one that stands since yesterday is not told again': { samples: [{ xid: 79 }], yesterday: 79, want: { xid: null } },
  'another one than yesterday’s is': { samples: [{ xid: 31 }], yesterday: 79, want: { xid: 31 } },
  'the first after a clean day is': { samples: [{}, { xid: 94 }], yesterday: 0, want: { xid: 94 } },
  'the same one again after a reset is; moments without a reading are no reset': {
    samples: [{ xid: 43 }, {}, { xid: 43 }, { xid: 0 }, { xid: 43 }],
    yesterday: 43,
    want: { xid: 43 },
  },
  'of several in an hour the greatest number is told: those of the hardware are the higher ones': {
    samples: [{ xid: 0 }, { xid: 94 }, { xid: 43 }],
    want: { xid: 94 },
  },
  'slowed are those that compute meanwhile': {
    samples: [
      { engine_permille: 900, throttle: 8 },
      { engine_permille: 0, throttle: 8 },
      { engine_permille: 900, throttle: 4 },
    ],
    want: { throttled_samples: 2, slowed_samples: 1 },
  },
  'a GPU at rest, at its application clocks or at its power cap is not slowed down': {
    samples: [0x1, 0x2, 0x4, 0x10, 0x100, 0x117, 0x400].map((throttle) => ({ throttle })),
    want: { samples: 7, throttled_samples: 0 },
  },
  'heat and power brakes slow it down, whatever is set beside them': {
    samples: [0x8, 0x20, 0x40, 0x80, 0x48, 0x101 + 0x20, 0x1f + 0x400].map((throttle) => ({ throttle })),
    want: { samples: 7, throttled_samples: 7 },
  },
};

describe('what sensors said in an hour', () => {
  test.each(Object.entries(cases))('%s', async (_, { samples, yesterday, want }) => {
    const rows = await stagesOn([activityHour], {
      gpu_sample: samples.map((metrics, minute) => ({
        device_id: 'g',
        day: '2026-03-02',
        ts: `2026-03-02 09:0${minute}:00`,
        step_s: 60,
        ...metrics,
      })),
      seen: yesterday === undefined ? [] : [{ device_id: 'g', day: '2026-03-01', last_xid: yesterday }],
    });
    expect(rows).toHaveLength(1);
    const got = Object.entries(rows[0] ?? {}).map(([name, value]) => [name, value === null ? null : Number(value)]);
    expect(Object.fromEntries(got)).toMatchObject(want);
  });
});

test('the last error of a day is kept for the next, whatever steps its samples have', async () => {
  const sample = { device_id: 'g', day: '2026-03-02' };
  const rows = await stagesOn([seen], {
    holding: [],
    gpu_sample: [
      { ...sample, ts: '2026-03-02 09:00:00', step_s: 60, xid: 94 },
      { ...sample, ts: '2026-03-02 10:00:00', step_s: 300, xid: 43 },
      { ...sample, ts: '2026-03-02 11:00:00', step_s: 60, engine_permille: 0 },
    ],
  });
  expect(rows.map((row) => Number(row['last_xid']))).toEqual([43]);
});
