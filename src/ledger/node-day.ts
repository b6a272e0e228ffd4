import type { Stage } from '../facts/stage.ts';
import { HELD_CATEGORIES } from './waterfall.ts';

const HELD = `(${HELD_CATEGORIES})`;

const units = (condition: string): string =>
  `COALESCE(CAST(sum(CASE WHEN ${condition} THEN d.gpu_units END) AS BIGINT), 0)`;
const gpus = (condition: string): string =>
  `count(DISTINCT CASE WHEN ${condition} AND d.gpu_units > 0 THEN d.device_id END)`;

/** What is on demand, held, and of which something is known: its bill falls with it. */
const IS_CASH = `d.marginal_usd_micros > 0 AND d.category IN ('idle', 'starved', 'lost', 'computing')`;
const IS_MOVABLE = `d.marginal_usd_micros > 0 AND d.category = 'computing' AND s.subject IS NULL`;

/**
 * Question: what was there of each node on a day, and how much of it did somebody hold?
 *
 * `subject_day` without its holders: questions about machines and pools are asked of this, at a twentieth of the rows. A node has one row for each
 * model and way it was bought and placed, mostly one; `node_gpus` counts the GPUs of all its rows. Time of GPUs that no node is known for stands on a row without one. Of what is
 * on demand `cash_usd_micros` is the cost of what was held and measured, and `movable_…` of that what computed and does not serve: the bill would fall by `movable_usd_micros`.
 *
 * Reads: subject_day, life_day.
 */
export const nodeDay: Stage = {
  name: 'node_day',
  version: 1,
  unit: 'day',
  reads: [
    { table: 'subject_day', days: [0] },
    { table: 'life_day', days: [0] },
  ],
  params: [],
  writes: [
    ['day', 'DATE'],
    ['node_id', 'VARCHAR'],
    ['cluster', 'VARCHAR'],
    ['model', 'VARCHAR'],
    ['provider', 'VARCHAR'],
    ['region', 'VARCHAR'],
    ['purchase', 'VARCHAR'],
    ['subject', 'VARCHAR'],
    ['node_gpus', 'BIGINT'],
    ['gpus', 'BIGINT'],
    ['held_gpus', 'BIGINT'],
    ['down_gpus', 'BIGINT'],
    ['drained_gpus', 'BIGINT'],
    ['held_units', 'BIGINT'],
    ['unallocated_units', 'BIGINT'],
    ['empty_units', 'BIGINT'],
    ['down_units', 'BIGINT'],
    ['drained_units', 'BIGINT'],
    ['stranded_units', 'BIGINT'],
    ['usd_micros', 'BIGINT'],
    ['cash_units', 'BIGINT'],
    ['cash_usd_micros', 'BIGINT'],
    ['movable_units', 'BIGINT'],
    ['movable_usd_micros', 'BIGINT'],
    ['is_serving', 'BOOLEAN'],
  ],
  orderBy: 'node_id, cluster, model, provider, region, purchase',
  sql: `
    WITH serving AS (
      SELECT DISTINCT day, subject FROM life_day WHERE manner = 'serving'
    ), size AS (
      SELECT day, node_id, count(DISTINCT device_id) AS node_gpus FROM subject_day
      WHERE node_id IS NOT NULL AND gpu_units > 0 GROUP BY day, node_id
    ), summed AS (
      SELECT d.day, d.node_id, d.cluster, d.model, d.provider, d.region, d.purchase,
             min(CASE WHEN d.category = 'unallocated' THEN d.subject END) AS subject,
             ${gpus('TRUE')} AS gpus, ${gpus(`d.category IN ${HELD}`)} AS held_gpus,
             ${gpus("d.category = 'unallocated' AND d.reason = 'down'")} AS down_gpus,
             ${gpus("d.category = 'unallocated' AND d.reason = 'drained'")} AS drained_gpus,
             ${units(`d.category IN ${HELD}`)} AS held_units, ${units("d.category = 'unallocated'")} AS unallocated_units,
             ${units("d.category = 'unallocated' AND d.reason = 'empty'")} AS empty_units,
             ${units("d.category = 'unallocated' AND d.reason = 'down'")} AS down_units,
             ${units("d.category = 'unallocated' AND d.reason = 'drained'")} AS drained_units,
             ${units("d.category = 'stranded'")} AS stranded_units,
             CAST(sum(CASE WHEN d.category <> 'stranded' THEN d.usd_micros END) AS BIGINT) AS usd_micros,
             ${units(IS_CASH)} AS cash_units, CAST(sum(CASE WHEN ${IS_CASH} THEN d.usd_micros END) AS BIGINT) AS cash_usd_micros,
             ${units(IS_MOVABLE)} AS movable_units,
             CAST(sum(CASE WHEN ${IS_MOVABLE} THEN d.marginal_usd_micros END) AS BIGINT) AS movable_usd_micros,
             count(s.subject) > 0 AS is_serving
      FROM subject_day d LEFT JOIN serving s ON d.day = s.day AND d.subject = s.subject
      WHERE d.category <> 'beside' GROUP BY d.day, d.node_id, d.cluster, d.model, d.provider, d.region, d.purchase
    )
    SELECT m.day, m.node_id, m.cluster, m.model, m.provider, m.region, m.purchase, m.subject, COALESCE(z.node_gpus, m.gpus) AS node_gpus,
           m.gpus, m.held_gpus, m.down_gpus, m.drained_gpus, m.held_units, m.unallocated_units, m.empty_units, m.down_units, m.drained_units,
           m.stranded_units, m.usd_micros, m.cash_units, m.cash_usd_micros, m.movable_units, m.movable_usd_micros, m.is_serving
    FROM summed m LEFT JOIN size z ON m.day = z.day AND m.node_id = z.node_id`,
};
