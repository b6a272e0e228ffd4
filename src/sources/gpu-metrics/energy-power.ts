import type { SeriesValue } from './device-readings.ts';
import { labelsOfDevice } from './device-labels.ts';

/** Counters of energy and how many of their units are a joule. */
const UNITS_PER_JOULE: ReadonlyMap<string, number> = new Map([
  ['DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION', 1000],
  ['dcgm_total_energy_consumption', 1000],
  ['gpu_energy_consumed', 1_000_000],
  ['amd_gpu_energy_consumed', 1_000_000],
  ['nvidia_smi_energy_joules_total', 1],
  ['nv_energy_consumption', 1],
]);
const WATTS_MAX = 100_000;

/** By device: when its counter was read, and where it stood. */
export type EnergyCounters = Readonly<Record<string, readonly [ms: number, joules: number]>>;

/**
 * The power of GPUs that only count energy: what their counters grew by since the last look, over the time between.
 *
 * A counter that fell was set back by a restart of the driver, and says nothing about the time before; nor does the first look.
 */
export class EnergyPower {
  readonly #before: EnergyCounters;
  readonly #now = new Map<string, readonly [ms: number, joules: number]>();

  constructor(before: EnergyCounters) {
    this.#before = before;
  }

  add({ name, labels, value }: SeriesValue, at: Date, nodeId: string): void {
    const unitsPerJoule = UNITS_PER_JOULE.get(name);
    // A counter near 2^63 is a blank.
    if (unitsPerJoule === undefined || !(value >= 0 && value < 2 ** 62)) return;
    const device = labelsOfDevice(labels, { nodeId });
    if (device === undefined) return;
    const joules = value / unitsPerJoule;
    const known = this.#now.get(device.deviceId);
    if (known === undefined || joules > known[1]) this.#now.set(device.deviceId, [at.getTime(), joules]);
  }

  wattsOf(deviceId: string): number | undefined {
    const [before, now] = [this.#before[deviceId], this.#now.get(deviceId)];
    if (before === undefined || now === undefined || now[0] <= before[0] || now[1] < before[1]) return undefined;
    const watts = Math.round((now[1] - before[1]) / ((now[0] - before[0]) / 1000));
    return watts <= WATTS_MAX ? watts : undefined;
  }

  cursor(): EnergyCounters {
    return Object.fromEntries(this.#now);
  }
}
