import type { Skipped } from '../../../facts/source.ts';
import type { GpuMetric } from '../../gpu-metrics/metric-columns.ts';
import { isTooMuch, pause, type PrometheusApi } from '../api/prometheus-api.ts';
import { selector } from '../selector.ts';
import { SampleColumns } from './sample-columns.ts';
import { SeriesDevices, type LabelHabits, type SeenSeries } from './series-devices.ts';

/** A stretch of samples to be read, from and until in whole seconds; a sample at `until` is not in it. */
export interface SpanRequest {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly metrics: readonly GpuMetric[];
  /** What every series must match. */
  readonly matchers: string | undefined;
  readonly habits: LabelHabits;
  readonly stepS: number;
  readonly nowMs: number;
  readonly parallel: number;
  /** For a first look: one value in this many seconds instead of every true sample. */
  readonly thinS?: number;
  readonly signal: AbortSignal;
}

export interface SpanRead {
  readonly columns: SampleColumns;
  readonly devices: SeriesDevices;
  readonly skipped: readonly Skipped[];
}

/** A question whose answer has more samples is asked in parts: some 60 MB of JSON. */
export const SAMPLES_PER_QUERY_MAX = 2_000_000;
const SHORTEST_PART_MS = 60_000;
const CLOCK_SKEW_MS = 300_000;
/** A pause after each question, a tenth of the time it took: the server has others to serve. */
const PAUSE_SHARE = 0.1;
const PAUSE_MAX_MS = 1000;

/**
 * Promise: every sample the server has in the span, each once, or an OperationError and none.
 *
 * An instant question for `metric[range]` gives the samples as they were taken; a range question would repeat a value for
 * five minutes after its exporter died. Prometheus 2 counts both ends of a range, Prometheus 3 leaves out the first: asked up to a
 * millisecond before the end, both hold [from, until), and what lies outside is dropped here.
 */
export async function readSpan(api: PrometheusApi, request: SpanRequest): Promise<SpanRead> {
  const { fromMs, untilMs, metrics, stepS } = request;
  // Asked as of an earlier moment, what came after it is not wrong, only not read yet.
  const isNow = Date.now() - request.nowMs <= CLOCK_SKEW_MS;
  const columns = new SampleColumns({
    metrics,
    fromMs,
    untilMs: Math.min(untilMs, request.nowMs + 1000),
    futureMs: isNow ? request.nowMs + CLOCK_SKEW_MS : Infinity,
    nearS: Math.floor(stepS / 2),
  });
  const devices = new SeriesDevices(request.habits);
  const warnings = new Map<string, number>();
  const seriesOfEach = await seriesCount(api, request);
  const ended = new AbortController();
  const signal = AbortSignal.any([request.signal, ended.signal]);
  let heardMs = performance.now();
  const readPart = async (index: number, part: Part): Promise<void> => {
    const metric = metrics[index]?.metric ?? '';
    const track = devices.track(metric);
    try {
      let seen: SeenSeries | undefined;
      const end = await api.series(
        queryOf(metric, part, request),
        part.untilMs - 1,
        signal,
        (series) => {
          if (seen === undefined) return;
          const span = columns.add(seen.device, index, seen.exporter, series);
          if (span === undefined) return;
          if (span[0] < seen.firstMs) seen.firstMs = span[0];
          if (span[1] > seen.lastMs) seen.lastMs = span[1];
        },
        (labels) => {
          seen = devices.of(track, labels);
          if (seen === undefined) return undefined;
          if (seen.device < 0) seen.device = columns.device(seen.deviceId);
          return columns.expected(seen.device, seen.exporter);
        },
      );
      heardMs = performance.now();
      for (const warning of end.warnings) warnings.set(warning, (warnings.get(warning) ?? 0) + 1);
      await pause(Math.min(PAUSE_MAX_MS, end.tookMs * PAUSE_SHARE), api.shown, signal);
    } catch (error) {
      // Smaller questions are for a server that answers some of them; one that answers none for so long is stuck.
      const isStuck = performance.now() - heardMs >= api.patienceMs;
      if (!isTooMuch(error) || isStuck || part.untilMs - part.fromMs < 2 * SHORTEST_PART_MS) throw error;
      for (const half of partsOf(part, 2)) await readPart(index, half);
    }
  };
  const tasks = metrics.flatMap((_, index) => {
    const samples = (seriesOfEach * (untilMs - fromMs)) / 1000 / (request.thinS ?? stepS);
    return partsOf({ fromMs, untilMs }, Math.ceil(samples / SAMPLES_PER_QUERY_MAX)).map(
      (part) => () => readPart(index, part),
    );
  });
  try {
    await inParallel(tasks, request.parallel);
  } finally {
    ended.abort();
  }
  return { columns, devices, skipped: skippedOf(columns, devices, metrics, warnings) };
}

interface Part {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Equal parts that begin at whole minutes, so that a second never belongs to two. */
function partsOf({ fromMs, untilMs }: Part, wanted: number): Part[] {
  const lengthMs = Math.max(
    SHORTEST_PART_MS,
    Math.ceil((untilMs - fromMs) / Math.max(1, wanted) / SHORTEST_PART_MS) * SHORTEST_PART_MS,
  );
  const parts: Part[] = [];
  for (let at = fromMs; at < untilMs; at += lengthMs) {
    parts.push({ fromMs: at, untilMs: Math.min(untilMs, at + lengthMs) });
  }
  return parts;
}

function queryOf(metric: string, { fromMs, untilMs }: Part, { matchers, thinS, stepS }: SpanRequest): string {
  const rangeS = Math.round((untilMs - fromMs) / 1000);
  if (thinS === undefined) return `${selector(metric, matchers)}[${rangeS}s]`;
  return `last_over_time(${selector(metric, matchers)}[${Math.max(2 * stepS, 10)}s])[${rangeS}s:${thinS}s]`;
}

/**
 * How many series a metric has, at the middle and at the end: enough to know how to ask. One metric speaks for all, since an exporter
 * sends them together; where that is wrong the server says so, and the question is asked in halves.
 */
async function seriesCount(api: PrometheusApi, request: SpanRequest): Promise<number> {
  const [first] = request.metrics;
  if (first === undefined) return 0;
  const query = `count(${selector(first.metric, request.matchers)})`;
  let most = 0;
  for (const atMs of [(request.fromMs + request.untilMs) / 2, request.untilMs - 1]) {
    const [found] = await api.vector(query, Math.round(atMs), request.signal);
    most = Math.max(most, found?.value ?? 0);
  }
  return most;
}

async function inParallel(tasks: readonly (() => Promise<void>)[], parallel: number): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < tasks.length) {
      const task = tasks[next];
      next += 1;
      await task?.();
    }
  };
  await Promise.all(Array.from({ length: Math.min(parallel, tasks.length) }, worker));
}

function skippedOf(
  columns: SampleColumns,
  devices: SeriesDevices,
  metrics: readonly GpuMetric[],
  warnings: ReadonlyMap<string, number>,
): Skipped[] {
  const skipped: Skipped[] = metrics.flatMap(({ metric }, index) => {
    const count = columns.blanks[index] ?? 0;
    return count === 0 ? [] : [{ reason: `${metric}: the exporter sent "no value"`, count, example: metric }];
  });
  if (columns.future > 0) {
    const reason = 'samples more than 5 minutes in the future: a clock goes wrong';
    skipped.push({ reason, count: columns.future, example: '' });
  }
  if (devices.strangers > 0) {
    skipped.push({
      reason: 'series whose labels name no GPU',
      count: devices.strangers,
      example: devices.strangerExample,
    });
  }
  for (const [warning, count] of warnings)
    skipped.push({ reason: `the server says: ${warning}`, count, example: warning });
  return skipped;
}
