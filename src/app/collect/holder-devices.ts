import { textOf } from '../../facts/source.ts';
import type { DeviceBinding, FactRow, FactRows, HolderHint } from '../../facts/source.ts';
import { podKey } from '../../facts/source-record.ts';

/** A device and the part of the holding in which it was the one. */
interface Stay {
  readonly deviceId: string;
  readonly from: Date;
  /** Undefined: to the holding's end. */
  readonly until?: Date;
}

/** What has to be looked up to name the devices of these holdings. */
export function askedBindings(facts: readonly FactRows[]): { nodeIds: string[]; pods: string[] } {
  const nodeIds = new Set<string>();
  const pods = new Set<string>();
  for (const { rows, hints = [] } of facts) {
    for (const [index, hint] of hints.entries()) {
      if (hint?.gpuIndices !== undefined) nodeIds.add(textOf(rows[index] ?? {}, 'node_id'));
      if (hint?.pod !== undefined) pods.add(podKey(hint.pod));
    }
  }
  return { nodeIds: [...nodeIds], pods: [...pods] };
}

/**
 * Names the devices of holdings where telemetry knows them: one row for each device in place of one with a count. What is left of the
 * count stays a row by count, so that no GPU is lost where an exporter was late.
 */
export function withDevices(facts: FactRows, bindings: readonly DeviceBinding[]): FactRows {
  const { hints, ...others } = facts;
  if (hints === undefined) return facts;
  return {
    ...others,
    rows: facts.rows.flatMap((row, index) => {
      const hint = hints[index];
      return hint === undefined || typeof row['device_id'] === 'string' ? [row] : deviceRows(row, hint, bindings);
    }),
  };
}

function deviceRows(row: FactRow, hint: HolderHint, bindings: readonly DeviceBinding[]): readonly FactRow[] {
  const count = Number(row['gpu_count'] ?? 1);
  if (count === 0) return [row];
  const stays = hint.gpuIndices === undefined ? podStays(row, hint, bindings, count) : placeStays(row, hint, bindings);
  const atOnce = new Set(stays.filter(({ until }) => until === undefined).map(({ deviceId }) => deviceId)).size;
  if (stays.length === 0 || atOnce > count) return [row];
  const named = stays
    .toSorted((a, b) => compare(a.deviceId, b.deviceId) || a.from.getTime() - b.from.getTime())
    .map(({ deviceId, from, until }, slot) => ({
      ...row,
      device_id: deviceId,
      slot,
      gpu_count: 1,
      held_from: from,
      ...(until !== undefined && { held_until: until }),
    }));
  return atOnce === count ? named : [...named, { ...row, slot: named.length, gpu_count: count - atOnce }];
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

interface Span {
  readonly from: Date;
  /** Undefined while it is held. */
  readonly until?: Date;
}

function spanOf(row: FactRow): Span {
  const [from, until] = [row['held_from'], row['held_until']];
  return {
    from: from instanceof Date ? from : new Date(textOf(row, 'held_from')),
    ...(until !== undefined &&
      until !== null && { until: until instanceof Date ? until : new Date(textOf(row, 'held_until')) }),
  };
}

/** The devices at the holding's places. A place whose device was exchanged meanwhile gives one stay for each. */
function placeStays(row: FactRow, { gpuIndices = [] }: HolderHint, bindings: readonly DeviceBinding[]): Stay[] {
  const held = spanOf(row);
  return [...new Set(gpuIndices)].flatMap((gpuIndex) => {
    const here = bindings.filter((each) => each.nodeId === row['node_id'] && each.gpuIndex === gpuIndex);
    const seen = inTurn(here.filter((each) => overlaps(each, held)));
    // Where nobody looked meanwhile, a place that only ever had one device has it still.
    const devices = new Set(here.map(({ deviceId }) => deviceId));
    const turns = seen.length > 0 ? seen : devices.size === 1 ? inTurn(here.slice(0, 1)) : [];
    return successive(turns, held);
  });
}

/**
 * The devices an exporter saw the pod on. The first ones count from the pod's beginning, because exporters look now and then; one
 * that turns up beyond the pod's count has taken the place of the one that was seen last the longest ago.
 */
function podStays(row: FactRow, { pod }: HolderHint, bindings: readonly DeviceBinding[], count: number): Stay[] {
  if (pod === undefined) return [];
  const held = spanOf(row);
  const key = podKey(pod);
  const seen = inTurn(
    bindings.filter((each) => each.pod !== undefined && podKey(each.pod) === key && overlaps(each, held)),
  );
  const stays: Stay[] = seen.slice(0, count).map(({ deviceId }) => ({ deviceId, from: held.from }));
  for (const next of seen.slice(count)) {
    const gone = seen
      .filter(({ deviceId, until }) => until <= next.from && stays.some((stay) => isOpen(stay, deviceId)))
      .toSorted((a, b) => a.until.getTime() - b.until.getTime())[0];
    const place = stays.findIndex((stay) => gone !== undefined && isOpen(stay, gone.deviceId));
    const left = stays[place];
    if (left === undefined) continue;
    stays[place] = { ...left, until: next.from };
    stays.push({ deviceId: next.deviceId, from: next.from });
  }
  return stays;
}

function isOpen(stay: Stay, deviceId: string): boolean {
  return stay.deviceId === deviceId && stay.until === undefined;
}

/** One sighting of each device, in the order they came. */
function inTurn(bindings: readonly DeviceBinding[]): DeviceBinding[] {
  const byDevice = new Map<string, DeviceBinding>();
  for (const each of bindings.toSorted((a, b) => a.from.getTime() - b.from.getTime())) {
    const before = byDevice.get(each.deviceId);
    if (before === undefined) byDevice.set(each.deviceId, each);
    else if (each.until > before.until) byDevice.set(each.deviceId, { ...before, until: each.until });
  }
  return [...byDevice.values()];
}

function successive(turns: readonly DeviceBinding[], held: Span): Stay[] {
  return turns.map(({ deviceId, from }, index) => {
    const next = turns[index + 1];
    return {
      deviceId,
      from: index === 0 ? held.from : from,
      ...(next !== undefined && { until: next.from }),
    };
  });
}

function overlaps({ from, until }: DeviceBinding, held: Span): boolean {
  return until >= held.from && (held.until === undefined || from < held.until);
}
