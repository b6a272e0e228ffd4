import type { Stage } from '../facts/stage.ts';

/** Seconds that are added up over the devices of a holder. */
const SUMS = [
  'held_s',
  'shared_s',
  'computing_s',
  'idle_s',
  'unknown_s',
  'pause_s',
  'gap_s',
  'exchange_s',
  'units',
] as const;

/** Of the seconds that carry both fields: to tell large kernels from small ones. */
const activity = (field: string, other: string): string =>
  `COALESCE(CAST(sum(${field}_permille * computing_s) FILTER (WHERE ${other}_permille IS NOT NULL) AS BIGINT), 0) AS ${field}_activity`;

/**
 * Question: what did each holder make of all its devices together on a day?
 *
 * `stint_day` without its devices: most questions about jobs and sessions are asked of this, and most jobs live on one day, so that
 * nothing is left to add up for them. Seconds are of devices: two GPUs for an hour are 7,200. `first_computing_at` and `last_computing_at` are known of
 * devices with times of their own; `used_from` and `used_until` also of holders by count, of whom a day on which they computed is all use.
 * `idle_from` is that of the device that came to rest last. `inner_idle_s` is the longest time between two kernels that all its devices had. `gap_rows` counts devices of which gaps can be known. Its money
 * stands beside it: all of it, how much of its time has no price, and how much was lost.
 *
 * Reads: stint_day, subject_day.
 */
export const lifeDay: Stage = {
  name: 'life_day',
  version: 3,
  unit: 'day',
  reads: [
    { table: 'stint_day', days: [0] },
    { table: 'subject_day', days: [0] },
  ],
  params: [],
  writes: [
    ['day', 'DATE'],
    ['subject', 'VARCHAR'],
    ['subject_key', 'BIGINT'],
    ['source', 'VARCHAR'],
    ['allocation_id', 'VARCHAR'],
    ['attempt', 'BIGINT'],
    ['manner', 'VARCHAR'],
    ['workload_kind', 'VARCHAR'],
    ['workload_name', 'VARCHAR'],
    ['workload_stem', 'VARCHAR'],
    ['cluster', 'VARCHAR'],
    ['namespace', 'VARCHAR'],
    ['account', 'VARCHAR'],
    ['user_name', 'VARCHAR'],
    ['model', 'VARCHAR'],
    ['node_id', 'VARCHAR'],
    ['nodes', 'BIGINT'],
    ['devices', 'BIGINT'],
    ['cpu_millis', 'BIGINT'],
    ['held_since', 'TIMESTAMP'],
    ['ended_at', 'TIMESTAMP'],
    ['outcome', 'VARCHAR'],
    ['held_from', 'TIMESTAMP'],
    ['held_until', 'TIMESTAMP'],
    ...SUMS.map((name) => [name, 'BIGINT'] as const),
    ['first_computing_at', 'TIMESTAMP'],
    ['last_computing_at', 'TIMESTAMP'],
    ['used_from', 'TIMESTAMP'],
    ['used_until', 'TIMESTAMP'],
    ['known_until', 'TIMESTAMP'],
    ['idle_from', 'TIMESTAMP'],
    ['inner_idle_s', 'BIGINT'],
    ['gap_rows', 'BIGINT'],
    ['engine_activity', 'BIGINT'],
    ['sm_activity', 'BIGINT'],
    ['fb_used_mib_max', 'BIGINT'],
    ['power_w_max', 'BIGINT'],
    ['usd_micros', 'BIGINT'],
    ['unpriced_units', 'BIGINT'],
    ['lost_units', 'BIGINT'],
  ],
  orderBy: 'subject',
  sql: `
    WITH life AS (
      SELECT day, subject, text_digest(subject) AS subject_key, min(source) AS source, min(allocation_id) AS allocation_id, min(attempt) AS attempt, min(manner) AS manner,
             min(workload_kind) AS workload_kind, min(workload_name) AS workload_name, min(workload_stem) AS workload_stem,
             min(cluster) AS cluster, min(namespace) AS namespace, min(account) AS account, min(user_name) AS user_name, min(model) AS model,
             min(node_id) AS node_id, count(DISTINCT node_id) AS nodes, count(*) AS devices, max(cpu_millis) AS cpu_millis,
             min(held_since) AS held_since, max(ended_at) AS ended_at, max(outcome) AS outcome,
             min(held_from) AS held_from, max(held_until) AS held_until,
             ${SUMS.map((name) => `COALESCE(CAST(sum(${name}) AS BIGINT), 0) AS ${name}`).join(', ')},
             min(first_computing_at) AS first_computing_at, max(last_computing_at) AS last_computing_at,
             min(CASE WHEN computing_s > 0 THEN COALESCE(first_computing_at, held_from) END) AS used_from,
             max(CASE WHEN computing_s > 0 THEN COALESCE(last_computing_at, held_until) END) AS used_until,
             max(known_until) AS known_until, max(idle_from) AS idle_from, min(COALESCE(inner_idle_s, 0)) AS inner_idle_s,
             count(COALESCE(engine_permille, util_permille)) AS gap_rows, ${activity('engine', 'sm')}, ${activity('sm', 'engine')},
             max(fb_used_mib_max) AS fb_used_mib_max, max(power_w_max) AS power_w_max
      FROM stint_day GROUP BY day, subject
    ), paid AS (
      SELECT day, subject, CAST(sum(usd_micros) AS BIGINT) AS usd_micros, CAST(sum(unpriced_units) AS BIGINT) AS unpriced_units,
             CAST(sum(CASE WHEN category = 'lost' AND gpu_units > 0 THEN gpu_units ELSE 0 END) AS BIGINT) AS lost_units
      FROM subject_day GROUP BY day, subject
    )
    SELECT l.*, p.usd_micros, COALESCE(p.unpriced_units, 0) AS unpriced_units, COALESCE(p.lost_units, 0) AS lost_units
    FROM life l LEFT JOIN paid p ON l.day = p.day AND l.subject = p.subject`,
};
