import type { Stage } from '../facts/stage.ts';

/** What `spend` can group and filter by without opening single entries, besides the owners that rules give a profile. */
export const SPEND_DAY_DIMENSIONS = [
  'cluster',
  'model',
  'purchase',
  'provider',
  'account',
  'region',
  'category',
  'reason',
  'component',
  'basis',
  'bill_id',
] as const;

/** What is added up; whatever is split over teams splits each of these. */
export const SPEND_DAY_MEASURES = ['usd_micros', 'marginal_usd_micros', 'gpu_units', 'unpriced_units'] as const;

/** Sums of the rows of a waterfall `w` beside the `profile_no` of their subject `s`. */
export const SPEND_DAY_COLUMNS = `w.day, s.profile_no, ${SPEND_DAY_DIMENSIONS.map((name) => `w.${name}`).join(', ')},
           CAST(sum(w.usd_micros) AS BIGINT) AS usd_micros,
           CAST(sum(w.marginal_usd_micros) AS BIGINT) AS marginal_usd_micros, CAST(sum(w.gpu_units) AS BIGINT) AS gpu_units,
           COALESCE(CAST(sum(w.gpu_units) FILTER (WHERE w.usd_micros IS NULL) AS BIGINT), 0) AS unpriced_units`;

export const SPEND_DAY_GROUPS = `w.day, s.profile_no, ${SPEND_DAY_DIMENSIONS.map((name) => `w.${name}`).join(', ')}`;

/**
 * Question: what did each day cost, by profile and by everything coarser than a node or a job?
 *
 * A few thousand rows a day, so that a question over months opens small files only. Teams are not in it: which profile is whose
 * is said by the rules when somebody asks, and a change of rules derives nothing again.
 *
 * Reads: waterfall, subject.
 */
export const spendDay: Stage = {
  name: 'spend_day',
  version: 3,
  unit: 'day',
  reads: [
    { table: 'waterfall', days: [0] },
    { table: 'subject', days: [0] },
  ],
  params: [],
  writes: [
    ['day', 'DATE'],
    ['profile_no', 'BIGINT'],
    ...SPEND_DAY_DIMENSIONS.map((name) => [name, 'VARCHAR'] as const),
    ...SPEND_DAY_MEASURES.map((name) => [name, 'BIGINT'] as const),
  ],
  orderBy: `profile_no, ${SPEND_DAY_DIMENSIONS.join(', ')}`,
  sql: `
    SELECT ${SPEND_DAY_COLUMNS}
    FROM waterfall w LEFT JOIN subject s ON w.day = s.day AND w.subject = s.subject
    GROUP BY ${SPEND_DAY_GROUPS}`,
};
