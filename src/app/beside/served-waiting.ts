import { acceleratorNamed } from '../../facts/accelerators.ts';
import { wordsOf } from '../../facts/accelerators/accelerator.ts';
import { SHARE_UNITS } from '../../facts/column.ts';
import type { ServedWaiting } from '../../report/hidden-costs-page.ts';

/** Idle time of some GPUs in one hour, in unit-seconds. */
export interface IdleHour {
  readonly hour: string;
  readonly cluster: string | null;
  readonly model: string | null;
  readonly units: bigint;
  readonly usdMicros: bigint | null;
  /** Of the units, those that have no price. */
  readonly unpricedUnits: bigint;
}

/** Jobs of one size that waited for the same in one hour, in unit-seconds together. */
export interface WaitingHour {
  readonly hour: string;
  /** Null: any. */
  readonly cluster: string | null;
  readonly model: string | null;
  readonly gpus: bigint;
  readonly units: bigint;
}

const UNITS_PER_GPU_HOUR = BigInt(SHARE_UNITS) * 3600n;

/**
 * Question: how much of the waiting could the idle GPUs have served?
 *
 * Hour by hour, never more than was idle and never more than waited. A job counts only for GPUs of its cluster and of the model it
 * asked for, and only in hours in which about as many of them stood idle as it needs: eight GPUs idle for a minute each serve nobody who
 * waits for eight. Those that can go to the fewest places are placed first, so that who takes anything does not take the last of its kind.
 */
export function servedWaiting(idle: readonly IdleHour[], waiting: readonly WaitingHour[]): ServedWaiting {
  const waitingByHour = new Map<string, WaitingHour[]>();
  for (const row of waiting) waitingByHour.set(row.hour, [...(waitingByHour.get(row.hour) ?? []), row]);
  const idleByHour = new Map<string, IdleHour[]>();
  for (const row of idle) idleByHour.set(row.hour, [...(idleByHour.get(row.hour) ?? []), row]);
  let [servedUnits, unpricedUnits, usdMicros] = [0n, 0n, null as bigint | null];
  for (const [hour, there] of idleByHour) {
    for (const [group, units] of serveHour(there, waitingByHour.get(hour) ?? [])) {
      servedUnits += units;
      const priced = group.usdMicros === null ? 0n : group.units - group.unpricedUnits;
      const paid = units < priced ? units : priced;
      unpricedUnits += units - paid;
      if (group.usdMicros !== null && priced > 0n) usdMicros = (usdMicros ?? 0n) + (group.usdMicros * paid) / priced;
    }
  }
  const sum = (rows: readonly { readonly units: bigint }[]): bigint =>
    rows.reduce((total, { units }) => total + units, 0n);
  return {
    servedUnits,
    usdMicros: servedUnits === 0n ? 0n : usdMicros,
    unpricedUnits,
    idleUnits: sum(idle),
    waitingUnits: sum(waiting),
  };
}

function serveHour(idle: readonly IdleHour[], waiting: readonly WaitingHour[]): Map<IdleHour, bigint> {
  const served = new Map<IdleHour, bigint>();
  const placesOf = (job: WaitingHour): IdleHour[] => idle.filter((group) => couldRunOn(job, group));
  const jobs = waiting
    .map((job) => ({ job, places: placesOf(job) }))
    .toSorted((a, b) => a.places.length - b.places.length || Number(b.job.gpus - a.job.gpus));
  for (const { job, places } of jobs) {
    let left = job.units;
    for (const place of places) {
      const taken = served.get(place) ?? 0n;
      const free = place.units - taken;
      const given = left < free ? left : free;
      served.set(place, taken + given);
      left -= given;
    }
  }
  return served;
}

function couldRunOn({ cluster, model, gpus }: WaitingHour, idle: IdleHour): boolean {
  if (cluster !== null && idle.cluster !== null && cluster !== idle.cluster) return false;
  if (model !== null && (idle.model === null || !isOfModel(idle.model, model))) return false;
  return (idle.units + UNITS_PER_GPU_HOUR - 1n) / UNITS_PER_GPU_HOUR >= gpus;
}

/** `H100` is asked for, `NVIDIA H100 80GB HBM3` stands there. */
function isOfModel(listed: string, asked: string): boolean {
  if (wordsOf(listed).includes(wordsOf(asked))) return true;
  const id = acceleratorNamed(asked)?.id;
  return id !== undefined && id === acceleratorNamed(listed)?.id;
}
