import type { FactRow } from '../../../facts/source.ts';
import { labelsOf } from '../api/matrix-reader.ts';
import type { PrometheusApi } from '../api/prometheus-api.ts';
import { seenSeries, type LabelHabits, type SeenSeries } from '../samples/series-devices.ts';
import { oneOf, selector } from '../selector.ts';
import { edgeOf, type KubeWindow } from './kube-reading.ts';
import { podSpans, type Interval, type LabelledSeries, type PodSpan } from './pod-spans.ts';

/**
 * Who holds what, where only the GPU's own labels name a pod: no uid, no owner, a span within one step.
 *
 * Each day is cut at its ends, because nothing in the labels says when a pod of yesterday began.
 */
export async function labelHoldings(
  api: PrometheusApi,
  metric: string,
  window: KubeWindow,
  options: {
    readonly cluster: string | undefined;
    readonly pollS: number;
    readonly habits: LabelHabits;
    /** The label that tells GPUs apart. */
    readonly deviceLabel: string;
  },
): Promise<FactRow[]> {
  const spans = podSpans(await readSeries(api, metric, window, options), {
    untilS: window.untilMs / 1000,
    stepS: window.stepS,
    edgeS: edgeOf(window),
  });
  return rowsOf(spans, window, options);
}

const NAMES_AT_ONCE = 200;

/**
 * Every series of the window with the times in which it had samples.
 *
 * Most have one at each step from the beginning to the end, which their count tells; the samples are read only of GPUs with a series
 * of which that is not so.
 */
async function readSeries(
  api: PrometheusApi,
  metric: string,
  window: KubeWindow,
  { habits, deviceLabel }: { readonly habits: LabelHabits; readonly deviceLabel: string },
): Promise<LabelledSeries[]> {
  const { fromMs, untilMs, stepS, signal } = window;
  const rangeS = Math.round((untilMs - fromMs) / 1000);
  const wholeCount = (rangeS - edgeOf(window)) / stepS;
  const all = await api.vector(
    `count_over_time(${selector(metric, window.matchers)}[${rangeS}s])`,
    untilMs - 1,
    signal,
  );
  const named = all.map(({ labels, value }) => ({ name: labels[deviceLabel] ?? '', labels, value }));
  const holed = new Set(named.filter(({ value }) => value < wholeCount).map(({ name }) => name));
  const found: LabelledSeries[] = named
    .filter(({ name }) => !holed.has(name))
    .flatMap(({ labels }) => labelled(seenSeries(labels, habits), [[fromMs / 1000, untilMs / 1000]]));
  const names = [...holed];
  for (let at = 0; at < names.length; at += NAMES_AT_ONCE) {
    const matcher = `${deviceLabel}=~${oneOf(names.slice(at, at + NAMES_AT_ONCE))}`;
    const query = `${selector(metric, matcher, window.matchers)}[${rangeS}s]`;
    await api.series(query, untilMs - 1, signal, (series) => {
      const times = intervalsOf(series.timesMs.subarray(0, series.count), edgeOf(window));
      found.push(...labelled(seenSeries(labelsOf(series), habits), times));
    });
  }
  return found;
}

function labelled(seen: SeenSeries | undefined, times: readonly Interval[]): LabelledSeries[] {
  if (seen === undefined || times.length === 0) return [];
  const { deviceId, nodeId, parentDeviceId, pod } = seen;
  return [{ deviceId, nodeId, isSlice: parentDeviceId !== undefined, ...(pod !== undefined && { pod }), times }];
}

/** First and last second of each run of samples; a longer pause than the edge ends a run. */
function intervalsOf(timesMs: Iterable<number>, edgeS: number): Interval[] {
  const runs: [number, number][] = [];
  for (const timeMs of timesMs) {
    const second = timeMs / 1000;
    const last = runs.at(-1);
    if (last !== undefined && second - last[1] <= edgeS) last[1] = second;
    else runs.push([second, second]);
  }
  return runs;
}

function rowsOf(
  spans: readonly PodSpan[],
  window: KubeWindow,
  { cluster, pollS }: { readonly cluster: string | undefined; readonly pollS: number },
): FactRow[] {
  const slots = new Map<string, string[]>();
  const byDevice = new Map<string, PodSpan[]>();
  for (const span of spans) byDevice.set(span.deviceId, [...(byDevice.get(span.deviceId) ?? []), span]);
  const [windowFromS, windowUntilS] = [window.fromMs / 1000, window.untilMs / 1000];
  const isDayOver = window.untilMs % 86_400_000 === 0;
  return spans
    .toSorted((a, b) => (a.deviceId < b.deviceId ? -1 : a.deviceId > b.deviceId ? 1 : a.firstS - b.firstS))
    .map((span) => {
      const pod = `${span.namespace}/${span.name}`;
      const place = `${pod} ${span.nodeId}`;
      const devices = slots.get(place) ?? [];
      slots.set(place, devices);
      if (!devices.includes(span.deviceId)) devices.push(span.deviceId);
      const fromS = span.firstS - windowFromS <= 2 * window.stepS ? windowFromS : span.firstS;
      const untilS = span.hasEnded ? span.lastS + window.stepS : isDayOver ? windowUntilS : undefined;
      const isShared = (byDevice.get(span.deviceId) ?? []).some(
        (other) => other !== span && other.firstS < span.lastS && other.lastS > span.firstS,
      );
      return {
        source: 'kubernetes',
        allocation_id: pod,
        attempt: 0,
        node_id: span.nodeId,
        slot: devices.indexOf(span.deviceId),
        held_from: new Date(Math.round(fromS) * 1000),
        held_until: untilS === undefined ? undefined : new Date(Math.round(untilS) * 1000),
        observed_at: new Date(window.untilMs),
        poll_s: pollS,
        device_id: span.deviceId,
        gpu_count: 1,
        isolation: span.isSlice ? 'mig' : isShared ? 'time-slice' : 'whole',
        cluster,
        namespace: span.namespace,
        workload_kind: 'Pod',
        workload_name: span.name,
      };
    });
}
