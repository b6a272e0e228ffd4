import { OVERLAP_SECONDS_MAX } from '../facts/overlap.ts';
import type { Stage } from '../facts/stage.ts';

/**
 * Question: who holds what on each day, and until when?
 *
 * A holding that began on an earlier day is carried from day to day, so that a new day costs the same however long
 * the history. `ends_at` is cut just past the day's end: a job that goes on for weeks does not change the days before.
 *
 * Reads: allocation (winners of their key), holding of the day before.
 */
export const holding: Stage = {
  name: 'holding',
  version: 2,
  unit: 'day',
  reads: [
    { table: 'allocation', days: [0] },
    { table: 'holding', days: [-1] },
  ],
  params: ['horizon'],
  writes: [
    ['day', 'DATE'],
    ['source', 'VARCHAR'],
    ['allocation_id', 'VARCHAR'],
    ['attempt', 'BIGINT'],
    ['node_id', 'VARCHAR'],
    ['slot', 'BIGINT'],
    ['held_from', 'TIMESTAMP'],
    ['held_until', 'TIMESTAMP'],
    ['observed_at', 'TIMESTAMP'],
    ['poll_s', 'BIGINT'],
    ['polled', 'BOOLEAN'],
    ['device_id', 'VARCHAR'],
    ['gpu_count', 'BIGINT'],
    ['share_units', 'BIGINT'],
    ['isolation', 'VARCHAR'],
    ['cpu_millis', 'BIGINT'],
    ['cluster', 'VARCHAR'],
    ['namespace', 'VARCHAR'],
    ['account', 'VARCHAR'],
    ['user_name', 'VARCHAR'],
    ['workload_kind', 'VARCHAR'],
    ['workload_name', 'VARCHAR'],
    ['labels', 'MAP(VARCHAR, VARCHAR)'],
    ['submitted_at', 'TIMESTAMP'],
    ['outcome', 'VARCHAR'],
    ['ends_at', 'TIMESTAMP'],
  ],
  orderBy: 'node_id, device_id, held_from, source, allocation_id, attempt, slot',
  sql: `
    WITH fresh AS (
      SELECT * FROM allocation WHERE held_from >= $from AND held_from < $until AND gpu_count > 0
    ), known AS (
      SELECT source, allocation_id, attempt, node_id, slot, held_from, held_until, observed_at, poll_s, polled,
             device_id, gpu_count, share_units, isolation, cpu_millis, cluster, namespace, account, user_name,
             workload_kind, workload_name, labels, submitted_at, outcome
      FROM fresh WHERE device_id IS NOT NULL OR node_id <> ''
      UNION ALL
      SELECT source, allocation_id, attempt, node_id, slot, held_from, held_until, observed_at, poll_s, polled,
             'held:' || source || '/' || allocation_id || '/' || CAST(attempt AS VARCHAR) || '/' ||
               CAST(slot AS VARCHAR) || '/' || CAST(c.n AS VARCHAR),
             CAST(1 AS BIGINT), share_units, isolation, CASE WHEN c.n = 0 THEN cpu_millis END, cluster, namespace, account, user_name,
             workload_kind, workload_name, labels, submitted_at, outcome
      FROM fresh JOIN counter c ON c.n < fresh.gpu_count WHERE device_id IS NULL AND node_id = ''
      UNION ALL
      SELECT source, allocation_id, attempt, node_id, slot, held_from, held_until, observed_at, poll_s, polled,
             device_id, gpu_count, share_units, isolation, cpu_millis, cluster, namespace, account, user_name,
             workload_kind, workload_name, labels, submitted_at, outcome
      FROM holding WHERE day = CAST($from - INTERVAL '1' DAY AS DATE)
    ), ending AS (
      SELECT known.*,
             CASE WHEN held_until IS NOT NULL THEN held_until
                  WHEN polled AND observed_at + poll_s * INTERVAL '2' SECOND < $horizon
                    THEN observed_at + poll_s * INTERVAL '2' SECOND
                  ELSE $horizon END AS held_to
      FROM known
    )
    SELECT d.day, e.source, e.allocation_id, e.attempt, e.node_id, e.slot, e.held_from, e.held_until, e.observed_at,
           e.poll_s, e.polled, e.device_id, e.gpu_count, e.share_units, e.isolation, e.cpu_millis, e.cluster, e.namespace, e.account,
           e.user_name, e.workload_kind, e.workload_name, e.labels, e.submitted_at, e.outcome,
           CASE WHEN e.held_to < d.day_end + INTERVAL '${OVERLAP_SECONDS_MAX + 1}' SECOND
                THEN e.held_to ELSE d.day_end + INTERVAL '${OVERLAP_SECONDS_MAX + 1}' SECOND END AS ends_at
    FROM ending e JOIN calendar_day d ON e.held_from < d.day_end AND e.held_to > d.day_start`,
};
