/** First and last second of a run of samples. */
export type Interval = readonly [firstS: number, lastS: number];

/** A series of a device: whom its labels name, and when it had samples. */
export interface LabelledSeries {
  readonly deviceId: string;
  readonly nodeId: string;
  readonly isSlice: boolean;
  readonly pod?: { readonly namespace: string; readonly name: string };
  readonly times: readonly Interval[];
}

/** A pod on a device without a break. */
export interface PodSpan {
  readonly namespace: string;
  readonly name: string;
  readonly nodeId: string;
  readonly deviceId: string;
  readonly isSlice: boolean;
  readonly firstS: number;
  readonly lastS: number;
  /** The device was seen without the pod afterwards, or is seen to the end and the pod is not. */
  readonly hasEnded: boolean;
}

/**
 * From when to when did each pod have each device?
 *
 * Only a device that is seen without the pod tells that the pod has left it. While nothing is heard of the device, its exporter is away,
 * and the pod holds it: before the next word of the same pod, and at the end.
 */
export function podSpans(
  series: readonly LabelledSeries[],
  window: { readonly untilS: number; readonly stepS: number; readonly edgeS: number },
): PodSpan[] {
  const byDevice = new Map<string, LabelledSeries[]>();
  for (const each of series) byDevice.set(each.deviceId, [...(byDevice.get(each.deviceId) ?? []), each]);
  return [...byDevice.values()].flatMap((ofDevice) => spansOfDevice(ofDevice, window));
}

function spansOfDevice(
  ofDevice: readonly LabelledSeries[],
  { untilS, stepS, edgeS }: { readonly untilS: number; readonly stepS: number; readonly edgeS: number },
): PodSpan[] {
  const byPod = new Map<string, LabelledSeries[]>();
  for (const each of ofDevice) {
    if (each.pod !== undefined) byPod.set(holderOf(each), [...(byPod.get(holderOf(each)) ?? []), each]);
  }
  return [...byPod].flatMap(([holder, own]) => {
    const [first] = own;
    if (first?.pod === undefined) return [];
    const { pod, nodeId, deviceId, isSlice } = first;
    const times = own.flatMap((each) => each.times).toSorted((a, b) => a[0] - b[0]);
    const without = ofDevice.filter((each) => holderOf(each) !== holder).flatMap((each) => each.times);
    const runs: [number, number][] = [];
    for (const [firstS, lastS] of times) {
      const run = runs.at(-1);
      if (run !== undefined && longestWithin(without, run[1], firstS) <= edgeS) run[1] = Math.max(run[1], lastS);
      else runs.push([firstS, lastS]);
    }
    return runs.map(([firstS, lastS], place) => {
      const isThere = untilS - lastS <= edgeS;
      const isSeenWithout = without.some((other) => other[1] > lastS + stepS / 2);
      const hasEnded = place < runs.length - 1 || (!isThere && isSeenWithout);
      return { namespace: pod.namespace, name: pod.name, nodeId, deviceId, isSlice, firstS, lastS, hasEnded };
    });
  });
}

/** A pod on a machine; a name that is on another machine is another pod. */
function holderOf({ pod, nodeId }: LabelledSeries): string {
  return JSON.stringify([pod?.namespace, pod?.name, nodeId]);
}

function longestWithin(times: readonly Interval[], fromS: number, untilS: number): number {
  return Math.max(0, ...times.map(([firstS, lastS]) => Math.min(lastS, untilS) - Math.max(firstS, fromS)));
}
