import type { NodeRow, Organisation } from '../organisation.ts';
import type { Holding } from './holding.ts';
import { covers, groupedBy, overlap, secondsCovered, secondsOf, sortedBy } from '../order.ts';
import type { Period } from '../order.ts';

export const U = 63_000;

/** A stretch of time in which a node row holds. */
export interface NodeSpell extends Period {
  readonly row: NodeRow;
}

/** A stretch of time in which a device is there, on one node. A device has one or several. */
export interface Spell extends Period {
  readonly device_id: string;
  /** The GPU a slice is cut from; null for a device that is none. */
  readonly parent_device_id: string | null;
  readonly node_id: string | null;
  readonly model: string | null;
  /** The capacity of a slice. */
  readonly share_units: number;
}

export interface Presence {
  readonly nodes: readonly NodeSpell[];
  readonly devices: readonly Spell[];
}

export const rootOf = (spell: Spell): string => spell.parent_device_id ?? spell.device_id;

/** Each row lasts to its own end, to the next row of the same name, or to the horizon. */
function spellsOfRows<T extends { readonly present_from: number; readonly present_until: number | null }>(
  rows: readonly T[],
  name: (row: T) => string,
  window: Period,
): (Period & { readonly row: T })[] {
  return [...groupedBy(rows, name).values()].flatMap((group) => {
    const ordered = sortedBy(group, (row) => [row.present_from]);
    return ordered.map((row, index) => {
      const next = ordered[index + 1]?.present_from ?? Infinity;
      const until = Math.min(row.present_until ?? Infinity, next);
      return { row, ...overlap({ from: row.present_from, until }, window) };
    });
  });
}

function listedDevices(org: Organisation, nodes: readonly NodeSpell[], window: Period): Spell[] {
  return spellsOfRows(org.devices, (row) => row.device_id, window).flatMap(({ row, ...period }) => {
    const { device_id, parent_device_id, node_id, model, share_units } = row;
    const spell = { device_id, parent_device_id, node_id, model, share_units };
    if (!org.nodes.some((node) => node.node_id === node_id)) return [{ ...spell, ...period }];
    const present = nodes.filter((node) => node.row.node_id === node_id);
    return present.map((node) => ({ ...spell, ...overlap(period, node) }));
  });
}

/** Devices that samples or holdings name and no device row does. */
function inferredDevices(org: Organisation, holdings: readonly Holding[]): Spell[] {
  const listed = new Set(org.devices.map((row) => row.device_id));
  const seen = [
    ...org.samples.map((row) => ({ name: row.device_id, from: row.ts, until: row.ts + row.step_s, node: null })),
    ...holdings.map((each) => ({
      name: each.device_id ?? '',
      from: each.from,
      until: each.until,
      node: each.row.node_id,
    })),
  ].filter((each) => each.name !== '' && !listed.has(each.name));
  return [...groupedBy(seen, (each) => each.name)].map(([device_id, facts]) => ({
    device_id,
    parent_device_id: null,
    node_id: facts.flatMap((fact) => fact.node ?? []).sort()[0] ?? null,
    model: null,
    share_units: U,
    from: facts.reduce((least, fact) => Math.min(least, fact.from), Infinity),
    until: facts.reduce((greatest, fact) => Math.max(greatest, fact.until), 0),
  }));
}

const unnamed = (node_id: string, count: number, model: string | null, period: Period): Spell[] =>
  Array.from({ length: Math.max(0, count) }, (_, i) => ({
    device_id: `${node_id}/gpu${i}`,
    parent_device_id: null,
    node_id,
    model,
    share_units: U,
    from: period.from,
    until: period.until,
  }));

/** Devices of nodes of the inventory that say how many they have and never which. */
function countedDevices(org: Organisation, nodes: readonly NodeSpell[], inferred: readonly Spell[]): Spell[] {
  return nodes.flatMap((node) => {
    const { node_id, gpu_count, model } = node.row;
    if (org.devices.some((device) => device.node_id === node_id)) return [];
    const known = inferred.filter((device) => device.node_id === node_id).length;
    return unnamed(node_id, (gpu_count ?? 0) - known, model, node);
  });
}

/** Devices of nodes that only holdings by count speak of. */
function inferredByCount(org: Organisation, holdings: readonly Holding[]): Spell[] {
  const known = new Set([...org.nodes, ...org.devices].map((row) => row.node_id));
  const byCount = holdings.filter((each) => each.device_id === null && !known.has(each.row.node_id ?? ''));
  return [...groupedBy(byCount, (each) => each.row.node_id ?? '')].flatMap(([node_id, own]) => {
    const heldAt = (time: number): number =>
      own.filter((each) => covers(each, time)).reduce((sum, each) => sum + each.row.gpu_count, 0);
    const period = {
      from: Math.min(...own.map((each) => each.from)),
      until: Math.max(...own.map((each) => each.until)),
    };
    return unnamed(node_id, Math.max(...own.map((each) => heldAt(each.from))), null, period);
  });
}

/** For charges a node that has not ended stays, also past the horizon. */
export function nodesStillThere(org: Organisation): NodeSpell[] {
  return spellsOfRows(org.nodes, (row) => row.node_id, { from: 0, until: Infinity });
}

export function presenceOf(org: Organisation, holdings: readonly Holding[], window: Period): Presence {
  const nodes = spellsOfRows(org.nodes, (row) => row.node_id, window).filter((spell) => spell.from < spell.until);
  const inferred = inferredDevices(org, holdings);
  const devices = [
    ...listedDevices(org, nodes, window),
    ...inferred,
    ...countedDevices(org, nodes, inferred),
    ...inferredByCount(org, holdings),
  ];
  return { nodes, devices: devices.filter((spell) => spell.from < spell.until) };
}

/** Seconds of a root in a window: the greatest of its own and of each of its slices'. */
export function secondsOfRoot(spells: readonly Spell[], root: string, window: Period): number {
  const own = groupedBy(
    spells.filter((spell) => rootOf(spell) === root),
    (spell) => spell.device_id,
  );
  return Math.max(0, ...[...own.values()].map((each) => secondsCovered(each, window)));
}

/** What is said of a root in a window: its first spell there, its own before a slice's. */
export function spellOfRoot(spells: readonly Spell[], root: string, window: Period): Spell | undefined {
  const there = spells.filter((spell) => rootOf(spell) === root && secondsOf(overlap(spell, window)) > 0);
  return sortedBy(there, (spell) => [spell.parent_device_id === null ? 0 : 1, spell.from, spell.device_id])[0];
}

/** What the inventory says of a node at a time, else said last before it, else first; undefined if it knows no such node. */
export function nodeRowAt(org: Organisation, node_id: string | null, time: number): NodeRow | undefined {
  const rows = sortedBy(
    org.nodes.filter((row) => row.node_id === node_id),
    (row) => [row.present_from],
  );
  return rows.findLast((row) => row.present_from <= time) ?? rows[0];
}
