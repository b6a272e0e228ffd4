import type { Stage } from '../facts/stage.ts';

/**
 * Question: which machines and devices do the allocations that begin on each day name?
 *
 * A few names a day, so that `handed` need not read every allocation again to know them all. Those of no GPU are among them: whoever
 * runs jobs on a machine's CPUs hands the machine out.
 *
 * Reads: allocation (winners of their key).
 */
export const handedDay: Stage = {
  name: 'handed_day',
  version: 1,
  unit: 'day',
  reads: [{ table: 'allocation', days: [0] }],
  params: [],
  writes: [
    ['day', 'DATE'],
    ['node_id', 'VARCHAR'],
    ['device_id', 'VARCHAR'],
  ],
  orderBy: 'node_id, device_id',
  sql: `
    SELECT DISTINCT day, CASE WHEN node_id <> '' THEN node_id END AS node_id, device_id
    FROM allocation WHERE held_from >= $from AND held_from < $until AND (node_id <> '' OR device_id IS NOT NULL)`,
};
