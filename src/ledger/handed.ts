import type { Stage } from '../facts/stage.ts';

/**
 * Question: of the machines whose cluster nobody names, which has a scheduler ever handed out?
 *
 * By their cluster it cannot be told who speaks for them; by a job that was there it can. Rows without `node_id` are devices that
 * no inventory puts on a machine. Each has the time in which it may be there, so that a machine's first job changes its own days and
 * no others (`digestDays`).
 *
 * Reads: handed_day (all days), node, device (all rows), inferred.
 */
export const handed: Stage = {
  name: 'handed',
  version: 1,
  unit: 'whole',
  reads: [
    { table: 'handed_day', days: 'all' },
    { table: 'node', days: 'all' },
    { table: 'device', days: 'all' },
    { table: 'inferred', days: 'all' },
  ],
  params: [],
  writes: [
    ['node_id', 'VARCHAR'],
    ['device_id', 'VARCHAR'],
    ['from_at', 'TIMESTAMP'],
    ['until_at', 'TIMESTAMP'],
  ],
  orderBy: 'node_id, device_id',
  sql: `
    WITH machine AS (
      SELECT node_id FROM handed_day WHERE node_id IS NOT NULL
      UNION SELECT d.node_id FROM handed_day h JOIN device d ON h.device_id = d.device_id
    ), clustered AS (
      SELECT node_id FROM node GROUP BY node_id HAVING count(*) = count(cluster)
    ), reach AS (
      SELECT node_id, present_from AS from_at, COALESCE(present_until, TIMESTAMP '9999-12-31 00:00:00') AS until_at FROM node
      UNION ALL
      SELECT node_id, present_from, COALESCE(present_until, TIMESTAMP '9999-12-31 00:00:00') FROM device
      UNION ALL
      SELECT node_id, from_at, until_at FROM inferred WHERE node_id IS NOT NULL
    )
    SELECT m.node_id, CAST(NULL AS VARCHAR) AS device_id, min(r.from_at) AS from_at, max(r.until_at) AS until_at
    FROM machine m JOIN reach r ON m.node_id = r.node_id LEFT JOIN clustered c ON m.node_id = c.node_id
    WHERE c.node_id IS NULL GROUP BY m.node_id
    UNION ALL
    SELECT DISTINCT NULL, i.device_id, i.from_at, i.until_at
    FROM handed_day h JOIN inferred i ON h.device_id = i.device_id WHERE i.node_id IS NULL`,
};
