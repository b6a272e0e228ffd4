import type { Stage } from '../facts/stage.ts';

/** What its rows are counted by. */
export const SUBJECT_DAY_COLUMNS = [
  'day',
  'subject',
  'source',
  'allocation_id',
  'attempt',
  'node_id',
  'device_id',
  'model',
  'cluster',
  'provider',
  'region',
  'purchase',
  'category',
  'reason',
] as const;

/**
 * Question: where did the money of each subject go on each day, device by device?
 *
 * The waterfall without its hours and components: what claims are settled against, at a twentieth of the rows. It adds up to the
 * waterfall of the day.
 *
 * Reads: waterfall.
 */
export const subjectDay: Stage = {
  name: 'subject_day',
  version: 1,
  unit: 'day',
  reads: [{ table: 'waterfall', days: [0] }],
  params: [],
  writes: [
    ...SUBJECT_DAY_COLUMNS.map(
      (name) => [name, name === 'day' ? 'DATE' : name === 'attempt' ? 'BIGINT' : 'VARCHAR'] as const,
    ),
    ['usd_micros', 'BIGINT'],
    ['marginal_usd_micros', 'BIGINT'],
    ['gpu_units', 'BIGINT'],
    ['unpriced_units', 'BIGINT'],
  ],
  orderBy: 'subject, device_id, category, reason, node_id, model, purchase, region, provider, cluster',
  sql: `
    SELECT ${SUBJECT_DAY_COLUMNS.join(', ')}, CAST(sum(usd_micros) AS BIGINT) AS usd_micros,
           CAST(sum(marginal_usd_micros) AS BIGINT) AS marginal_usd_micros, CAST(sum(gpu_units) AS BIGINT) AS gpu_units,
           COALESCE(CAST(sum(gpu_units) FILTER (WHERE usd_micros IS NULL) AS BIGINT), 0) AS unpriced_units
    FROM waterfall GROUP BY ${SUBJECT_DAY_COLUMNS.join(', ')}`,
};
