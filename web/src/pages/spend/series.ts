import type { BreakdownReply } from '../../../../src/api/routes/spend/spend-breakdown.ts';
import { usdNumber } from '../../figures.ts';
import { STEPS, stepOf } from '../../steps.ts';
import { colourOf } from './colours.ts';

/** One line or layer of the chart. */
export interface Series {
  readonly key: string;
  readonly name: string;
  /** The class of its colour. */
  readonly of: string;
  /** Dollars or GPU-hours in each step; null where nothing is known. */
  readonly values: readonly (number | null)[];
}

type Steps = BreakdownReply['total']['steps'];
export type Measure = 'cost' | 'hours';

export function measured({ usdMicros, gpuSeconds }: Steps, measure: Measure): (number | null)[] {
  return measure === 'cost'
    ? usdMicros.map((micros) => usdNumber(micros))
    : gpuSeconds.map((seconds) => (seconds === null ? null : seconds / 3600));
}

/**
 * The layers of the chart, the dearest at the bottom: one for each value of the first dimension that has a colour of its own, the others
 * together, what nobody can say on top. Categories stand in the order of the waterfall.
 */
export function seriesOf(reply: BreakdownReply, measure: Measure, order: readonly (string | null)[]): Series[] {
  const [dimension = ''] = reply.by;
  const layers = new Map<string, Series>();
  const add = (key: string, name: string, of: string, steps: Steps): void => {
    const values = measured(steps, measure);
    const known = layers.get(key);
    layers.set(key, { key, name, of, values: known === undefined ? values : plus(known.values, values) });
  };
  let rest = reply.others?.groups ?? 0;
  for (const { values, steps } of reply.rows) {
    const value = values[dimension] ?? null;
    const of = colourOf(dimension, value, order);
    if (of === 'cat-rest') {
      rest += 1;
      add('rest', '', of, steps);
    } else add(`is ${value ?? ''}`, nameOf(dimension, value), of, steps);
  }
  if (reply.others !== null) add('rest', '', 'cat-rest', reply.others.steps);
  const all = [...layers.values()].map((layer) =>
    layer.key === 'rest' ? { ...layer, name: `${rest} others` } : layer,
  );
  return all.toSorted((a, b) => placeOf(dimension, a) - placeOf(dimension, b));
}

/** What stands where a name would. */
export function nameOf(dimension: string, value: string | null): string {
  if (value === null) return dimension === 'team' ? 'unattributed' : `no ${dimension}`;
  return dimension === 'category' ? (stepOf(value)?.word ?? value) : value;
}

function placeOf(dimension: string, { of, key }: Series): number {
  if (key === 'is ') return 3000;
  if (key === 'rest') return 2000;
  // What is kept lies at the bottom, so that what is wasted stands on a level ground.
  return dimension === 'category' ? STEPS.length - STEPS.findIndex((step) => step.of === of) : 0;
}

function plus(a: readonly (number | null)[], b: readonly (number | null)[]): (number | null)[] {
  return a.map((value, place) => {
    const other = b[place] ?? null;
    return value === null && other === null ? null : (value ?? 0) + (other ?? 0);
  });
}

/** Each step as shares of its own sum; null where there is nothing. */
export function asShares(series: readonly Series[]): Series[] {
  const sums = (series[0]?.values ?? []).map((_, step) =>
    series.reduce((sum, { values }) => sum + Math.max(0, values[step] ?? 0), 0),
  );
  return series.map((each) => ({
    ...each,
    values: each.values.map((value, step) => {
      const sum = sums[step] ?? 0;
      return sum === 0 ? null : (Math.max(0, value ?? 0) / sum) * 100;
    }),
  }));
}

/** Labels beside a chart, moved apart where they would cover each other and kept within it. */
export function spreadLabels(wanted: readonly number[], gap: number, low: number, high: number): number[] {
  const order = wanted.map((y, place) => ({ y, place })).toSorted((a, b) => a.y - b.y);
  let least = low;
  for (const label of order) {
    label.y = Math.max(label.y, least);
    least = label.y + gap;
  }
  let most = high;
  for (const label of order.toReversed()) {
    label.y = Math.min(label.y, most);
    most = label.y - gap;
  }
  const spread = [...wanted];
  for (const { y, place } of order) spread[place] = y;
  return spread;
}

/** Spans of steps next to each other that are estimated: from the first to the last of each. */
export function estimatedSpans(steps: BreakdownReply['steps']): (readonly [first: number, last: number])[] {
  const spans: [number, number][] = [];
  for (const [place, { isEstimated }] of steps.entries()) {
    if (!isEstimated) continue;
    const span = spans.at(-1);
    if (span !== undefined && span[1] === place - 1) span[1] = place;
    else spans.push([place, place]);
  }
  return spans;
}
