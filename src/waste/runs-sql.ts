/**
 * The attempts of jobs as detectors compare them, in SQL: `life`, one row for each, with what it is one of and what it did from its
 * first day in the window to its last. A kind is a name without its numbers, where it was handed out: the runs of one
 * script, whoever started them.
 *
 * Seconds are of devices: two GPUs for an hour are 7,200. Whoever judges leaves out attempts of which too much was not measured:
 * silence is no evidence, and what a shared GPU did may be a neighbour's (`shared_s`).
 *
 * Reads: stint_day.
 */
export const LIVES = `
  life AS (
    SELECT subject, min(source) AS source, min(allocation_id) AS allocation_id, min(attempt) AS attempt, min(manner) AS manner,
           min(node_id) AS node_id, CASE WHEN min(node_id) = max(node_id) THEN 1 ELSE 2 END AS nodes, max(cpu_millis) AS cpu_millis,
           date_diff('second', min(held_from), max(held_until)) AS wall_s, CAST(sum(units) AS BIGINT) AS units,
           CAST(sum(held_s) AS BIGINT) AS held_s, CAST(sum(computing_s) AS BIGINT) AS computing_s,
           CAST(sum(unknown_s) AS BIGINT) AS unknown_s, COALESCE(CAST(sum(shared_s) AS BIGINT), 0) AS shared_s, CAST(sum(gap_s) AS BIGINT) AS gap_s, CAST(sum(pause_s) AS BIGINT) AS pause_s,
           CAST(sum(exchange_s) AS BIGINT) AS exchange_s, count(COALESCE(engine_permille, util_permille)) AS gap_rows,
           COALESCE(CAST(sum(engine_permille * computing_s) FILTER (WHERE sm_permille IS NOT NULL) AS BIGINT), 0) AS engine_activity,
           COALESCE(CAST(sum(sm_permille * computing_s) FILTER (WHERE engine_permille IS NOT NULL) AS BIGINT), 0) AS sm_activity,
           min(held_since) AS held_since, max(held_until) AS held_until, max(ended_at) AS ended_at, max(outcome) AS outcome,
           min(first_computing_at) AS first_computing_at, max(last_computing_at) AS last_computing_at, max(day) AS last_day,
           COALESCE(min(account), min(namespace), '') AS home, min(workload_stem) AS stem, min(user_name) AS user_name,
           min(cluster) AS cluster, min(namespace) AS namespace, min(account) AS account, min(model) AS model
    FROM stint_day WHERE manner = 'job' AND allocation_id IS NOT NULL GROUP BY subject
  )`;

/** The tables `LIVES` reads. */
export const LIVES_READ = ['stint_day'] as const;
