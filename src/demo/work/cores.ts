import type { Device } from '../organisation.ts';

const WHOLE_UNITS = 63_000;
const MILLIS = 1000;

/**
 * CPU cores that each of these devices has beside it, for one holder: all of its GPU's, of a slice the slice's share,
 * and of a GPU that several hold at once an equal part, so that all holders of a machine fit it together. Whole cores,
 * unless there is less than one for each. One request names one number, so slices of several sizes get the smallest.
 */
export function coresBeside(devices: readonly Device[]): number {
  const millis = devices.reduce((least, device) => Math.min(least, millisBeside(device)), Infinity);
  return millis >= MILLIS ? Math.floor(millis / MILLIS) : Math.max(1, Math.floor(millis)) / MILLIS;
}

function millisBeside({ node: { pool }, shareUnits }: Device): number {
  const holders = pool.sharing === 'time-slice' ? (pool.time_slices ?? 1) : 1;
  return (pool.cpus_per_gpu * MILLIS * shareUnits) / WHOLE_UNITS / holders;
}
