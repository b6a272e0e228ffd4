import type { Stage } from '../facts/stage.ts';

/** What `spend` can group and filter by without opening single entries. */
export const SPEND_DAY_DIMENSIONS = [
  'team',
  'project',
  'user_name',
  'environment',
  'class',
  'cluster',
  'model',
  'purchase',
  'account',
  'region',
  'category',
  'component',
  'basis',
  'bill_id',
] as const;

/**
 * Question: what did each day cost, by owner and by everything coarser than a node or a job?
 *
 * A few hundred rows a day, so that a question over months opens small files only.
 *
 * Reads: waterfall, ownership.
 */
export const spendDay: Stage = {
  name: 'spend_day',
  version: 1,
  unit: 'day',
  reads: [
    { table: 'waterfall', days: [0] },
    { table: 'ownership', days: [0] },
  ],
  params: [],
  writes: [
    ['day', 'DATE'],
    ['team', 'VARCHAR'],
    ['project', 'VARCHAR'],
    ['user_name', 'VARCHAR'],
    ['environment', 'VARCHAR'],
    ['class', 'VARCHAR'],
    ['cluster', 'VARCHAR'],
    ['model', 'VARCHAR'],
    ['purchase', 'VARCHAR'],
    ['account', 'VARCHAR'],
    ['region', 'VARCHAR'],
    ['category', 'VARCHAR'],
    ['component', 'VARCHAR'],
    ['basis', 'VARCHAR'],
    ['bill_id', 'VARCHAR'],
    ['usd_micros', 'BIGINT'],
    ['gpu_units', 'BIGINT'],
    ['unpriced_units', 'BIGINT'],
  ],
  orderBy: SPEND_DAY_DIMENSIONS.join(', '),
  sql: `
    SELECT w.day, o.team, o.project, o.user_name, o.environment, o.class, w.cluster, w.model, w.purchase, w.account,
           w.region, w.category, w.component, w.basis, w.bill_id,
           CAST(sum(w.usd_micros) AS BIGINT) AS usd_micros, CAST(sum(w.gpu_units) AS BIGINT) AS gpu_units,
           COALESCE(CAST(sum(w.gpu_units) FILTER (WHERE w.usd_micros IS NULL) AS BIGINT), 0) AS unpriced_units
    FROM waterfall w LEFT JOIN ownership o ON w.day = o.day AND w.subject = o.subject
    GROUP BY w.day, o.team, o.project, o.user_name, o.environment, o.class, w.cluster, w.model, w.purchase, w.account,
             w.region, w.category, w.component, w.basis, w.bill_id`,
};
