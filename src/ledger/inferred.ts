import type { Stage } from '../facts/stage.ts';

/**
 * Question: which devices show up that no inventory lists, and from when to when?
 *
 * Rows without `device_id` are nodes nobody lists on which GPUs are held by count.
 *
 * Reads: seen (all days), node, device (all rows).
 */
export const inferred: Stage = {
  name: 'inferred',
  version: 1,
  unit: 'whole',
  reads: [
    { table: 'seen', days: 'all' },
    { table: 'node', days: 'all' },
    { table: 'device', days: 'all' },
  ],
  params: [],
  orderBy: 'device_id, node_id',
  writes: [
    ['device_id', 'VARCHAR'],
    ['node_id', 'VARCHAR'],
    ['counted_gpus', 'BIGINT'],
    ['from_at', 'TIMESTAMP'],
    ['until_at', 'TIMESTAMP'],
  ],
  sql: `
    SELECT s.device_id, min(s.node_id) AS node_id, CAST(NULL AS BIGINT) AS counted_gpus, min(s.first_at) AS from_at,
           max(s.last_until) AS until_at
    FROM seen s LEFT JOIN (SELECT DISTINCT device_id FROM device) d ON s.device_id = d.device_id
    WHERE s.device_id IS NOT NULL AND d.device_id IS NULL GROUP BY s.device_id
    UNION ALL
    SELECT NULL, s.node_id, max(s.counted_gpus), min(s.first_at), max(s.last_until)
    FROM seen s LEFT JOIN (SELECT DISTINCT node_id FROM node UNION SELECT DISTINCT node_id FROM device) k
      ON s.node_id = k.node_id
    WHERE s.device_id IS NULL AND k.node_id IS NULL GROUP BY s.node_id`,
};
