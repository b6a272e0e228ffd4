import type { FactRow } from '../../../facts/source.ts';
import { NO_MACHINES, type Machines } from './machines.ts';
import { parentsOf, type SeenSeries } from './series-devices.ts';

/** A device on a machine, from when to when. Kept in the cursor, because the rows of a device must begin at the same moment. */
export interface DeviceStay {
  readonly deviceId: string;
  readonly nodeId: string;
  readonly fromS: number;
  lastS: number;
  /** It was told to be gone. */
  isGone: boolean;
  /** When it ended, where something else than its last sample tells: its machine left, or another GPU has taken its place. */
  endS?: number;
  model?: string;
  parentDeviceId?: string;
  migProfile?: string;
}

/** As the cursor holds it: short, since a large fleet has many. */
export type KeptStay = readonly [
  deviceId: string,
  nodeId: string,
  fromS: number,
  lastS: number,
  isGone: 0 | 1,
  model: string | null,
  parentDeviceId: string | null,
  migProfile: string | null,
  endS?: number | null,
];

/** Unseen for this long beside others that are seen, a device counts as gone. */
const GONE_AFTER_S = 3600;
/** A device that is back within this time was there: its exporter was away, not the device. */
const BACK_WITHIN_S = 86_400;
/** Longer than a machine that is forgotten and listed anew reaches back, so that one time is not told in two rows. */
const KEPT_S = 2 * 86_400;

/**
 * From the first to the last that was seen of a device on a machine, gaps included. A device that is seen on another machine
 * afterwards has moved; one that is seen under two names of a machine at the same time has not, and the first name stays.
 *
 * Where kube-state-metrics lists the machine, its GPUs are there as long as it is, whether their exporter speaks or not: from the
 * machine's beginning to its end, and at most as many at a time as the machine has. GPUs that were never seen are the ledger's to count.
 */
export class DevicePresence {
  readonly #stays = new Map<string, DeviceStay>();
  readonly #onNode = new Map<string, Map<string, DeviceStay>>();
  readonly #changed = new Set<DeviceStay>();
  #machines: Machines = NO_MACHINES;

  constructor(kept: readonly KeptStay[] = []) {
    for (const [deviceId, nodeId, fromS, lastS, isGone, model, parentDeviceId, migProfile, endS] of kept) {
      this.#keep({
        deviceId,
        nodeId,
        fromS,
        lastS,
        isGone: isGone === 1,
        ...(model !== null && { model }),
        ...(parentDeviceId !== null && { parentDeviceId }),
        ...(migProfile !== null && { migProfile }),
        ...(typeof endS === 'number' && { endS }),
      });
    }
  }

  /** What kube-state-metrics says of the machines; counts for all that is seen from now on. */
  list(machines: Machines): void {
    this.#machines = machines;
  }

  nodeIds(): ReadonlySet<string> {
    return new Set([...this.#stays.values()].map(({ nodeId }) => nodeId));
  }

  /** How many GPUs each machine with slices has. Its device plugin counts slices, so that only what was measured tells. */
  gpusBesideSlices(): Map<string, number> {
    const there = [...this.#stays.values()].filter(({ isGone }) => !isGone);
    const cut = new Set(there.filter(({ parentDeviceId }) => parentDeviceId !== undefined).map(({ nodeId }) => nodeId));
    const counts = new Map<string, number>();
    for (const { nodeId, parentDeviceId } of there) {
      if (parentDeviceId === undefined && cut.has(nodeId)) counts.set(nodeId, (counts.get(nodeId) ?? 0) + 1);
    }
    return counts;
  }

  /**
   * Devices that left long ago are forgotten: their rows are written, and a return begins a new one. Not so on a machine that stands,
   * where a device that returns, or comes in another's place, must know when that place was taken.
   */
  kept(nowS: number): KeptStay[] {
    for (const [nodeId, stays] of this.#onNode) {
      for (const stay of stays.values()) {
        const leftS = nowS - Math.max(stay.lastS, stay.endS ?? 0);
        if (!stay.isGone || leftS <= KEPT_S || this.#machines.has(nodeId)) continue;
        stays.delete(stay.deviceId);
        if (this.#stays.get(stay.deviceId) === stay) this.#stays.delete(stay.deviceId);
      }
    }
    const all = [...this.#onNode.values()].flatMap((stays) => [...stays.values()]);
    // Read in this order, the last word of each device is where it is now.
    const isNow = (stay: DeviceStay) => this.#stays.get(stay.deviceId) === stay;
    return [...all.filter((stay) => !isNow(stay)), ...all.filter(isNow)].map((stay) => [
      stay.deviceId,
      stay.nodeId,
      stay.fromS,
      stay.lastS,
      stay.isGone ? 1 : 0,
      stay.model ?? null,
      stay.parentDeviceId ?? null,
      stay.migProfile ?? null,
      stay.endS ?? null,
    ]);
  }

  see(seen: readonly SeenSeries[]): void {
    // A GPU goes before its slices, which begin with it.
    for (const each of [...parentsOf(seen), ...seen].toSorted(
      (a, b) =>
        a.firstMs - b.firstMs || compare(a.nodeId, b.nodeId) || compare(a.parentDeviceId ?? '', b.parentDeviceId ?? ''),
    )) {
      const [firstS, lastS] = [Math.floor(each.firstMs / 1000), Math.floor(each.lastMs / 1000)];
      const stay = this.#stays.get(each.deviceId);
      if (stay === undefined) this.#begin(each, this.#beginningOf(each, firstS), lastS);
      else if (stay.nodeId === each.nodeId) this.#goOn(stay, each, firstS, lastS);
      else if (firstS > stay.lastS) {
        this.#end(stay);
        // Where it was before it was seen, nobody knows.
        this.#begin(each, firstS, lastS);
      }
    }
  }

  /**
   * When did a device begin that is seen for the first time? Its exporter may have been silent until then: it was there as long as its
   * machine, or as long as there was room for it beside the others; a slice as long as its GPU, if that has room for it.
   */
  #beginningOf(each: SeenSeries, firstS: number, notBeforeS = 0): number {
    const machine = this.#machines.get(each.nodeId);
    if (machine === undefined) return firstS;
    const { deviceId, parentDeviceId } = each;
    const fromS = Math.min(firstS, Math.max(machine.fromS, notBeforeS));
    const beside = [...(this.#onNode.get(each.nodeId)?.values() ?? [])].filter((stay) => stay.deviceId !== deviceId);
    const alike = beside.filter((stay) => stay.parentDeviceId === parentDeviceId);
    const there = alike.filter(({ isGone }) => !isGone);
    if (parentDeviceId !== undefined) {
      const parent = this.#stays.get(parentDeviceId);
      const taken = [each, ...there].reduce((sum, { migProfile }) => sum + seventhsOf(migProfile), 0);
      return parent?.nodeId !== each.nodeId || taken > 7 ? firstS : Math.max(fromS, parent.fromS);
    }
    const free = (machine.gpus ?? Infinity) - there.length;
    if (free <= 0) return firstS;
    const left = alike.filter(({ isGone }) => isGone).map((stay) => endOf(stay, 0));
    return Math.min(firstS, Math.max(fromS, left.toSorted((a, b) => b - a)[free - 1] ?? 0));
  }

  #begin(each: SeenSeries, fromS: number, lastS: number): void {
    const { deviceId, nodeId, model, parentDeviceId, migProfile } = each;
    const stay = {
      deviceId,
      nodeId,
      fromS,
      lastS,
      isGone: false,
      ...(model !== undefined && { model }),
      ...(parentDeviceId !== undefined && { parentDeviceId }),
      ...(migProfile !== undefined && { migProfile }),
    };
    this.#keep(stay);
    this.#changed.add(stay);
  }

  #keep(stay: DeviceStay): void {
    this.#stays.set(stay.deviceId, stay);
    const onNode = this.#onNode.get(stay.nodeId) ?? new Map<string, DeviceStay>();
    this.#onNode.set(stay.nodeId, onNode.set(stay.deviceId, stay));
  }

  #end(stay: DeviceStay, endS?: number): void {
    if (!stay.isGone) this.#changed.add(stay);
    stay.isGone = true;
    if (endS !== undefined) stay.endS = endS;
  }

  #goOn(stay: DeviceStay, each: SeenSeries, firstS: number, lastS: number): void {
    const knownUntilS = Math.max(stay.lastS, stay.endS ?? 0);
    // An hour that is read again tells nothing new of what has ended since.
    if (stay.isGone && lastS <= knownUntilS) return;
    if (stay.endS !== undefined && firstS > stay.endS) {
      this.#begin(each, this.#beginningOf(each, firstS, stay.endS), lastS);
      return;
    }
    const machine = this.#machines.get(stay.nodeId);
    const hasStood = !stay.isGone && machine !== undefined && machine.fromS <= stay.lastS;
    if (firstS - stay.lastS > BACK_WITHIN_S && !hasStood) {
      this.#end(stay);
      this.#begin(each, this.#beginningOf(each, firstS, stay.lastS + 1), lastS);
      return;
    }
    if (stay.isGone || (each.model !== undefined && each.model !== stay.model)) this.#changed.add(stay);
    stay.isGone = false;
    delete stay.endS;
    stay.lastS = Math.max(stay.lastS, lastS);
    if (each.model !== undefined) stay.model = each.model;
  }

  /** Says which devices are gone at this moment. On a machine that still stands a device is, whether its exporter speaks or not. */
  settle(atS: number): void {
    for (const stay of this.#stays.values()) {
      if (stay.isGone || atS - stay.lastS <= GONE_AFTER_S || this.#stands(stay.nodeId, atS)) continue;
      const untilS = this.#machines.get(stay.nodeId)?.untilS ?? 0;
      this.#end(stay, untilS > stay.lastS ? untilS : undefined);
    }
    for (const [nodeId, stays] of this.#onNode) {
      const gpus = this.#machines.get(nodeId)?.gpus;
      if (gpus === undefined || stays.size <= gpus || !this.#stands(nodeId, atS)) continue;
      const there = [...stays.values()].filter((stay) => !stay.isGone && this.#stays.get(stay.deviceId) === stay);
      this.#makeRoom(there, gpus, atS);
    }
  }

  #stands(nodeId: string, atS: number): boolean {
    const machine = this.#machines.get(nodeId);
    return machine !== undefined && (machine.untilS === undefined || machine.untilS > atS);
  }

  /** Of more GPUs than the machine has, those that were not seen for the longest have left: when the next one came in their place. */
  #makeRoom(stays: readonly DeviceStay[], gpus: number, atS: number): void {
    const roots = stays
      .filter(({ parentDeviceId }) => parentDeviceId === undefined)
      .toSorted((a, b) => a.lastS - b.lastS);
    const newcomers = roots.map(({ fromS }) => fromS).toSorted((a, b) => a - b);
    for (const old of roots.slice(0, Math.max(0, roots.length - gpus))) {
      const place = newcomers.findIndex((fromS) => fromS > old.lastS);
      const endS = place < 0 ? undefined : newcomers.splice(place, 1)[0];
      if (endS === undefined && atS - old.lastS <= GONE_AFTER_S) continue;
      for (const stay of stays) if (stay === old || stay.parentDeviceId === old.deviceId) this.#end(stay, endS);
    }
  }

  /** Rows that are new or other than they were, with the machines nobody else lists. */
  changes(
    stepS: number,
    cluster: string | undefined,
    listed: ReadonlySet<string>,
  ): { devices: FactRow[]; nodes: FactRow[] } {
    const devices = [...this.#changed].map((stay) => deviceRow(stay, stepS));
    const nodes = this.#nodeRows(new Set([...this.#changed].map(({ nodeId }) => nodeId)), stepS, cluster, listed);
    this.#changed.clear();
    return { devices, nodes };
  }

  #nodeRows(
    nodeIds: ReadonlySet<string>,
    stepS: number,
    cluster: string | undefined,
    listed: ReadonlySet<string>,
  ): FactRow[] {
    const byNode = new Map<string, DeviceStay[]>();
    for (const stay of new Set([...this.#stays.values(), ...this.#changed])) {
      if (!nodeIds.has(stay.nodeId)) continue;
      byNode.set(stay.nodeId, [...(byNode.get(stay.nodeId) ?? []), stay]);
    }
    return [...byNode].flatMap(([nodeId, own]) => {
      if (listed.has(nodeId)) return [];
      const lastS = Math.max(...own.map((stay) => stay.lastS));
      return {
        node_id: nodeId,
        present_from: new Date(Math.min(...own.map(({ fromS }) => fromS)) * 1000),
        ...endAndWord(
          own.every(({ isGone }) => isGone),
          lastS,
          lastS + stepS,
        ),
        presence: 'inferred',
        cluster,
      };
    });
  }
}

function deviceRow(stay: DeviceStay, stepS: number): FactRow {
  return {
    device_id: stay.deviceId,
    present_from: new Date(stay.fromS * 1000),
    ...endAndWord(stay.isGone, stay.lastS, endOf(stay, stepS)),
    parent_device_id: stay.parentDeviceId,
    node_id: stay.nodeId,
    kind: stay.parentDeviceId === undefined ? 'gpu' : 'mig',
    model: stay.model,
    mig_profile: stay.migProfile,
  };
}

/**
 * When it ended, and the moment this row speaks of. The batch keeps the newer of two rows: the end is newer than the last sample, and
 * the first sample after a return newer than the end.
 */
function endAndWord(isGone: boolean, lastS: number, endS: number): FactRow {
  const end = new Date(endS * 1000);
  return { present_until: isGone ? end : undefined, observed_at: isGone ? end : new Date(lastS * 1000) };
}

function endOf({ lastS, endS }: DeviceStay, stepS: number): number {
  return endS ?? lastS + stepS;
}

/** How many of the seven parts of a GPU a slice has: `3g.40gb` has three. One of an unknown kind has them all. */
function seventhsOf(profile: string | undefined): number {
  return Number(/^(\d)g\b/.exec(profile ?? '')?.[1] ?? 7);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
