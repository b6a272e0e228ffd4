import { BUSY_PERMILLE_MIN, PARKED_MIB_MIN, restCeilingDeciwatts, type PowerSeen } from '../../facts/rest-power.ts';
import type { SeenHolder } from '../../sources/gpu-metrics/holder-stays.ts';
import type { GpuReading } from '../../sources/gpu-metrics/gpu-reading.ts';
import type { MachineLook } from '../../sources/smi/local-source.ts';
import { priceOfGpu } from './model-price.ts';
import type { StatedRate } from './model-price.ts';
import type { WatchPast } from './watch-history.ts';
import type { WatchDevice, WatchHolder } from '../../report/watch-screen.ts';

export interface WatchState {
  readonly at: Date;
  readonly node: string;
  readonly tool: string;
  readonly devices: readonly WatchDevice[];
  /** Programs of which only the number of GPUs is known. */
  readonly unplaced: readonly (WatchHolder & { readonly gpus: number })[];
  readonly skipped: MachineLook['skipped'];
}

const COMPUTING_PERMILLE = 10;

/** Follows the devices of one machine from look to look. */
export class WatchMemory {
  readonly #rates: readonly StatedRate[];
  #past: WatchPast | undefined;
  readonly #quietSince = new Map<string, Date>();
  readonly #power = new Map<string, PowerSeen>();

  constructor(rates: readonly StatedRate[]) {
    this.#rates = rates;
  }

  /** What the lake knew: stretches that reach up to now go on. */
  learn(past: WatchPast): void {
    this.#past = past;
    for (const [deviceId, { power }] of past.devices) if (power !== null) this.#power.set(deviceId, power);
  }

  stateOf(look: MachineLook, node: string, at: Date): WatchState {
    const totals = totalsOf(look);
    const unplaced = look.holders.filter(({ deviceId }) => deviceId === undefined);
    return {
      at,
      node,
      tool: look.tool,
      devices: look.readings.map((reading) => {
        const holders = look.holders.filter(({ deviceId }) => deviceId === reading.deviceId).map(holderOf);
        return this.#deviceOf(reading, holders, unplaced.length > 0, totals.get(reading.deviceId) ?? null, node, at);
      }),
      unplaced: unplaced.map((holder) => ({ ...holderOf(holder), gpus: holder.gpuCount ?? 1 })),
      skipped: look.skipped,
    };
  }

  #deviceOf(
    reading: GpuReading,
    holders: readonly WatchHolder[],
    isHeldSomewhere: boolean,
    totalMib: number | null,
    node: string,
    at: Date,
  ): WatchDevice {
    const { deviceId, values, mig, model } = reading;
    const active = values['engine_permille'] ?? values['sm_permille'] ?? values['util_permille'] ?? null;
    const activity = this.#activityOf(deviceId, active, values['power_w'] ?? 0, values['fb_used_mib'] ?? null);
    const quietSince = this.#quietFrom(deviceId, activity === 'quiet', at);
    const isHeld = holders.length > 0 || isHeldSomewhere;
    const rates = [...this.#rates, ...(this.#past?.rates ?? [])];
    return {
      deviceId,
      index: reading.gpuIndex ?? null,
      model: model ?? null,
      profile: mig?.profile ?? null,
      isSlice: mig !== undefined,
      state: activity === 'quiet' ? (isHeld ? 'idle' : 'free') : activity,
      activePermille: active,
      usedMib: values['fb_used_mib'] ?? null,
      totalMib,
      powerW: values['power_w'] ?? null,
      holders,
      quietSince,
      price: mig === undefined ? (priceOfGpu(model, node, rates) ?? null) : null,
    };
  }

  /** As `run` has it: power above what the device may draw at rest contradicts an activity of 0. A reading of 0 W says nothing. */
  #activityOf(
    deviceId: string,
    active: number | null,
    powerW: number,
    usedMib: number | null,
  ): 'computing' | 'quiet' | 'unknown' {
    const isBusy = powerW > 0 && active !== null && active >= BUSY_PERMILLE_MIN;
    const before = this.#power.get(deviceId);
    if (powerW > 0) {
      this.#power.set(deviceId, {
        leastW: Math.min(powerW, before?.leastW ?? powerW),
        wasEmpty: before?.wasEmpty === true || (usedMib !== null && usedMib < PARKED_MIB_MIN),
        busyCount: (before?.busyCount ?? 0) + (isBusy ? 1 : 0),
        busyW: (before?.busyW ?? 0) + (isBusy ? powerW : 0),
      });
    }
    if (active === null) return 'unknown';
    if (active >= COMPUTING_PERMILLE) return 'computing';
    const seen = this.#power.get(deviceId);
    const isParked = usedMib !== null && usedMib >= PARKED_MIB_MIN;
    return seen !== undefined && powerW * 10 > restCeilingDeciwatts(seen, isParked) ? 'unknown' : 'quiet';
  }

  #quietFrom(deviceId: string, isQuiet: boolean, at: Date): Date | null {
    if (!isQuiet) {
      this.#quietSince.delete(deviceId);
      return null;
    }
    const known = this.#quietSince.get(deviceId) ?? this.#past?.devices.get(deviceId)?.quietSince;
    const since = known !== undefined && known < at ? known : at;
    this.#quietSince.set(deviceId, since);
    return since;
  }
}

function totalsOf({ gpus, readings }: MachineLook): Map<string, number> {
  const totals = new Map<string, number>();
  const roots = readings.filter(({ mig }) => mig === undefined);
  for (const gpu of gpus) {
    const root = roots.find(({ gpuIndex, deviceId }) => gpuIndex === gpu.index || deviceId === gpu.id);
    if (root === undefined) continue;
    if (gpu.totalMib !== undefined) totals.set(root.deviceId, gpu.totalMib);
    for (const { instance, totalMib } of gpu.slices) {
      if (totalMib !== undefined) totals.set(`${root.deviceId}/${instance}`, totalMib);
    }
  }
  return totals;
}

function holderOf({ id, from, columns }: SeenHolder): WatchHolder {
  const pid = Number(id.split('/').at(-2));
  return {
    user: columns['user_name'] ?? null,
    program: columns['workload_name'] ?? null,
    pid: Number.isInteger(pid) ? pid : null,
    since: from ?? null,
  };
}
