import { z } from 'zod';
import { sqlCount, sqlDay } from '../facts/sql-row.ts';
import { WHOLE_UNITS } from './node-gaps.ts';
import { modelWords } from './wording.ts';

const GPU_DAY_UNITS = 86_400n * WHOLE_UNITS;
const OWN = "('owned', 'committed')";

/** Whole GPUs that are owned or committed and stood empty on a day, on average. */
export const OwnRoom = z.object({ day: sqlDay, cluster: z.string().nullable(), model: z.string(), gpus: sqlCount });
export type OwnRoom = z.infer<typeof OwnRoom>;

/** Reads: node_day. */
export const OWN_ROOM = `
  SELECT day, cluster, model, CAST((units - units % ${GPU_DAY_UNITS}) / ${GPU_DAY_UNITS} AS BIGINT) AS gpus FROM (
    SELECT day, cluster, model, CAST(sum(empty_units) AS BIGINT) AS units FROM node_day
    WHERE model IS NOT NULL AND purchase IN ${OWN} GROUP BY day, cluster, model
  ) summed WHERE units >= ${GPU_DAY_UNITS} ORDER BY day, cluster, model`;

/** A day of a node that is not one's own and had free GPUs beside others: how many of its GPUs were held at some time of it. */
export const RentedDay = z.object({
  nodeId: z.string(),
  day: sqlDay,
  heldGpus: sqlCount,
  isServing: z.boolean(),
  besideUnits: z.bigint(),
  allUnits: z.bigint(),
});
export type RentedDay = z.infer<typeof RentedDay>;

/** `besides` is the beginning of a WITH that has `beside`, the free time of each node and day beside GPUs that were held, and `at_work`: whose work is nobody's cannot be sent elsewhere. Reads: node_day. */
export const rentedDays = (besides: string): string => `${besides}, rented AS (
    SELECT DISTINCT node_id FROM beside WHERE beside_units > 0 AND gpus > 1 AND COALESCE(purchase, '') NOT IN ${OWN}
      AND node_id NOT IN (SELECT COALESCE(node_id, '') FROM at_work)
  ), busy AS (
    SELECT d.node_id, d.day, CAST(sum(d.held_gpus) AS BIGINT) AS held_gpus, bool_or(d.is_serving) AS is_serving,
           CAST(sum(d.held_units + d.unallocated_units) AS BIGINT) AS all_units
    FROM node_day d JOIN rented r ON d.node_id = r.node_id GROUP BY d.node_id, d.day
    HAVING sum(d.held_units + d.unallocated_units) > 0
  )
  SELECT y.node_id AS "nodeId", y.day, y.held_gpus AS "heldGpus", y.is_serving AS "isServing", y.all_units AS "allUnits",
         COALESCE(b.beside_units, 0) AS "besideUnits"
  FROM busy y LEFT JOIN beside b ON y.node_id = b.node_id AND y.day = b.day ORDER BY y.node_id, y.day`;

/** A rented node that could have gone: its jobs would have fitted into GPUs of one's own on these days. */
export interface Dispensable {
  readonly nodeId: string;
  readonly days: ReadonlySet<string>;
  readonly besideUnits: bigint;
  readonly heldGpusMax: number;
  /** All of the room was in its own cluster. */
  readonly isNear: boolean;
  /** Where there was room on these days, and how much on the day with the least. */
  readonly clusters: readonly string[];
  readonly roomMin: number;
}

export interface RoomOptions {
  /** A machine is worth a talk if it could have gone for so many days. */
  readonly daysMin: number;
  /** Of its days: what does not fit on the others is rented again for them. */
  readonly fitPermilleMin: number;
  /** Of its GPU time: a machine that is nearly full is used, wherever its jobs could be. */
  readonly emptyPermilleMin: number;
}

/**
 * Question: which rented nodes would nobody have needed, because as many GPUs of the same model stood empty among those that are paid for anyway?
 *
 * Asked for each pool in turn of one `room`, so that no GPU is offered twice. A day fits if all GPUs that were held at any time of it, be
 * it one after the other, are no more than stood empty all day. A burst fills what is one's own first, and so does not fit. What serves stays where its
 * users are.
 */
export function dispensable(
  nodes: readonly { readonly nodeId: string; readonly cluster: string | null; readonly model: string | null }[],
  rented: ReadonlyMap<string, readonly RentedDay[]>,
  room: Room,
  options: RoomOptions,
): Dispensable[] {
  const held = ({ nodeId }: { readonly nodeId: string }): number =>
    (rented.get(nodeId) ?? []).reduce((sum, { heldGpus }) => sum + heldGpus, 0);
  return nodes
    .toSorted((a, b) => held(a) - held(b))
    .flatMap((node) => {
      const days = rented.get(node.nodeId) ?? [];
      const empty = days.reduce((sum, { besideUnits }) => sum + besideUnits, 0n);
      const all = days.reduce((sum, { allUnits }) => sum + allUnits, 0n);
      const isUsed = empty * 1000n < all * BigInt(options.emptyPermilleMin);
      if (isUsed || days.some(({ isServing }) => isServing)) return [];
      const fitting = days.filter(({ day, heldGpus }) => heldGpus <= room.left(day, node.model));
      if (fitting.length < options.daysMin || fitting.length * 1000 < days.length * options.fitPermilleMin) return [];
      const lefts = fitting.map(({ day }) => room.left(day, node.model));
      const isNear = fitting.every(({ day, heldGpus }) => heldGpus <= room.left(day, node.model, node.cluster));
      const clusters = fitting.flatMap(({ day }) => room.clusters(day, node.model));
      for (const { day, heldGpus } of fitting) room.take(day, node.model, node.cluster, heldGpus);
      return [
        {
          nodeId: node.nodeId,
          days: new Set(fitting.map(({ day }) => day)),
          besideUnits: fitting.reduce((sum, { besideUnits }) => sum + besideUnits, 0n),
          heldGpusMax: Math.max(...fitting.map(({ heldGpus }) => heldGpus)),
          isNear,
          clusters: [...new Set(clusters)].toSorted(),
          roomMin: Math.min(...lefts),
        },
      ];
    });
}

/** What is left of the room of one's own, by day, model and cluster. */
export class Room {
  readonly #left = new Map<string, { readonly cluster: string | null; gpus: number }[]>();

  constructor(rows: readonly OwnRoom[]) {
    for (const { day, cluster, model, gpus } of rows) {
      const key = keyOf(day, model);
      this.#left.set(key, [...(this.#left.get(key) ?? []), { cluster, gpus }]);
    }
  }

  /** Everywhere, or in one cluster. */
  left(day: string, model: string | null, cluster?: string | null): number {
    return this.#of(day, model)
      .filter((each) => cluster === undefined || each.cluster === cluster)
      .reduce((sum, { gpus }) => sum + gpus, 0);
  }

  clusters(day: string, model: string | null): string[] {
    return this.#of(day, model).flatMap(({ cluster, gpus }) => (cluster === null || gpus === 0 ? [] : cluster));
  }

  /** Its own cluster first. */
  take(day: string, model: string | null, cluster: string | null, gpus: number): void {
    let asked = gpus;
    const nearFirst = this.#of(day, model).toSorted(
      (a, b) => Number(b.cluster === cluster) - Number(a.cluster === cluster),
    );
    for (const each of nearFirst) {
      const taken = Math.min(asked, each.gpus);
      each.gpus -= taken;
      asked -= taken;
    }
  }

  #of(day: string, model: string | null): readonly { readonly cluster: string | null; gpus: number }[] {
    return model === null ? [] : (this.#left.get(keyOf(day, model)) ?? []);
  }
}

const keyOf = (day: string, model: string): string => `${day} ${modelWords(model)}`;
