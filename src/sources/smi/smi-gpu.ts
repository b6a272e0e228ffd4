import { migDeviceId } from '../../facts/source.ts';
import { placeDeviceId } from '../gpu-metrics/device-labels.ts';
import { migShareOfMemory } from '../gpu-metrics/gpu-reading.ts';
import type { GpuReading } from '../gpu-metrics/gpu-reading.ts';
import { isMaskedId, smiColumn } from './smi-value.ts';

/** A program that has memory on a GPU. */
export interface SmiProcess {
  readonly pid: number;
  /** `C` computes, `G` draws, `C+G` does both, `M+C` computes through MPS. */
  readonly type: string;
  readonly name: string;
  readonly usedMib?: number;
  /** The slice it runs in. */
  readonly instance?: string;
}

export interface SmiSlice {
  readonly instance: string;
  /** Its place among the slices of its GPU, by which the list of GPUs names it. */
  readonly index?: number;
  readonly profile?: string;
  readonly totalMib?: number;
  readonly usedMib?: number;
}

/** A GPU as nvidia-smi or rocm-smi shows it. */
export interface SmiGpu {
  readonly id?: string;
  readonly index?: number;
  readonly model?: string;
  readonly totalMib?: number;
  /** By column of `gpu_sample`. */
  readonly values: Readonly<Record<string, number>>;
  readonly slices: readonly SmiSlice[];
  readonly processes: readonly SmiProcess[];
}

/** What the tool printed at one moment. */
export interface SmiSnapshot {
  /** By the clock of the machine, as if it were UTC. */
  readonly wallMs?: number;
  readonly gpus: readonly SmiGpu[];
}

/** What the tools say about a GPU itself, in their own words. */
export interface SmiTexts {
  readonly util?: string | undefined;
  readonly usedMib?: string | undefined;
  readonly power?: readonly (string | undefined)[];
  readonly pcieKbS?: readonly [sent: string | undefined, received: string | undefined];
}

/** Values by column; what the driver does not give is left out. */
export function smiValues({ util, usedMib, power = [], pcieKbS }: SmiTexts): Record<string, number> {
  const watts = power.map((text) => smiColumn(text, 1, 100_000)).find((value) => value !== undefined);
  const [sent, received] = (pcieKbS ?? [undefined, undefined]).map((text) => smiColumn(text, 1, 1e10));
  const columns: Record<string, number | undefined> = {
    util_permille: smiColumn(util, 10, 1000),
    fb_used_mib: smiColumn(usedMib, 1, 100_000_000),
    power_w: watts,
    pcie_mb_s: sent === undefined || received === undefined ? undefined : Math.round((sent + received) / 1000),
  };
  return known(columns);
}

function known(columns: Readonly<Record<string, number | undefined>>): Record<string, number> {
  const values: Record<string, number> = {};
  for (const [column, value] of Object.entries(columns)) if (value !== undefined) values[column] = value;
  return values;
}

const REASON_BITS: readonly (readonly [name: string, bit: number])[] = [
  ...([
    ['gpu_idle', 0x1],
    ['idle', 0x1],
    ['applications_clocks_setting', 0x2],
    ['sw_power_cap', 0x4],
  ] as const),
  ...([
    ['hw_slowdown', 0x8],
    ['sync_boost', 0x10],
    ['sw_thermal_slowdown', 0x20],
  ] as const),
  ...([
    ['hw_thermal_slowdown', 0x40],
    ['hw_power_brake_slowdown', 0x80],
  ] as const),
  ...([
    ['display_clocks_setting', 0x100],
    ['display_clock_setting', 0x100],
  ] as const),
];

/** The bit mask of the reasons that hold the clocks back, as DCGM gives it; undefined where the driver names none. */
export function throttleMask(isActive: (name: string) => string | undefined): number | undefined {
  let [mask, isKnown] = [0, false];
  for (const [name, bit] of REASON_BITS) {
    const text = isActive(name)?.trim();
    if (text === 'Active' || text === 'Not Active') isKnown = true;
    if (text === 'Active') mask |= bit;
  }
  return isKnown ? mask : undefined;
}

/** The id a GPU goes by: the driver's, else its place; undefined if neither is known. */
export function smiDeviceId({ id, index }: Pick<SmiGpu, 'id' | 'index'>, nodeId: string): string | undefined {
  if (id !== undefined && !isMaskedId(id)) return id;
  return index === undefined ? undefined : placeDeviceId(nodeId, index);
}

/** What does a snapshot say of its devices? GPUs without id and place are left out. */
export function smiReadings({ gpus }: SmiSnapshot, nodeId: string, at: Date): GpuReading[] {
  return gpus.flatMap((gpu) => {
    const deviceId = smiDeviceId(gpu, nodeId);
    if (deviceId === undefined) return [];
    const shared = { nodeId, at, ...(gpu.index !== undefined && { gpuIndex: gpu.index }) };
    const model = gpu.model === undefined ? {} : { model: gpu.model };
    const slices = gpu.slices.map(({ instance, profile, totalMib, usedMib }) => {
      const shareUnits = migShareOfMemory(totalMib, gpu.totalMib);
      return {
        ...shared,
        ...model,
        deviceId: migDeviceId(deviceId, instance),
        mig: {
          parentDeviceId: deviceId,
          ...(profile !== undefined && { profile }),
          ...(shareUnits !== undefined && { shareUnits }),
        },
        values: known({ fb_used_mib: usedMib }),
      };
    });
    return [{ ...shared, ...model, deviceId, values: gpu.values }, ...slices];
  });
}
