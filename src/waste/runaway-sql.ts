import { nearestRank } from './nearest-rank.ts';
import { LIVES } from './runs-sql.ts';

/** Of a job's last day, on the clock: all of it, and up to now, which lies before its end where somebody looks back. */
const SECONDS_HELD = "date_diff('second', l.held_from, o.held_until)";
const SECONDS_TO_NOW = "date_diff('second', l.held_from, $now)";

/**
 * Jobs that go on, with what they have cost and what an hour of them costs. Whose they are is read on their last day: to read names of one
 * day costs next to nothing, of a month more than all the rest.
 */
export const LIVE_SQL = `
  WITH open AS (
    SELECT subject, max(day) AS last_day, min(held_since) AS held_since, max(held_until) AS held_until, CAST(sum(units) AS BIGINT) AS units,
           CAST(sum(usd_micros) AS BIGINT) AS usd_micros, CAST(sum(unpriced_units) AS BIGINT) AS unpriced_units
    FROM life_day WHERE manner = 'job' AND (ended_at IS NULL OR ended_at > $now) AND held_since < $now
    GROUP BY subject HAVING max(held_until) >= $now - $freshMinutes * INTERVAL '1' MINUTE
  ), latest AS (
    SELECT s.subject, s.source, s.allocation_id, s.attempt, s.workload_name AS name, s.workload_kind, s.units, s.held_from, s.usd_micros AS last_micros,
           COALESCE(s.account, s.namespace, '') AS home, s.workload_stem AS stem, s.user_name, s.cluster, s.namespace, s.model
    FROM life_day s JOIN open o ON s.day = o.last_day AND s.subject = o.subject WHERE s.allocation_id IS NOT NULL
  ), timed AS (
    SELECT l.*, o.held_since, o.units AS all_units, o.usd_micros, o.unpriced_units, ${SECONDS_HELD} AS last_s,
           CASE WHEN o.held_until <= $now THEN ${SECONDS_HELD} ELSE ${SECONDS_TO_NOW} END AS now_s
    FROM latest l JOIN open o ON l.subject = o.subject
  )
  SELECT j.subject, j.source, j.allocation_id AS "allocationId", j.attempt, j.name, j.workload_kind AS "workloadKind", j.cluster, j.namespace,
         j.home, j.stem, j.user_name AS "user", j.model,
         CAST((j.units - j.units % j.last_s) / j.last_s AS BIGINT) AS "shareUnits",
         j.held_since AS "heldSince", CAST((j.all_units - j.all_units % 63000) / 63000 AS BIGINT) AS "gpuS",
         CASE WHEN j.unpriced_units = 0 THEN j.usd_micros - j.last_micros
           + CAST((j.last_micros * j.now_s - (j.last_micros * j.now_s) % j.last_s) / j.last_s AS BIGINT) END AS "usdMicros",
         CASE WHEN j.unpriced_units = 0 THEN CAST((j.last_micros * 3600 - (j.last_micros * 3600) % j.last_s) / j.last_s AS BIGINT) END AS "usdMicrosPerHour"
  FROM timed j
  WHERE j.last_s > 0 ORDER BY j.subject`;

/** Finished jobs of the names that go on, by name and user and by name alone. What holds a GPU beyond the last end that is known of it goes on. */
export const PAST_SQL = `
  WITH ${LIVES}, wanted AS (
    SELECT DISTINCT stem FROM life
    WHERE held_since < $now AND (ended_at IS NULL OR ended_at > $now OR ended_at < held_until) AND stem IS NOT NULL
  ), finished AS (
    SELECT home, stem, COALESCE(user_name, '') AS user_name, date_diff('second', held_since, ended_at) AS lasted_s,
           CAST((units - units % wall_s) / wall_s AS BIGINT) AS share_units, CASE WHEN unpriced_units = 0 THEN usd_micros END AS usd_micros
    FROM life
    WHERE outcome = 'completed' AND ended_at <= $now AND held_since >= $from AND wall_s > 0 AND stem IN (SELECT stem FROM wanted)
  )
  SELECT home, stem, user_name AS "user", count(*) AS jobs,
         ${nearestRank('lasted_s', 50)} AS "medianS", ${nearestRank('lasted_s', 99)} AS "p99S", max(lasted_s) AS "mostS",
         CASE WHEN count(usd_micros) = count(*) THEN ${nearestRank('usd_micros', 50)} END AS "medianUsdMicros",
         CASE WHEN count(usd_micros) = count(*) THEN ${nearestRank('usd_micros', 99)} END AS "p99UsdMicros",
         CASE WHEN count(usd_micros) = count(*) THEN max(usd_micros) END AS "mostUsdMicros",
         ${nearestRank('share_units', 50)} AS "medianUnits", ${nearestRank('share_units', 99)} AS "p99Units", max(share_units) AS "mostUnits"
  FROM finished GROUP BY GROUPING SETS ((home, stem, user_name), (home, stem)) ORDER BY home, stem, user_name`;
