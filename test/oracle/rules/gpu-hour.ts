import type { AcceleratorName, Organisation, SampleRow } from '../organisation.ts';
import { HOUR_S, dayOf, hourOf } from '../organisation.ts';
import { activityOf } from './activity.ts';
import type { Activity, ActivityOfDevice } from './activity.ts';
import { partsAt } from './holders.ts';
import type { Part } from './holders.ts';
import type { Holding } from './holding.ts';
import { holderOf, mannerOf } from './manner.ts';
import type { Manner } from './manner.ts';
import { groupedBy, overlap, secondsOf } from '../order.ts';
import type { Period } from '../order.ts';
import { pausesOf } from './pause.ts';
import { rootOf } from './presence.ts';
import type { Presence } from './presence.ts';
import { exchangeRate, sensorsOf } from './sensors.ts';

/** Seconds and unit-seconds of one (root, device, hour, disposition, reason, holder). */
export interface GpuHour {
  readonly root_device_id: string;
  readonly device_id: string;
  readonly hour: number;
  readonly disposition: 'held' | 'unallocated';
  readonly reason: string | null;
  readonly source: string | null;
  readonly allocation_id: string | null;
  readonly attempt: number | null;
  /** The least that the rows which hold the device in this hour name. */
  holder_cluster: string | null;
  seconds: number;
  unit_seconds: bigint;
  computing_units: bigint;
  idle_units: bigint;
  unknown_units: bigint;
  /** Of what computed, what the holder had by name. */
  named_units: bigint;
  pause_units: bigint;
  /** The holder's pauses on the device that reach into the hour. */
  readonly pauses: Period[];
  gap_units: bigint;
  exchange_units: bigint;
  readonly manner: Manner | null;
  idle_reason: string | null;
  computing_reason: string | null;
  conflict: boolean;
}

const hoursOf = (window: Period): number[] => {
  const hours: number[] = [];
  for (let hour = hourOf(window.from); hour < window.until; hour += HOUR_S) hours.push(hour);
  return hours;
};

const ascending = (times: Iterable<number>): number[] => [...new Set(times)].sort((left, right) => left - right);

/** A known class only where every device that speaks for the part is in it. */
function activityOfPart(part: Part, activities: ReadonlyMap<string, ActivityOfDevice>, time: number): Activity {
  const classes = new Set(part.judgedBy.map((device_id) => activities.get(device_id)?.at(time) ?? 'unknown'));
  const [only] = classes;
  return classes.size === 1 && only !== undefined ? only : 'unknown';
}

function gpuHourOf(part: Part, hour: number, holdings: readonly Holding[]): GpuHour {
  const row = part.holding?.row;
  return {
    root_device_id: rootOf(part.device),
    device_id: part.device.device_id,
    hour,
    disposition: part.disposition,
    reason: part.reason,
    source: row?.source ?? null,
    allocation_id: row?.allocation_id ?? null,
    attempt: row?.attempt ?? null,
    holder_cluster: row?.cluster ?? null,
    seconds: 0,
    unit_seconds: 0n,
    computing_units: 0n,
    idle_units: 0n,
    unknown_units: 0n,
    named_units: 0n,
    pause_units: 0n,
    pauses: [],
    gap_units: 0n,
    exchange_units: 0n,
    manner: row === undefined ? null : mannerOf(holdings, row, dayOf(hour)),
    idle_reason: null,
    computing_reason: null,
    conflict: false,
  };
}

const nameOf = (row: GpuHour): string =>
  JSON.stringify([
    row.root_device_id,
    row.device_id,
    row.hour,
    row.disposition,
    row.reason,
    row.source,
    row.allocation_id,
    row.attempt,
  ]);

/**
 * Every second of every present device, by hour, holder and activity.
 *
 * Walks from moment to moment: between two neighbours of `moments` nobody comes or goes and no hour ends, and between
 * two neighbours of `cuts` no sample begins or ends.
 */
export function gpuHoursOf(
  org: Organisation,
  presence: Presence,
  holdings: readonly Holding[],
  window: Period,
  acceleratorNames: readonly AcceleratorName[],
): GpuHour[] {
  const samples = groupedBy(org.samples, (sample) => sample.device_id);
  const activities = new Map([...samples].map(([device_id, own]) => [device_id, activityOf(own)]));
  const borders = [...presence.nodes, ...presence.devices, ...holdings].flatMap((each) => [each.from, each.until]);
  const moments = ascending([...hoursOf(window), ...borders.filter((time) => time >= window.from), window.until]);
  const rows = new Map<string, GpuHour>();
  // What each holder has of each device by name, to find its pauses in afterwards.
  const named = new Map<string, (Period & { readonly row: GpuHour; readonly share: bigint })[]>();

  moments.slice(0, -1).forEach((from, index) => {
    const until = moments[index + 1] ?? from;
    for (const part of partsAt(org, presence, holdings, from)) {
      if (part.share === 0n) continue;
      const fresh = gpuHourOf(part, hourOf(from), holdings);
      const row = rows.get(nameOf(fresh)) ?? fresh;
      rows.set(nameOf(fresh), row);
      row.holder_cluster = leastOf(row.holder_cluster, fresh.holder_cluster);
      row.seconds += until - from;
      row.unit_seconds += part.share * BigInt(until - from);
      row.conflict ||= part.conflict;
      if (part.disposition === 'unallocated') continue;
      const inside = part.judgedBy.flatMap((device_id) => cutsWithin(activities.get(device_id), from, until));
      const cuts = ascending([from, ...inside, until]);
      cuts.slice(0, -1).forEach((cut, at) => {
        const units = part.share * BigInt((cuts[at + 1] ?? cut) - cut);
        const activity = activityOfPart(part, activities, cut);
        row[`${activity}_units`] += units;
        if (activity === 'computing' && part.byName) row.named_units += units;
      });
      if (part.holding === null || !part.byName) continue;
      const name = JSON.stringify([part.device.device_id, holderOf(part.holding.row)]);
      named.set(name, [...(named.get(name) ?? []), { from, until, row, share: part.share }]);
    }
  });
  for (const pieces of named.values()) {
    const activity = activities.get(pieces[0]?.row.device_id ?? '');
    const beside = [...named.values()].filter((others) => others !== pieces).flat();
    const isShared = (time: number): boolean =>
      beside.some(({ row, from, until }) => row.device_id === pieces[0]?.row.device_id && from <= time && time < until);
    const pauses = activity === undefined ? [] : pausesOf(activity, pieces).filter(({ until }) => !isShared(until));
    for (const piece of pieces.filter(({ row }) => row.manner === 'job'))
      for (const pause of pauses) {
        const seconds = secondsOf(overlap(piece, pause));
        piece.row.pause_units += piece.share * BigInt(seconds);
        if (seconds > 0) piece.row.pauses.push(pause);
      }
  }
  for (const row of rows.values()) addSensors(row, samples, presence, acceleratorNames);
  return [...rows.values()];
}

/** What of the time that computed was a gap or an exchange, and whether memory was held in the hour. */
function addSensors(
  row: GpuHour,
  samples: ReadonlyMap<string, readonly SampleRow[]>,
  presence: Presence,
  acceleratorNames: readonly AcceleratorName[],
): void {
  if (row.disposition !== 'held') return;
  const rate = exchangeRate(presence, row.device_id, row.hour, acceleratorNames);
  const { gap, exchange, idleReason, computingReason } = sensorsOf(samples.get(row.device_id) ?? [], row.hour, rate);
  row.idle_reason = idleReason;
  row.computing_reason = computingReason;
  if (row.manner !== 'job' && row.manner !== 'serving') return;
  row.gap_units = (row.named_units * BigInt(gap)) / 1000n;
  if (row.manner !== 'job') return;
  const [exchanged, left] = [(row.named_units * BigInt(exchange)) / 1000n, row.named_units - row.gap_units];
  row.exchange_units = exchanged < left ? exchanged : left;
}

function leastOf(one: string | null, other: string | null): string | null {
  if (one === null || other === null) return one ?? other;
  return one < other ? one : other;
}

function cutsWithin(activity: ActivityOfDevice | undefined, from: number, until: number): number[] {
  return activity === undefined ? [] : activity.cuts.filter((cut) => from < cut && cut < until);
}
