import type { Stage } from '../facts/stage.ts';
import { mannerSql } from '../facts/workload-manner.ts';

const HOLDER = 'source, allocation_id, attempt';

/** Longer than this is no pause: nobody waits that long for a checkpoint, an evaluation or a model to load. */
const PAUSE_HOURS_MAX = 2;
const LONGEST = `INTERVAL '${PAUSE_HOURS_MAX}' HOUR`;
/** What lies further away than this cannot be part of a pause that touches the days asked for. */
const NEAR = `INTERVAL '${PAUSE_HOURS_MAX + 1}' HOUR`;

/**
 * Question: when did a job stand still, only to go on?
 *
 * Idle time of a device that leads into computing of the same holder, after computing of the same holder or since it got the device:
 * the job waited for its own host. What never went on is no pause, and is idle; so is what was ended by a device that others hold too. A pause may lie across midnight; each day has its part.
 *
 * Only the few held pieces around such a stretch are looked at, so that a fleet costs what its stretches cost.
 *
 * Reads: run, held (of the neighbouring days too), holding.
 */
export const pause: Stage = {
  name: 'pause',
  version: 2,
  unit: 'day',
  reads: [
    { table: 'run', days: [-1, 0, 1] },
    { table: 'held', days: [-1, 0, 1] },
    { table: 'holding', days: [0] },
  ],
  params: [],
  writes: [
    ['day', 'DATE'],
    ['device_id', 'VARCHAR'],
    ['source', 'VARCHAR'],
    ['allocation_id', 'VARCHAR'],
    ['attempt', 'BIGINT'],
    ['from_at', 'TIMESTAMP'],
    ['until_at', 'TIMESTAMP'],
  ],
  orderBy: 'device_id, from_at, source, allocation_id, attempt',
  sql: `
    WITH near_run AS (
      SELECT device_id, class, from_at, until_at, lag(class) OVER w AS last_class, lag(until_at) OVER w AS last_until
      FROM run WHERE until_at > $from - ${NEAR} AND from_at < $until + ${NEAR}
      WINDOW w AS (PARTITION BY device_id ORDER BY from_at)
    ), placed AS (
      SELECT device_id, class, from_at, until_at,
             CAST(sum(CASE WHEN last_until = from_at AND last_class = class THEN 0 ELSE 1 END)
               OVER (PARTITION BY device_id ORDER BY from_at ROWS UNBOUNDED PRECEDING) AS BIGINT) AS stretch_no
      FROM near_run
    ), stretch AS (
      SELECT device_id, stretch_no, min(class) AS class, min(from_at) AS from_at, max(until_at) AS until_at
      FROM placed GROUP BY device_id, stretch_no
    ), neighboured AS (
      SELECT device_id, class, from_at, until_at, lag(class) OVER w AS last_class, lag(until_at) OVER w AS last_until,
             lead(class) OVER w AS next_class, lead(from_at) OVER w AS next_from
      FROM stretch WINDOW w AS (PARTITION BY device_id ORDER BY stretch_no)
    ), candidate AS (
      SELECT device_id, from_at, until_at, COALESCE(last_class = 'computing' AND last_until = from_at, FALSE) AS after_computing,
             CASE WHEN from_at < until_at - ${LONGEST} THEN until_at - ${LONGEST} ELSE from_at END
               - INTERVAL '1' SECOND AS look_from
      FROM neighboured
      WHERE class = 'idle' AND next_class = 'computing' AND next_from = until_at AND until_at > $from AND from_at < $until
    ), met AS (
      SELECT c.device_id, c.from_at, c.until_at, c.after_computing, h.source, h.allocation_id, h.attempt,
             h.from_at AS piece_from, h.until_at AS piece_until
      FROM candidate c JOIN held h ON c.device_id = h.device_id AND h.from_at <= c.until_at AND h.until_at > c.look_from
      WHERE h.disposition = 'held' AND NOT h.pooled AND h.allocation_id IS NOT NULL
        AND h.until_at > $from - ${NEAR} AND h.from_at < $until + ${NEAR}
    ), company AS (
      SELECT device_id, until_at FROM met WHERE piece_until > until_at GROUP BY device_id, until_at
      HAVING min(source) <> max(source) OR min(allocation_id) <> max(allocation_id) OR min(attempt) <> max(attempt)
    ), joined AS (
      SELECT met.*, max(piece_until) OVER (PARTITION BY device_id, until_at, ${HOLDER} ORDER BY piece_from, piece_until
               ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reached
      FROM met
    ), spell AS (
      SELECT device_id, from_at, until_at, after_computing, ${HOLDER}, max(piece_until) AS spell_until,
             max(CASE WHEN reached IS NULL OR reached < piece_from THEN piece_from END) AS spell_from
      FROM joined GROUP BY device_id, from_at, until_at, after_computing, ${HOLDER}
    ), waited AS (
      SELECT s.device_id, ${HOLDER}, CASE WHEN spell_from > from_at THEN spell_from ELSE from_at END AS from_at, s.until_at
      FROM spell s LEFT JOIN company c ON s.device_id = c.device_id AND s.until_at = c.until_at
      WHERE c.device_id IS NULL AND spell_from < s.until_at AND spell_until > s.until_at AND (after_computing OR spell_from >= from_at)
    ), job AS (
      SELECT day, ${HOLDER} FROM holding WHERE ends_at > held_from GROUP BY day, ${HOLDER} HAVING min(${mannerSql('holding')}) = 'job'
    )
    SELECT d.day, w.device_id, w.source, w.allocation_id, w.attempt,
           CASE WHEN w.from_at < d.day_start THEN d.day_start ELSE w.from_at END AS from_at,
           CASE WHEN w.until_at > d.day_end THEN d.day_end ELSE w.until_at END AS until_at
    FROM waited w JOIN calendar_day d ON w.from_at < d.day_end AND w.until_at > d.day_start
    JOIN job j ON d.day = j.day AND w.source = j.source AND w.allocation_id = j.allocation_id AND w.attempt = j.attempt
    WHERE w.from_at >= w.until_at - ${LONGEST}`,
};
