import { textsInOne } from '../../facts/sql-row.ts';
import { nearestRank } from '../nearest-rank.ts';
import { LIVES } from '../runs-sql.ts';
import { WRITTEN } from '../saved-work-sql.ts';

const KIND = 'home, stem, model';

/** Attempts shorter than this do not say how fast a step is: they are mostly start-up. */
const STEP_RUN_S = 900;
/** Waiting below this is left out of what is claimed: thousands of short runs would make a list, and no difference. */
const CLAIMED_S = 900;
/** Longer than most checkpoints take, shorter than most evaluations. */
const SHORT_PAUSE_S = 600;
/** Samples are minutes apart, so that a pause is known to about that. */
const NEAR_MINUTES = 2;
/** By less than this, the usual time between samples, a pause may look longer than what happened in it. */
const SAMPLE_S = 300;

/** Cores are counted for each device held, a slice like a GPU; the part of the machine that is there for it is known of whole GPUs only. */
const MEASURED = `
  seen AS (
    SELECT l.*,
           CASE WHEN l.held_s > 0
                THEN CAST((l.cpu_millis * l.wall_s - (l.cpu_millis * l.wall_s) % (1000 * l.held_s)) / (1000 * l.held_s) AS BIGINT)
                END AS cores,
           l.units * 10 >= 63000 * 9 * l.wall_s AS is_whole
    FROM life l
    WHERE l.unknown_s * 1000 <= l.held_s * $unknownPermilleMax AND l.shared_s * 1000 <= l.held_s * $unknownPermilleMax
  )`;

const WAITING_SUBJECTS = `array_agg(s.subject ORDER BY gap_s + pause_s + exchange_s DESC, s.subject)
             FILTER (WHERE gap_s + pause_s + exchange_s >= ${CLAIMED_S})`;

/** Attempts by kind, cores for each GPU and machines: how they spent their time. */
export const LEVELS_SQL = `
    WITH ${LIVES}, ${MEASURED}, machine AS (
      SELECT node_id, CASE WHEN max(gpu_count) > 0 THEN CAST((max(vcpu) - max(vcpu) % max(gpu_count)) / max(gpu_count) AS BIGINT) END AS there
      FROM node GROUP BY node_id
    )
    SELECT ${KIND}, s.source, cores, CASE WHEN is_whole THEN p.there END AS "coresThere", nodes > 1 AS "isSpread", count(*) AS runs,
           CAST(sum(held_s) AS BIGINT) AS "heldS",
           CAST(sum(CASE WHEN gap_rows > 0 THEN computing_s ELSE 0 END) AS BIGINT) AS "computingS",
           CAST(sum(gap_s) AS BIGINT) AS "gapS", CAST(sum(pause_s) AS BIGINT) AS "pauseS",
           CAST(sum(exchange_s) AS BIGINT) AS "exchangeS", CAST(sum(engine_activity) AS BIGINT) AS "engineActivity",
           CAST(sum(sm_activity) AS BIGINT) AS "smActivity",
           ${textsInOne(WAITING_SUBJECTS)} AS subjects
    FROM seen s LEFT JOIN machine p ON s.node_id = p.node_id
    GROUP BY ${KIND}, s.source, cores, CASE WHEN is_whole THEN p.there END, nodes > 1
    ORDER BY ${KIND}, s.source, cores, "coresThere", "isSpread"`;

const PAUSE_FROM = `t.from_at - INTERVAL '${NEAR_MINUTES}' MINUTE`;
const PAUSE_UNTIL = `t.until_at + INTERVAL '${NEAR_MINUTES}' MINUTE`;

/**
 * Pauses by kind: at the begin, the recorded time of checkpoints in them, and of the rest short and long ones; how often they come. What a pause was for is known
 * only where somebody recorded it, and for as long as it was recorded: what a pause has beyond its checkpoint is a long one of its own.
 * A checkpoint of which only the moment is recorded explains a short pause and no long one.
 */
export const PAUSES_SQL = `
    WITH ${LIVES}, ${MEASURED}, ${WRITTEN}, stood AS (
      SELECT 'job ' || source || '/' || allocation_id || '/' || CAST(attempt AS VARCHAR) AS subject, allocation_id, from_at, until_at,
             count(*) AS devices, date_diff('second', from_at, until_at) AS length_s
      FROM pause GROUP BY source, allocation_id, attempt, from_at, until_at
    ), saved AS (
      SELECT t.subject, t.from_at, t.until_at, CAST(sum(CASE WHEN w.window_until IS NULL THEN 0 ELSE
               date_diff('second', CASE WHEN w.window_from > ${PAUSE_FROM} THEN w.window_from ELSE ${PAUSE_FROM} END,
                                   CASE WHEN w.window_until < ${PAUSE_UNTIL} THEN w.window_until ELSE ${PAUSE_UNTIL} END) END) AS BIGINT) AS recorded_s
      FROM stood t
      JOIN written w ON w.allocation_id = t.allocation_id AND w.window_from <= ${PAUSE_UNTIL}
        AND COALESCE(w.window_until, w.window_from) >= ${PAUSE_FROM}
      GROUP BY t.subject, t.from_at, t.until_at
    ), told AS (
      SELECT s.home, s.stem, s.model, s.subject, s.wall_s, t.length_s, t.devices, c.subject IS NOT NULL AS is_saved,
             t.from_at <= s.held_since + INTERVAL '2' MINUTE AS is_start,
             CASE WHEN c.subject IS NULL OR t.from_at <= s.held_since + INTERVAL '2' MINUTE THEN 0
                  WHEN c.recorded_s > t.length_s - ${SAMPLE_S} OR (c.recorded_s = 0 AND t.length_s <= ${SHORT_PAUSE_S}) THEN t.length_s
                  ELSE c.recorded_s END AS saving_s
      FROM stood t JOIN seen s ON t.subject = s.subject
      LEFT JOIN saved c ON t.subject = c.subject AND t.from_at = c.from_at AND t.until_at = c.until_at
    ), part AS (
      SELECT 'saving' AS part UNION ALL SELECT 'rest' AS part
    ), kept AS (
      SELECT home, stem, model, subject, wall_s, devices, is_saved AND NOT is_start AND part = 'rest' AS is_beyond,
             CASE WHEN part = 'saving' THEN saving_s ELSE length_s - saving_s END AS length_s,
             CASE WHEN is_start THEN 'start' WHEN part = 'saving' THEN 'saving'
                  WHEN NOT is_saved AND length_s <= ${SHORT_PAUSE_S} THEN 'short' ELSE 'long' END AS place
      FROM told CROSS JOIN part WHERE CASE WHEN part = 'saving' THEN saving_s ELSE length_s - saving_s END > 0
    ), middle AS (
      SELECT home, COALESCE(stem, '') AS stem, COALESCE(model, '') AS model, place, ${nearestRank('length_s', 50)} AS length_s
      FROM kept GROUP BY home, COALESCE(stem, ''), COALESCE(model, ''), place
    ), of_run AS (
      SELECT ${KIND}, place, subject, count(*) AS pauses, count(*) FILTER (WHERE is_beyond) AS beyond,
             CAST(sum(length_s * devices) AS BIGINT) AS device_s, min(wall_s) AS wall_s
      FROM kept GROUP BY ${KIND}, place, subject
    )
    SELECT r.home, r.stem, r.model, r.place, CAST(sum(r.pauses) AS BIGINT) AS pauses, CAST(sum(r.beyond) AS BIGINT) AS beyond, count(*) AS runs,
           CAST(sum(r.device_s) AS BIGINT) AS "deviceS", min(m.length_s) AS "lengthS",
           CAST(sum(r.wall_s) AS BIGINT) AS "computedBetweenS"
    FROM of_run r JOIN middle m ON r.home = m.home AND COALESCE(r.stem, '') = m.stem AND COALESCE(r.model, '') = m.model
      AND r.place = m.place
    GROUP BY r.home, r.stem, r.model, r.place ORDER BY r.home, r.stem, r.model, r.place`;

/**
 * Milliseconds of a step by kind: the middle run, and the best tenth of them. Steps are whole, and exact as a DOUBLE: to make a whole number of
 * a DECIMAL straight away takes a microsecond.
 */
export const STEPS_SQL = `
    WITH ${LIVES}, ${MEASURED}, counted AS (
      SELECT s.subject, s.home, s.stem, s.model, CAST(sum(date_diff('second', w.window_from, w.window_until)) AS BIGINT) AS wall_s,
             CAST(CAST(sum(w.quantity) AS DOUBLE) AS BIGINT) AS steps
      FROM work w JOIN seen s ON w.allocation_id = s.allocation_id AND s.attempt = 0
      WHERE w.unit = 'step' AND w.window_until IS NOT NULL AND w.window_from >= $from AND w.window_from < $until AND s.wall_s >= ${STEP_RUN_S}
      GROUP BY s.subject, s.home, s.stem, s.model
      HAVING sum(w.quantity) >= 1 AND sum(date_diff('second', w.window_from, w.window_until)) >= ${STEP_RUN_S}
    ), timed AS (
      SELECT ${KIND}, CAST((wall_s * 1000 - (wall_s * 1000) % steps) / steps AS BIGINT) AS ms FROM counted
    )
    SELECT ${KIND}, count(*) AS runs, ${nearestRank('ms', 50)} AS "middleMs", ${nearestRank('ms', 10)} AS "bestMs"
    FROM timed GROUP BY ${KIND} ORDER BY ${KIND}`;

/** Days by kind: device-seconds that were at work, waits taken off, and those of which anything is known. */
export const DAYS_SQL = `
    SELECT COALESCE(account, namespace, '') AS home, workload_stem AS stem, model, CAST(day AS VARCHAR) AS day,
           CAST(sum(computing_s - gap_s - exchange_s) AS BIGINT) AS "atWorkS", CAST(sum(held_s - unknown_s) AS BIGINT) AS "knownS"
    FROM life_day WHERE manner = 'job' AND allocation_id IS NOT NULL AND shared_s * 1000 <= held_s * $unknownPermilleMax
    GROUP BY COALESCE(account, namespace, ''), workload_stem, model, day ORDER BY home, stem, model, day`;
