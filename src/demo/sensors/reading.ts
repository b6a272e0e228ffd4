import { hashOf, noiseAt } from '../chance.ts';
import type { Holding } from '../organisation.ts';
import { isPaused, type Levels, type Seconds, type Traffic } from '../timeline.ts';
import { swellAt, swellKey } from '../work/traffic.ts';

/** Places of the levels in a reading, in the order of the columns of a sample. */
export const [ENGINE, SM, TENSOR, DRAM, UTIL, MEMORY, POWER, PCIE, NVLINK] = [0, 1, 2, 3, 4, 5, 6, 7, 8] as const;
export const GAUGES = 9;

const FULL_PERMILLE = 1000;
/** How long a sensor looks before it says how busy something was. */
export const SENSOR_WINDOW_S = 30;

/**
 * What a device truly does at a moment, before any instrument errs. One object is read again and again, because a large fleet
 * is read tens of millions of times; moments must not go back.
 */
export interface Probe {
  /** In permille, by the places above. */
  readonly levels: Float64Array;
  /** How many attempts hold it. */
  holders: number;
  read(moment: Seconds): void;
}

/** Where one attempt on the device has got to. */
interface Cursor {
  readonly holding: Holding;
  readonly requestsKey: number;
  readonly burstKey: number;
  place: number;
}

/** Question: what do all that hold a device do on it together? */
export function probeOf(holdings: readonly Holding[], seed: number): Probe {
  const live: Cursor[] = [];
  let next = 0;
  const probe: Probe = {
    levels: new Float64Array(GAUGES),
    holders: 0,
    read: (moment) => {
      const { levels } = probe;
      levels.fill(0);
      for (; next < holdings.length && holdings[next]!.attempt.from <= moment; next += 1) {
        live.push(cursorAt(holdings[next]!, moment, seed));
      }
      let kept = 0;
      for (let index = 0; index < live.length; index += 1) {
        const cursor = live[index]!;
        if (cursor.holding.attempt.until <= moment) continue;
        live[kept] = cursor;
        kept += 1;
        addActivity(cursor, moment, levels);
      }
      if (kept < live.length) live.length = kept;
      probe.holders = kept;
      for (let gauge = 0; gauge < GAUGES; gauge += 1) {
        if (levels[gauge]! > FULL_PERMILLE) levels[gauge] = FULL_PERMILLE;
      }
    },
  };
  return probe;
}

/** Question: what does a GPU show as a whole that is cut into slices? Each slice adds its share of what the GPU can do. */
export function cutProbeOf(slices: readonly { readonly probe: Probe; readonly share: number }[]): Probe {
  const whole: Probe = {
    levels: new Float64Array(GAUGES),
    holders: 0,
    read: (moment) => {
      whole.levels.fill(0);
      for (const { probe, share } of slices) {
        probe.read(moment);
        for (let gauge = 0; gauge < GAUGES; gauge += 1) {
          whole.levels[gauge] = whole.levels[gauge]! + probe.levels[gauge]! * share;
        }
      }
    },
  };
  return whole;
}

/** A session of weeks has thousands of spans, so the first of the day is not looked for one by one. */
function cursorAt(holding: Holding, moment: Seconds, seed: number): Cursor {
  const { spans, attempt } = holding;
  let [low, high] = [0, spans.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (spans[middle]!.until <= moment) low = middle + 1;
    else high = middle;
  }
  return {
    holding,
    // All GPUs of a replica work on the same requests, and all replicas of a service see the same swell.
    requestsKey: hashOf([...attempt.job.key, 'requests']),
    burstKey: swellKey(seed, attempt.job.habit.name),
    place: low,
  };
}

function addActivity(cursor: Cursor, moment: Seconds, levels: Float64Array): void {
  const { spans } = cursor.holding;
  while (cursor.place < spans.length && spans[cursor.place]!.until <= moment) cursor.place += 1;
  const span = spans[cursor.place];
  if (span === undefined || span.from > moment) return;
  if (isPaused(span, moment)) add(span.pause!.levels, 1, levels);
  else add(span.levels, span.traffic === undefined ? 1 : busyShare(span.traffic, cursor, moment), levels);
}

/** Memory is held whether or not anything runs in it. */
function add(shown: Levels, pace: number, levels: Float64Array): void {
  levels[ENGINE] = levels[ENGINE]! + shown.engine * pace;
  levels[SM] = levels[SM]! + shown.sm * pace;
  levels[TENSOR] = levels[TENSOR]! + shown.tensor * pace;
  levels[DRAM] = levels[DRAM]! + shown.dram * pace;
  levels[UTIL] = levels[UTIL]! + shown.util * pace;
  levels[MEMORY] = levels[MEMORY]! + shown.memory;
  levels[POWER] = levels[POWER]! + shown.power * pace;
  levels[PCIE] = levels[PCIE]! + shown.pcie * pace;
  levels[NVLINK] = levels[NVLINK]! + shown.nvlink * pace;
}

/** The part of the sensor's window in which a replica had a request to work on. */
function busyShare(
  traffic: Traffic,
  { requestsKey, burstKey }: Pick<Cursor, 'requestsKey' | 'burstKey'>,
  moment: Seconds,
): number {
  const burst = swellAt(traffic.burst, burstKey, moment);
  const expected = (traffic.perHour * burst * SENSOR_WINDOW_S) / 3600;
  return Math.min(1, (requestsIn(expected, requestsKey, moment) * traffic.busyS) / SENSOR_WINDOW_S);
}

/** Up to so many expected requests each of the slots has one or none; beyond, their sum is as good as a bell curve. */
const SLOTTED_MAX = 8;
const SLOTS = 32;
const HALF = 65_536;

/** How many requests fall into a window that expects so many: whole, and spread about as a Poisson count is. */
export function requestsIn(expected: number, key: number, moment: Seconds): number {
  if (expected <= 0) return 0;
  if (expected <= SLOTTED_MAX) {
    const below = (expected / SLOTS) * HALF;
    let count = 0;
    for (let pair = 0; pair < SLOTS / 2; pair += 1) {
      const draw = noiseAt(key, moment, pair);
      if ((draw & (HALF - 1)) < below) count += 1;
      if (draw >>> 16 < below) count += 1;
    }
    return count;
  }
  const [first, second] = [noiseAt(key, moment, 0), noiseAt(key, moment, 1)];
  const sum = (first & (HALF - 1)) + (first >>> 16) + (second & (HALF - 1)) + (second >>> 16);
  // Four draws between 0 and 1 have a variance of a third.
  return Math.max(0, Math.round(expected + Math.sqrt(expected * 3) * (sum / HALF - 2)));
}
