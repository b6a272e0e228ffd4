import type { FactRow } from '../../../facts/source.ts';
import type { PrometheusApi } from '../api/prometheus-api.ts';
import { seenSeries, type LabelHabits } from '../samples/series-devices.ts';
import { isThereAtEnd, sightings, type KubeWindow } from './kube-reading.ts';

/**
 * Who holds what, where only the GPU's own labels name a pod: no uid, no owner, a span within one step.
 *
 * Each day is cut at its ends, because nothing in the labels says when a pod of yesterday began.
 */
export async function labelHoldings(
  api: PrometheusApi,
  metric: string,
  window: KubeWindow,
  options: { readonly cluster: string | undefined; readonly pollS: number; readonly habits: LabelHabits },
): Promise<FactRow[]> {
  const spans = new Map<string, Span>();
  for (const { labels, firstS, lastS } of await sightings(api, metric, window, ['exported_pod', 'pod', 'pod_name'])) {
    const seen = seenSeries(labels, options.habits);
    if (seen?.pod === undefined) continue;
    const key = JSON.stringify([seen.pod.namespace, seen.pod.name, seen.nodeId, seen.deviceId]);
    const before = spans.get(key);
    spans.set(key, {
      namespace: seen.pod.namespace,
      name: seen.pod.name,
      nodeId: seen.nodeId,
      deviceId: seen.deviceId,
      isSlice: seen.parentDeviceId !== undefined,
      firstS: Math.min(firstS, before?.firstS ?? Infinity),
      lastS: Math.max(lastS, before?.lastS ?? -Infinity),
    });
  }
  return rowsOf([...spans.values()], window, options);
}

interface Span {
  readonly namespace: string;
  readonly name: string;
  readonly nodeId: string;
  readonly deviceId: string;
  readonly isSlice: boolean;
  readonly firstS: number;
  readonly lastS: number;
}

function rowsOf(
  spans: readonly Span[],
  window: KubeWindow,
  { cluster, pollS }: { readonly cluster: string | undefined; readonly pollS: number },
): FactRow[] {
  const slots = new Map<string, number>();
  const byDevice = new Map<string, Span[]>();
  for (const span of spans) byDevice.set(span.deviceId, [...(byDevice.get(span.deviceId) ?? []), span]);
  const [windowFromS, windowUntilS] = [window.fromMs / 1000, window.untilMs / 1000];
  const isDayOver = window.untilMs % 86_400_000 === 0;
  return spans
    .toSorted((a, b) => (a.deviceId < b.deviceId ? -1 : 1))
    .map((span) => {
      const pod = `${span.namespace}/${span.name}`;
      const place = `${pod} ${span.nodeId}`;
      const slot = slots.get(place) ?? 0;
      slots.set(place, slot + 1);
      const isThere = isThereAtEnd(span.lastS, window);
      const fromS = span.firstS - windowFromS <= 2 * window.stepS ? windowFromS : span.firstS;
      const untilS = !isThere ? span.lastS + window.stepS : isDayOver ? windowUntilS : undefined;
      const isShared = (byDevice.get(span.deviceId) ?? []).some(
        (other) => other !== span && other.firstS < span.lastS && other.lastS > span.firstS,
      );
      return {
        source: 'kubernetes',
        allocation_id: pod,
        attempt: 0,
        node_id: span.nodeId,
        slot,
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
