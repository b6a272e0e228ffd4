import type { SampleRow } from '../organisation.ts';
import { DAY_S, dayOf } from '../organisation.ts';
import { sortedBy } from '../order.ts';
import type { Period } from '../order.ts';

export type Activity = 'computing' | 'idle' | 'unknown';

/** What one device was doing: the times at which the answer may change, and the answer. */
export interface ActivityOfDevice {
  readonly cuts: readonly number[];
  readonly at: (time: number) => Activity;
}

type Metric = 'engine_permille' | 'sm_permille' | 'util_permille' | 'power_w';

interface Cover extends Period {
  readonly sample: SampleRow;
  readonly value: number;
}

function coversOf(samples: readonly SampleRow[], metric: Metric): Cover[] {
  const carriers = samples.flatMap((sample) => {
    const value = sample[metric];
    return value === null ? [] : [{ sample, value }];
  });
  return carriers.map(({ sample, value }, index) => {
    const next = carriers[index + 1]?.sample.ts ?? Infinity;
    const until = next - sample.ts <= 3 * sample.step_s ? next : sample.ts + sample.step_s;
    return { sample, value, from: sample.ts, until };
  });
}

/** The cover at a time: covers of one metric never overlap, so that the last to begin is the only candidate. */
function coverAt(ordered: readonly Cover[], time: number): Cover | undefined {
  let low = 0;
  let high = ordered.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ordered[middle]?.from ?? Infinity) <= time) low = middle + 1;
    else high = middle;
  }
  const last = ordered[low - 1];
  return last !== undefined && time < last.until ? last : undefined;
}

/** The level of idle power by day: the least positive power of that day and the day before. */
function levelsOf(samples: readonly SampleRow[]): Map<number, number> {
  const levels = new Map<number, number>();
  for (const { ts, power_w } of samples) {
    if (power_w === null || power_w <= 0) continue;
    for (const day of [dayOf(ts), dayOf(ts) + DAY_S]) levels.set(day, Math.min(power_w, levels.get(day) ?? Infinity));
  }
  return levels;
}

export function activityOf(samplesOfDevice: readonly SampleRow[]): ActivityOfDevice {
  const samples = sortedBy(samplesOfDevice, (sample) => [sample.ts]);
  const engine = coversOf(samples, 'engine_permille');
  const sm = coversOf(samples, 'sm_permille');
  const util = coversOf(samples, 'util_permille');
  const power = coversOf(samples, 'power_w');
  const levels = levelsOf(samples);

  const at = (time: number): Activity => {
    const utilNow = coverAt(util, time);
    const signal = coverAt(engine, time) ?? coverAt(sm, time) ?? utilNow;
    if (signal === undefined) return 'unknown';
    if (signal.value >= 10) return 'computing';
    // Where util is the signal it is below 10 ‰ here, so that it cannot disagree with itself.
    if (utilNow !== undefined && utilNow.value >= 500) return 'unknown';
    const powerNow = coverAt(power, time);
    const level = levels.get(dayOf(signal.sample.ts));
    if (powerNow !== undefined && level !== undefined && powerNow.value * 10 > level * 13) return 'unknown';
    return 'idle';
  };

  const borders = [...engine, ...sm, ...util, ...power].flatMap((cover) => [cover.from, cover.until]);
  return { cuts: [...new Set(borders)].sort((left, right) => left - right), at };
}
