import type { Stage } from '../facts/stage.ts';
import { CHECKPOINT_UNIT } from '../facts/work.ts';

const HOLDER = 'source, allocation_id, attempt';
const sameHolder = (a: string, b: string): string =>
  `${a}.source = ${b}.source AND ${a}.allocation_id = ${b}.allocation_id AND ${a}.attempt = ${b}.attempt`;

/** Ends that come from outside, whatever the work was about. */
const OUTSIDE_ENDS = `('node-fail', 'preempted')`;
/** Hours without a kernel before such an end: more than two on the clock, longer than any pause is believed to be. */
const RESTED_HOURS = 3;

/**
 * Question: which attempts saved their work on each day, how often, and when last?
 *
 * A recorded checkpoint is written when its window ends. It meets the attempt that holds at that moment: by the job it names, else by
 * the run's name. A day's moments reach from just after its start to its end, so that what is saved with the last second of an attempt
 * is in the attempt's last day. A seen one is an hour in which every device that computed that day paused and went on: something was
 * written or evaluated. That is a guess, and only believed where nothing is recorded. An attempt had rested that ended with its day's part
 * from outside, when all its devices had been seen idle in its last hours: what it did was done before.
 *
 * Reads: work (unit checkpoint), holding, pause, gpu_hour.
 */
export const checkpoint: Stage = {
  name: 'checkpoint',
  version: 2,
  unit: 'day',
  reads: [
    { table: 'work', days: [-1, 0, 1] },
    { table: 'holding', days: [0] },
    { table: 'pause', days: [0] },
    { table: 'gpu_hour', days: [0] },
  ],
  params: [],
  writes: [
    ['day', 'DATE'],
    ['source', 'VARCHAR'],
    ['allocation_id', 'VARCHAR'],
    ['attempt', 'BIGINT'],
    ['basis', 'VARCHAR'],
    ['checkpoints', 'BIGINT'],
    ['last_at', 'TIMESTAMP'],
  ],
  orderBy: `${HOLDER}, basis`,
  sql: `
    WITH written AS (
      SELECT d.day, w.cluster, w.namespace, w.allocation_id IS NOT NULL AS by_job, COALESCE(w.allocation_id, w.run) AS name,
             COALESCE(w.window_until, w.window_from) AS written_at
      FROM work w JOIN calendar_day d ON COALESCE(w.window_until, w.window_from) > d.day_start
        AND COALESCE(w.window_until, w.window_from) <= d.day_end AND w.window_from >= d.day_start - INTERVAL '1' DAY
      WHERE w.unit = '${CHECKPOINT_UNIT}' AND w.quantity > 0
    ), named AS (
      SELECT day, ${HOLDER}, cluster, namespace, TRUE AS by_job, allocation_id AS name, held_from, ends_at FROM holding
      UNION ALL
      SELECT day, ${HOLDER}, cluster, namespace, TRUE, source || '/' || allocation_id, held_from, ends_at FROM holding
      UNION ALL
      SELECT day, ${HOLDER}, cluster, namespace, FALSE, workload_name, held_from, ends_at FROM holding
      UNION ALL
      SELECT day, ${HOLDER}, cluster, namespace, FALSE, labels['run'], held_from, ends_at FROM holding
    ), recorded AS (
      SELECT DISTINCT w.day, h.source, h.allocation_id, h.attempt, w.written_at
      FROM written w JOIN named h ON w.day = h.day AND w.by_job = h.by_job AND w.name = h.name
        AND h.held_from < w.written_at AND h.ends_at >= w.written_at
        AND COALESCE(w.cluster, h.cluster, '') = COALESCE(h.cluster, w.cluster, '')
        AND COALESCE(w.namespace, h.namespace, '') = COALESCE(h.namespace, w.namespace, '')
    ), worked AS (
      SELECT day, ${HOLDER}, count(DISTINCT device_id) AS devices FROM gpu_hour WHERE computing_s > 0 GROUP BY day, ${HOLDER}
    ), since AS (
      SELECT day, ${HOLDER}, min(held_from) AS begun_at FROM holding GROUP BY day, ${HOLDER}
    ), paused AS (
      SELECT p.day, p.source, p.allocation_id, p.attempt, date_trunc('hour', p.until_at - INTERVAL '1' SECOND) AS hour_start,
             count(DISTINCT p.device_id) AS devices, max(p.until_at) AS written_at
      FROM pause p JOIN since s ON p.day = s.day AND ${sameHolder('p', 's')} AND p.from_at > s.begun_at
      GROUP BY p.day, p.source, p.allocation_id, p.attempt, date_trunc('hour', p.until_at - INTERVAL '1' SECOND)
    ), ended AS (
      SELECT h.day, h.source, h.allocation_id, h.attempt FROM holding h JOIN calendar_day d ON h.day = d.day
      GROUP BY h.day, d.day_end, h.source, h.allocation_id, h.attempt
      HAVING count(h.held_until) = count(*) AND max(h.held_until) <= d.day_end AND min(h.outcome) IN ${OUTSIDE_ENDS}
    ), last_hour AS (
      SELECT g.day, g.source, g.allocation_id, g.attempt, g.hour_start,
             CAST(sum(g.computing_units + g.unknown_units) AS BIGINT) AS other_units,
             row_number() OVER (PARTITION BY g.day, g.source, g.allocation_id, g.attempt ORDER BY g.hour_start DESC) AS place
      FROM gpu_hour g JOIN ended e ON g.day = e.day AND ${sameHolder('g', 'e')}
      GROUP BY g.day, g.source, g.allocation_id, g.attempt, g.hour_start
    )
    SELECT day, ${HOLDER}, 'recorded' AS basis, count(*) AS checkpoints, max(written_at) AS last_at
    FROM recorded GROUP BY day, ${HOLDER}
    UNION ALL
    SELECT p.day, p.source, p.allocation_id, p.attempt, 'seen', count(*), max(p.written_at)
    FROM paused p JOIN worked w ON p.day = w.day AND ${sameHolder('p', 'w')} AND p.devices = w.devices
    GROUP BY p.day, p.source, p.allocation_id, p.attempt
    UNION ALL
    SELECT day, ${HOLDER}, 'rested', 0, min(hour_start) FROM last_hour WHERE place <= ${RESTED_HOURS}
    GROUP BY day, ${HOLDER} HAVING count(*) = ${RESTED_HOURS} AND CAST(sum(other_units) AS BIGINT) = 0`,
};
