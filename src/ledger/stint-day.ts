import { LONG_SILENCE_S } from '../facts/long-silence.ts';
import type { Stage } from '../facts/stage.ts';
import { mannerSql } from '../facts/workload-manner.ts';

const HOLDER = 'source, allocation_id, attempt';
const sameHolder = (a: string, b: string): string =>
  `${a}.source = ${b}.source AND ${a}.allocation_id = ${b}.allocation_id AND ${a}.attempt = ${b}.attempt`;

/** The mean of a metric over the samples in which the device computed. */
const mean = (metric: string): string => {
  const sum = `CAST(sum(a.${metric}_permille * a.computing_samples) AS BIGINT)`;
  const count = `NULLIF(CAST(sum(a.computing_samples) FILTER (WHERE a.${metric}_permille IS NOT NULL) AS BIGINT), 0)`;
  return `CAST((${sum} - ${sum} % ${count}) / ${count} AS BIGINT) AS ${metric}_permille`;
};

/** What the hour's sensors said while the holder had the device: of an hour that was not all its own, its own samples. */
const own = (fold: 'max' | 'min', metric: string): string =>
  `${fold}(CASE WHEN g.held_s < 3600 THEN c.${metric}_${fold} ELSE a.${metric}_${fold} END) AS ${metric}_${fold}`;

/**
 * Question: what did each holder make of each of its devices on a day?
 *
 * One row for each holder, device and day: seconds by activity, when it first and last computed, since when it has not, and
 * what the sensors said meanwhile. Detectors read this instead of hours and samples. Holders by count have no device of their own, so that
 * times are known of them only where they hold all devices of a node; holders nobody knows are NULL. `idle_from` is the begin of the idle time at the end of the
 * day, after its last kernel and its last long silence. `shared_s` is the time in which others held the device too,
 * whose kernels then cannot be told from the holder's. `inner_idle_s` is the longest time
 * between two kernels of the day: a night far from Greenwich is not at its edges. Memory and power are of the samples in its own time: in the
 * hour of handing over, somebody else's are no evidence about it. An outcome is that of an end: schedulers call what goes on `running`. What the device is and what `subject` says of the holder
 * stand here too: to look them up costs a month of ten thousand GPUs more than to carry them.
 *
 * Reads: gpu_hour, held, run, holding, activity_hour, gpu_sample (of hours that were handed over), presence, subject.
 */
export const stintDay: Stage = {
  name: 'stint_day',
  version: 10,
  unit: 'day',
  reads: [
    { table: 'gpu_hour', days: [0] },
    { table: 'held', days: [0] },
    { table: 'run', days: [0] },
    { table: 'holding', days: [0] },
    { table: 'activity_hour', days: [0] },
    { table: 'gpu_sample', days: [0] },
    { table: 'presence', days: [0] },
    { table: 'subject', days: [0] },
  ],
  params: [],
  writes: [
    ['day', 'DATE'],
    ['subject', 'VARCHAR'],
    ['subject_key', 'BIGINT'],
    ['source', 'VARCHAR'],
    ['allocation_id', 'VARCHAR'],
    ['attempt', 'BIGINT'],
    ['node_id', 'VARCHAR'],
    ['device_id', 'VARCHAR'],
    ['root_device_id', 'VARCHAR'],
    ['model', 'VARCHAR'],
    ['cluster', 'VARCHAR'],
    ['namespace', 'VARCHAR'],
    ['account', 'VARCHAR'],
    ['user_name', 'VARCHAR'],
    ['workload_stem', 'VARCHAR'],
    ['manner', 'VARCHAR'],
    ['workload_kind', 'VARCHAR'],
    ['workload_name', 'VARCHAR'],
    ['held_since', 'TIMESTAMP'],
    ['ended_at', 'TIMESTAMP'],
    ['outcome', 'VARCHAR'],
    ['cpu_millis', 'BIGINT'],
    ['held_from', 'TIMESTAMP'],
    ['held_until', 'TIMESTAMP'],
    ['held_s', 'BIGINT'],
    ['shared_s', 'BIGINT'],
    ['computing_s', 'BIGINT'],
    ['idle_s', 'BIGINT'],
    ['unknown_s', 'BIGINT'],
    ['pause_s', 'BIGINT'],
    ['gap_s', 'BIGINT'],
    ['exchange_s', 'BIGINT'],
    ['units', 'BIGINT'],
    ['first_computing_at', 'TIMESTAMP'],
    ['last_computing_at', 'TIMESTAMP'],
    ['known_until', 'TIMESTAMP'],
    ['idle_from', 'TIMESTAMP'],
    ['inner_idle_s', 'BIGINT'],
    ['engine_permille', 'BIGINT'],
    ['sm_permille', 'BIGINT'],
    ['tensor_permille', 'BIGINT'],
    ['dram_permille', 'BIGINT'],
    ['util_permille', 'BIGINT'],
    ['fb_used_mib_max', 'BIGINT'],
    ['power_w_max', 'BIGINT'],
    ['power_w_min', 'BIGINT'],
    ['throttled_samples', 'BIGINT'],
    ['samples', 'BIGINT'],
    ['lying_samples', 'BIGINT'],
    ['xid', 'BIGINT'],
  ],
  orderBy: 'source, allocation_id, attempt, device_id',
  sql: `
    WITH held_piece AS (
      SELECT day, device_id, ${HOLDER}, min(root_device_id) AS root_device_id, min(node_id) AS node_id,
             min(from_at) AS held_from, max(until_at) AS held_until
      FROM held WHERE disposition = 'held' GROUP BY day, device_id, ${HOLDER}
    ), held_day AS (
      SELECT p.*, CASE WHEN allocation_id IS NOT NULL THEN 'job ' || source || '/' || allocation_id || '/' || CAST(attempt AS VARCHAR)
                       WHEN node_id IS NOT NULL THEN 'node ' || node_id ELSE 'device ' || root_device_id END AS subject
      FROM held_piece p
    ), met AS (
      SELECT h.day, h.device_id, h.source, h.allocation_id, h.attempt, r.class,
             CASE WHEN r.from_at > h.from_at THEN r.from_at ELSE h.from_at END AS met_from,
             CASE WHEN r.until_at < h.until_at THEN r.until_at ELSE h.until_at END AS met_until
      FROM held h JOIN run r ON h.day = r.day AND h.device_id = r.device_id AND r.from_at < h.until_at AND r.until_at > h.from_at
      WHERE h.disposition = 'held' AND NOT h.pooled AND r.class <> 'unknown'
    ), spell AS (
      SELECT m.*, date_diff('second', lag(met_until) OVER (PARTITION BY day, device_id, ${HOLDER} ORDER BY met_from), met_from) AS silent_s
      FROM met m
    ), timed AS (
      SELECT day, device_id, ${HOLDER}, min(CASE WHEN class = 'computing' THEN met_from END) AS first_computing_at,
             max(CASE WHEN class = 'computing' THEN met_until END) AS last_computing_at, max(met_until) AS known_until,
             max(CASE WHEN class = 'computing' THEN met_until WHEN silent_s > ${LONG_SILENCE_S} THEN met_from END) AS broken_at
      FROM spell GROUP BY day, device_id, ${HOLDER}
    ), idled AS (
      SELECT m.day, m.device_id, m.source, m.allocation_id, m.attempt, min(m.met_from) AS idle_from
      FROM met m JOIN timed t ON m.day = t.day AND m.device_id = t.device_id
        AND COALESCE(m.source, '') = COALESCE(t.source, '') AND COALESCE(m.allocation_id, '') = COALESCE(t.allocation_id, '')
        AND COALESCE(m.attempt, -1) = COALESCE(t.attempt, -1)
      WHERE m.class = 'idle' AND (t.broken_at IS NULL OR m.met_from >= t.broken_at)
      GROUP BY m.day, m.device_id, m.source, m.allocation_id, m.attempt
    ), inner_idle AS (
      SELECT day, device_id, ${HOLDER}, max(date_diff('second', computed_until, met_from)) AS inner_idle_s
      FROM (SELECT m.*, lag(met_until) OVER (PARTITION BY day, device_id, ${HOLDER} ORDER BY met_from) AS computed_until
            FROM met m WHERE class = 'computing') computing
      GROUP BY day, device_id, ${HOLDER}
    ), cut AS (
      SELECT h.day, h.device_id, h.hour_start, h.source, h.allocation_id, h.attempt, max(s.fb_used_mib) AS fb_used_mib_max,
             max(s.power_w) AS power_w_max, min(s.power_w) AS power_w_min
      FROM held h JOIN gpu_sample s ON h.device_id = s.device_id AND h.hour_start = date_trunc('hour', s.ts) AND s.ts >= h.from_at AND s.ts < h.until_at
      WHERE h.disposition = 'held' AND h.seconds < 3600
      GROUP BY h.day, h.device_id, h.hour_start, h.source, h.allocation_id, h.attempt
    ), used AS (
      SELECT g.day, g.device_id, g.source, g.allocation_id, g.attempt, CAST(sum(g.held_s) AS BIGINT) AS held_s,
             CAST(sum(g.shared_s) AS BIGINT) AS shared_s,
             CAST(sum(g.computing_s) AS BIGINT) AS computing_s, CAST(sum(g.idle_s) AS BIGINT) AS idle_s,
             CAST(sum(g.unknown_s) AS BIGINT) AS unknown_s, CAST(sum(g.pause_s) AS BIGINT) AS pause_s,
             CAST(sum(g.gap_s) AS BIGINT) AS gap_s, CAST(sum(g.exchange_s) AS BIGINT) AS exchange_s, CAST(sum(g.units) AS BIGINT) AS units,
             ${['engine', 'sm', 'tensor', 'dram', 'util'].map(mean).join(', ')},
             ${own('max', 'fb_used_mib')}, ${own('max', 'power_w')}, ${own('min', 'power_w')},
             COALESCE(CAST(sum(a.throttled_samples) AS BIGINT), 0) AS throttled_samples,
             COALESCE(CAST(sum(a.samples) AS BIGINT), 0) AS samples,
             COALESCE(CAST(sum(a.lying_samples) AS BIGINT), 0) AS lying_samples
      FROM gpu_hour g LEFT JOIN activity_hour a ON g.day = a.day AND g.device_id = a.device_id AND g.hour_start = a.hour_start
      LEFT JOIN cut c ON g.day = c.day AND g.device_id = c.device_id AND g.hour_start = c.hour_start AND COALESCE(g.source, '') = COALESCE(c.source, '')
        AND COALESCE(g.allocation_id, '') = COALESCE(c.allocation_id, '') AND COALESCE(g.attempt, -1) = COALESCE(c.attempt, -1)
      WHERE g.disposition = 'held' GROUP BY g.day, g.device_id, g.source, g.allocation_id, g.attempt
    ), failing AS (
      SELECT h.day, h.device_id, h.source, h.allocation_id, h.attempt, max(a.xid) AS xid
      FROM held_day h JOIN activity_hour a ON h.day = a.day AND h.device_id = a.device_id AND a.xid IS NOT NULL
        AND h.held_from < a.xid_at AND h.held_until > a.xid_after
      GROUP BY h.day, h.device_id, h.source, h.allocation_id, h.attempt
    ), holder AS (
      SELECT day, ${HOLDER}, min(${mannerSql('holding')}) AS manner, min(workload_kind) AS workload_kind,
             min(workload_name) AS workload_name, min(held_from) AS held_since,
             CASE WHEN count(held_until) = count(*) THEN max(held_until) END AS ended_at,
             min(CASE WHEN outcome <> 'running' THEN outcome END) AS outcome,
             CAST(sum(cpu_millis) AS BIGINT) AS cpu_millis
      FROM holding GROUP BY day, ${HOLDER}
    ), kind AS (
      SELECT day, device_id, min(model) AS model FROM presence GROUP BY day, device_id
    )
    SELECT u.day, d.subject, text_digest(d.subject) AS subject_key, u.source, u.allocation_id, u.attempt, d.node_id, u.device_id, d.root_device_id,
           c.model, k.cluster, k.namespace, k.account, k.user_name, k.workload_stem, o.manner, o.workload_kind, o.workload_name,
           o.held_since, o.ended_at, o.outcome, o.cpu_millis, d.held_from, d.held_until, u.held_s, u.shared_s, u.computing_s, u.idle_s, u.unknown_s, u.pause_s, u.gap_s, u.exchange_s, u.units,
           t.first_computing_at, t.last_computing_at, t.known_until, i.idle_from,
           n.inner_idle_s, u.engine_permille, u.sm_permille, u.tensor_permille,
           u.dram_permille, u.util_permille, u.fb_used_mib_max, u.power_w_max, u.power_w_min, u.throttled_samples, u.samples,
           u.lying_samples, x.xid
    FROM used u
    JOIN held_day d ON u.day = d.day AND u.device_id = d.device_id AND COALESCE(u.source, '') = COALESCE(d.source, '')
      AND COALESCE(u.allocation_id, '') = COALESCE(d.allocation_id, '') AND COALESCE(u.attempt, -1) = COALESCE(d.attempt, -1)
    LEFT JOIN timed t ON u.day = t.day AND u.device_id = t.device_id AND COALESCE(u.source, '') = COALESCE(t.source, '')
      AND COALESCE(u.allocation_id, '') = COALESCE(t.allocation_id, '') AND COALESCE(u.attempt, -1) = COALESCE(t.attempt, -1)
    LEFT JOIN idled i ON u.day = i.day AND u.device_id = i.device_id AND COALESCE(u.source, '') = COALESCE(i.source, '')
      AND COALESCE(u.allocation_id, '') = COALESCE(i.allocation_id, '') AND COALESCE(u.attempt, -1) = COALESCE(i.attempt, -1)
    LEFT JOIN inner_idle n ON u.day = n.day AND u.device_id = n.device_id AND COALESCE(u.source, '') = COALESCE(n.source, '')
      AND COALESCE(u.allocation_id, '') = COALESCE(n.allocation_id, '') AND COALESCE(u.attempt, -1) = COALESCE(n.attempt, -1)
    LEFT JOIN failing x ON u.day = x.day AND u.device_id = x.device_id AND COALESCE(u.source, '') = COALESCE(x.source, '')
      AND COALESCE(u.allocation_id, '') = COALESCE(x.allocation_id, '') AND COALESCE(u.attempt, -1) = COALESCE(x.attempt, -1)
    LEFT JOIN holder o ON u.day = o.day AND ${sameHolder('u', 'o')}
    LEFT JOIN kind c ON u.day = c.day AND u.device_id = c.device_id
    LEFT JOIN subject k ON u.day = k.day AND d.subject = k.subject`,
};
