import { BUSY_PERMILLE_MIN, PARKED_MIB_MIN } from '../facts/rest-power.ts';
import type { Stage } from '../facts/stage.ts';

/** Samples that say what the device draws at work. */
const IS_BUSY = `power_w > 0 AND COALESCE(engine_permille, sm_permille, util_permille) >= ${BUSY_PERMILLE_MIN}`;

/**
 * Question: which devices showed up on each day, by sample or by holder, and which metrics did they send?
 *
 * One small row per device and day saves later stages a second look at millions of samples: presence of devices no
 * inventory lists, what it drew (the least; whether it was ever empty; at work), the error it showed last, and where each metric begins on the next day.
 * Rows without `device_id` are nodes on which GPUs are held by count: `counted_gpus` at once at most.
 *
 * Reads: gpu_sample, holding.
 */
export const seen: Stage = {
  name: 'seen',
  version: 2,
  unit: 'day',
  reads: [
    { table: 'gpu_sample', days: [0] },
    { table: 'holding', days: [0] },
  ],
  params: [],
  writes: [
    ['day', 'DATE'],
    ['device_id', 'VARCHAR'],
    ['node_id', 'VARCHAR'],
    ['first_at', 'TIMESTAMP'],
    ['last_until', 'TIMESTAMP'],
    ['counted_gpus', 'BIGINT'],
    ['least_power_w', 'BIGINT'],
    ['empty_count', 'BIGINT'],
    ['busy_count', 'BIGINT'],
    ['busy_power_w', 'BIGINT'],
    ['last_xid', 'BIGINT'],
    ['sample_count', 'BIGINT'],
    ['engine_count', 'BIGINT'],
    ['sm_count', 'BIGINT'],
    ['util_count', 'BIGINT'],
    ['power_count', 'BIGINT'],
    ['first_engine_at', 'TIMESTAMP'],
    ['first_sm_at', 'TIMESTAMP'],
    ['first_util_at', 'TIMESTAMP'],
    ['first_power_at', 'TIMESTAMP'],
  ],
  orderBy: 'device_id, node_id',
  sql: `
    WITH stepped AS (
      SELECT day, device_id, step_s, min(ts) AS first_at, max(ts) AS last_at,
             min(CASE WHEN power_w > 0 THEN power_w END) AS least_power_w,
             count(*) FILTER (WHERE power_w > 0 AND fb_used_mib < ${PARKED_MIB_MIN}) AS empty_count,
             count(*) FILTER (WHERE ${IS_BUSY}) AS busy_count, CAST(sum(power_w) FILTER (WHERE ${IS_BUSY}) AS BIGINT) AS busy_power_w,
             max_by(xid, ts) FILTER (WHERE xid IS NOT NULL) AS last_xid, max(ts) FILTER (WHERE xid IS NOT NULL) AS last_xid_at,
             min(CASE WHEN COALESCE(engine_permille, sm_permille, util_permille, power_w) IS NOT NULL THEN ts END)
               AS first_metric_at,
             count(COALESCE(engine_permille, sm_permille, util_permille, power_w)) AS sample_count,
             count(engine_permille) AS engine_count, count(sm_permille) AS sm_count,
             count(util_permille) AS util_count, count(power_w) AS power_count
      FROM gpu_sample WHERE ts >= $from AND ts < $until GROUP BY day, device_id, step_s
    ), summed AS (
      SELECT day, device_id, min(first_at) AS first_at, max(last_at + step_s * INTERVAL '1' SECOND) AS last_until,
             min(least_power_w) AS least_power_w, CAST(sum(empty_count) AS BIGINT) AS empty_count,
             CAST(sum(busy_count) AS BIGINT) AS busy_count, CAST(sum(busy_power_w) AS BIGINT) AS busy_power_w,
             max_by(last_xid, last_xid_at) FILTER (WHERE last_xid_at IS NOT NULL) AS last_xid,
             min(first_metric_at) AS first_metric_at,
             CAST(sum(sample_count) AS BIGINT) AS sample_count, CAST(sum(engine_count) AS BIGINT) AS engine_count,
             CAST(sum(sm_count) AS BIGINT) AS sm_count, CAST(sum(util_count) AS BIGINT) AS util_count,
             CAST(sum(power_count) AS BIGINT) AS power_count
      FROM stepped GROUP BY day, device_id
    ), uneven AS (
      SELECT day, device_id FROM summed WHERE engine_count NOT IN (0, sample_count)
        OR sm_count NOT IN (0, sample_count) OR util_count NOT IN (0, sample_count)
        OR power_count NOT IN (0, sample_count)
    ), begun AS (
      SELECT s.day, s.device_id, min(CASE WHEN s.engine_permille IS NOT NULL THEN s.ts END) AS engine_at,
             min(CASE WHEN s.sm_permille IS NOT NULL THEN s.ts END) AS sm_at,
             min(CASE WHEN s.util_permille IS NOT NULL THEN s.ts END) AS util_at,
             min(CASE WHEN s.power_w IS NOT NULL THEN s.ts END) AS power_at
      FROM gpu_sample s JOIN uneven u ON s.day = u.day AND s.device_id = u.device_id
      WHERE s.ts >= $from AND s.ts < $until GROUP BY s.day, s.device_id
    ), sampled AS (
      SELECT m.day, m.device_id, m.first_at, m.last_until, m.least_power_w, m.empty_count, m.busy_count,
             m.busy_power_w, m.last_xid, m.sample_count, m.engine_count, m.sm_count, m.util_count, m.power_count,
             CASE WHEN b.device_id IS NOT NULL THEN b.engine_at
                  WHEN m.engine_count > 0 THEN m.first_metric_at END AS first_engine_at,
             CASE WHEN b.device_id IS NOT NULL THEN b.sm_at
                  WHEN m.sm_count > 0 THEN m.first_metric_at END AS first_sm_at,
             CASE WHEN b.device_id IS NOT NULL THEN b.util_at
                  WHEN m.util_count > 0 THEN m.first_metric_at END AS first_util_at,
             CASE WHEN b.device_id IS NOT NULL THEN b.power_at
                  WHEN m.power_count > 0 THEN m.first_metric_at END AS first_power_at
      FROM summed m LEFT JOIN begun b ON m.day = b.day AND m.device_id = b.device_id
    ), clipped AS (
      SELECT h.day, h.device_id, h.node_id, h.gpu_count,
             CASE WHEN h.held_from < d.day_start THEN d.day_start ELSE h.held_from END AS from_at,
             CASE WHEN h.ends_at > d.day_end THEN d.day_end ELSE h.ends_at END AS until_at
      FROM holding h JOIN calendar_day d ON h.day = d.day
    ), named AS (
      SELECT day, device_id, min(CASE WHEN node_id <> '' THEN node_id END) AS node_id,
             min(from_at) AS first_at, max(until_at) AS last_until
      FROM clipped WHERE device_id IS NOT NULL GROUP BY day, device_id
    ), counting AS (
      SELECT day, node_id, edge_at, delta,
             CAST(sum(delta) OVER (PARTITION BY day, node_id ORDER BY edge_at, delta ROWS UNBOUNDED PRECEDING) AS BIGINT)
               AS gpus
      FROM (
        SELECT day, node_id, from_at AS edge_at, gpu_count AS delta FROM clipped WHERE device_id IS NULL
        UNION ALL
        SELECT day, node_id, until_at, -gpu_count FROM clipped WHERE device_id IS NULL
      ) change
    )
    SELECT COALESCE(s.day, n.day) AS day, COALESCE(s.device_id, n.device_id) AS device_id, n.node_id,
           CASE WHEN n.first_at < s.first_at THEN n.first_at ELSE COALESCE(s.first_at, n.first_at) END AS first_at,
           CASE WHEN n.last_until > s.last_until THEN n.last_until
                ELSE COALESCE(s.last_until, n.last_until) END AS last_until,
           CAST(NULL AS BIGINT) AS counted_gpus, s.least_power_w, COALESCE(s.empty_count, 0) AS empty_count,
           COALESCE(s.busy_count, 0) AS busy_count, COALESCE(s.busy_power_w, 0) AS busy_power_w, s.last_xid,
           COALESCE(s.sample_count, 0) AS sample_count, COALESCE(s.engine_count, 0) AS engine_count,
           COALESCE(s.sm_count, 0) AS sm_count, COALESCE(s.util_count, 0) AS util_count,
           COALESCE(s.power_count, 0) AS power_count,
           s.first_engine_at, s.first_sm_at, s.first_util_at, s.first_power_at
    FROM sampled s FULL OUTER JOIN named n ON s.day = n.day AND s.device_id = n.device_id
    UNION ALL
    SELECT day, NULL, node_id, min(edge_at), max(edge_at), max(gpus), NULL, 0, 0, 0, NULL, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL
    FROM counting GROUP BY day, node_id`,
};
