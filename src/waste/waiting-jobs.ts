import { z } from 'zod';
import { sqlCount } from '../facts/sql-row.ts';

/** A job that waits for GPUs of a cluster now. */
export const WaitingJob = z.object({
  cluster: z.string().nullable(),
  /** Null: any will do. */
  model: z.string().nullable(),
  gpus: sqlCount,
  heldBackBy: z.string().nullable(),
});
export type WaitingJob = z.infer<typeof WaitingJob>;

/** A scheduler that was not asked for this long may have started them all. */
const FRESH_S = 3600;

/**
 * Who waits, and who waited, as a table expression `waited`: each job once, from when to when as far as anybody saw, and whether it waits now:
 * nobody has said that it got its GPUs, it was seen within the last hour, and it holds nothing.
 *
 * Reads: waiting, stint_day.
 */
export const WAITED = `
  waited AS (
    SELECT w.source, w.allocation_id, w.cluster, w.model, COALESCE(w.gpu_count, 1) AS gpus, w.held_back_by, w.submitted_at AS from_at,
           COALESCE(w.waited_until, h.held_since, w.observed_at, w.submitted_at) AS until_at,
           w.waited_until IS NULL AND h.held_since IS NULL
             AND COALESCE(date_diff('second', w.observed_at, $now) <= ${FRESH_S}, FALSE) AS is_now
    FROM waiting w LEFT JOIN (
      SELECT source, allocation_id, max(held_since) AS held_since FROM stint_day
      WHERE allocation_id IN (SELECT allocation_id FROM waiting WHERE waited_until IS NULL) GROUP BY source, allocation_id
    ) h ON w.source = h.source AND w.allocation_id = h.allocation_id AND h.held_since >= w.submitted_at
    WHERE COALESCE(w.waited_until, $now) > $from
  )`;

/** The tables `WAITED` reads: what was asked for three months ago may still wait. */
export const WAITED_READS = [{ table: 'waiting', daysBefore: 90 }, 'stint_day'] as const;

/** Those that wait now, in the order in which they asked. */
export const WAITING_NOW = `
  WITH ${WAITED}
  SELECT cluster, model, gpus, held_back_by AS "heldBackBy" FROM waited WHERE is_now ORDER BY from_at, allocation_id`;

/** Whether a job could run on GPUs of this cluster and model. */
export function isFor(
  job: WaitingJob,
  pool: { readonly cluster: string | null; readonly model: string | null },
): boolean {
  return job.cluster === pool.cluster && (job.model === null || job.model === pool.model);
}
