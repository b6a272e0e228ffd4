import { SHARE_UNITS } from '../../facts/column.ts';
import { quote } from '../../lake/engine.ts';
import { LIFE_GPUS, MODEL_TABLES, WITH_MODEL } from '../held-model.ts';
import type { LedgerWindow } from '../window.ts';
import type { ReadSpace } from '../workspace.ts';
import type { WaitingHour } from './served-waiting.ts';

/** Why a job waits for something else than GPUs, in Slurm's words: no idle GPU would have served it. */
const NOT_FOR_GPUS = [
  'BeginTime',
  'Dependency',
  'DependencyNeverSatisfied',
  'JobArrayTaskLimit',
  'JobHeldAdmin',
  'JobHeldUser',
];

/**
 * Question: who waited for GPUs in each hour of a window, for how many, where and of which model?
 *
 * From history: a life waited from when it was asked for, or its earlier life ended, until it began; it asked for what it was given. And from
 * what schedulers said was waiting and never began: until it gave up or was last seen. Undefined where neither is known: a
 * fleet whose schedulers do not say has no queue of length 0.
 *
 * Reads: allocation, device, node, waiting.
 */
export async function waitingHours(space: ReadSpace, window: LedgerWindow): Promise<WaitingHour[] | undefined> {
  const tables = [...MODEL_TABLES, { table: 'waiting' }];
  const [known] = await space.ask<{ is: boolean }>({
    tables,
    sql: `SELECT EXISTS (SELECT 1 FROM waiting) OR EXISTS (SELECT 1 FROM allocation WHERE submitted_at IS NOT NULL) AS "is"`,
  });
  if (known?.is !== true) return undefined;
  return space.ask<WaitingHour>({
    tables,
    params: { from: window.from, until: window.until },
    sql: `
      WITH life AS (
        SELECT source, allocation_id, attempt, min(submitted_at) AS submitted_at, min(held_from) AS held_from,
               max(held_until) AS held_until, min(cluster) AS cluster, min(held_model) AS model, ${LIFE_GPUS} AS gpus
        FROM ${WITH_MODEL} a GROUP BY source, allocation_id, attempt
      ), queued AS (
        SELECT cluster, model, gpus, held_from AS until_at, greatest(submitted_at, COALESCE(
                 lag(held_until) OVER (PARTITION BY source, allocation_id ORDER BY attempt), submitted_at)) AS from_at
        FROM life
      ), told AS (
        SELECT w.cluster, w.model, CAST(w.gpu_count AS BIGINT) AS gpus, w.submitted_at AS from_at,
               least(COALESCE(w.waited_until, w.observed_at), min(l.held_from)) AS until_at
        FROM waiting w LEFT JOIN life l
          ON w.source = l.source AND w.allocation_id = l.allocation_id AND l.held_from >= w.submitted_at
        WHERE w.gpu_count > 0 AND COALESCE(w.held_back_by, '') NOT IN (${NOT_FOR_GPUS.map(quote).join(', ')})
        GROUP BY w.source, w.allocation_id, w.submitted_at, w.waited_until, w.observed_at, w.cluster, w.model, w.gpu_count
        HAVING count(l.submitted_at) = 0
      ), span AS (
        SELECT cluster, model, gpus, greatest(from_at, $from) AS from_at, least(until_at, $until) AS until_at
        FROM (SELECT cluster, model, gpus, from_at, until_at FROM queued UNION ALL BY NAME SELECT * FROM told) s
        WHERE from_at IS NOT NULL AND until_at > $from AND from_at < $until AND from_at < until_at
      ), piece AS (
        SELECT *, unnest(generate_series(date_trunc('hour', from_at), until_at - INTERVAL 1 SECOND, INTERVAL 1 HOUR)) AS hour
        FROM span
      )
      SELECT strftime(hour, '%Y-%m-%dT%H:00:00Z') AS hour, cluster, model, gpus,
             CAST(sum(gpus * ${SHARE_UNITS} * date_diff('second', greatest(from_at, hour), least(until_at, hour + INTERVAL 1 HOUR)))
               AS BIGINT) AS units
      FROM piece GROUP BY ALL ORDER BY ALL`,
  });
}
