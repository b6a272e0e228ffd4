import type { FactRow } from '../../../facts/source.ts';
import { parentsOf, type SeenSeries } from './series-devices.ts';

/** A device on a machine, from when to when. Kept in the cursor, because the rows of a device must begin at the same moment. */
export interface DeviceStay {
  readonly deviceId: string;
  readonly nodeId: string;
  readonly fromS: number;
  lastS: number;
  /** It was told to be gone. */
  isGone: boolean;
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
];

/** Unseen for this long beside others that are seen, a device counts as gone. */
const GONE_AFTER_S = 3600;
/** A device that is back within this time was there: its exporter was away, not the device. */
const BACK_WITHIN_S = 86_400;

/**
 * From the first to the last that was seen of a device on a machine, gaps included. A device that is seen on another machine
 * afterwards has moved; one that is seen under two names of a machine at the same time has not, and the first name stays.
 */
export class DevicePresence {
  readonly #stays = new Map<string, DeviceStay>();
  readonly #changed = new Set<DeviceStay>();

  constructor(kept: readonly KeptStay[] = []) {
    for (const [deviceId, nodeId, fromS, lastS, isGone, model, parentDeviceId, migProfile] of kept) {
      this.#stays.set(deviceId, {
        deviceId,
        nodeId,
        fromS,
        lastS,
        isGone: isGone === 1,
        ...(model !== null && { model }),
        ...(parentDeviceId !== null && { parentDeviceId }),
        ...(migProfile !== null && { migProfile }),
      });
    }
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

  /** Devices that left long ago are dropped: their rows are written, and a return begins a new one. */
  kept(nowS: number): KeptStay[] {
    return [...this.#stays.values()]
      .filter(({ isGone, lastS }) => !isGone || nowS - lastS <= BACK_WITHIN_S)
      .map((stay) => [
        stay.deviceId,
        stay.nodeId,
        stay.fromS,
        stay.lastS,
        stay.isGone ? 1 : 0,
        stay.model ?? null,
        stay.parentDeviceId ?? null,
        stay.migProfile ?? null,
      ]);
  }

  see(seen: readonly SeenSeries[]): void {
    for (const each of [...seen, ...parentsOf(seen)].toSorted(
      (a, b) => a.firstMs - b.firstMs || (a.nodeId < b.nodeId ? -1 : 1),
    )) {
      const [firstS, lastS] = [Math.floor(each.firstMs / 1000), Math.floor(each.lastMs / 1000)];
      const stay = this.#stays.get(each.deviceId);
      if (stay === undefined) this.#begin(each, firstS, lastS);
      else if (stay.nodeId === each.nodeId) this.#goOn(stay, each, firstS, lastS);
      else if (firstS > stay.lastS) {
        this.#changed.add(stay);
        stay.isGone = true;
        this.#begin(each, firstS, lastS);
      }
    }
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
    this.#stays.set(deviceId, stay);
    this.#changed.add(stay);
  }

  #goOn(stay: DeviceStay, each: SeenSeries, firstS: number, lastS: number): void {
    if (firstS - stay.lastS > BACK_WITHIN_S) {
      if (!stay.isGone) this.#changed.add(stay);
      stay.isGone = true;
      this.#begin(each, firstS, lastS);
      return;
    }
    if (stay.isGone || (each.model !== undefined && each.model !== stay.model)) this.#changed.add(stay);
    stay.isGone = false;
    stay.lastS = Math.max(stay.lastS, lastS);
    if (each.model !== undefined) stay.model = each.model;
  }

  /** Says which devices are gone at this moment. On a machine that still stands a device is, whether its exporter speaks or not. */
  settle(atS: number, standing: ReadonlySet<string>): void {
    for (const stay of this.#stays.values()) {
      if (stay.isGone || atS - stay.lastS <= GONE_AFTER_S || standing.has(stay.nodeId)) continue;
      stay.isGone = true;
      this.#changed.add(stay);
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
          stepS,
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
    ...endAndWord(stay.isGone, stay.lastS, stepS),
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
function endAndWord(isGone: boolean, lastS: number, stepS: number): FactRow {
  const end = new Date((lastS + stepS) * 1000);
  return { present_until: isGone ? end : undefined, observed_at: isGone ? end : new Date(lastS * 1000) };
}
