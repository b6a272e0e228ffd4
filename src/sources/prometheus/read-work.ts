import type { FactRows, Skipped } from '../../facts/source.ts';
import { CounterGrowth } from '../serving/counter-growth.ts';
import { SERVING_METRICS, servingSeries, type ServingSeries } from '../serving/serving-metric.ts';
import { workRows, type Growth } from '../serving/serving-work.ts';
import { labelsOf } from './api/matrix-reader.ts';
import { isTooMuch } from './api/prometheus-api.ts';
import { namesBetween } from './discover.ts';
import { HOUR_MS, hourName, type PullContext } from './pull-context.ts';
import { selector } from './selector.ts';

/** The value before the hour is looked for this far back; after a longer silence the growth in between is unknown. */
const SILENCE_S = 3600;
/** A sample speaks for so long after it, as long as Prometheus itself believes it. */
const BELIEVED_MS = 300_000;
const SHORTEST_PART_MS = 60_000;

interface Counter {
  readonly series: ServingSeries;
  readonly growth: CounterGrowth;
}

export interface WorkRead {
  readonly facts: readonly FactRows[];
  readonly skipped: readonly Skipped[];
}

/**
 * Question: what did model servers count in an hour?
 *
 * From true samples, series by series: each difference belongs to the hour of its later sample, a counter that began anew counts from 0, and
 * nothing is extrapolated to the hour's ends as `increase()` does. So the hours add up to what the counters grew by. An hour is always
 * read whole and replaces itself.
 */
export async function readWork(context: PullContext, hourMs: number): Promise<WorkRead> {
  const { api, matchers, nowMs, request, options } = context;
  const endMs = hourMs + HOUR_MS;
  const names = await namesBetween(api, SERVING_METRICS, matchers, hourMs, endMs - 1, request.signal);
  if (names.size === 0) return { facts: [], skipped: [] };
  const growths: Growth[] = [];
  for (const name of names) {
    const counters = await countersBefore(context, name, hourMs);
    await readCounters(context, name, { fromMs: hourMs, untilMs: endMs }, counters);
    for (const { series, growth } of counters.values()) {
      const { grown, firstMs, lastMs } = growth;
      if (grown !== undefined) growths.push({ series, grown, firstMs, lastMs });
    }
  }
  const { rows, skipped } = workRows(growths, {
    from: new Date(hourMs),
    until: (lastMs) => new Date(Math.min(endMs, Math.ceil((lastMs + BELIEVED_MS) / 1000) * 1000)),
    observedAt: new Date(Math.min(endMs, nowMs)),
    ...(options.cluster !== undefined && { cluster: options.cluster }),
  });
  const facts: FactRows[] = [{ table: 'work', batch: `work/${hourName(hourMs)}`, mode: 'replace', rows }];
  return { facts, skipped };
}

/** The last value of each counter before the hour: where its growth begins. */
async function countersBefore(
  { api, matchers, request }: PullContext,
  name: string,
  hourMs: number,
): Promise<Map<string, Counter>> {
  const counters = new Map<string, Counter>();
  const query = `last_over_time(${selector(name, matchers)}[${SILENCE_S}s])`;
  for (const { labels, value } of await api.vector(query, hourMs - 1, request.signal)) {
    const series = servingSeries(name, labels);
    if (series !== undefined)
      counters.set(labelKey(labels), { series, growth: CounterGrowth.since(value * series.factor) });
  }
  return counters;
}

interface Part {
  readonly fromMs: number;
  readonly untilMs: number;
}

async function readCounters(
  context: PullContext,
  name: string,
  part: Part,
  counters: Map<string, Counter>,
): Promise<void> {
  const { api, matchers, request, nowMs } = context;
  const rangeS = Math.round((part.untilMs - part.fromMs) / 1000);
  try {
    await api.series(`${selector(name, matchers)}[${rangeS}s]`, part.untilMs - 1, request.signal, (found) => {
      const labels = labelsOf(found);
      const key = labelKey(labels);
      const series = counters.get(key)?.series ?? servingSeries(name, labels);
      if (series === undefined) return;
      const growth = counters.get(key)?.growth ?? new CounterGrowth();
      counters.set(key, { series, growth });
      for (let place = 0; place < found.count; place += 1) {
        const timeMs = found.timesMs[place] ?? 0;
        // Asked as of an earlier moment, what came after it is not read yet.
        if (timeMs >= part.fromMs && timeMs < part.untilMs && timeMs <= nowMs) {
          growth.add(timeMs, (found.values[place] ?? NaN) * series.factor);
        }
      }
    });
  } catch (error) {
    if (!isTooMuch(error) || part.untilMs - part.fromMs < 2 * SHORTEST_PART_MS) throw error;
    const middleMs = part.fromMs + Math.floor((part.untilMs - part.fromMs) / 2 / SHORTEST_PART_MS) * SHORTEST_PART_MS;
    await readCounters(context, name, { ...part, untilMs: middleMs }, counters);
    await readCounters(context, name, { ...part, fromMs: middleMs }, counters);
  }
}

/** Servers leave the name out of what a function gives, and the order of labels is theirs. */
function labelKey(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).filter(([label]) => label !== '__name__');
  return JSON.stringify(pairs.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
