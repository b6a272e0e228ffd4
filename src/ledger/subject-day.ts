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

/** A GPU of which more than this was unknown in a day, in permille of the time held, is not spoken of: telemetry-gaps does. */
const UNKNOWN_PERMILLE_MAX = 50;

const unitsOf = (categories: string): string =>
  `COALESCE(CAST(sum(CASE WHEN category IN (${categories}) THEN gpu_units END) OVER (PARTITION BY day, subject, device_id) AS BIGINT), 0)`;
const UNKNOWN_UNITS = unitsOf("'unknown'");
const HELD_UNITS = unitsOf("'unknown', 'idle', 'starved', 'lost', 'computing'");

/**
 * Question: where did the money of each subject go on each day, device by device?
 *
 * The waterfall without its hours and components: what claims are settled against, at a twentieth of the rows. It adds up to the
 * waterfall of the day. `subject_key` is the subject as a number, by which rows are joined. `is_silent`: too much of what the subject held of the device that day was not measured for anything to be said of the rest.
 *
 * Reads: waterfall.
 */
export const subjectDay: Stage = {
  name: 'subject_day',
  version: 3,
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
    ['is_silent', 'BOOLEAN'],
    ['subject_key', 'BIGINT'],
  ],
  orderBy: 'subject, device_id, category, reason, node_id, model, purchase, region, provider, cluster',
  sql: `
    WITH summed AS (
      SELECT ${SUBJECT_DAY_COLUMNS.join(', ')}, CAST(sum(usd_micros) AS BIGINT) AS usd_micros,
             CAST(sum(marginal_usd_micros) AS BIGINT) AS marginal_usd_micros, CAST(sum(gpu_units) AS BIGINT) AS gpu_units,
             COALESCE(CAST(sum(gpu_units) FILTER (WHERE usd_micros IS NULL) AS BIGINT), 0) AS unpriced_units
      FROM waterfall GROUP BY ${SUBJECT_DAY_COLUMNS.join(', ')}
    )
    SELECT summed.*, ${UNKNOWN_UNITS} * 1000 > ${HELD_UNITS} * ${UNKNOWN_PERMILLE_MAX} AS is_silent,
           text_digest(subject) AS subject_key
    FROM summed`,
};
