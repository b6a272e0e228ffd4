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
 * Question: what was achieved in a window, by counter and unit? Left with the engine as `counted`.
 *
 * A row counts where its window begins, like an hour of the ledger. Checkpoints and units that only say how it was done are none of it. Reads: work.
 */
export async function countWork(space: ReadSpace, from: Date, end: Date): Promise<void> {
  await space.make('counted', {
    tables: [{ table: 'work', first: dayOf(from), last: dayOf(new Date(Math.max(from.getTime(), end.getTime() - 1))) }],
    params: { windowFrom: from, windowEnd: end },
    sql: `
      SELECT source, work_id, unit, max(allocation_id) AS allocation_id, max(run) AS run, max(model_name) AS model_name,
             max(namespace) AS namespace, max(pod) AS pod, max(node_id) AS node_id,
             CAST(sum(quantity) AS DECIMAL(38, 6)) AS quantity,
             CAST(COALESCE(sum(CASE WHEN window_until IS NOT NULL
               THEN date_diff('second', window_from, least(window_until, $windowEnd)) END), 0) AS BIGINT) AS seconds
      FROM work WHERE window_from >= $windowFrom AND window_from < $windowEnd AND ${IS_OUTCOME_SQL}
      GROUP BY source, work_id, unit`,
  });
}

/** Question: which of it did no job do all by itself? Reads what `countWork` and `findOwnJobs` left. */
export async function otherWork(space: ReadSpace): Promise<WorkDone[]> {
  const rows = await space.ask<Omit<WorkDone, 'quantityMillionths'> & { readonly quantity: string }>({
    tables: [],
    sql: `
      SELECT source, work_id AS "workId", unit, allocation_id AS "allocationId", run, model_name AS "modelName", namespace, pod,
             node_id AS "nodeId", CAST(quantity AS VARCHAR) AS quantity, seconds
      FROM counted WHERE allocation_id IS NULL OR allocation_id NOT IN (SELECT allocation_id FROM own_job)
      ORDER BY source, work_id, unit`,
  });
  return rows.map(({ quantity, ...row }) => ({ ...row, quantityMillionths: millionths(quantity) }));
}

export function millionths(quantity: string): bigint {
  return parseDecimal(quantity, QUANTITY_DIGITS) ?? 0n;
}
