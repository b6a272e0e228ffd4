import { BUSY_PERMILLE_MIN } from '../facts/rest-power.ts';
import type { Stage } from '../facts/stage.ts';
import { COMPUTING_PERMILLE_MIN } from './run.ts';

/**
 * An engine that is active for this much of the time has no gaps worth the name: between two kernels the host needs microseconds, and the
 * healthiest run leaves some percent. No loader, core or disk brings these back, so they are no waiting. Utilisation does not see them.
 */
const FULL_ENGINE_PERMILLE = 950;
/** What an engine left beyond that, as if it could be active for no longer than that. */
const ENGINE_GAP = `CASE WHEN engine_permille >= ${FULL_ENGINE_PERMILLE} THEN 0
             ELSE 1000 - CAST((engine_permille * 1000 - engine_permille * 1000 % ${FULL_ENGINE_PERMILLE}) / ${FULL_ENGINE_PERMILLE} AS BIGINT) END`;

/**
 * Reasons (NVML's bits) that mean a fault of cooling or power: hardware slowdown 0x8, software thermal 0x20, hardware thermal 0x40, power
 * brake 0x80. Idle 0x1, application clocks 0x2, sync boost 0x10 and display clocks 0x100 are how a healthy GPU runs; so is the software
 * power cap 0x4, at which a large GPU works whenever it is fully busy. Bits by remainders: not every engine has an operator for them.
 */
const IS_SLOWED = '(throttle % 16 >= 8 OR throttle % 256 >= 32)';

const METRICS = ['engine', 'sm', 'tensor', 'dram', 'util'] as const;

/** A whole mean; NULL where there is nothing to take it of. */
const mean = (sum: string, count: string): string =>
  `CAST((${sum} - ${sum} % NULLIF(${count}, 0)) / NULLIF(${count}, 0) AS BIGINT)`;

const meanWhileComputing = (metric: string): string =>
  mean(
    `CAST(sum(${metric}_permille) FILTER (WHERE is_computing) AS BIGINT)`,
    `count(${metric}_permille) FILTER (WHERE is_computing)`,
  );

/**
 * Question: what did the sensors of each device say in each hour, while it computed and while it did not?
 *
 * Means are of the samples in which it computed, each sample the same. `gap_permille` is the part of those moments in which no
 * kernel ran: what the engine left, else utilisation; NULL where neither was measured. Memory is the most and the least of the hour.
 * `throttled_samples` are those in which heat or power held the clocks back, `slowed_samples` those of them that computed.
 *
 * `xid` is an error that appeared: DCGM's gauge keeps the last one until another comes or the GPU is reset, so only a change says that something
 * happened, after `xid_after` (the reading before) and by `xid_at`. What stood there when the first reading came happened nobody knows when.
 *
 * Reads: gpu_sample, seen (the last error of the day before).
 */
export const activityHour: Stage = {
  name: 'activity_hour',
  version: 4,
  unit: 'day',
  reads: [
    { table: 'gpu_sample', days: [0] },
    { table: 'seen', days: [-1] },
  ],
  params: [],
  writes: [
    ['day', 'DATE'],
    ['device_id', 'VARCHAR'],
    ['hour_start', 'TIMESTAMP'],
    ['samples', 'BIGINT'],
    ['computing_samples', 'BIGINT'],
    ...METRICS.map((metric) => [`${metric}_permille`, 'BIGINT'] as const),
    ['gap_permille', 'BIGINT'],
    ['nvlink_mb_s', 'BIGINT'],
    ['pcie_mb_s', 'BIGINT'],
    ['fb_used_mib_max', 'BIGINT'],
    ['fb_used_mib_min', 'BIGINT'],
    ['power_w_max', 'BIGINT'],
    ['power_w_min', 'BIGINT'],
    ['lying_samples', 'BIGINT'],
    ['throttled_samples', 'BIGINT'],
    ['slowed_samples', 'BIGINT'],
    ['xid', 'BIGINT'],
    ['xid_after', 'TIMESTAMP'],
    ['xid_at', 'TIMESTAMP'],
  ],
  orderBy: 'device_id, hour_start',
  sql: `
    WITH sample AS (
      SELECT s.*, date_trunc('hour', ts) AS hour_start,
             COALESCE(COALESCE(engine_permille, sm_permille, util_permille) >= ${COMPUTING_PERMILLE_MIN}, FALSE) AS is_computing,
             COALESCE(${ENGINE_GAP}, 1000 - util_permille) AS gap_permille
      FROM gpu_sample s WHERE ts >= $from AND ts < $until
    ), ill AS (
      SELECT DISTINCT day, device_id FROM sample WHERE xid > 0
    ), told AS (
      SELECT s.day, s.device_id, s.hour_start, s.ts, s.xid, lag(s.xid) OVER w AS last_xid, lag(s.ts) OVER w AS last_ts
      FROM sample s JOIN ill i ON s.day = i.day AND s.device_id = i.device_id WHERE s.xid IS NOT NULL
      WINDOW w AS (PARTITION BY s.day, s.device_id ORDER BY s.ts)
    ), appeared AS (
      SELECT day, device_id, hour_start, xid, after_at, ts,
             row_number() OVER (PARTITION BY day, device_id, hour_start ORDER BY xid DESC, ts) AS place
      FROM (SELECT t.day, t.device_id, t.hour_start, t.xid, t.ts, COALESCE(t.last_ts, d.day_start) AS after_at,
                   COALESCE(t.last_xid, y.last_xid) AS last_xid
            FROM told t JOIN calendar_day d ON t.day = d.day
            LEFT JOIN seen y ON t.device_id = y.device_id AND y.day = CAST(d.day_start - INTERVAL '1' DAY AS DATE)) known
      WHERE xid > 0 AND xid <> last_xid
    ), hourly AS (
    SELECT day, device_id, hour_start, count(*) AS samples, count(*) FILTER (WHERE is_computing) AS computing_samples,
           ${METRICS.map((metric) => `${meanWhileComputing(metric)} AS ${metric}_permille`).join(', ')},
           ${meanWhileComputing('gap')} AS gap_permille,
           ${mean('CAST(sum(nvlink_mb_s) FILTER (WHERE is_computing) AS BIGINT)', 'count(nvlink_mb_s) FILTER (WHERE is_computing)')} AS nvlink_mb_s,
           ${mean('CAST(sum(pcie_mb_s) FILTER (WHERE is_computing) AS BIGINT)', 'count(pcie_mb_s) FILTER (WHERE is_computing)')} AS pcie_mb_s,
           max(fb_used_mib) AS fb_used_mib_max, min(fb_used_mib) AS fb_used_mib_min,
           max(power_w) AS power_w_max, min(power_w) AS power_w_min,
           count(*) FILTER (WHERE util_permille >= ${BUSY_PERMILLE_MIN}
             AND COALESCE(engine_permille, sm_permille) < ${COMPUTING_PERMILLE_MIN}) AS lying_samples,
           count(*) FILTER (WHERE ${IS_SLOWED}) AS throttled_samples,
             count(*) FILTER (WHERE is_computing AND ${IS_SLOWED}) AS slowed_samples
      FROM sample GROUP BY day, device_id, hour_start
    )
    SELECT h.*, a.xid, a.after_at AS xid_after, a.ts AS xid_at
    FROM hourly h LEFT JOIN appeared a ON h.day = a.day AND h.device_id = a.device_id AND h.hour_start = a.hour_start AND a.place = 1`,
};
