/**
 * The attempts of jobs as detectors compare them, in SQL: `life`, one row for each, with what it is one of and what it did from its
 * first day in the window to its last. A kind is a name without its numbers, where it was handed out: the runs of one
 * script, whoever started them.
 *
 * Seconds are of devices: two GPUs for an hour are 7,200. Whoever judges leaves out attempts of which too much was not measured:
 * silence is no evidence.
 *
 * Reads: stint_day, subject, subject_day.
 */
export const LIVES = `
  kind_of AS (
    SELECT subject, min(COALESCE(account, namespace, '')) AS home, min(workload_stem) AS stem, min(user_name) AS user_name
    FROM subject WHERE what = 'job' GROUP BY subject
  ), device_model AS (
    SELECT device_id, min(model) AS model FROM subject_day WHERE device_id IS NOT NULL GROUP BY device_id
  ), lived AS (
    SELECT subject, min(source) AS source, min(allocation_id) AS allocation_id, min(attempt) AS attempt, min(manner) AS manner,
           min(device_id) AS device_id, min(node_id) AS node_id, CASE WHEN min(node_id) = max(node_id) THEN 1 ELSE 2 END AS nodes, max(cpu_millis) AS cpu_millis,
           date_diff('second', min(held_from), max(held_until)) AS wall_s, CAST(sum(units) AS BIGINT) AS units,
           CAST(sum(held_s) AS BIGINT) AS held_s, CAST(sum(computing_s) AS BIGINT) AS computing_s,
           CAST(sum(unknown_s) AS BIGINT) AS unknown_s, CAST(sum(gap_s) AS BIGINT) AS gap_s, CAST(sum(pause_s) AS BIGINT) AS pause_s,
           CAST(sum(exchange_s) AS BIGINT) AS exchange_s, count(COALESCE(engine_permille, util_permille)) AS gap_rows,
           min(held_since) AS held_since, max(ended_at) AS ended_at, max(outcome) AS outcome
    FROM stint_day WHERE manner = 'job' AND allocation_id IS NOT NULL GROUP BY subject
  ), life AS (
    SELECT l.*, k.home, k.stem, k.user_name, m.model
    FROM lived l JOIN kind_of k ON l.subject = k.subject LEFT JOIN device_model m ON l.device_id = m.device_id
  )`;

/** The tables `LIVES` reads. */
export const LIVES_READ = ['stint_day', 'subject', 'subject_day'] as const;
