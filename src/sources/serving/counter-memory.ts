import { z } from 'zod';
import type { FactRow, Skipped } from '../../facts/source.ts';
import { isCount } from './counter-growth.ts';
import type { ServingSeries } from './serving-metric.ts';
import { workRows, type Growth } from './serving-work.ts';

/** What a counter stood at when it was looked at. */
export interface CounterReading {
  readonly series: ServingSeries;
  readonly value: number;
}

/** By counter: its last value, when that was, and what it has grown by in the hour of then; null before there was anything to compare. */
export const CounterMemory = z.record(z.string(), z.tuple([z.number(), z.number(), z.number().nullable()]));
type CounterMemory = z.infer<typeof CounterMemory>;

const HOUR_S = 3600;
/** After a longer silence the growth in between is of nobody knows which hours: the counting begins anew. */
const SILENCE_S = 3600;

/**
 * Question: what have these counters counted in the hour of this look, all its looks together?
 *
 * The rows of an hour are told again with each look and replace themselves. A counter that is not there in a look is forgotten once it
 * has been silent for an hour.
 */
export function countedWork(
  before: CounterMemory,
  readings: readonly CounterReading[],
  at: Date,
  cluster: string | undefined,
): { readonly rows: FactRow[]; readonly skipped: Skipped[]; readonly memory: CounterMemory } {
  const nowS = Math.floor(at.getTime() / 1000);
  const hourS = Math.floor(nowS / HOUR_S) * HOUR_S;
  const memory: CounterMemory = {};
  for (const [key, kept] of Object.entries(before)) if (nowS - kept[1] <= SILENCE_S) memory[key] = kept;
  const growths: Growth[] = [];
  for (const { series, value } of readings) {
    const counted = value * series.factor;
    if (!isCount(counted)) continue;
    const count = Math.round(counted);
    const known = memory[series.key];
    const fresh = known === undefined ? null : growthOf(known, count, nowS, hourS);
    memory[series.key] = [count, nowS, fresh];
    if (fresh !== null) growths.push({ series, grown: fresh, firstMs: hourS * 1000, lastMs: nowS * 1000 });
  }
  const { rows, skipped } = workRows(growths, {
    from: new Date(hourS * 1000),
    until: (lastMs) => new Date(lastMs),
    observedAt: at,
    ...(cluster !== undefined && { cluster }),
  });
  return { rows, skipped, memory };
}

function growthOf(
  [last, atS, grown]: CounterMemory[string],
  count: number,
  nowS: number,
  hourS: number,
): number | null {
  // The same look again: a haul that was cut off is repeated.
  if (nowS <= atS) return grown;
  const added = count >= last ? count - last : count;
  return added + (atS >= hourS ? (grown ?? 0) : 0);
}

/** What counters grew by between saved scrapes of the same process, each pair of neighbours a row; the first of each says nothing. */
export function workBetween(scrapes: readonly { readonly at: Date; readonly counters: readonly CounterReading[] }[]): {
  readonly rows: FactRow[];
  readonly skipped: Skipped[];
} {
  const last = new Map<string, { readonly value: number; readonly at: Date }>();
  const windows = new Map<string, { from: Date; until: Date; growths: Growth[] }>();
  for (const { at, counters } of scrapes.toSorted((a, b) => a.at.getTime() - b.at.getTime())) {
    for (const { series, value } of counters) {
      const counted = value * series.factor;
      if (!isCount(counted)) continue;
      const count = Math.round(counted);
      const known = last.get(series.key);
      if (known !== undefined && known.at.getTime() === at.getTime()) continue;
      last.set(series.key, { value: count, at });
      if (known === undefined) continue;
      const key = `${known.at.getTime()} ${at.getTime()}`;
      const window = windows.get(key) ?? { from: known.at, until: at, growths: [] };
      windows.set(key, window);
      const grown = count >= known.value ? count - known.value : count;
      window.growths.push({ series, grown, firstMs: known.at.getTime(), lastMs: at.getTime() });
    }
  }
  const rows: FactRow[] = [];
  const skipped: Skipped[] = [];
  for (const { from, until, growths } of windows.values()) {
    const found = workRows(growths, { from, until: () => until, observedAt: until });
    rows.push(...found.rows);
    skipped.push(...found.skipped);
  }
  return { rows, skipped };
}
