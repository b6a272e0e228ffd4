import type { Stage } from '../facts/stage.ts';

/** A sample covers what follows it: the end of a job leaves some minutes behind, and a few of them never make half an hour. */
const COMPUTING_SECONDS_MIN = 1800;

/**
 * Question: in which hours did a GPU compute that nobody is known to hold?
 *
 * Somebody works beside the scheduler, or its jobs are not all collected. The money stays where the holders put it (unallocated), but such a GPU is
 * not empty, and its machine must not be stopped. Rest of a GPU that others share is not asked about: their kernels are its activity.
 *
 * Reads: held, run.
 */
export const unheldHour: Stage = {
  name: 'unheld_hour',
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
    ['node_id', 'VARCHAR'],
    ['device_id', 'VARCHAR'],
    ['root_device_id', 'VARCHAR'],
    ['computing_s', 'BIGINT'],
  ],
  orderBy: 'device_id, hour_start',
  sql: `
    WITH shared AS (
      SELECT DISTINCT day, device_id, from_at FROM held WHERE disposition <> 'unallocated'
    ), alone AS (
      SELECT h.* FROM held h LEFT JOIN shared s ON h.day = s.day AND h.device_id = s.device_id AND h.from_at = s.from_at
      WHERE h.disposition = 'unallocated' AND h.reason = 'empty' AND s.device_id IS NULL
    ), met AS (
      SELECT a.day, a.hour_start, min(a.node_id) AS node_id, a.device_id, min(a.root_device_id) AS root_device_id,
             CAST(sum(date_diff('second', CASE WHEN r.from_at > a.from_at THEN r.from_at ELSE a.from_at END,
               CASE WHEN r.until_at < a.until_at THEN r.until_at ELSE a.until_at END)) AS BIGINT) AS computing_s
      FROM alone a JOIN run r ON a.day = r.day AND a.device_id = r.device_id AND r.class = 'computing'
        AND r.from_at < a.until_at AND r.until_at > a.from_at
      GROUP BY a.day, a.hour_start, a.device_id
    )
    SELECT day, hour_start, node_id, device_id, root_device_id, computing_s FROM met WHERE computing_s >= ${COMPUTING_SECONDS_MIN}`,
};
