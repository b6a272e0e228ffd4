import { z } from 'zod';
import type { FactRow } from '../../facts/source.ts';
import type { GpuReading } from './gpu-reading.ts';

/** What is remembered of a device between two looks. */
const KnownDevice = z.object({
  nodeId: z.string(),
  from: z.iso.datetime(),
  gpuIndex: z.number().optional(),
  model: z.string().optional(),
  parentDeviceId: z.string().optional(),
  profile: z.string().optional(),
  shareUnits: z.number().optional(),
});
type KnownDevice = z.infer<typeof KnownDevice>;

const KnownNode = z.object({ from: z.iso.datetime(), gpus: z.number(), model: z.string().optional() });
type KnownNode = z.infer<typeof KnownNode>;

/** The part of a cursor in which a source remembers the devices it has seen. */
export const KnownDevicesCursor = z.object({
  devices: z.record(z.string(), KnownDevice),
  nodes: z.record(z.string(), KnownNode),
});
export type KnownDevicesCursor = z.infer<typeof KnownDevicesCursor>;

export const NO_DEVICES: KnownDevicesCursor = { devices: {}, nodes: {} };

/** Rows that are new or different since the last look, and what to remember for the next. */
export interface DeviceChanges {
  readonly devices: readonly FactRow[];
  readonly nodes: readonly FactRow[];
  readonly cursor: KnownDevicesCursor;
}

/**
 * Which devices are new, different or gone?
 *
 * A GPU that is no longer named stays: it is paid for, whatever its exporter does. It ends when another one is in its place on
 * its machine. A slice ends when its GPU is named and the slice is not: the GPU was cut anew.
 */
export function deviceChanges(
  before: KnownDevicesCursor,
  readings: readonly GpuReading[],
  at: Date,
  cluster: string | undefined,
): DeviceChanges {
  const devices = new Map(Object.entries(before.devices));
  const changed = new Map<string, FactRow>();
  const latest = new Map(readings.map((reading) => [reading.deviceId, reading]));
  for (const [id, reading] of latest) {
    const known = devices.get(id);
    const now = knownOf(reading, known);
    if (known !== undefined && JSON.stringify(known) === JSON.stringify(now)) continue;
    devices.set(id, now);
    changed.set(id, rowOf(id, now, at));
  }
  for (const [id, known] of devices) {
    if (latest.has(id) || !isGone(known, latest)) continue;
    devices.delete(id);
    changed.set(id, rowOf(id, known, at, at));
  }
  const nodes = nodeChanges(before.nodes, devices, latest, at, cluster);
  return {
    devices: [...changed.values()],
    nodes: nodes.changed,
    cursor: { devices: Object.fromEntries(devices), nodes: nodes.known },
  };
}

function knownOf(reading: GpuReading, known: KnownDevice | undefined): KnownDevice {
  const { nodeId, gpuIndex, mig, at } = reading;
  const model = reading.model ?? known?.model;
  // On another machine it is another stay of the same device.
  const from = known !== undefined && known.nodeId === nodeId ? known.from : at.toISOString();
  return {
    nodeId,
    from,
    ...(gpuIndex !== undefined && { gpuIndex }),
    ...(model !== undefined && { model }),
    ...(mig !== undefined && { parentDeviceId: mig.parentDeviceId }),
    ...(mig?.profile !== undefined && { profile: mig.profile }),
    ...(mig?.shareUnits !== undefined && { shareUnits: mig.shareUnits }),
  };
}

function isGone(known: KnownDevice, latest: ReadonlyMap<string, GpuReading>): boolean {
  if (known.parentDeviceId !== undefined) return latest.has(known.parentDeviceId);
  if (known.gpuIndex === undefined) return false;
  return [...latest.values()].some(
    ({ nodeId, gpuIndex, mig }) => mig === undefined && nodeId === known.nodeId && gpuIndex === known.gpuIndex,
  );
}

function rowOf(deviceId: string, known: KnownDevice, at: Date, until?: Date): FactRow {
  return {
    device_id: deviceId,
    present_from: new Date(known.from),
    present_until: until,
    parent_device_id: known.parentDeviceId,
    node_id: known.nodeId,
    kind: known.parentDeviceId === undefined ? 'gpu' : 'mig',
    model: known.model,
    mig_profile: known.profile,
    // Where the profile is known the lake works the share out of it.
    share_units: known.profile === undefined ? known.shareUnits : undefined,
    observed_at: at,
  };
}

function nodeChanges(
  before: Readonly<Record<string, KnownNode>>,
  devices: ReadonlyMap<string, KnownDevice>,
  latest: ReadonlyMap<string, GpuReading>,
  at: Date,
  cluster: string | undefined,
): { changed: FactRow[]; known: Record<string, KnownNode> } {
  const known = { ...before };
  const changed: FactRow[] = [];
  for (const nodeId of new Set([...latest.values()].map((reading) => reading.nodeId))) {
    const gpus = [...devices.values()].filter((each) => each.nodeId === nodeId && each.parentDeviceId === undefined);
    const [model, ...others] = new Set(gpus.map((each) => each.model));
    const from = before[nodeId]?.from ?? at.toISOString();
    const now: KnownNode = { from, gpus: gpus.length, ...(model !== undefined && others.length === 0 && { model }) };
    if (JSON.stringify(before[nodeId]) === JSON.stringify(now)) continue;
    known[nodeId] = now;
    changed.push({
      node_id: nodeId,
      present_from: new Date(from),
      cluster,
      gpu_count: now.gpus,
      model: now.model,
      state: 'up',
      presence: 'inferred',
      observed_at: at,
    });
  }
  return { changed, known };
}
