/** Attempts of jobs; whoever has a manner has an allocation, and a job has times of its own. */
const IS_JOB = `manner = 'job' AND allocation_id IS NOT NULL`;

/** Seconds and counts that are added up over the days of an attempt. */
const SUMS = [
  'units',
  'held_s',
  'computing_s',
  'unknown_s',
  'shared_s',
  'gap_s',
  'pause_s',
  'exchange_s',
  'gap_rows',
  'engine_activity',
  'sm_activity',
  'unpriced_units',
  'lost_units',
];

/**
 * The attempts of jobs as detectors compare them, in SQL: `life`, one row for each, with what it is one of and what it did from its
 * first day in the window to its last. A kind is a name without its numbers, where it was handed out: the runs of one
 * script, whoever started them.
 *
 * Seconds are of devices: two GPUs for an hour are 7,200. Whoever judges leaves out attempts of which too much was not measured:
 * silence is no evidence, and what a shared GPU did may be a neighbour's (`shared_s`). `lost_units` is what the ledger calls lost of its GPU time. Most attempts live on one day: only the others are added up.
 *
 * Reads: life_day.
 */
export const LIVES = `
  several AS (
    SELECT subject_key FROM life_day WHERE ${IS_JOB} GROUP BY subject_key HAVING count(*) > 1
  ), life AS (
    SELECT subject_key, subject, source, allocation_id, attempt, node_id, CASE WHEN nodes = 1 THEN 1 ELSE 2 END AS nodes, cpu_millis,
           date_diff('second', held_from, held_until) AS wall_s, ${SUMS.join(', ')},
           held_since, held_until, ended_at, outcome, first_computing_at, last_computing_at, day AS last_day, usd_micros,
           COALESCE(account, namespace, '') AS home, workload_stem AS stem, user_name, cluster, namespace, model
    FROM life_day WHERE ${IS_JOB} AND subject_key NOT IN (SELECT subject_key FROM several)
    UNION ALL
    SELECT min(subject_key), subject, min(source), min(allocation_id), min(attempt), min(node_id),
           CASE WHEN min(node_id) = max(node_id) AND max(nodes) = 1 THEN 1 ELSE 2 END, max(cpu_millis),
           date_diff('second', min(held_from), max(held_until)), ${SUMS.map((name) => `CAST(sum(${name}) AS BIGINT)`).join(', ')},
           min(held_since), max(held_until), max(ended_at), max(outcome), min(first_computing_at), max(last_computing_at), max(day), CAST(sum(usd_micros) AS BIGINT),
           COALESCE(min(account), min(namespace), ''), min(workload_stem), min(user_name), min(cluster), min(namespace), min(model)
    FROM life_day WHERE ${IS_JOB} AND subject_key IN (SELECT subject_key FROM several) GROUP BY subject
  )`;

/** The tables `LIVES` reads. */
export const LIVES_READ = ['life_day'] as const;
