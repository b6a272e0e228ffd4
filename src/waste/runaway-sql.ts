/** The nearest rank: the value that so many hundredths of all do not exceed. */
const rank = (value: string, place: string, percent: number): string =>
  `min(CASE WHEN ${place} * 100 >= jobs * ${percent} THEN ${value} END)`;

/** Of a job's last day, on the clock: all of it, and up to now, which lies before its end where somebody looks back. */
const SECONDS_HELD = "date_diff('second', h.held_from, h.held_until)";
const SECONDS_TO_NOW = "date_diff('second', h.held_from, $now)";

/** Jobs that go on, with what they have cost and what an hour of them costs. */
export const LIVE_SQL = `
  WITH open AS (
    SELECT subject, max(day) AS last_day FROM stint_day
    WHERE manner = 'job' AND allocation_id IS NOT NULL AND (ended_at IS NULL OR ended_at > $now) AND held_since < $now
    GROUP BY subject HAVING max(held_until) >= $now - $freshMinutes * INTERVAL '1' MINUTE
  ), job AS (
    SELECT s.subject, min(s.source) AS source, min(s.allocation_id) AS allocation_id, min(s.attempt) AS attempt,
           max(s.workload_name) AS name, min(s.workload_kind) AS workload_kind, min(s.held_since) AS held_since,
           CAST(sum(s.units) AS BIGINT) AS units, count(DISTINCT s.node_id) AS nodes,
           CAST(sum(CASE WHEN s.day = o.last_day THEN s.units ELSE 0 END) AS BIGINT) AS last_units,
           min(CASE WHEN s.day = o.last_day THEN s.held_from END) AS held_from, max(s.held_until) AS held_until,
           COALESCE(min(s.account), min(s.namespace), '') AS home, min(s.workload_stem) AS stem, min(s.user_name) AS user_name,
           min(s.namespace) AS namespace, min(s.model) AS model
    FROM stint_day s JOIN open o ON s.subject = o.subject GROUP BY s.subject
  ), paid AS (
    SELECT p.subject, CAST(sum(p.usd_micros) AS BIGINT) AS usd_micros, CAST(sum(p.unpriced_units) AS BIGINT) AS unpriced_units,
           CAST(sum(CASE WHEN p.day = o.last_day THEN p.usd_micros END) AS BIGINT) AS last_micros
    FROM subject_day p JOIN open o ON p.subject = o.subject GROUP BY p.subject
  ), timed AS (
    SELECT h.*, ${SECONDS_HELD} AS last_s, CASE WHEN h.held_until <= $now THEN ${SECONDS_HELD} ELSE ${SECONDS_TO_NOW} END AS now_s FROM job h
  )
  SELECT j.subject, j.source, j.allocation_id AS "allocationId", j.attempt, j.name, j.workload_kind AS "workloadKind", j.namespace,
         j.home, j.stem, j.user_name AS "user", j.model, j.nodes,
         CAST((j.last_units - j.last_units % j.last_s) / j.last_s AS BIGINT) AS "shareUnits",
         j.held_since AS "heldSince", CAST((j.units - j.units % 63000) / 63000 AS BIGINT) AS "gpuS",
         CASE WHEN p.unpriced_units = 0 THEN p.usd_micros - p.last_micros
           + CAST((p.last_micros * j.now_s - (p.last_micros * j.now_s) % j.last_s) / j.last_s AS BIGINT) END AS "usdMicros",
         CASE WHEN p.unpriced_units = 0 THEN CAST((p.last_micros * 3600 - (p.last_micros * 3600) % j.last_s) / j.last_s AS BIGINT) END AS "usdMicrosPerHour"
  FROM timed j LEFT JOIN paid p ON j.subject = p.subject
  WHERE j.last_s > 0 ORDER BY j.subject`;

/** Finished jobs of the names that go on, by name and user and by name alone. */
export const PAST_SQL = `
  WITH wanted AS (
    SELECT DISTINCT workload_stem AS stem FROM stint_day
    WHERE manner = 'job' AND (ended_at IS NULL OR ended_at > $now) AND held_since < $now AND workload_stem IS NOT NULL
  ), known AS (
    SELECT subject, min(held_since) AS held_since, max(ended_at) AS ended_at, CAST(sum(units) AS BIGINT) AS units,
           date_diff('second', min(held_from), max(held_until)) AS wall_s, COALESCE(min(account), min(namespace), '') AS home,
           min(workload_stem) AS stem, min(user_name) AS user_name
    FROM stint_day
    WHERE manner = 'job' AND outcome = 'completed' AND ended_at <= $now AND held_since >= $from AND allocation_id IS NOT NULL
      AND workload_stem IN (SELECT stem FROM wanted)
    GROUP BY subject HAVING max(held_until) > min(held_from)
  ), paid AS (
    SELECT p.subject, CASE WHEN CAST(sum(p.unpriced_units) AS BIGINT) = 0 THEN CAST(sum(p.usd_micros) AS BIGINT) END AS usd_micros
    FROM subject_day p JOIN known k ON p.subject = k.subject GROUP BY p.subject
  ), finished AS (
    SELECT k.home, k.stem, k.user_name, date_diff('second', k.held_since, k.ended_at) AS lasted_s,
           CAST((k.units - k.units % k.wall_s) / k.wall_s AS BIGINT) AS share_units, p.usd_micros
    FROM known k LEFT JOIN paid p ON k.subject = p.subject
  ), everybody AS (
    SELECT home, stem, COALESCE(user_name, '') AS user_name, FALSE AS is_all, lasted_s, share_units, usd_micros FROM finished
    UNION ALL
    SELECT home, stem, '' AS user_name, TRUE AS is_all, lasted_s, share_units, usd_micros FROM finished
  ), ranked AS (
    SELECT home, stem, user_name, is_all, lasted_s, share_units, usd_micros,
           row_number() OVER (PARTITION BY home, stem, user_name, is_all ORDER BY lasted_s) AS time_place,
           row_number() OVER (PARTITION BY home, stem, user_name, is_all ORDER BY share_units) AS gpu_place,
           row_number() OVER (PARTITION BY home, stem, user_name, is_all ORDER BY usd_micros) AS money_place,
           count(*) OVER (PARTITION BY home, stem, user_name, is_all) AS jobs,
           count(usd_micros) OVER (PARTITION BY home, stem, user_name, is_all) AS priced
    FROM everybody
  )
  SELECT home, stem, CASE WHEN is_all THEN NULL ELSE user_name END AS "user", max(jobs) AS jobs,
         ${rank('lasted_s', 'time_place', 50)} AS "medianS", ${rank('lasted_s', 'time_place', 99)} AS "p99S",
         CASE WHEN max(priced) = max(jobs) THEN ${rank('usd_micros', 'money_place', 50)} END AS "medianUsdMicros",
         CASE WHEN max(priced) = max(jobs) THEN ${rank('usd_micros', 'money_place', 99)} END AS "p99UsdMicros",
         ${rank('share_units', 'gpu_place', 50)} AS "medianUnits", ${rank('share_units', 'gpu_place', 99)} AS "p99Units"
  FROM ranked GROUP BY home, stem, user_name, is_all ORDER BY home, stem, user_name, is_all`;
