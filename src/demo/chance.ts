import type { Quantiles } from './world/world-schema.ts';

/**
 * Draws that are the same on every machine: 32-bit integers and the four basic operations, which every processor rounds
 * alike. Nothing here may call a function of `Math` beyond `imul`, `floor`, `min` and `max`: logarithms and sines differ
 * between builds in the last digit.
 */
export interface Chance {
  /** A number in [0, 1). */
  fraction(): number;
  /** A whole number in [0, below). */
  whole(below: number): number;
  /** Whether something that happens to so many in a hundred happens now. */
  happens(percent: number): boolean;
  /** A value of the distribution these quantiles describe, straight lines between them. */
  from(quantiles: Quantiles): number;
  /** A waiting time of something that happens on average once in `mean`, at any moment alike. */
  wait(mean: number): number;
  /** One of the keys, by weight, in the order they are written. */
  pick<Key>(weights: readonly (readonly [Key, number])[]): Key;
}

/**
 * A stream of draws of its own for whatever the names name: a job, a node, a person. What one draws does not move
 * what another draws, so that a change to one habit leaves the rest of the world as it was.
 */
export function chanceOf(...names: readonly (string | number)[]): Chance {
  const [a, b] = [hashOf(names, 0x9e3779b9), hashOf(names, 0x85ebca6b)];
  const next = smallFastCounter(a, b);
  const fraction = (): number => next() / 4_294_967_296;
  return {
    fraction,
    whole: (below) => Math.floor(fraction() * below),
    happens: (percent) => fraction() * 100 < percent,
    from: (quantiles) => valueAt(quantiles, fraction()),
    wait: (mean) => mean * exponentialAt(fraction()),
    pick: (weights) => pickBy(weights, fraction()),
  };
}

/** One 32-bit draw for a place and a moment, without a stream: the noise of a sensor. */
export function noiseAt(key: number, moment: number, field: number): number {
  return mixed((Math.imul(key ^ Math.imul(moment, 0x9e3779b1), 0x85ebca77) ^ Math.imul(field + 1, 0xc2b2ae3d)) | 0);
}

/** A 32-bit number for names: the key of `noiseAt`, the digits of an id. */
export function hashOf(names: readonly (string | number)[], salt = 0): number {
  let hash = salt | 0;
  for (const name of names) {
    const text = `${name}\n`;
    for (let index = 0; index < text.length; index += 1) {
      hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
      hash ^= hash >>> 15;
    }
  }
  return mixed(hash);
}

const PLACES = [
  ['p0', 0],
  ['p10', 0.1],
  ['p50', 0.5],
  ['p90', 0.9],
  ['p99', 0.99],
  ['p100', 1],
] as const;

/** The mean of the distribution, exactly: the middle of each straight line times its share. */
export function meanOf(quantiles: Quantiles): number {
  let mean = 0;
  for (let index = 1; index < PLACES.length; index += 1) {
    const [low, from] = PLACES[index - 1]!;
    const [high, until] = PLACES[index]!;
    mean += ((quantiles[low] + quantiles[high]) / 2) * (until - from);
  }
  return mean;
}

/** The value below which `place` (0 to 1) of the distribution lies. */
export function valueAt(quantiles: Quantiles, place: number): number {
  for (let index = 1; index < PLACES.length; index += 1) {
    const [high, until] = PLACES[index]!;
    if (place >= until && index < PLACES.length - 1) continue;
    const [low, from] = PLACES[index - 1]!;
    return quantiles[low] + ((quantiles[high] - quantiles[low]) * (place - from)) / (until - from);
  }
  return quantiles.p100;
}

/** −ln(1 − p) at p = 0, 1/16 … 15/16, then at 31/32, 63/64, 127/128 and 1023/1024: enough for waiting times. */
const EXPONENTIAL: readonly (readonly [number, number])[] = [
  [0, 0],
  [0.0625, 0.064539],
  [0.125, 0.133531],
  [0.1875, 0.207639],
  [0.25, 0.287682],
  [0.3125, 0.374693],
  [0.375, 0.470004],
  [0.4375, 0.575364],
  [0.5, 0.693148],
  [0.5625, 0.826679],
  [0.625, 0.980829],
  [0.6875, 1.163151],
  [0.75, 1.386294],
  [0.8125, 1.673976],
  [0.875, 2.079442],
  [0.9375, 2.772589],
  [0.96875, 3.465736],
  [0.984375, 4.158883],
  [0.9921875, 4.85203],
  [0.9990234375, 6.931472],
  [1, 9.7],
];

function exponentialAt(place: number): number {
  for (let index = 1; index < EXPONENTIAL.length; index += 1) {
    const [until, high] = EXPONENTIAL[index]!;
    if (place >= until) continue;
    const [from, low] = EXPONENTIAL[index - 1]!;
    return low + ((high - low) * (place - from)) / (until - from);
  }
  return 9.7;
}

function pickBy<Key>(weights: readonly (readonly [Key, number])[], place: number): Key {
  const total = weights.reduce((sum, [, weight]) => sum + weight, 0);
  let left = place * total;
  for (const [key, weight] of weights) {
    left -= weight;
    if (left < 0) return key;
  }
  return weights.at(-1)![0];
}

function mixed(value: number): number {
  let hash = value ^ (value >>> 16);
  hash = Math.imul(hash, 0x7feb352d);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x846ca68b);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Chris Doty-Humphrey's small fast counting generator with 32-bit words. */
function smallFastCounter(seedA: number, seedB: number): () => number {
  let [a, b, c, counter] = [seedA | 0, seedB | 0, seedA ^ (seedB << 1), 1];
  const next = (): number => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  };
  for (let round = 0; round < 12; round += 1) next();
  return next;
}
