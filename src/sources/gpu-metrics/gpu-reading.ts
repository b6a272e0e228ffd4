import { SHARE_UNITS } from '../../facts/column.ts';
import type { DeviceBinding, FactRow } from '../../facts/source.ts';

/** What one GPU, or one slice of a GPU, said at one moment. */
export interface GpuReading {
  readonly deviceId: string;
  readonly nodeId: string;
  readonly at: Date;
  readonly gpuIndex?: number;
  readonly model?: string;
  readonly mig?: { readonly parentDeviceId: string; readonly profile?: string; readonly shareUnits?: number };
  readonly pods?: readonly { readonly namespace: string; readonly name: string; readonly uid?: string }[];
  /** By column of `gpu_sample`; what is not there is unknown. */
  readonly values: Readonly<Record<string, number>>;
}

/** Rows and bindings that follow from readings, in the columns of docs/FACTS.md. */
export interface ReadingFacts {
  readonly samples: readonly FactRow[];
  readonly devices: readonly FactRow[];
  readonly nodes: readonly FactRow[];
  readonly bindings: readonly DeviceBinding[];
}

export interface ReadingContext {
  readonly stepS?: number;
  readonly cluster?: string;
  /** Since when a device or machine is known to be there; its reading's own moment otherwise. */
  readonly presentFrom?: (id: string) => Date | undefined;
  /** Until when: for a file, which speaks of its moment and not of what came after. */
  readonly presentUntil?: Date;
}

/** What do these readings say about samples, devices and machines? Machines are told as seen, not as an inventory tells them. */
export function factsOfReadings(readings: readonly GpuReading[], context: ReadingContext = {}): ReadingFacts {
  const byDevice = new Map<string, GpuReading[]>();
  for (const reading of readings) {
    const known = byDevice.get(reading.deviceId);
    if (known === undefined) byDevice.set(reading.deviceId, [reading]);
    else known.push(reading);
  }
  return {
    samples: readings.filter(({ values }) => Object.keys(values).length > 0).map((each) => sampleRow(each, context)),
    devices: [...byDevice.values()].map((of) => deviceRow(of, context)),
    nodes: nodeRows(readings, context),
    bindings: readings.flatMap(bindingsOf),
  };
}

function sampleRow({ deviceId, at, values }: GpuReading, { stepS }: ReadingContext): FactRow {
  return { device_id: deviceId, ts: at, ...(stepS !== undefined && { step_s: stepS }), ...values };
}

function earliest(readings: readonly GpuReading[]): Date {
  return new Date(Math.min(...readings.map(({ at }) => at.getTime())));
}

function deviceRow(readings: readonly GpuReading[], context: ReadingContext): FactRow {
  const last = readings.reduce((a, b) => (b.at >= a.at ? b : a));
  const model = last.model ?? readings.find((each) => each.model !== undefined)?.model;
  return {
    device_id: last.deviceId,
    present_from: context.presentFrom?.(last.deviceId) ?? earliest(readings),
    present_until: context.presentUntil,
    parent_device_id: last.mig?.parentDeviceId,
    node_id: last.nodeId,
    kind: last.mig === undefined ? 'gpu' : 'mig',
    model,
    mig_profile: last.mig?.profile,
    // Where the profile is known the lake works the share out of it.
    share_units: last.mig !== undefined && last.mig.profile === undefined ? last.mig.shareUnits : undefined,
    observed_at: last.at,
  };
}

function nodeRows(readings: readonly GpuReading[], context: ReadingContext): FactRow[] {
  const byNode = new Map<string, GpuReading[]>();
  for (const reading of readings) {
    const known = byNode.get(reading.nodeId);
    if (known === undefined) byNode.set(reading.nodeId, [reading]);
    else known.push(reading);
  }
  return [...byNode].map(([nodeId, of]) => {
    const gpus = new Map(of.filter(({ mig }) => mig === undefined).map((each) => [each.deviceId, each]));
    const models = new Set([...gpus.values()].map(({ model }) => model));
    const [model] = models;
    return {
      node_id: nodeId,
      present_from: context.presentFrom?.(nodeId) ?? earliest(of),
      present_until: context.presentUntil,
      cluster: context.cluster,
      gpu_count: gpus.size > 0 ? gpus.size : undefined,
      model: models.size === 1 ? model : undefined,
      state: 'up',
      presence: 'inferred',
      observed_at: new Date(Math.max(...of.map(({ at }) => at.getTime()))),
    };
  });
}

function bindingsOf({ deviceId, nodeId, gpuIndex, mig, pods, at }: GpuReading): DeviceBinding[] {
  const place = { deviceId, nodeId, from: at, until: at };
  // A slice has its parent's index: a job that names that index means the whole GPU.
  const placed = gpuIndex === undefined || mig !== undefined ? [] : [{ ...place, gpuIndex }];
  return [...placed, ...(pods ?? []).map(({ namespace, name }) => ({ ...place, pod: { namespace, name } }))];
}

/** The share of a GPU a slice has by its memory, in eighths: for drivers that do not name the slice's profile. */
export function migShareOfMemory(sliceMib: number | undefined, gpuMib: number | undefined): number | undefined {
  if (sliceMib === undefined || gpuMib === undefined || gpuMib <= 0) return undefined;
  const eighths = Math.round((sliceMib / gpuMib) * 8);
  return eighths >= 1 && eighths <= 8 ? (eighths * SHARE_UNITS) / 8 : undefined;
}
