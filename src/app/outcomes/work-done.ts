import { IS_OUTCOME_SQL } from '../../facts/work.ts';
import { dayOf } from '../../lake/calendar.ts';
import { parseDecimal } from '../../money/usd.ts';
import type { ReadSpace } from '../workspace.ts';

/** Quantities are whole numbers of millionths of a unit. */
export const QUANTITY_DIGITS = 6;

/** What one counter counted in a window. */
export interface WorkDone {
  readonly source: string;
  readonly workId: string;
  readonly unit: string;
  readonly allocationId: string | null;
  readonly run: string | null;
  readonly modelName: string | null;
  readonly namespace: string | null;
  readonly pod: string | null;
  readonly nodeId: string | null;
  readonly quantityMillionths: bigint;
  /** Seconds of the clock that its windows cover. */
  readonly seconds: bigint;
}

/**
 * Question: what was achieved in a window, by counter and unit?
 *
 * A row counts where its window begins, like an hour of the ledger. Checkpoints and units that only say how it was done are none of it. Reads: work.
 */
export async function workDone(space: ReadSpace, from: Date, end: Date): Promise<WorkDone[]> {
  if (end <= from) return [];
  const rows = await space.ask<Omit<WorkDone, 'quantityMillionths'> & { readonly quantity: string }>({
    tables: [{ table: 'work', first: dayOf(from), last: dayOf(new Date(end.getTime() - 1)) }],
    params: { windowFrom: from, windowEnd: end },
    sql: `
      SELECT source, work_id AS "workId", unit, max(allocation_id) AS "allocationId", max(run) AS run,
             max(model_name) AS "modelName", max(namespace) AS namespace, max(pod) AS pod, max(node_id) AS "nodeId",
             CAST(sum(CAST(quantity AS DECIMAL(38, 6))) AS VARCHAR) AS quantity,
             CAST(COALESCE(sum(CASE WHEN window_until IS NOT NULL
               THEN date_diff('second', window_from, least(window_until, $windowEnd)) END), 0) AS BIGINT) AS seconds
      FROM work WHERE window_from >= $windowFrom AND window_from < $windowEnd AND ${IS_OUTCOME_SQL}
      GROUP BY source, work_id, unit ORDER BY source, work_id, unit`,
  });
  return rows.map(({ quantity, ...row }) => ({
    ...row,
    quantityMillionths: parseDecimal(quantity, QUANTITY_DIGITS) ?? 0n,
  }));
}
