import { migDeviceId } from '../../facts/source.ts';
import { labelsOfDevice } from './device-labels.ts';
import type { LabelledDevice } from './device-labels.ts';
import type { GpuReading } from './gpu-reading.ts';
import { GPU_METRICS, gpuMetricOf, toColumnValue } from './metric-columns.ts';
import type { GpuMetric } from './metric-columns.ts';

/** A value of a series, from a scrape or a file. */
export interface SeriesValue {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  readonly timestampMs?: number;
}

/** What became of a value. `kept` is in a reading; `device` only told that a GPU is there. */
export type Fate = 'kept' | 'device' | 'blank' | 'not-of-a-slice' | 'no-device' | 'no-column';

export interface GatherOptions {
  /** The moment of the scrape, or of the file. */
  readonly at: Date;
  /** The machine, where no label names one. */
  readonly nodeId: string;
  /** Times of the exporter further away than this are not believed; a file may be of any age. */
  readonly skewMaxS?: number;
}

/** Names whose labels speak of a GPU; `uuid` of other programs is something else. */
const GPU_SERIES = /^(?:DCGM_|dcgm_|nvidia_smi_|nvidia_gpu_|nv_gpu_|amd_gpu_|gpu_|GPU_)/;
/** What DCGM measures of a slice itself; power, clocks and utilisation beside them are those of the whole GPU, or 0. */
export const MIG_COLUMNS: ReadonlySet<string> = new Set([
  'engine_permille',
  'sm_permille',
  'tensor_permille',
  'dram_permille',
  'fb_used_mib',
]);
const OF_THE_PARENT: ReadonlySet<string> = new Set(['power_w', 'xid', 'throttle']);

interface Gathering {
  readonly device: LabelledDevice;
  readonly at: Date;
  readonly pods: Map<string, { namespace: string; name: string; uid?: string }>;
  model?: string | undefined;
  gpuIndex?: number | undefined;
  /** By metric, the greatest value seen: a zero of a second exporter must not hide work. */
  readonly byMetric: Map<GpuMetric, number>;
}

/** Puts the series of a scrape together, one reading for each device and moment. */
export class DeviceReadings {
  readonly #options: GatherOptions;
  readonly #gathered = new Map<string, Gathering>();
  /** Values whose time was too far from ours, taken at our time. */
  skewed = 0;
  /** Values of a metric, device and moment that was there already; the greater one is kept. */
  repeated = 0;

  constructor(options: GatherOptions) {
    this.#options = options;
  }

  add(series: SeriesValue): Fate {
    const metric = gpuMetricOf(series.name);
    if (metric === undefined && !GPU_SERIES.test(series.name)) return 'no-column';
    const device = labelsOfDevice(series.labels, { nodeId: this.#options.nodeId });
    if (device === undefined) return 'no-device';
    const at = this.#moment(series.timestampMs);
    const own = this.#of(device, at, series.labels);
    if (series.name === 'nvidia_smi_index' && Number.isInteger(series.value)) own.gpuIndex = series.value;
    if (metric === undefined) return 'device';
    const value = toColumnValue(metric, series.value);
    if (value === undefined) return 'blank';
    if (device.mig === undefined || MIG_COLUMNS.has(metric.column)) return this.#keep(own, metric, series.value);
    if (!OF_THE_PARENT.has(metric.column)) return 'not-of-a-slice';
    return this.#keep(this.#of(wholeOf(device), at, {}), metric, series.value);
  }

  /** Every device that was named, also one without a value: that it is there is worth knowing. */
  readings(): GpuReading[] {
    return [...this.#gathered.values()].map((each) => this.#readingOf(each));
  }

  #moment(timestampMs: number | undefined): Date {
    const { at, skewMaxS } = this.#options;
    if (timestampMs === undefined) return wholeSecond(at);
    const isFar = skewMaxS !== undefined && Math.abs(timestampMs - at.getTime()) > skewMaxS * 1000;
    // Beyond what a date can be there is no moment either.
    if (isFar || Math.abs(timestampMs) > 8.64e15) {
      this.skewed += 1;
      return wholeSecond(at);
    }
    return wholeSecond(new Date(timestampMs));
  }

  #of(device: LabelledDevice, at: Date, labels: Readonly<Record<string, string>>): Gathering {
    // A slice implies its GPU, which is there even if nothing is measured of it as a whole.
    if (device.mig !== undefined) this.#of(wholeOf(device), at, {});
    const id = deviceIdOf(device);
    const key = `${at.getTime()} ${id}`;
    let known = this.#gathered.get(key);
    if (known === undefined) {
      known = { device, at, pods: new Map(), byMetric: new Map() };
      this.#gathered.set(key, known);
    }
    known.model ??= device.model;
    known.gpuIndex ??= device.gpuIndex;
    if (device.pod !== undefined) {
      const { namespace, name } = device.pod;
      const uid = labels['exported_pod_uid'] ?? labels['pod_uid'] ?? '';
      known.pods.set(`${namespace}/${name}`, { namespace, name, ...(uid !== '' && { uid }) });
    }
    return known;
  }

  #keep(own: Gathering, metric: GpuMetric, value: number): Fate {
    const before = own.byMetric.get(metric);
    if (before !== undefined) this.repeated += 1;
    if (before === undefined || value > before) own.byMetric.set(metric, value);
    return 'kept';
  }

  #readingOf(own: Gathering): GpuReading {
    const { device, at, pods, model, gpuIndex, byMetric } = own;
    return {
      deviceId: deviceIdOf(device),
      nodeId: device.nodeId ?? this.#options.nodeId,
      at,
      ...(gpuIndex !== undefined && { gpuIndex }),
      ...(model !== undefined && { model }),
      ...(device.mig !== undefined && { mig: { parentDeviceId: device.deviceId, profile: device.mig.profile } }),
      ...(pods.size > 0 && { pods: [...pods.values()] }),
      values: valuesOf(byMetric),
    };
  }
}

function deviceIdOf({ deviceId, mig }: LabelledDevice): string {
  return mig === undefined ? deviceId : migDeviceId(deviceId, mig.instance);
}

function wholeOf({ deviceId, nodeId, gpuIndex, model }: LabelledDevice): LabelledDevice {
  return {
    deviceId,
    ...(nodeId !== undefined && { nodeId }),
    ...(gpuIndex !== undefined && { gpuIndex }),
    ...(model !== undefined && { model }),
  };
}

function wholeSecond(time: Date): Date {
  return new Date(Math.floor(time.getTime() / 1000) * 1000);
}

/** Of two metrics for one column the greater counts; parts count only together. */
function valuesOf(byMetric: ReadonlyMap<GpuMetric, number>): Record<string, number> {
  const values: Record<string, number> = {};
  const put = (column: string, value: number | undefined): void => {
    if (value !== undefined) values[column] = Math.max(value, values[column] ?? value);
  };
  for (const [metric, raw] of byMetric) {
    if (metric.share === 'whole') put(metric.column, toColumnValue(metric, raw));
  }
  for (const parts of PARTS) {
    const raws = parts.map((part) => byMetric.get(part));
    const [first] = parts;
    if (first === undefined || raws.includes(undefined)) continue;
    put(
      first.column,
      toColumnValue(
        first,
        raws.reduce<number>((sum, raw) => sum + (raw ?? 0), 0),
      ),
    );
  }
  return values;
}

/** Metrics of one exporter that add up to one column. */
const PARTS: readonly (readonly GpuMetric[])[] = partsTogether();

function partsTogether(): GpuMetric[][] {
  const together = new Map<string, GpuMetric[]>();
  for (const metric of GPU_METRICS.filter(({ share }) => share === 'part')) {
    const key = `${metric.exporter} ${metric.column}`;
    together.set(key, [...(together.get(key) ?? []), metric]);
  }
  return [...together.values()];
}
