import type { Stage } from '../facts/stage.ts';
import { COMPUTING_PERMILLE_MIN } from './run.ts';

/** `GPU_UTIL` at or above this beside profiling fields of 0: one of the two lies. */
const BUSY_UTIL_PERMILLE_MIN = 500;

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
 * `throttled_samples` are those in which heat or power held the clocks back.
 *
 * Reads: gpu_sample.
 */
export const activityHour: Stage = {
  name: 'activity_hour',
  version: 2,
  unit: 'day',
  reads: [{ table: 'gpu_sample', days: [0] }],
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
    ['xid', 'BIGINT'],
  ],
  orderBy: 'device_id, hour_start',
  sql: `
    WITH sample AS (
      SELECT s.*, date_trunc('hour', ts) AS hour_start,
             COALESCE(COALESCE(engine_permille, sm_permille, util_permille) >= ${COMPUTING_PERMILLE_MIN}, FALSE) AS is_computing,
             1000 - COALESCE(engine_permille, util_permille) AS gap_permille
      FROM gpu_sample s WHERE ts >= $from AND ts < $until
    )
    SELECT day, device_id, hour_start, count(*) AS samples, count(*) FILTER (WHERE is_computing) AS computing_samples,
           ${METRICS.map((metric) => `${meanWhileComputing(metric)} AS ${metric}_permille`).join(', ')},
           ${meanWhileComputing('gap')} AS gap_permille,
           ${mean('CAST(sum(nvlink_mb_s) FILTER (WHERE is_computing) AS BIGINT)', 'count(nvlink_mb_s) FILTER (WHERE is_computing)')} AS nvlink_mb_s,
           ${mean('CAST(sum(pcie_mb_s) FILTER (WHERE is_computing) AS BIGINT)', 'count(pcie_mb_s) FILTER (WHERE is_computing)')} AS pcie_mb_s,
           max(fb_used_mib) AS fb_used_mib_max, min(fb_used_mib) AS fb_used_mib_min,
           max(power_w) AS power_w_max, min(power_w) AS power_w_min,
           count(*) FILTER (WHERE util_permille >= ${BUSY_UTIL_PERMILLE_MIN}
             AND COALESCE(engine_permille, sm_permille) < ${COMPUTING_PERMILLE_MIN}) AS lying_samples,
           count(*) FILTER (WHERE ${IS_SLOWED}) AS throttled_samples,
           max(CASE WHEN xid > 0 THEN xid END) AS xid
    FROM sample GROUP BY day, device_id, hour_start`,
};
