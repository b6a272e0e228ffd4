import { dayOf, parseTime } from '../lake/calendar.ts';
import type { FreshCluster, Freshness, LoadedTable } from '../report/freshness.ts';
import { parseDimensions, parseFilters } from './filter.ts';
import { spend } from './spend.ts';
import { ledgerWindow } from './window.ts';
import type { ReadSpace } from './workspace.ts';

const HOURS = 48;
const HOUR_MS = 3_600_000;

interface ClusterHour {
  readonly cluster: string | null;
  readonly hour: string;
  readonly gpus: bigint;
  readonly heldUnits: bigint;
  readonly unknownUnits: bigint;
}

/**
 * Question: how much of the held GPU time of the last 48 hours was measured, cluster by cluster, and what is the rest worth?
 *
 * The hours end at the newest fact. Reads: gpu_hour and presence of three days, and what `spend` reads.
 */
export async function freshness(space: ReadSpace): Promise<Freshness> {
  const horizon = space.scope?.horizon ?? new Date(0);
  const until = new Date(Math.ceil(horizon.getTime() / HOUR_MS) * HOUR_MS);
  const from = new Date(until.getTime() - HOURS * HOUR_MS);
  if (space.scope === undefined) return { from, until, clusters: [] };
  const rows = await clusterHours(space, from, until);
  const unknown = await unknownMoney(space, from, until);
  const names = [...new Set(rows.map(({ cluster }) => cluster))].toSorted((a, b) => ((a ?? '~') < (b ?? '~') ? -1 : 1));
  return {
    from,
    until,
    clusters: names.map((cluster): FreshCluster => {
      const own = rows.filter((row) => row.cluster === cluster);
      const hours: (number | null)[] = Array.from({ length: HOURS }, () => null);
      for (const { hour, heldUnits, unknownUnits } of own) {
        const known = heldUnits <= 0n ? null : Number(((heldUnits - unknownUnits) * 1000n) / heldUnits);
        hours[Math.round((parseTime(hour).getTime() - from.getTime()) / HOUR_MS)] = known;
      }
      const lastKnown = hours.findLastIndex((known) => known !== null && known > 0);
      return {
        cluster,
        gpus: Math.max(0, ...own.map(({ gpus }) => Number(gpus))),
        hours,
        knownUntil: lastKnown < 0 ? null : new Date(from.getTime() + (lastKnown + 1) * HOUR_MS),
        unknownUsdMicros: unknown.get(cluster) ?? 0n,
      };
    }),
  };
}

async function clusterHours(space: ReadSpace, from: Date, until: Date): Promise<readonly ClusterHour[]> {
  const days = { first: dayOf(from), last: dayOf(new Date(until.getTime() - 1)) };
  return space.ask<ClusterHour>({
    tables: ['gpu_hour', 'presence'].map((table) => ({ table, ...days })),
    params: { from, until },
    sql: `
      WITH place AS (
        SELECT day, root_device_id, min(cluster) AS cluster FROM presence GROUP BY day, root_device_id
      )
      SELECT p.cluster, g.hour_start AS hour, count(DISTINCT g.root_device_id) AS gpus,
             COALESCE(CAST(sum(g.units) FILTER (WHERE g.disposition = 'held') AS BIGINT), 0) AS "heldUnits",
             COALESCE(CAST(sum(g.unknown_units) FILTER (WHERE g.disposition = 'held') AS BIGINT), 0) AS "unknownUnits"
      FROM gpu_hour g JOIN place p ON g.day = p.day AND g.root_device_id = p.root_device_id
      WHERE g.hour_start >= $from AND g.hour_start < $until
      GROUP BY p.cluster, g.hour_start ORDER BY p.cluster, g.hour_start`,
  });
}

async function unknownMoney(space: ReadSpace, from: Date, until: Date): Promise<ReadonlyMap<string | null, bigint>> {
  const text = (time: Date): string => `${time.toISOString().slice(0, 19)}Z`;
  const window = ledgerWindow(`${text(from)}/${text(until)}`, until, space.scope);
  const { rows } = await spend(space, {
    by: parseDimensions('cluster'),
    filters: parseFilters(['category=unknown']),
    window,
  });
  return new Map(rows.map(({ values, costUsdMicros }) => [values[0] ?? null, costUsdMicros ?? 0n]));
}

/** Question: what is in the folder, table by table, and from when to when? */
export function loadedTables({ snapshot }: Pick<ReadSpace, 'snapshot'>): readonly LoadedTable[] {
  const names = [...new Set(snapshot.batches.map(({ table }) => table))].toSorted();
  return names.map((table) => {
    const batches = snapshot.batches.filter((batch) => batch.table === table);
    const times = (of: 'firstAt' | 'newestAt'): string[] => batches.flatMap((batch) => batch[of] ?? []).toSorted();
    return {
      table,
      batches: batches.length,
      rows: batches.reduce((sum, { files }) => sum + files.reduce((all, { rows }) => all + rows, 0), 0),
      firstAt: times('firstAt')[0] ?? null,
      newestAt: times('newestAt').at(-1) ?? null,
    };
  });
}

/** Question: how large is the fleet at the newest fact? */
export async function fleetSize(space: ReadSpace): Promise<{ readonly gpus: number; readonly clusters: number }> {
  if (space.scope === undefined) return { gpus: 0, clusters: 0 };
  const at = new Date(space.scope.horizon.getTime() - 1000);
  const last = dayOf(at);
  const [row] = await space.ask<{ gpus: bigint; clusters: bigint }>({
    tables: [{ table: 'presence', first: last, last }],
    params: { at },
    sql: `
      SELECT count(DISTINCT root_device_id) AS gpus, count(DISTINCT cluster) AS clusters
      FROM presence WHERE from_at <= $at AND until_at > $at`,
  });
  return { gpus: Number(row?.gpus ?? 0n), clusters: Number(row?.clusters ?? 0n) };
}
