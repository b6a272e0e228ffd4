import type { FactRow, Skipped } from '../../facts/source.ts';
import { familyRank, grownText, type ServingSeries } from './serving-metric.ts';

/** What one counter grew by in a window, and when it was seen in it. */
export interface Growth {
  readonly series: ServingSeries;
  readonly grown: number;
  readonly firstMs: number;
  readonly lastMs: number;
}

interface WorkWindow {
  readonly from: Date;
  /** By the last sample of each counter; a sample speaks for this long after it, and never past the end. */
  readonly until: (lastMs: number) => Date;
  readonly observedAt: Date;
  readonly cluster?: string;
}

/**
 * Growth of counters as rows of work: one for each process, model and unit.
 *
 * One counter that came twice at the same time (two scrapers of a process, two names of a metric) counts once, the greater; one that
 * went on under another name counts on. Counters of a process that differ in labels of its own are added up. Where two kinds of server
 * count the same requests of one process, the first kind is believed and the other told.
 */
export function workRows(growths: readonly Growth[], window: WorkWindow): { rows: FactRow[]; skipped: Skipped[] } {
  const counters = new Map<string, Growth>();
  for (const growth of growths.toSorted((a, b) => a.firstMs - b.firstMs)) {
    const { key } = growth.series;
    const known = counters.get(key);
    if (known === undefined) counters.set(key, growth);
    else {
      const isLater = growth.firstMs > known.lastMs;
      counters.set(key, {
        series: known.series,
        grown: isLater ? known.grown + growth.grown : Math.max(known.grown, growth.grown),
        firstMs: known.firstMs,
        lastMs: Math.max(known.lastMs, growth.lastMs),
      });
    }
  }
  const best = new Map<string, number>();
  for (const { series } of counters.values()) {
    const place = `${series.unit} ${series.place}`;
    best.set(place, Math.min(best.get(place) ?? Infinity, familyRank(series.family)));
  }
  const sums = new Map<string, { series: ServingSeries; grown: number; lastMs: number }>();
  let [doubled, example] = [0, ''];
  for (const { series, grown, lastMs } of counters.values()) {
    if (familyRank(series.family) > (best.get(`${series.unit} ${series.place}`) ?? Infinity)) {
      doubled += 1;
      example ||= `${series.family} ${series.unit} of ${series.place}`;
      continue;
    }
    const key = `${series.unit} ${series.workId}`;
    const known = sums.get(key);
    if (known === undefined) sums.set(key, { series, grown, lastMs });
    else sums.set(key, { series, grown: known.grown + grown, lastMs: Math.max(known.lastMs, lastMs) });
  }
  return {
    rows: [...sums.values()].map((sum) => rowOf(sum, window)),
    skipped:
      doubled === 0
        ? []
        : [{ reason: 'counters of work that another counter of the same process counts too', count: doubled, example }],
  };
}

function rowOf(
  { series, grown, lastMs }: { readonly series: ServingSeries; readonly grown: number; readonly lastMs: number },
  { from, until, observedAt, cluster }: WorkWindow,
): FactRow {
  return {
    source: series.family,
    work_id: series.workId,
    unit: series.unit,
    window_from: from,
    window_until: until(lastMs),
    quantity: grownText(series, grown),
    model_name: series.modelName,
    cluster: cluster ?? series.cluster,
    namespace: series.namespace,
    pod: series.pod,
    node_id: series.nodeId,
    observed_at: observedAt,
  };
}
