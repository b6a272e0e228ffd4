import { OVERLAP_SECONDS_MAX } from '../facts/overlap.ts';
import type { Stage } from '../facts/stage.ts';
import { mannerSql } from '../facts/workload-manner.ts';

/** A life that begins within so many days continues the one before; and only the last so many days of a life are judged. */
const DAYS_MAX = 14;
/** Where there are no namespaces, a job that is handed in again within so many days of a bad end, weekend included, is the same run. */
const AGAIN_DAYS = 3;
/** Who saved so shortly before a bad end had done the work: what broke was the end of the script. */
const TEARDOWN_MINUTES = 10;
/** Nobody has resumed it: said once its scheduler began other jobs so long after its end. A queue may take a night. */
const GRACE_DAYS = 1;

/** Ends at which work is lost. Out of time is one only where a later life continues: many a job takes what it gets. */
const BAD_ENDS = ['failed', 'out-of-memory', 'node-fail', 'preempted', 'timeout'] as const;

/** Runs of these have one name and are no continuation of each other. */
const REPEATED_KIND = 'CronJob';

const days = (first: number, last: number): number[] => Array.from({ length: last - first + 1 }, (_, n) => first + n);

const HOLDER = 'source, allocation_id, attempt';
const sameHolder = (a: string, b: string): string =>
  `${a}.source = ${b}.source AND ${a}.allocation_id = ${b}.allocation_id AND ${a}.attempt = ${b}.attempt`;

/** The later life begins when the earlier is over, but for the seconds in which one hands over to the other. */
const CONTINUES = `b.begun_at >= a.ended_at - INTERVAL '${OVERLAP_SECONDS_MAX}' SECOND
        AND b.begun_at < a.ended_at + INTERVAL '${DAYS_MAX}' DAY`;

const IS_GIVEN_UP = `c.source IS NULL AND g.source IS NOT NULL
                  AND (s.recorded_at IS NULL OR s.recorded_at < a.ended_at - INTERVAL '${TEARDOWN_MINUTES}' MINUTE)`;

/**
 * Question: of which attempts came to nothing what they did on a day, and from which moment on?
 *
 * A life that ended badly keeps what its last checkpoint saved if a later life resumed the work or waits to, or if it saved in its last minutes; what
 * nobody goes on with is lost, whatever was saved of it. Slurm gives a job that is handed in again another number, so that it is known
 * by whose it is and what it is called. Out of time and handed in again is a loss only beside a checkpoint: else each run may have been enough.
 * A life that had rested before its machine was taken away, and that nobody resumed, had nothing left to lose.
 * The later life and the later checkpoint lie ahead of the day, so days are told anew when they come, and only those.
 *
 * Reads: holding, checkpoint (also of days around), begun (also of days ahead).
 */
export const fate: Stage = {
  name: 'fate',
  version: 4,
  unit: 'day',
  reads: [
    { table: 'holding', days: [0] },
    { table: 'checkpoint', days: days(-DAYS_MAX, DAYS_MAX) },
    { table: 'begun', days: days(-1, 2 * DAYS_MAX) },
  ],
  params: [],
  writes: [
    ['day', 'DATE'],
    ['subject', 'VARCHAR'],
    ['source', 'VARCHAR'],
    ['allocation_id', 'VARCHAR'],
    ['attempt', 'BIGINT'],
    ['outcome', 'VARCHAR'],
    ['resumed', 'BOOLEAN'],
    ['kept_by', 'VARCHAR'],
    ['from_at', 'TIMESTAMP'],
    ['until_at', 'TIMESTAMP'],
    ['lost_from', 'TIMESTAMP'],
  ],
  orderBy: HOLDER,
  sql: `
    WITH ended AS (
      SELECT h.day, d.day_start, d.day_end, h.source, h.allocation_id, h.attempt, min(h.outcome) AS outcome,
             min(h.held_from) AS begun_at, max(h.held_until) AS ended_at, min(h.cluster) AS cluster, min(h.namespace) AS namespace,
             min(h.workload_kind) AS workload_kind, min(h.workload_name) AS workload_name,
             min(h.account) AS account, min(h.user_name) AS user_name
      FROM holding h JOIN calendar_day d ON h.day = d.day
      GROUP BY h.day, d.day_start, d.day_end, h.source, h.allocation_id, h.attempt
      HAVING count(h.held_until) = count(*) AND min(h.outcome) IN (${BAD_ENDS.map((end) => `'${end}'`).join(', ')})
        AND min(${mannerSql('h')}) = 'job' AND max(h.held_until) <= d.day_end + INTERVAL '${DAYS_MAX}' DAY
    ), continuing AS (
      SELECT a.day, a.source, a.allocation_id, a.attempt, FALSE AS by_hand
      FROM ended a JOIN begun b ON a.source = b.source AND a.allocation_id = b.allocation_id
        AND (b.attempt > a.attempt OR b.attempt IS NULL) AND ${CONTINUES}
      UNION ALL
      SELECT a.day, a.source, a.allocation_id, a.attempt, FALSE
      FROM ended a JOIN begun b ON a.source = b.source AND a.namespace = b.namespace AND a.workload_kind = b.workload_kind
        AND a.workload_name = b.workload_name AND COALESCE(a.cluster, '') = COALESCE(b.cluster, '')
        AND a.allocation_id <> b.allocation_id AND ${CONTINUES}
      WHERE a.workload_kind <> '${REPEATED_KIND}'
      UNION ALL
      SELECT a.day, a.source, a.allocation_id, a.attempt, TRUE
      FROM ended a JOIN begun b ON a.source = b.source AND a.user_name = b.user_name AND COALESCE(a.account, '') = COALESCE(b.account, '')
        AND a.workload_kind = b.workload_kind AND a.workload_name = b.workload_name
        AND COALESCE(a.cluster, '') = COALESCE(b.cluster, '') AND a.allocation_id <> b.allocation_id AND ${CONTINUES}
        AND COALESCE(b.submitted_at, b.begun_at) >= a.ended_at - INTERVAL '${OVERLAP_SECONDS_MAX}' SECOND
        AND COALESCE(b.submitted_at, b.begun_at) < a.ended_at + INTERVAL '${AGAIN_DAYS}' DAY
      WHERE a.namespace IS NULL AND b.namespace IS NULL AND a.workload_kind <> '${REPEATED_KIND}'
    ), continued AS (
      SELECT day, ${HOLDER}, bool_and(by_hand) AS by_hand FROM continuing GROUP BY day, ${HOLDER}
    ), busy_day AS (
      SELECT source, day, min(begun_at) AS first_at, max(begun_at) AS last_at FROM begun WHERE attempt IS NOT NULL
      GROUP BY source, day
    ), given_up AS (
      SELECT DISTINCT a.day, a.source, a.allocation_id, a.attempt
      FROM ended a JOIN busy_day b ON a.source = b.source AND b.last_at >= a.ended_at + INTERVAL '${GRACE_DAYS}' DAY
        AND b.first_at < a.ended_at + INTERVAL '${DAYS_MAX}' DAY
    ), saved AS (
      SELECT a.day, a.source, a.allocation_id, a.attempt,
             max(CASE WHEN c.basis = 'recorded' THEN c.last_at END) AS recorded_at,
             max(CASE WHEN c.basis = 'seen' THEN c.last_at END) AS seen_at,
             max(CASE WHEN c.basis = 'rested' AND c.day = CAST(a.ended_at - INTERVAL '1' SECOND AS DATE) THEN c.last_at END) AS rested_at
      FROM ended a JOIN checkpoint c ON ${sameHolder('a', 'c')}
        AND c.day >= CAST(a.day_start - INTERVAL '${DAYS_MAX}' DAY AS DATE)
        AND c.day <= CAST(a.day_start + INTERVAL '${DAYS_MAX}' DAY AS DATE)
      GROUP BY a.day, a.source, a.allocation_id, a.attempt
    ), told AS (
      SELECT a.day, a.source, a.allocation_id, a.attempt, a.outcome, c.source IS NOT NULL AS resumed,
             CASE WHEN ${IS_GIVEN_UP} THEN NULL WHEN s.recorded_at IS NOT NULL THEN 'recorded'
                  WHEN s.seen_at IS NOT NULL THEN 'seen' END AS kept_by,
             CASE WHEN ${IS_GIVEN_UP} THEN NULL ELSE COALESCE(s.recorded_at, s.seen_at) END AS kept_at,
             CASE WHEN a.begun_at > a.day_start THEN a.begun_at ELSE a.day_start END AS from_at,
             CASE WHEN a.ended_at < a.day_end THEN a.ended_at ELSE a.day_end END AS until_at
      FROM ended a
      LEFT JOIN continued c ON a.day = c.day AND ${sameHolder('a', 'c')}
      LEFT JOIN given_up g ON a.day = g.day AND ${sameHolder('a', 'g')}
      LEFT JOIN saved s ON a.day = s.day AND ${sameHolder('a', 's')}
      WHERE CASE WHEN c.source IS NULL THEN a.outcome <> 'timeout' AND s.rested_at IS NULL
                 ELSE a.outcome <> 'timeout' OR NOT c.by_hand OR COALESCE(s.recorded_at, s.seen_at) IS NOT NULL END
    )
    SELECT day, 'job ' || source || '/' || allocation_id || '/' || CAST(attempt AS VARCHAR) AS subject, ${HOLDER}, outcome,
           resumed, kept_by, from_at, until_at, CASE WHEN kept_at > from_at THEN kept_at ELSE from_at END AS lost_from
    FROM told WHERE kept_at IS NULL OR kept_at < until_at`,
};
