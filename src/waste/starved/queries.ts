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

/**
 * Pauses by kind: at the begin, those in which a checkpoint was recorded, and of the rest short and long ones; how often they come. What a pause was for is known
 * only where somebody recorded it.
 */
export const PAUSES_SQL = `
    WITH ${LIVES}, ${MEASURED}, ${WRITTEN}, stood AS (
      SELECT 'job ' || source || '/' || allocation_id || '/' || CAST(attempt AS VARCHAR) AS subject, allocation_id, from_at, until_at,
             count(*) AS devices, date_diff('second', from_at, until_at) AS length_s
      FROM pause GROUP BY source, allocation_id, attempt, from_at, until_at
    ), saved AS (
      SELECT DISTINCT t.subject, t.from_at FROM stood t
      JOIN written w ON w.allocation_id = t.allocation_id AND w.window_from <= t.until_at + INTERVAL '${NEAR_MINUTES}' MINUTE
        AND COALESCE(w.window_until, w.window_from) >= t.from_at - INTERVAL '${NEAR_MINUTES}' MINUTE
    ), kept AS (
      SELECT s.home, s.stem, s.model, s.subject, s.wall_s, t.length_s, t.length_s * t.devices AS device_s,
             CASE WHEN t.from_at <= s.held_since + INTERVAL '2' MINUTE THEN 'start' WHEN c.subject IS NOT NULL THEN 'saving'
                  WHEN t.length_s <= ${SHORT_PAUSE_S} THEN 'short' ELSE 'long' END AS place
      FROM stood t JOIN seen s ON t.subject = s.subject LEFT JOIN saved c ON t.subject = c.subject AND t.from_at = c.from_at
    ), middle AS (
      SELECT home, COALESCE(stem, '') AS stem, COALESCE(model, '') AS model, place, ${nearestRank('length_s', 50)} AS length_s
      FROM kept GROUP BY home, COALESCE(stem, ''), COALESCE(model, ''), place
    ), of_run AS (
      SELECT ${KIND}, place, subject, count(*) AS pauses, CAST(sum(device_s) AS BIGINT) AS device_s, min(wall_s) AS wall_s
      FROM kept GROUP BY ${KIND}, place, subject
    )
    SELECT r.home, r.stem, r.model, r.place, CAST(sum(r.pauses) AS BIGINT) AS pauses, count(*) AS runs,
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
      WHERE w.unit = 'step' AND w.window_until IS NOT NULL AND w.window_from >= $from AND w.window_from < $until
      GROUP BY s.subject, s.home, s.stem, s.model
      HAVING sum(w.quantity) >= 1 AND sum(date_diff('second', w.window_from, w.window_until)) >= ${STEP_RUN_S}
    ), timed AS (
      SELECT ${KIND}, CAST((wall_s * 1000 - (wall_s * 1000) % steps) / steps AS BIGINT) AS ms FROM counted
    )
    SELECT ${KIND}, count(*) AS runs, ${nearestRank('ms', 50)} AS "middleMs", ${nearestRank('ms', 10)} AS "bestMs"
    FROM timed GROUP BY ${KIND} ORDER BY ${KIND}`;

/** Days by kind: device-seconds that were at work, waits taken off, and those of which anything is known. */
export const DAYS_SQL = `
    WITH ${LIVES}, ${MEASURED}
    SELECT s.home, s.stem, s.model, CAST(d.day AS VARCHAR) AS day,
           CAST(sum(d.computing_s - COALESCE(d.gap_s, 0) - COALESCE(d.exchange_s, 0)) AS BIGINT) AS "atWorkS",
           CAST(sum(d.held_s - d.unknown_s) AS BIGINT) AS "knownS"
    FROM stint_day d JOIN seen s ON d.subject = s.subject
    GROUP BY s.home, s.stem, s.model, d.day ORDER BY s.home, s.stem, s.model, d.day`;
