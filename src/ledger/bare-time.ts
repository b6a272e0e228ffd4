import type { Stage } from '../facts/stage.ts';

/**
 * Question: in which stretches of a day did nobody hold any GPU of a node that had empty time?
 *
 * From the moment the last holder leaves to the one at which the next comes, and to the day's edges: what is free before and after a
 * midnight is strung together by whoever asks. Whether the machine was there meanwhile `presence` says. An hour in which a GPU computes for a holder nobody knows is
 * not bare either.
 *
 * Reads: node_day, stint_day, unheld_hour.
 */
export const bareTime: Stage = {
  name: 'bare_time',
  version: 1,
  unit: 'day',
  reads: [
    { table: 'node_day', days: [0] },
    { table: 'stint_day', days: [0] },
    { table: 'unheld_hour', days: [0] },
  ],
  params: [],
  writes: [
    ['day', 'DATE'],
    ['node_id', 'VARCHAR'],
    ['from_at', 'TIMESTAMP'],
    ['until_at', 'TIMESTAMP'],
  ],
  orderBy: 'node_id, from_at',
  sql: `
    WITH emptied AS (
      SELECT day, node_id FROM node_day WHERE node_id IS NOT NULL GROUP BY day, node_id HAVING CAST(sum(empty_units) AS BIGINT) > 0
    ), used AS (
      SELECT day, node_id, held_from, held_until FROM stint_day
      UNION ALL
      SELECT day, node_id, hour_start, hour_start + INTERVAL '1' HOUR FROM unheld_hour
    ), held AS (
      SELECT s.day, s.node_id, s.held_from, max(s.held_until) AS held_until
      FROM used s JOIN emptied n ON s.node_id = n.node_id AND s.day = n.day GROUP BY s.day, s.node_id, s.held_from
    ), ordered AS (
      SELECT day, node_id, held_from, max(held_until) OVER (PARTITION BY node_id, day ORDER BY held_from
               ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reached
      FROM held
    ), bare AS (
      SELECT day, node_id, COALESCE(reached, CAST(day AS TIMESTAMP)) AS from_at, held_from AS until_at FROM ordered
      UNION ALL
      SELECT n.day, n.node_id, COALESCE(h.held_until, CAST(n.day AS TIMESTAMP)), CAST(n.day AS TIMESTAMP) + INTERVAL '1' DAY
      FROM emptied n LEFT JOIN (SELECT day, node_id, max(held_until) AS held_until FROM held GROUP BY day, node_id) h
        ON n.node_id = h.node_id AND n.day = h.day
    )
    SELECT day, node_id, from_at, until_at FROM bare WHERE from_at < until_at`,
};
