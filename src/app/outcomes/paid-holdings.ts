import { HELD_CATEGORIES } from '../../ledger/waterfall.ts';
import { lastSaid } from '../rules/last-said.ts';
import { subjectRows } from '../waste/subject-rows.ts';
import type { ReadSpace } from '../workspace.ts';
import { daysOf, hoursSql } from '../window.ts';
import type { LedgerWindow } from '../window.ts';

/** What was paid for something held, and what its GPUs did meanwhile. Null micros: nothing of it has a price. */
export interface Paid {
  readonly usdMicros: bigint | null;
  /** Of it, the money of seconds that computed, and of those nobody knows. */
  readonly activeUsdMicros: bigint | null;
  readonly unknownUsdMicros: bigint | null;
  readonly gpuUnits: bigint;
  readonly computingUnits: bigint;
  readonly unknownUnits: bigint;
  readonly unpricedUnits: bigint;
}

/** One life of a job, or a machine held by nobody who is known, in a window. */
export interface PaidHolding extends Paid {
  readonly subject: string;
  readonly source: string | null;
  readonly allocationId: string | null;
  readonly cluster: string | null;
  readonly namespace: string | null;
  readonly workloadName: string | null;
  readonly runLabel: string | null;
  readonly team: string | null;
  readonly class: string | null;
  /** Seconds of the clock in the window. */
  readonly heldSeconds: bigint;
}

/** The seconds in which a device computed, whatever came of them: gaps between its kernels are in them. */
const COMPUTED = "(w.category IN ('lost', 'computing') OR w.reason IN ('gap', 'exchange', 'between-requests'))";

/** Sums of `subjectRows` that make a `Paid`, by whatever they are grouped by. */
export const PAID_SQL = `
  CAST(sum(w.usd_micros) AS BIGINT) AS "usdMicros",
  CAST(CASE WHEN count(w.usd_micros) > 0 THEN COALESCE(sum(w.usd_micros) FILTER (WHERE ${COMPUTED}), 0) END AS BIGINT)
    AS "activeUsdMicros",
  CAST(CASE WHEN count(w.usd_micros) > 0 THEN COALESCE(sum(w.usd_micros) FILTER (WHERE w.category = 'unknown'), 0) END AS BIGINT)
    AS "unknownUsdMicros",
  CAST(sum(w.gpu_units) AS BIGINT) AS "gpuUnits",
  CAST(COALESCE(sum(w.gpu_units) FILTER (WHERE ${COMPUTED}), 0) AS BIGINT) AS "computingUnits",
  CAST(COALESCE(sum(w.gpu_units) FILTER (WHERE w.category = 'unknown'), 0) AS BIGINT) AS "unknownUnits",
  CAST(sum(w.unpriced_units) AS BIGINT) AS "unpricedUnits"`;

/** The subject of a holder's row, as the ledger spells it. */
export const SUBJECT_SQL = `'job ' || source || '/' || allocation_id || '/' || CAST(attempt AS VARCHAR)`;

/** For how many seconds of the clock each of these lives was held in the window, as `held_time`. */
export const heldTimeSql = (lives: string): string => `
  held_day AS (
    SELECT day, ${SUBJECT_SQL} AS subject, min(source) AS source, min(allocation_id) AS allocation_id,
           min(cluster) AS cluster, min(namespace) AS namespace, min(workload_name) AS workload_name,
           min(labels['run']) AS run_label, min(held_from) AS held_from, max(ends_at) AS ends_at
    FROM holding WHERE ${SUBJECT_SQL} IN (SELECT subject FROM ${lives}) GROUP BY day, source, allocation_id, attempt
  ), held_time AS (
    SELECT subject, min(source) AS source, min(allocation_id) AS allocation_id, min(cluster) AS cluster,
           min(namespace) AS namespace, min(workload_name) AS workload_name, min(run_label) AS run_label,
           CAST(sum(greatest(0, date_diff('second', greatest(held_from, CAST(day AS TIMESTAMP), $windowFrom),
             least(ends_at, CAST(day AS TIMESTAMP) + INTERVAL 1 DAY, $windowEnd)))) AS BIGINT) AS held_seconds
    FROM held_day GROUP BY subject
  )`;

/**
 * Question: what was paid for each holder whose work is met one by one, whose was it, and for how long?
 *
 * All of a holder's money counts, also what stands beside its GPUs. A machine whose holder nobody knows is a subject of its own.
 *
 * Reads: waterfall or its sums by day, ownership, holding, and `met_life` of `findOwnJobs`.
 */
export async function paidHoldings(space: ReadSpace, window: LedgerWindow, end: Date): Promise<PaidHolding[]> {
  if (window.days.length === 0) return [];
  const rows = subjectRows(window);
  const days = daysOf(window);
  return space.ask<PaidHolding>({
    tables: [...rows.tables, ...['ownership', 'holding'].map((table) => ({ table, ...days }))],
    params: { ...rows.params, windowFrom: window.from, windowEnd: end },
    sql: `
      WITH owner AS (
        SELECT subject, ${lastSaid('team', 'day')} AS team, ${lastSaid('class', 'day')} AS class
        FROM ownership WHERE subject IN (SELECT subject FROM met_life) GROUP BY subject
      ), paid AS (
        SELECT w.subject, ${PAID_SQL} FROM (${rows.sql}) w
        WHERE w.subject IN (SELECT subject FROM met_life)
          AND (w.subject LIKE 'job %' OR (w.subject LIKE 'node %' AND w.category IN (${HELD_CATEGORIES})))
        GROUP BY w.subject
      ), ${heldTimeSql('met_life')}
      SELECT p.*, o.team, o.class, h.source, h.allocation_id AS "allocationId", h.cluster, h.namespace, h.workload_name AS "workloadName",
             h.run_label AS "runLabel", COALESCE(h.held_seconds, date_diff('second', $windowFrom, $windowEnd)) AS "heldSeconds"
      FROM paid p LEFT JOIN owner o ON p.subject = o.subject LEFT JOIN held_time h ON p.subject = h.subject ORDER BY p.subject`,
  });
}

/** Which subjects had GPUs on these machines in the window. */
export async function subjectsOnNodes(
  space: ReadSpace,
  window: LedgerWindow,
  nodeIds: readonly string[],
): Promise<{ readonly nodeId: string; readonly subject: string }[]> {
  if (nodeIds.length === 0 || window.days.length === 0) return [];
  const hours = hoursSql(window, 'hour_start');
  const names = Object.fromEntries(nodeIds.map((nodeId, place) => [`node${place}x`, nodeId]));
  return space.ask({
    tables: [{ table: 'waterfall', ...daysOf(window) }],
    params: { ...hours.params, ...names },
    sql: `SELECT DISTINCT node_id AS "nodeId", subject FROM waterfall
          WHERE ${hours.sql} AND node_id IN (${Object.keys(names)
            .map((name) => `$${name}`)
            .join(', ')})
            AND category IN (${HELD_CATEGORIES}) ORDER BY node_id, subject`,
  });
}

/** What was paid for several together. */
export function paidTogether(parts: readonly Paid[]): Paid {
  const micros = (of: (paid: Paid) => bigint | null): bigint | null =>
    parts.reduce<bigint | null>((sum, paid) => {
      const amount = of(paid);
      return amount === null ? sum : (sum ?? 0n) + amount;
    }, null);
  const units = (of: (paid: Paid) => bigint): bigint => parts.reduce((sum, paid) => sum + of(paid), 0n);
  return {
    usdMicros: micros((paid) => paid.usdMicros),
    activeUsdMicros: micros((paid) => paid.activeUsdMicros),
    unknownUsdMicros: micros((paid) => paid.unknownUsdMicros),
    gpuUnits: units((paid) => paid.gpuUnits),
    computingUnits: units((paid) => paid.computingUnits),
    unknownUnits: units((paid) => paid.unknownUnits),
    unpricedUnits: units((paid) => paid.unpricedUnits),
  };
}
