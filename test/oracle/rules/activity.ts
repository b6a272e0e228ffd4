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

/** The most that is still rest, in tenths of a watt, by day: of that day's samples and those of the day before. */
interface Rest {
  readonly empty: number;
  readonly held: number;
}

function restsOf(samples: readonly SampleRow[]): Map<number, Rest> {
  const byDay = new Map<number, SampleRow[]>();
  for (const sample of samples) {
    if (sample.power_w === null || sample.power_w <= 0) continue;
    for (const day of [dayOf(sample.ts), dayOf(sample.ts) + DAY_S]) {
      const drawn = byDay.get(day);
      if (drawn === undefined) byDay.set(day, [sample]);
      else drawn.push(sample);
    }
  }
  return new Map([...byDay].map(([day, drawn]) => [day, restOf(drawn)]));
}

function restOf(drawn: readonly SampleRow[]): Rest {
  const least = Math.min(...drawn.map(({ power_w }) => power_w ?? Infinity));
  const busy = drawn.filter(
    (sample) => (sample.engine_permille ?? sample.sm_permille ?? sample.util_permille ?? 0) >= 500,
  );
  const wasEmpty = drawn.some(({ fb_used_mib }) => fb_used_mib !== null && fb_used_mib < 500);
  const work =
    busy.length === 0
      ? Infinity
      : Math.floor((9 * busy.reduce((sum, { power_w }) => sum + (power_w ?? 0), 0)) / busy.length);
  const most = Math.min(work, 2500);
  const empty = 13 * least;
  const held = wasEmpty || busy.length > 0 ? Math.max(empty, Math.min(35 * least, 10 * least + 700)) : empty;
  return { empty: Math.min(empty, most), held: Math.min(held, most) };
}

export function activityOf(samplesOfDevice: readonly SampleRow[]): ActivityOfDevice {
  const samples = sortedBy(samplesOfDevice, (sample) => [sample.ts]);
  const engine = coversOf(samples, 'engine_permille');
  const sm = coversOf(samples, 'sm_permille');
  const util = coversOf(samples, 'util_permille');
  const power = coversOf(samples, 'power_w');
  const rests = restsOf(samples);

  const at = (time: number): Activity => {
    const utilNow = coverAt(util, time);
    const signal = coverAt(engine, time) ?? coverAt(sm, time) ?? utilNow;
    if (signal === undefined) return 'unknown';
    if (signal.value >= 10) return 'computing';
    // Where util is the signal it is below 10 ‰ here, so that it cannot disagree with itself.
    if (utilNow !== undefined && utilNow.value >= 500) return 'unknown';
    const powerNow = coverAt(power, time);
    const rest = rests.get(dayOf(signal.sample.ts));
    if (powerNow === undefined || rest === undefined) return 'idle';
    if (powerNow.value * 10 > ((powerNow.sample.fb_used_mib ?? 0) >= 500 ? rest.held : rest.empty)) return 'unknown';
    return 'idle';
  };

  const borders = [...engine, ...sm, ...util, ...power].flatMap((cover) => [cover.from, cover.until]);
  return { cuts: [...new Set(borders)].sort((left, right) => left - right), at };
}
