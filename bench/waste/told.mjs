/**
 * What a demo's files say, hour by hour, in a DuckDB of the benchmark's own: what was true, what the sensors sent, and
 * where Bursar's waterfall puts the same money. Bursar's code is not asked for any of it.
 *
 * Tables: true_hour, ours_hour (device, holder, hour, category, reason, usd), sensor_hour (device, hour: what was sent),
 * missing_hour (device, life of a holder, hour: seconds held, and silent meanwhile), dead_hour (machine, hour: its exporter sent nothing at all), device.
 */
import { csv, openDuck } from '../demo/duck.mjs';

/** @typedef {import('../demo/duck.mjs').Duck} Duck */

/** A sample speaks for the time to the next if that is at most so many steps away; beyond it telemetry is missing. */
const BRIDGED_STEPS_MAX = 3;
/** Readings above this are blanks of a driver (near 2^31 or 2^63), and mean nothing. */
const BLANK_MIN = 2_000_000_000;

const HOUR = `INTERVAL 1 HOUR`;
const at = (/** @type {string} */ column) => `CAST(replace(${column}, 'Z', '') AS TIMESTAMP)`;
/** One attempt of a holder; two of them may share a GPU's hour, and only one its silence. */
const LIFE = `coalesce(source || '/' || allocation_id || '/' || attempt, '')`;
const reading = (/** @type {string} */ column) =>
  `CASE WHEN CAST(${column} AS BIGINT) < ${BLANK_MIN} THEN CAST(${column} AS BIGINT) END`;

/** @param {string} data the folder of a demo @returns {Promise<Duck>} */
export async function openTold(data) {
  const duck = await openDuck();
  const files = `${data}/files`;
  await duck.run(`CREATE TABLE device AS
    SELECT device_id, any_value(node_id) AS node_id, max(CAST(share_units AS BIGINT)) AS share_units
    FROM ${csv(`${files}/devices.csv`)} GROUP BY device_id`);
  await duck.run(TRUE_HOURS(files));
  await duck.run(SAMPLES(files));
  await duck.run(SENSOR_HOURS);
  await duck.run(MISSING_HOURS(files));
  await duck.run(DEAD_HOURS);
  await duck.run(`CREATE TABLE ours_hour AS
    SELECT device_id, coalesce(allocation_id, '') AS holder, hour_start AS hour, category, coalesce(reason, '') AS reason, subject, ${LIFE} AS life,
      sum(usd_micros) / 1e6 AS usd
    FROM '${data}/tables/waterfall/**/*.parquet'
    WHERE device_id IS NOT NULL AND disposition = 'held' GROUP BY ALL`);
  return duck;
}

/** Money and seconds of a span fall evenly on its hours: where reasons alternate within a span, they do so all the time. */
const TRUE_HOURS = (/** @type {string} */ files) => `
  CREATE TABLE true_hour AS
  WITH told AS (
    SELECT ${at('"from"')} AS from_at, ${at('"until"')} AS until_at, device_id, coalesce(allocation_id, '') AS holder, category, reason,
      CAST(usd AS DOUBLE) AS usd, CAST(seconds AS DOUBLE) * CAST(share_units AS BIGINT) AS unit_s
    FROM ${csv(`${files}/truth.csv`)} WHERE device_id IS NOT NULL
  ), parted AS (
    SELECT told.*, hour, epoch(least(until_at, hour + ${HOUR}) - greatest(from_at, hour)) / epoch(until_at - from_at) AS part
    FROM told, unnest(generate_series(date_trunc('hour', from_at), until_at - INTERVAL 1 SECOND, ${HOUR})) AS h(hour)
    WHERE until_at > from_at
  )
  SELECT device_id, holder, hour, category, reason, sum(usd * part) AS usd, sum(unit_s * part) AS unit_s
  FROM parted GROUP BY ALL`;

/** Who goes by GPU_UTIL reads its successor, the engine's activity, where there is none: a MIG slice has none by construction. */
const SAMPLES = (/** @type {string} */ files) => `
  CREATE TABLE sample AS
  SELECT DISTINCT ON (device_id, ts) device_id, ${at('ts')} AS ts, CAST(step_s AS BIGINT) AS step_s,
    coalesce(${reading('engine_permille')}, ${reading('sm_permille')}, ${reading('util_permille')}) IS NOT NULL AS has_signal,
    coalesce(${reading('util_permille')}, ${reading('engine_permille')}) AS naive_permille
  FROM read_csv(['${files}/samples-*.csv', '${files}/second-exporter*.csv'], header = true, all_varchar = true)`;

const SENSOR_HOURS = `
  CREATE TABLE sensor_hour AS
  SELECT device_id, date_trunc('hour', ts) AS hour, any_value(step_s) AS step_s, count(*) AS samples,
    count(DISTINCT CAST(floor(epoch(ts) / step_s) AS BIGINT)) FILTER (has_signal) AS steps_seen, avg(naive_permille) AS naive_permille
  FROM sample GROUP BY ALL`;

/**
 * Of each hour an attempt has a device: the seconds, and those in which the device was silent for longer than samples are trusted to speak
 * for each other. What was silent before it was held, or after, is nobody's.
 */
const MISSING_HOURS = (/** @type {string} */ files) => `
  CREATE TABLE missing_hour AS
  WITH span AS (
    SELECT DISTINCT device_id, ${LIFE} AS life, ${at('"from"')} AS from_at, ${at('"until"')} AS until_at
    FROM ${csv(`${files}/truth.csv`)} WHERE device_id IS NOT NULL AND category <> 'unallocated' AND "until" > "from"
  ), edge AS (SELECT min(hour) AS first_hour, max(hour) + ${HOUR} AS last_hour FROM true_hour
  ), told AS (
    SELECT device_id, ts, step_s FROM sample WHERE has_signal
    UNION ALL SELECT device_id, first_hour - INTERVAL 1 SECOND, 1 FROM device, edge
    UNION ALL SELECT device_id, last_hour, 1 FROM device, edge
  ), gap AS (
    SELECT device_id, ts + to_seconds(step_s) AS silent_from, next_at AS silent_until
    FROM (SELECT told.*, lead(ts) OVER (PARTITION BY device_id ORDER BY ts) AS next_at,
            max(step_s) OVER (PARTITION BY device_id) AS longest_s FROM told) t
    WHERE next_at > ts + to_seconds(${BRIDGED_STEPS_MAX} * longest_s)
  ), held_hour AS (
    SELECT device_id, life, hour, greatest(from_at, hour) AS from_at, least(until_at, hour + ${HOUR}) AS until_at
    FROM span, unnest(generate_series(date_trunc('hour', from_at), until_at - INTERVAL 1 SECOND, ${HOUR})) AS h(hour)
  ), silent AS (
    SELECT h.device_id, life, hour, from_at,
      sum(epoch(least(until_at, silent_until) - greatest(from_at, silent_from))) AS missing_s
    FROM held_hour h JOIN gap g ON h.device_id = g.device_id AND silent_from < until_at AND silent_until > from_at GROUP BY ALL
  )
  SELECT device_id, life, hour, sum(epoch(until_at - from_at)) AS held_s, sum(coalesce(missing_s, 0)) AS missing_s
  FROM held_hour LEFT JOIN silent USING (device_id, life, hour, from_at) GROUP BY ALL`;

/** Hours of a machine in which none of its devices sent anything. Loss of single samples does not look like this. */
const DEAD_HOURS = `
  CREATE TABLE dead_hour AS
  SELECT DISTINCT device.node_id, hour FROM true_hour JOIN device USING (device_id)
  WHERE (device.node_id, hour) NOT IN (SELECT (node_id, hour) FROM sensor_hour JOIN device USING (device_id))`;
