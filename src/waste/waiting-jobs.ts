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

/** By then a scheduler has gone round, and the image is there. */
export const WAIT_SECONDS_MIN = 3600;

/** Those that wait, or did until a scheduler said otherwise, as SQL. Reads: waiting, life_day. */
const ASKING = `
    SELECT w.source, w.allocation_id, w.cluster, w.model, COALESCE(w.gpu_count, 1) AS gpus, w.held_back_by, w.submitted_at AS from_at,
           COALESCE(w.waited_until, h.held_since, w.observed_at, w.submitted_at) AS until_at,
           w.waited_until IS NULL AND h.held_since IS NULL
             AND COALESCE(date_diff('second', w.observed_at, $now) <= ${FRESH_S}, FALSE) AS is_now
    FROM waiting w LEFT JOIN (
      SELECT source, allocation_id, max(held_since) AS held_since FROM life_day
      WHERE allocation_id IN (SELECT allocation_id FROM waiting WHERE waited_until IS NULL) GROUP BY source, allocation_id
    ) h ON w.source = h.source AND w.allocation_id = h.allocation_id AND h.held_since >= w.submitted_at
    WHERE COALESCE(w.waited_until, $now) > $from`;

/**
 * Who waits, and who waited, as a table expression `waited`: from when to when as far as anybody saw, and whether it waits now:
 * nobody has said that it got its GPUs, it was seen within the last hour, and it holds nothing. Schedulers mostly list who waits and forget
 * who did: of a job that began, its holding says when it was asked for. It waited until the first life since, and at least an hour,
 * for most begin within minutes and a month has hundreds of thousands. A job may be there twice, by both.
 *
 * Reads: waiting, life_day, holding.
 */
export const WAITED = `
  asked AS (
    SELECT DISTINCT source, allocation_id, submitted_at FROM holding
    WHERE held_from >= $from AND day = CAST(held_from AS DATE) AND date_diff('second', submitted_at, held_from) >= ${WAIT_SECONDS_MIN}
  ), waited AS (${ASKING}
    UNION ALL
    SELECT a.source, a.allocation_id, min(l.cluster), min(l.model), max(l.devices), CAST(NULL AS VARCHAR), a.submitted_at, min(l.held_since), FALSE
    FROM asked a JOIN life_day l ON a.source = l.source AND a.allocation_id = l.allocation_id AND l.held_since >= a.submitted_at
    GROUP BY a.source, a.allocation_id, a.submitted_at HAVING date_diff('second', a.submitted_at, min(l.held_since)) >= ${WAIT_SECONDS_MIN}
  )`;

/** The tables `ASKING` reads: what was asked for three months ago may still wait. */
export const WAITING_READS = [{ table: 'waiting', daysBefore: 90 }, 'life_day'] as const;
/** The tables `WAITED` reads. */
export const WAITED_READS = [...WAITING_READS, 'holding'] as const;

/** Those that wait now, in the order in which they asked. */
export const WAITING_NOW = `
  WITH waited AS (${ASKING})
  SELECT cluster, model, gpus, held_back_by AS "heldBackBy" FROM waited WHERE is_now ORDER BY from_at, allocation_id`;

/** Whether a job could run on GPUs of this cluster and model. */
export function isFor(
  job: WaitingJob,
  pool: { readonly cluster: string | null; readonly model: string | null },
): boolean {
  return job.cluster === pool.cluster && (job.model === null || job.model === pool.model);
}
