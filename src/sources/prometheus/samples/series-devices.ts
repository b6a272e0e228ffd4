import { OperationError } from '../../../facts/operation-error.ts';
import { migDeviceId, type DeviceBinding } from '../../../facts/source.ts';
import { labelsOfDevice } from '../../gpu-metrics/device-labels.ts';
import { labelsOf, type MatrixSeries } from '../api/matrix-reader.ts';

/** How the labels of this source are to be read. */
export interface LabelHabits {
  /** The label that names the machine, where it is none of the usual ones. */
  readonly nodeLabel?: string;
  /** Scrape targets with a label `pod` of their own: there only `exported_pod` says who has the GPU. */
  readonly podTargets: ReadonlySet<string>;
}

/** What the labels of a series say, and when it was seen to say so. */
export interface SeenSeries {
  readonly deviceId: string;
  readonly nodeId: string;
  readonly exporter: string;
  readonly gpuIndex?: number;
  readonly model?: string;
  readonly parentDeviceId?: string;
  readonly migProfile?: string;
  readonly pod?: { readonly namespace: string; readonly name: string };
  /** Its place among the devices of the block. */
  device: number;
  firstMs: number;
  lastMs: number;
}

/** A source with more label sets in an hour is no fleet of GPUs, or too much for one reader. */
const LABEL_SETS_MAX = 200_000;

/** A set of labels without the metric's name: what stands before the name and what behind it. */
interface KnownLabels {
  readonly head: Buffer;
  readonly tail: Buffer;
  readonly place: number;
  readonly seen: SeenSeries | undefined;
}

/** Where in the list of known labels the answer to one question is. */
export interface Track {
  readonly metric: string;
  readonly name: Buffer;
  next: number;
}

/**
 * Which device is this series of? Remembers the answer for each set of labels, since the metrics of a GPU differ in nothing but
 * their name, and the time in which the labels were seen.
 *
 * Servers give the series of each metric in the same order. So the next one is looked for where it stood the last time, byte by byte
 * and without making text of it; only where that fails it is looked up.
 */
export class SeriesDevices {
  readonly #habits: LabelHabits;
  readonly #known = new Map<string, KnownLabels>();
  readonly #order: KnownLabels[] = [];
  /** Series whose labels name no GPU. */
  strangers = 0;
  strangerExample = '';

  constructor(habits: LabelHabits) {
    this.#habits = habits;
  }

  track(metric: string): Track {
    return { metric, name: Buffer.from(`"__name__":"${metric}"`), next: 0 };
  }

  of(track: Track, series: Pick<MatrixSeries, 'labelBytes' | 'labelLength'>): SeenSeries | undefined {
    const { labelBytes, labelLength } = series;
    const found = labelBytes.indexOf(track.name);
    const nameAt = found < 0 || found + track.name.length > labelLength ? labelLength : found;
    const tailAt = Math.min(labelLength, nameAt + track.name.length);
    const guess = this.#order[track.next];
    const known =
      guess !== undefined && isSame(guess, labelBytes, nameAt, tailAt, labelLength)
        ? guess
        : this.#lookUp(labelBytes, nameAt, tailAt, labelLength);
    track.next = known.place + 1;
    if (known.seen === undefined) {
      this.strangers += 1;
      if (this.strangerExample === '')
        this.strangerExample = labelBytes.toString('utf8', 0, Math.min(labelLength, 200));
    }
    return known.seen;
  }

  #lookUp(bytes: Buffer, nameAt: number, tailAt: number, length: number): KnownLabels {
    const key = bytes.toString('latin1', 0, nameAt) + bytes.toString('latin1', tailAt, length);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    if (this.#order.length >= LABEL_SETS_MAX) {
      throw new OperationError('too-many-series', `more than ${LABEL_SETS_MAX} GPU series in one part`, {
        hint: 'narrow the source with matchers, such as cluster="a", and make one source for each part',
      });
    }
    const fresh: KnownLabels = {
      head: Buffer.from(bytes.subarray(0, nameAt)),
      tail: Buffer.from(bytes.subarray(tailAt, length)),
      place: this.#order.length,
      seen: seenSeries(labelsOf({ labelBytes: bytes, labelLength: length }), this.#habits),
    };
    this.#known.set(key, fresh);
    this.#order.push(fresh);
    return fresh;
  }

  /** Label sets that were seen in the span. */
  seen(): SeenSeries[] {
    return this.#order.flatMap(({ seen }) => (seen !== undefined && seen.lastMs >= seen.firstMs ? seen : []));
  }
}

function isSame({ head, tail }: KnownLabels, bytes: Buffer, nameAt: number, tailAt: number, length: number): boolean {
  return (
    head.length === nameAt &&
    tail.length === length - tailAt &&
    bytes.compare(tail, 0, tail.length, tailAt, length) === 0 &&
    bytes.compare(head, 0, nameAt, 0, nameAt) === 0
  );
}

/** What a set of labels says; undefined if it names no GPU or no machine. */
export function seenSeries(labels: Readonly<Record<string, string>>, habits: LabelHabits): SeenSeries | undefined {
  const stated = habits.nodeLabel === undefined ? undefined : labels[habits.nodeLabel];
  const instance = labels['instance'] ?? '';
  const lastResort = instance.replace(/:\d+$/, '');
  const device = labelsOfDevice(labels, {
    podIsTarget: habits.podTargets.has(instance),
    ...(lastResort !== '' && { nodeId: lastResort }),
  });
  const nodeId = stated !== undefined && stated !== '' ? stated : device?.nodeId;
  if (device === undefined || nodeId === undefined) return undefined;
  const { gpuIndex, model, mig, pod } = device;
  return {
    deviceId: mig === undefined ? device.deviceId : migDeviceId(device.deviceId, mig.instance),
    nodeId,
    exporter: `${labels['job'] ?? ''} ${instance}`,
    ...(gpuIndex !== undefined && { gpuIndex }),
    ...(model !== undefined && { model }),
    ...(mig !== undefined && { parentDeviceId: device.deviceId, migProfile: mig.profile }),
    ...(pod !== undefined && { pod: { namespace: pod.namespace, name: pod.name } }),
    device: -1,
    firstMs: Infinity,
    lastMs: -Infinity,
  };
}

/** Which device is at which place of which machine, and which pod has it: what schedulers cannot tell. */
export function bindingsOf(seen: readonly SeenSeries[]): DeviceBinding[] {
  const bindings = new Map<string, SeenSeries>();
  for (const each of [...seen, ...parentsOf(seen)]) {
    const pod = each.pod === undefined ? '' : `${each.pod.namespace}/${each.pod.name}`;
    const key = JSON.stringify([each.deviceId, each.nodeId, each.gpuIndex, pod]);
    const before = bindings.get(key);
    bindings.set(key, {
      ...each,
      firstMs: Math.min(each.firstMs, before?.firstMs ?? Infinity),
      lastMs: Math.max(each.lastMs, before?.lastMs ?? -Infinity),
    });
  }
  return [...bindings.values()].map(({ deviceId, nodeId, gpuIndex, parentDeviceId, pod, firstMs, lastMs }) => ({
    deviceId,
    nodeId,
    // A slice is not at the place of the whole GPU: a scheduler that names the place means the GPU.
    ...(gpuIndex !== undefined && parentDeviceId === undefined && { gpuIndex }),
    ...(pod !== undefined && { pod }),
    from: new Date(firstMs),
    until: new Date(lastMs),
  }));
}

/** The GPUs that slices are cut from: the exporter of a cut GPU may send nothing but its slices. */
export function parentsOf(seen: readonly SeenSeries[]): SeenSeries[] {
  return seen.flatMap((slice) => {
    const { parentDeviceId, migProfile: _profile, pod: _pod, ...own } = slice;
    return parentDeviceId === undefined ? [] : [{ ...own, deviceId: parentDeviceId, device: -1 }];
  });
}
