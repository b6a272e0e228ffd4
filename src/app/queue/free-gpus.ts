import { SHARE_UNITS } from '../../facts/column.ts';
import { addDays, dayOf } from '../../lake/calendar.ts';
import type { IdleHolding, IdleNow } from '../../report/idle-list.ts';
import type { FreeGpus } from '../../report/queue-page.ts';
import { lastKnownMoment } from '../now.ts';
import type { Now } from '../now.ts';
import type { ReadSpace } from '../workspace.ts';

/** What the parts of a GPU that is divided by count may lack to a whole one, because each of them is a whole number. */
const ROUNDING_UNITS = 64;

interface FoundDevice {
  readonly deviceId: string;
  readonly nodeId: string;
  readonly model: string | null;
  readonly cluster: string | null;
  readonly region: string | null;
  readonly heldUnits: bigint;
  readonly emptyUnits: bigint;
  readonly isPooled: boolean;
}

/** A machine while its devices are gone through. */
interface Tally {
  readonly first: FoundDevice;
  size: number;
  empty: number;
  readonly holders: IdleHolding[];
  /** Of devices that are held by count, so that nobody knows which of them somebody has. */
  emptyUnits: number;
  idleUnits: number;
  readonly pooledHolders: Set<IdleHolding>;
}

/**
 * Question: which whole GPUs could serve somebody now, machine by machine: empty ones, and those held idle?
 *
 * What is left of a GPU beside somebody's fraction of it serves nobody who asks for a whole one. Of a machine that is held by count so
 * many are free as nobody counts.
 *
 * Reads: held, presence.
 */
export async function freeGpus(space: ReadSpace, now: Now, idle: IdleNow): Promise<FreeGpus[]> {
  const idleOn = new Map<string, IdleHolding[]>();
  for (const holding of idle.holdings) {
    for (const id of holding.devices) idleOn.set(id, [...(idleOn.get(id) ?? []), holding]);
  }
  const tallies = new Map<string, Tally>();
  for (const device of await devicesNow(space, now)) {
    const key = JSON.stringify([device.nodeId, device.model]);
    const tally = tallies.get(key) ?? newTally(device);
    tallies.set(key, tally);
    add(tally, device, idleOn.get(device.deviceId) ?? []);
  }
  return [...tallies.values()].map(freeOf).filter((node) => node.empty + node.idle > 0);
}

function newTally(first: FoundDevice): Tally {
  return { first, size: 0, empty: 0, holders: [], emptyUnits: 0, idleUnits: 0, pooledHolders: new Set() };
}

function add(tally: Tally, device: FoundDevice, holders: readonly IdleHolding[]): void {
  tally.size += 1;
  const [holder] = holders;
  if (device.isPooled) {
    tally.emptyUnits += Number(device.emptyUnits);
    if (holder !== undefined) tally.idleUnits += Number(device.heldUnits);
    for (const each of holders) tally.pooledHolders.add(each);
  } else if (holder !== undefined) {
    tally.holders.push(holder);
  } else if (device.heldUnits === 0n && device.emptyUnits >= SHARE_UNITS) {
    tally.empty += 1;
  }
}

function freeOf({ first, size, empty, holders, emptyUnits, idleUnits, pooledHolders }: Tally): FreeGpus {
  const wholes = (units: number): number => Math.floor((units + ROUNDING_UNITS) / SHARE_UNITS);
  const shared = [...pooledHolders];
  const pooled = Array.from({ length: wholes(idleUnits) }, (_, index) => shared[index % shared.length]);
  const all = [...holders, ...pooled.flatMap((holder) => holder ?? [])];
  const count = new Map<IdleHolding, number>();
  for (const holder of all) count.set(holder, (count.get(holder) ?? 0) + 1);
  return {
    nodeId: first.nodeId,
    model: first.model,
    cluster: first.cluster,
    region: first.region,
    size,
    empty: empty + wholes(emptyUnits),
    idle: all.length,
    // Who has the most of them first: then the fewest people have to be asked.
    holders: [...count]
      .toSorted(([, a], [, b]) => b - a)
      .flatMap(([holder, n]) => Array.from({ length: n }, () => holder)),
  };
}

/** Every GPU that is there now, by the last piece of time the ledger has of it; slices are no whole GPUs. */
async function devicesNow(space: ReadSpace, now: Now): Promise<FoundDevice[]> {
  const moment = space.scope === undefined ? undefined : lastKnownMoment(now.at, space.scope.horizon);
  if (moment === undefined) return [];
  const last = dayOf(new Date(moment.getTime() - 1000));
  return space.ask<FoundDevice>({
    tables: ['held', 'presence'].map((table) => ({ table, first: addDays(last, -1), last })),
    params: { moment, recent: new Date(moment.getTime() - 3_600_000) },
    sql: `
      WITH piece AS (
        SELECT device_id, min(node_id) AS node_id, COALESCE(sum(share_units) FILTER (WHERE disposition = 'held'), 0) AS held_units,
               COALESCE(sum(share_units) FILTER (WHERE reason NOT IN ('down', 'drained', 'mig-rest')), 0) AS empty_units,
               bool_or(pooled) AS is_pooled
        FROM (
          SELECT held.*, rank() OVER (PARTITION BY device_id ORDER BY from_at DESC) AS recency
          FROM held WHERE from_at < $moment
        ) ranked WHERE recency = 1 AND until_at > $recent GROUP BY device_id
      ), described AS (
        SELECT device_id, model, cluster, region, is_slice FROM (
          SELECT presence.*, row_number() OVER (PARTITION BY device_id ORDER BY from_at DESC) AS recency
          FROM presence WHERE from_at < $moment
        ) ranked WHERE recency = 1
      )
      SELECT p.device_id AS "deviceId", p.node_id AS "nodeId", d.model, d.cluster, d.region,
             CAST(p.held_units AS BIGINT) AS "heldUnits", CAST(p.empty_units AS BIGINT) AS "emptyUnits", p.is_pooled AS "isPooled"
      FROM piece p JOIN described d ON p.device_id = d.device_id WHERE NOT d.is_slice AND p.node_id IS NOT NULL
      ORDER BY p.node_id, p.device_id`,
  });
}
