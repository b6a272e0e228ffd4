import {
  BUSY_PERMILLE_MIN,
  EMPTY_TENTHS,
  HELD_LIFT_DECIWATTS,
  HELD_TENTHS,
  PARKED_MIB_MIN,
  REST_DECIWATTS_MAX,
  WORK_TENTHS,
} from '../facts/rest-power.ts';
import type { Stage } from '../facts/stage.ts';

/** At or above this a device computes. */
export const COMPUTING_PERMILLE_MIN = 10;
/** A sample speaks for the time to the next one if that is at most so many steps away. */
const COVERAGE_STEPS_MAX = 3;

/** The samples whose time reaches into the days asked for. */
const NEAR = `s.ts >= $from - INTERVAL '1' DAY AND s.ts < $until
  AND (s.ts >= $from OR s.ts + s.step_s * INTERVAL '${COVERAGE_STEPS_MAX}' SECOND > $from)`;

/**
 * Class of a moment from the metrics that cover it: 0 unknown, 1 idle, 2 computing. `GPU_UTIL` of a half beside an idle engine means that one of
 * the two lies; so does power above what the device draws at rest, empty or with memory held.
 */
const CLASS_NO = `
  CASE WHEN COALESCE(engine_permille, sm_permille, util_permille) >= ${COMPUTING_PERMILLE_MIN} THEN 2
       WHEN COALESCE(engine_permille, sm_permille, util_permille) IS NULL THEN 0
       WHEN util_permille >= ${BUSY_PERMILLE_MIN} THEN 0
       WHEN power_w * 10 > CASE WHEN is_parked THEN held_rest ELSE empty_rest END THEN 0
       ELSE 1 END`;

/** Which metric decided: 0 none, 1 engine, 2 sm, 3 util. */
const SIGNAL_NO = `
  CASE WHEN engine_permille IS NOT NULL THEN 1 WHEN sm_permille IS NOT NULL THEN 2
       WHEN util_permille IS NOT NULL THEN 3 ELSE 0 END`;

/** Of one device and two days: the most that is still rest, in tenths of a watt, empty and with memory held. `facts/rest-power.ts` says why. */
const REST = `
  SELECT day, device_id, CASE WHEN work < empty_rest THEN work ELSE empty_rest END AS empty_rest,
         CASE WHEN work < held_rest THEN work ELSE held_rest END AS held_rest
  FROM (
    SELECT day, device_id, least_w * ${EMPTY_TENTHS} AS empty_rest,
           CASE WHEN empty_count + busy_count = 0 OR least_w * 10 + ${HELD_LIFT_DECIWATTS} < least_w * ${EMPTY_TENTHS}
                THEN least_w * ${EMPTY_TENTHS}
                WHEN least_w * ${HELD_TENTHS} < least_w * 10 + ${HELD_LIFT_DECIWATTS} THEN least_w * ${HELD_TENTHS}
                ELSE least_w * 10 + ${HELD_LIFT_DECIWATTS} END AS held_rest,
           CASE WHEN busy_w * ${WORK_TENTHS} < busy_count * ${REST_DECIWATTS_MAX}
                THEN CAST((busy_w * ${WORK_TENTHS} - busy_w * ${WORK_TENTHS} % NULLIF(busy_count, 0)) / NULLIF(busy_count, 0) AS BIGINT)
                ELSE ${REST_DECIWATTS_MAX} END AS work
    FROM (
      SELECT day, device_id, min(least_power_w) AS least_w, CAST(sum(empty_count) AS BIGINT) AS empty_count,
             CAST(sum(busy_count) AS BIGINT) AS busy_count, CAST(sum(busy_power_w) AS BIGINT) AS busy_w
      FROM (
        SELECT day, device_id, least_power_w, empty_count, busy_count, busy_power_w FROM seen
        UNION ALL
        SELECT CAST(day + INTERVAL '1' DAY AS DATE), device_id, least_power_w, empty_count, busy_count, busy_power_w FROM seen
      ) power WHERE device_id IS NOT NULL GROUP BY day, device_id
    ) summed
  ) told`;

/** One metric of the devices whose samples do not all carry the same metrics, as readings of its own. */
const reading = (metric: string, column: string): string => `
  SELECT s.device_id, '${metric}' AS metric, s.ts, s.step_s, s.day, s.${column} AS permille_or_w,
         s.fb_used_mib >= ${PARKED_MIB_MIN} AS is_parked,
         x.first_${metric}_at AS next_day_at
  FROM gpu_sample s JOIN uneven u ON s.device_id = u.device_id LEFT JOIN next_day x ON s.device_id = x.device_id
  WHERE s.${column} IS NOT NULL AND ${NEAR}`;

/**
 * Question: what was each device doing, from when to when?
 *
 * Metrics cover time each by itself: an engine reading every minute and a utilisation reading every ten seconds stand
 * beside each other, and a file of memory readings covers nothing. Where every sample of a device carries the same
 * metrics, which is nearly always, samples can be taken row by row (`even`); the others are put together metric by
 * metric (`uneven`), by the same rule.
 *
 * Reads: gpu_sample (and the end of the day before), seen (to the next day's first sample).
 */
export const run: Stage = {
  name: 'run',
  version: 3,
  unit: 'day',
  reads: [
    { table: 'gpu_sample', days: [-1, 0] },
    { table: 'seen', days: [-2, -1, 0, 1] },
  ],
  params: [],
  writes: [
    ['day', 'DATE'],
    ['device_id', 'VARCHAR'],
    ['class', 'VARCHAR'],
    ['signal', 'VARCHAR'],
    ['from_at', 'TIMESTAMP'],
    ['until_at', 'TIMESTAMP'],
  ],
  orderBy: 'device_id, from_at',
  sql: `
    WITH rest AS (${REST}
    ), next_day AS (
      SELECT * FROM seen WHERE day = CAST($until AS DATE) AND sample_count > 0
    ), shape AS (
      SELECT device_id, bool_and(engine_count IN (0, sample_count) AND sm_count IN (0, sample_count)
               AND util_count IN (0, sample_count) AND power_count IN (0, sample_count)) AS is_even,
             count(*) AS days,
             count(*) FILTER (WHERE engine_count > 0) AS engine_days, count(*) FILTER (WHERE sm_count > 0) AS sm_days,
             count(*) FILTER (WHERE util_count > 0) AS util_days, count(*) FILTER (WHERE power_count > 0) AS power_days
      FROM seen WHERE day >= CAST($from - INTERVAL '1' DAY AS DATE) AND day < CAST($until AS DATE) AND sample_count > 0
      GROUP BY device_id
    ), judged AS (
      SELECT s.device_id,
             s.is_even AND s.engine_days IN (0, s.days) AND s.sm_days IN (0, s.days)
               AND s.util_days IN (0, s.days) AND s.power_days IN (0, s.days)
               AND (n.device_id IS NULL OR (
                 (s.engine_days = 0 OR COALESCE(n.first_engine_at, n.last_until) = begins_at)
                 AND (s.sm_days = 0 OR COALESCE(n.first_sm_at, n.last_until) = begins_at)
                 AND (s.util_days = 0 OR COALESCE(n.first_util_at, n.last_until) = begins_at)
                 AND (s.power_days = 0 OR COALESCE(n.first_power_at, n.last_until) = begins_at))) AS is_even,
             n.begins_at
      FROM shape s LEFT JOIN (
        SELECT next_day.*, COALESCE(first_engine_at, first_sm_at, first_util_at, first_power_at) AS begins_at
        FROM next_day
      ) n ON s.device_id = n.device_id
    ), even AS (
      SELECT device_id, begins_at, row_number() OVER (ORDER BY device_id) AS device_no FROM judged WHERE is_even
    ), uneven AS (SELECT device_id FROM judged WHERE NOT is_even
    ), even_day AS (
      SELECT e.device_no, e.device_id, s.day, l.empty_rest, l.held_rest FROM even e JOIN seen s ON e.device_id = s.device_id
      LEFT JOIN rest l ON s.device_id = l.device_id AND s.day = l.day
    ), classed AS (
      SELECT device_no, ts, step_s, CAST(${CLASS_NO} * 4 + ${SIGNAL_NO} AS INTEGER) AS state_no
      FROM (SELECT e.device_no, s.ts, s.step_s, s.engine_permille, s.sm_permille, s.util_permille, s.power_w,
                   s.fb_used_mib >= ${PARKED_MIB_MIN} AS is_parked, e.empty_rest, e.held_rest
            FROM gpu_sample s JOIN even_day e ON s.device_id = e.device_id AND s.day = e.day
            WHERE ${NEAR}
              AND COALESCE(s.engine_permille, s.sm_permille, s.util_permille, s.power_w) IS NOT NULL) near_sample
    ), neighboured AS (
      SELECT device_no, ts, step_s, state_no, lag(ts) OVER device_order AS last_ts,
             lead(ts) OVER device_order AS next_ts, lead(state_no) OVER device_order AS next_state_no
      FROM classed WINDOW device_order AS (PARTITION BY device_no ORDER BY ts)
    ), turned AS (
      SELECT device_no, ts, step_s, state_no, last_ts, next_ts,
             next_ts IS NULL OR next_state_no <> state_no
               OR date_diff('second', ts, next_ts) > step_s * ${COVERAGE_STEPS_MAX} AS is_end
      FROM neighboured
      WHERE last_ts IS NULL OR next_ts IS NULL OR next_state_no <> state_no
        OR date_diff('second', ts, next_ts) > step_s * ${COVERAGE_STEPS_MAX}
    ), bounded AS (
      SELECT turned.*, lag(is_end) OVER device_order AS last_is_end, lag(next_ts) OVER device_order AS last_next_ts,
             lag(ts) OVER device_order AS last_turn_ts
      FROM turned WINDOW device_order AS (PARTITION BY device_no ORDER BY ts)
    ), even_run AS (
      SELECT e.device_id, b.state_no,
             CASE WHEN b.last_ts IS NULL THEN b.ts WHEN b.last_is_end THEN b.last_next_ts ELSE b.last_turn_ts END AS from_at,
             CASE WHEN date_diff('second', b.ts, COALESCE(b.next_ts, e.begins_at)) <= b.step_s * ${COVERAGE_STEPS_MAX}
                  THEN COALESCE(b.next_ts, e.begins_at) ELSE b.ts + b.step_s * INTERVAL '1' SECOND END AS until_at
      FROM bounded b JOIN even e ON b.device_no = e.device_no WHERE b.is_end
    ), reading AS (${['engine', 'sm', 'util', 'power']
      .map((metric) => reading(metric, metric === 'power' ? 'power_w' : `${metric}_permille`))
      .join(' UNION ALL ')}
    ), covering AS (
      SELECT device_id, metric, ts, day, permille_or_w, is_parked,
             CASE WHEN COALESCE(next_ts, next_day_at) <= ts + step_s * INTERVAL '${COVERAGE_STEPS_MAX}' SECOND
                  THEN COALESCE(next_ts, next_day_at) ELSE ts + step_s * INTERVAL '1' SECOND END AS until_at
      FROM (SELECT reading.*, lead(ts) OVER (PARTITION BY device_id, metric ORDER BY ts) AS next_ts FROM reading) r
    ), edge AS (
      SELECT device_id, ts AS edge_at FROM covering UNION SELECT device_id, until_at FROM covering
    ), carried AS (
      SELECT device_id, ts, max(CASE WHEN metric = 'engine' THEN ts END) AS engine_ts,
             max(CASE WHEN metric = 'sm' THEN ts END) AS sm_ts, max(CASE WHEN metric = 'util' THEN ts END) AS util_ts,
             max(CASE WHEN metric = 'power' THEN ts END) AS power_ts
      FROM reading GROUP BY device_id, ts
    ), moment AS (
      SELECT e.device_id, e.edge_at AS from_at, lead(e.edge_at) OVER (PARTITION BY e.device_id ORDER BY e.edge_at) AS until_at,
             max(c.engine_ts) OVER so_far AS engine_ts, max(c.sm_ts) OVER so_far AS sm_ts,
             max(c.util_ts) OVER so_far AS util_ts, max(c.power_ts) OVER so_far AS power_ts
      FROM edge e LEFT JOIN carried c ON e.device_id = c.device_id AND e.edge_at = c.ts
      WINDOW so_far AS (PARTITION BY e.device_id ORDER BY e.edge_at ROWS UNBOUNDED PRECEDING)
    ), put_together AS (
      SELECT m.device_id, m.from_at, m.until_at, e.permille_or_w AS engine_permille, s.permille_or_w AS sm_permille,
             u.permille_or_w AS util_permille, p.permille_or_w AS power_w, p.is_parked, COALESCE(e.day, s.day, u.day) AS day
      FROM moment m
      LEFT JOIN covering e ON e.device_id = m.device_id AND e.metric = 'engine' AND e.ts = m.engine_ts
        AND e.until_at >= m.until_at
      LEFT JOIN covering s ON s.device_id = m.device_id AND s.metric = 'sm' AND s.ts = m.sm_ts
        AND s.until_at >= m.until_at
      LEFT JOIN covering u ON u.device_id = m.device_id AND u.metric = 'util' AND u.ts = m.util_ts
        AND u.until_at >= m.until_at
      LEFT JOIN covering p ON p.device_id = m.device_id AND p.metric = 'power' AND p.ts = m.power_ts
        AND p.until_at >= m.until_at
      WHERE m.until_at IS NOT NULL
    ), uneven_moment AS (
      SELECT device_id, from_at, until_at, ${CLASS_NO} * 4 + ${SIGNAL_NO} AS state_no
      FROM (SELECT t.*, l.empty_rest, l.held_rest
            FROM put_together t LEFT JOIN rest l ON t.device_id = l.device_id AND t.day = l.day) levelled
      WHERE COALESCE(engine_permille, sm_permille, util_permille) IS NOT NULL
    ), uneven_turn AS (
      SELECT device_id, from_at, until_at, state_no,
             CASE WHEN last_until = from_at AND last_state_no = state_no THEN 0 ELSE 1 END AS is_turn
      FROM (SELECT uneven_moment.*, lag(until_at) OVER w AS last_until, lag(state_no) OVER w AS last_state_no
            FROM uneven_moment WINDOW w AS (PARTITION BY device_id ORDER BY from_at)) t
    ), uneven_run AS (
      SELECT device_id, min(state_no) AS state_no, min(from_at) AS from_at, max(until_at) AS until_at
      FROM (SELECT uneven_turn.*, CAST(sum(is_turn) OVER (PARTITION BY device_id ORDER BY from_at
              ROWS UNBOUNDED PRECEDING) AS BIGINT) AS place FROM uneven_turn) t
      GROUP BY device_id, place
    ), whole_run AS (
      SELECT device_id, state_no, from_at, until_at FROM even_run WHERE state_no % 4 <> 0
      UNION ALL
      SELECT device_id, state_no, from_at, until_at FROM uneven_run
    )
    SELECT d.day, r.device_id,
           CASE WHEN r.state_no >= 8 THEN 'computing' WHEN r.state_no >= 4 THEN 'idle' ELSE 'unknown' END AS class,
           CASE r.state_no % 4 WHEN 1 THEN 'engine' WHEN 2 THEN 'sm' ELSE 'util' END AS signal,
           CASE WHEN r.from_at < d.day_start THEN d.day_start ELSE r.from_at END AS from_at,
           CASE WHEN r.until_at > d.day_end THEN d.day_end ELSE r.until_at END AS until_at
    FROM whole_run r JOIN calendar_day d ON r.from_at < d.day_end AND r.until_at > d.day_start`,
};
