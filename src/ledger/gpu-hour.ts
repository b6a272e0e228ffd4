import type { Stage } from '../facts/stage.ts';

/**
 * Question: how many seconds of each device-hour computed, idled or are unknown, and whose were they?
 *
 * Joined at the level of single samples: a job that ends in the middle of an hour takes its own activity with it. A holder
 * by count has no device of its own; its activity is known only while all devices it may be on do the same.
 * Unit-seconds are seconds × share (63,000ths): money follows them.
 *
 * Reads: held, run.
 */
export const gpuHour: Stage = {
  name: 'gpu_hour',
  version: 1,
  unit: 'day',
  reads: [
    { table: 'held', days: [0] },
    { table: 'run', days: [0] },
  ],
  params: [],
  writes: [
    ['day', 'DATE'],
    ['hour_start', 'TIMESTAMP'],
    ['root_device_id', 'VARCHAR'],
    ['device_id', 'VARCHAR'],
    ['node_id', 'VARCHAR'],
    ['disposition', 'VARCHAR'],
    ['reason', 'VARCHAR'],
    ['source', 'VARCHAR'],
    ['allocation_id', 'VARCHAR'],
    ['attempt', 'BIGINT'],
    ['holder_cluster', 'VARCHAR'],
    ['conflict', 'BOOLEAN'],
    ['held_s', 'BIGINT'],
    ['computing_s', 'BIGINT'],
    ['idle_s', 'BIGINT'],
    ['unknown_s', 'BIGINT'],
    ['units', 'BIGINT'],
    ['computing_units', 'BIGINT'],
    ['idle_units', 'BIGINT'],
    ['unknown_units', 'BIGINT'],
  ],
  orderBy: 'root_device_id, hour_start, device_id, disposition, allocation_id, source, attempt',
  sql: `
    WITH hourly_run AS (
      SELECT r.day, r.device_id, r.class, h.hour_start,
             CASE WHEN r.from_at < h.hour_start THEN h.hour_start ELSE r.from_at END AS from_at,
             CASE WHEN r.until_at > h.hour_end THEN h.hour_end ELSE r.until_at END AS until_at
      FROM run r JOIN calendar_hour h ON r.day = h.day AND r.from_at < h.hour_end AND r.until_at > h.hour_start
      WHERE r.class <> 'unknown'
    ), met AS (
      SELECT h.day, h.device_id, h.hour_start, h.from_at, h.place, h.node_id, h.pooled, h.until_at, r.class,
             CASE WHEN r.from_at > h.from_at THEN r.from_at ELSE h.from_at END AS met_from,
             CASE WHEN r.until_at < h.until_at THEN r.until_at ELSE h.until_at END AS met_until
      FROM held h JOIN hourly_run r ON h.day = r.day AND h.device_id = r.device_id AND h.hour_start = r.hour_start
        AND r.from_at < h.until_at AND r.until_at > h.from_at
      WHERE h.disposition = 'held'
    ), own AS (
      SELECT day, device_id, from_at, place,
             COALESCE(CAST(sum(date_diff('second', met_from, met_until)) FILTER (WHERE class = 'computing') AS BIGINT), 0)
               AS computing_s,
             COALESCE(CAST(sum(date_diff('second', met_from, met_until)) FILTER (WHERE class = 'idle') AS BIGINT), 0)
               AS idle_s
      FROM met WHERE NOT pooled GROUP BY day, device_id, from_at, place
    ), pool AS (
      SELECT day, node_id, from_at, place, count(*) AS devices FROM held WHERE pooled
      GROUP BY day, node_id, from_at, place
    ), change AS (
      SELECT day, node_id, from_at, place, class, met_from AS edge_at, 1 AS delta FROM met WHERE pooled
      UNION ALL
      SELECT day, node_id, from_at, place, class, met_until, -1 FROM met WHERE pooled
    ), together AS (
      SELECT day, node_id, from_at, place, class, edge_at,
             CAST(sum(delta) OVER (PARTITION BY day, node_id, from_at, place, class ORDER BY edge_at, delta
               ROWS UNBOUNDED PRECEDING) AS BIGINT) AS devices,
             lead(edge_at) OVER (PARTITION BY day, node_id, from_at, place, class ORDER BY edge_at, delta) AS next_at
      FROM change
    ), agreed AS (
      SELECT t.day, t.node_id, t.from_at, t.place,
             COALESCE(CAST(sum(date_diff('second', t.edge_at, t.next_at)) FILTER (WHERE t.class = 'computing') AS BIGINT), 0)
               AS computing_s,
             COALESCE(CAST(sum(date_diff('second', t.edge_at, t.next_at)) FILTER (WHERE t.class = 'idle') AS BIGINT), 0)
               AS idle_s
      FROM together t JOIN pool p ON t.day = p.day AND t.node_id = p.node_id AND t.from_at = p.from_at
        AND t.place = p.place AND t.devices = p.devices
      GROUP BY t.day, t.node_id, t.from_at, t.place
    ), measured AS (
      SELECT h.day, h.hour_start, h.root_device_id, h.device_id, h.node_id, h.disposition, h.reason, h.source,
             h.allocation_id, h.attempt, h.holder_cluster, h.conflict, h.seconds, h.share_units,
             CASE WHEN h.pooled THEN COALESCE(a.computing_s, 0) ELSE COALESCE(o.computing_s, 0) END AS computing_s,
             CASE WHEN h.pooled THEN COALESCE(a.idle_s, 0) ELSE COALESCE(o.idle_s, 0) END AS idle_s
      FROM held h
      LEFT JOIN own o ON h.day = o.day AND h.device_id = o.device_id AND h.from_at = o.from_at AND h.place = o.place
      LEFT JOIN agreed a ON h.pooled AND h.day = a.day AND h.node_id = a.node_id AND h.from_at = a.from_at
        AND h.place = a.place
    )
    SELECT day, hour_start, root_device_id, device_id, min(node_id) AS node_id, disposition, reason, source, allocation_id,
           attempt, min(holder_cluster) AS holder_cluster, bool_or(conflict) AS conflict, CAST(sum(seconds) AS BIGINT) AS held_s,
           CAST(sum(computing_s) AS BIGINT) AS computing_s, CAST(sum(idle_s) AS BIGINT) AS idle_s,
           CASE WHEN disposition = 'held' THEN CAST(sum(seconds - computing_s - idle_s) AS BIGINT) ELSE 0 END AS unknown_s,
           CAST(sum(seconds * share_units) AS BIGINT) AS units,
           CAST(sum(computing_s * share_units) AS BIGINT) AS computing_units,
           CAST(sum(idle_s * share_units) AS BIGINT) AS idle_units,
           CASE WHEN disposition = 'held' THEN CAST(sum((seconds - computing_s - idle_s) * share_units) AS BIGINT)
                ELSE 0 END AS unknown_units
    FROM measured
    GROUP BY day, hour_start, root_device_id, device_id, disposition, reason, source, allocation_id, attempt`,
};
