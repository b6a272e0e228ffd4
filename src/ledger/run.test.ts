import { describe, expect, test } from 'vitest';
import { stagesOn } from '../../test/stage-on.ts';
import { run } from './run.ts';
import { seen } from './seen.ts';

interface Sample {
  readonly at: string;
  readonly engine?: number;
  readonly sm?: number;
  readonly util?: number;
  readonly power?: number;
  readonly memory?: number;
}

interface Case {
  readonly samples: readonly Sample[];
  /** Samples of the next day, of which only the beginning is looked at. */
  readonly nextDay?: readonly Sample[];
  readonly want: readonly string[];
}

// Every sample is of one device with a step of 60 s; a run reads: from, until, class, the metric that decided.
const cases: Readonly<Record<string, Case>> = {
  'a sample covers to the next, the last one its step': {
    samples: [
      { at: '10:00:00', engine: 900 },
      { at: '10:01:00', engine: 5 },
    ],
    want: ['10:00:00 10:01:00 computing engine', '10:01:00 10:02:00 idle engine'],
  },
  'three steps are bridged, more is unknown': {
    samples: [
      { at: '10:00:00', engine: 900 },
      { at: '10:03:00', engine: 900 },
      { at: '10:06:01', engine: 900 },
    ],
    want: ['10:00:00 10:04:00 computing engine', '10:06:01 10:07:01 computing engine'],
  },
  'ten permille compute, nine idle': {
    samples: [
      { at: '10:00:00', util: 10 },
      { at: '10:01:00', util: 9 },
    ],
    want: ['10:00:00 10:01:00 computing util', '10:01:00 10:02:00 idle util'],
  },
  'the engine goes before the SMs, they before utilisation': {
    samples: [{ at: '10:00:00', engine: 0, sm: 900, util: 0 }],
    want: ['10:00:00 10:01:00 idle engine'],
  },
  'an idle engine beside a busy GPU_UTIL is unknown: another profiler may be running': {
    samples: [
      { at: '10:00:00', engine: 0, util: 500 },
      { at: '10:01:00', engine: 0, util: 499 },
    ],
    want: ['10:00:00 10:01:00 unknown engine', '10:01:00 10:02:00 idle engine'],
  },
  'power a third above rest contradicts idleness': {
    samples: [
      { at: '10:00:00', engine: 0, power: 70 },
      { at: '10:01:00', engine: 0, power: 91 },
      { at: '10:02:00', engine: 0, power: 92 },
    ],
    want: ['10:00:00 10:02:00 idle engine', '10:02:00 10:03:00 unknown engine'],
  },
  'a reading of 0 W is no level of rest': {
    samples: [
      { at: '10:00:00', engine: 0, power: 0 },
      { at: '10:01:00', engine: 0, power: 70 },
    ],
    want: ['10:00:00 10:02:00 idle engine'],
  },
  'a T4 that keeps its clocks up for the memory somebody holds is idle; so much power without memory is not rest': {
    samples: [
      { at: '10:00:00', engine: 0, power: 9, memory: 0 },
      { at: '10:01:00', engine: 0, power: 27, memory: 1032 },
      { at: '10:02:00', engine: 0, power: 31, memory: 1032 },
      { at: '10:03:00', engine: 0, power: 32, memory: 1032 },
      { at: '10:04:00', engine: 0, power: 27, memory: 499 },
    ],
    want: ['10:00:00 10:03:00 idle engine', '10:03:00 10:05:00 unknown engine'],
  },
  'an H100 that is held may draw 70 W more than its rest, and no more': {
    samples: [
      { at: '10:00:00', util: 0, power: 66, memory: 3 },
      { at: '10:01:00', util: 0, power: 114, memory: 70_000 },
      { at: '10:02:00', util: 0, power: 136, memory: 70_000 },
      { at: '10:03:00', util: 0, power: 137, memory: 70_000 },
    ],
    want: ['10:00:00 10:03:00 idle util', '10:03:00 10:04:00 unknown util'],
  },
  'of a GPU that was never seen empty nor at work, a third above its least is too much': {
    samples: [
      { at: '10:00:00', engine: 0, power: 27, memory: 1032 },
      { at: '10:01:00', engine: 0, power: 35, memory: 1032 },
      { at: '10:02:00', engine: 0, power: 36, memory: 1032 },
    ],
    want: ['10:00:00 10:02:00 idle engine', '10:02:00 10:03:00 unknown engine'],
  },
  'a service that is never unloaded falls deeper and less deep asleep between requests': {
    samples: [
      { at: '10:00:00', engine: 700, power: 60, memory: 12_000 },
      { at: '10:01:00', engine: 0, power: 27, memory: 12_000 },
      { at: '10:02:00', engine: 0, power: 10, memory: 12_000 },
    ],
    want: ['10:00:00 10:01:00 computing engine', '10:01:00 10:03:00 idle engine'],
  },
  'an engine of 0 at the power of work is unknown, though the GPU was never seen at rest': {
    samples: [
      { at: '10:00:00', engine: 980, power: 440, memory: 70_000 },
      { at: '10:01:00', engine: 980, power: 500, memory: 70_000 },
      { at: '10:02:00', engine: 0, power: 470, memory: 70_000 },
      { at: '10:03:00', engine: 0, power: 424, memory: 70_000 },
    ],
    want: ['10:00:00 10:02:00 computing engine', '10:02:00 10:04:00 unknown engine'],
  },
  'an engine of 0 at 450 W is unknown, though nothing else was seen of the GPU': {
    samples: [
      { at: '10:00:00', engine: 0, util: 0, power: 450, memory: 20_000 },
      { at: '10:01:00', engine: 0, util: 0, power: 251, memory: 20_000 },
      { at: '10:02:00', engine: 0, util: 0, power: 250, memory: 20_000 },
    ],
    want: ['10:00:00 10:02:00 unknown engine', '10:02:00 10:03:00 idle engine'],
  },
  'readings of power without memory beside them are not taken for parked': {
    samples: [
      { at: '10:00:00', engine: 0, power: 9, memory: 0 },
      { at: '10:01:00', engine: 0 },
      { at: '10:01:30', power: 27 },
      { at: '10:02:00', engine: 0 },
    ],
    want: ['10:00:00 10:01:30 idle engine', '10:01:30 10:02:30 unknown engine', '10:02:30 10:03:00 idle engine'],
  },
  'readings of power with memory beside them are, wherever the engine is told': {
    samples: [
      { at: '10:00:00', engine: 0, power: 9, memory: 0 },
      { at: '10:01:00', engine: 0 },
      { at: '10:01:30', power: 27, memory: 1032 },
      { at: '10:02:00', engine: 0 },
    ],
    want: ['10:00:00 10:03:00 idle engine'],
  },
  'memory readings in between neither cover nor cut': {
    samples: [
      { at: '10:00:00', util: 0 },
      { at: '10:00:30', memory: 40_000 },
      { at: '10:01:00', util: 0 },
    ],
    want: ['10:00:00 10:02:00 idle util'],
  },
  'a second exporter’s utilisation between engine readings speaks only to contradict': {
    samples: [
      { at: '10:00:00', engine: 0 },
      { at: '10:00:20', util: 800 },
      { at: '10:01:00', engine: 0 },
    ],
    want: ['10:00:00 10:00:20 idle engine', '10:00:20 10:01:20 unknown engine', '10:01:20 10:02:00 idle engine'],
  },
  'where the engine falls silent utilisation takes over': {
    samples: [
      { at: '10:00:00', engine: 900, util: 900 },
      { at: '10:01:00', util: 900 },
      { at: '10:02:00', util: 900 },
    ],
    want: ['10:00:00 10:01:00 computing engine', '10:01:00 10:03:00 computing util'],
  },
  'power alone says nothing': { samples: [{ at: '10:00:00', power: 500 }], want: [] },
  'the last sample of a day covers up to the next day’s first': {
    samples: [{ at: '23:58:00', engine: 900 }],
    nextDay: [{ at: '00:00:30', engine: 900 }],
    want: ['23:58:00 00:00:00 computing engine'],
  },
  'the next day’s first sample of another metric does not count': {
    samples: [{ at: '23:58:00', engine: 900 }],
    nextDay: [{ at: '00:00:30', util: 900 }],
    want: ['23:58:00 23:59:00 computing engine'],
  },
};

describe('runs of a device', () => {
  test.each(Object.entries(cases))('%s', async (_, { samples, nextDay = [], want }) => {
    const rows = [...samples.map(sampleOn('2026-03-02')), ...nextDay.map(sampleOn('2026-03-03'))];
    const seenRows = [...(await seenOn(rows, '2026-03-02')), ...(await seenOn(rows, '2026-03-03'))];
    const runs = await stagesOn([run], { gpu_sample: rows.filter((row) => row.day === '2026-03-02'), seen: seenRows });
    const clock = (time: unknown): string => String(time).slice(11);
    expect(
      runs.map((row) => [clock(row['from_at']), clock(row['until_at']), row['class'], row['signal']].join(' ')),
    ).toEqual(want);
  });
});

function sampleOn(day: string) {
  return ({ at, engine, sm, util, power, memory }: Sample) => ({
    device_id: 'GPU-1',
    ts: `${day} ${at}`,
    day,
    step_s: 60,
    engine_permille: engine ?? null,
    sm_permille: sm ?? null,
    util_permille: util ?? null,
    power_w: power ?? null,
    fb_used_mib: memory ?? null,
  });
}

/** `seen` of one day, by the stage itself: it is written for any day if its rows are moved to the day the test asks for. */
async function seenOn(samples: readonly ReturnType<ReturnType<typeof sampleOn>>[], day: string) {
  const moved = samples
    .filter((row) => row.day === day)
    .map((row) => ({ ...row, day: '2026-03-02', ts: row.ts.replace(day, '2026-03-02') }));
  const rows = await stagesOn([seen], { gpu_sample: moved, holding: [] });
  return rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [
        name,
        typeof value === 'string' ? value.replace('2026-03-02', day) : (value as number | null),
      ]),
    ),
  );
}
