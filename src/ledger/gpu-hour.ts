import { ACCELERATOR_NAMES } from '../facts/accelerators.ts';
import { PARKED_MIB_MIN } from '../facts/rest-power.ts';
import type { Stage } from '../facts/stage.ts';
import { mannerSql } from '../facts/workload-manner.ts';
import { namesModel } from './model-name.ts';

/**
 * Of what NVLinks carry, in permille, what is on them while GPUs exchange gradients. A model, not a measurement: nccl-tests show a seventh for
 * messages of 1 MB and six tenths for the 25 MB buckets of DistributedDataParallel within a machine, a tenth where a network is between; and
 * ranks that wait for the slowest hold the engine without a byte. Taken is the geometric middle of a tenth and six tenths.
 */
const EXCHANGE_LINK_PERMILLE = 250;

/** Memory that is read or written half of the time is near what it can carry; the tensor pipe is then what waits for it. */
const MEMORY_DRAM_PERMILLE = 500;
const MEMORY_TENSOR_PERMILLE = 300;
/** Above this engine activity, in permille, kernels follow each other; below this SM activity they leave most of the GPU out. */
const LAUNCHING_ENGINE_PERMILLE = 900;
const LAUNCHING_SM_PERMILLE = 300;

/**
 * What bounds a device-hour `a` of `activity_hour` while it computes, by means of the samples that do. It says where to look, and is no waste:
 * decoding is memory-bound by nature, and leaves most SMs out as short kernels do; but these do not keep the memory at work. NULL where a field
 * is missing that would tell: unknown is not busy.
 */
const COMPUTING_REASON = `
  CASE WHEN a.computing_samples > 0 AND a.slowed_samples * 2 >= a.computing_samples THEN 'throttled'
       WHEN a.dram_permille >= ${MEMORY_DRAM_PERMILLE} AND a.tensor_permille < ${MEMORY_TENSOR_PERMILLE} THEN 'memory-bound'
       WHEN a.engine_permille > ${LAUNCHING_ENGINE_PERMILLE} AND a.sm_permille < ${LAUNCHING_SM_PERMILLE}
         AND a.dram_permille < ${MEMORY_DRAM_PERMILLE} THEN 'launch-bound'
       WHEN a.engine_permille >= 0 AND a.sm_permille >= 0 AND a.dram_permille >= 0 AND a.tensor_permille >= 0 THEN 'busy' END`;

/** Every name of an accelerator beside the MB/s on its links while it exchanges; NULL where it has none. */
const LINK_ROWS = ACCELERATOR_NAMES.map(
  ({ name, nvlinkGbS }) =>
    `('${name}', CAST(${nvlinkGbS === null ? 'NULL' : nvlinkGbS * EXCHANGE_LINK_PERMILLE} AS BIGINT))`,
).join(', ');

/** Thousandths of a whole number, truncated. */
const permilleOf = (whole: string, permille: string): string =>
  `CAST((${whole} * ${permille} - ${whole} * ${permille} % 1000) / 1000 AS BIGINT)`;

const ROW = 'day, hour_start, root_device_id, device_id, disposition, reason, source, allocation_id, attempt';
const SUMS = [
  'held_s',
  'shared_s',
  'computing_s',
  'idle_s',
  'unknown_s',
  'units',
  'computing_units',
  'idle_units',
  'unknown_units',
];

/** The exchange of a row: of the time that computed, never more than the gap leaves. */
const exchange = (named: string, gap: string): string => `
  CASE WHEN ${permilleOf(named, 'exchange_permille')} > ${named} - ${gap} THEN ${named} - ${gap}
       ELSE ${permilleOf(named, 'exchange_permille')} END`;

/**
 * Question: how many seconds of each device-hour computed, idled or are unknown, what was in them, and whose were they?
 *
 * Joined at the level of single samples: a job that ends in the middle of an hour takes its own activity with it. A holder
 * by count has no device of its own; its activity is known only while all devices it may be on do the same, and nothing finer is said of it.
 * Of a device that several hold the class is the device's, in each of their shares; `shared_s` says for how long.
 * Unit-seconds are seconds × share (63,000ths): money follows them. A pause is idle time, a gap and an exchange are parts of the time that
 * computed, as the manner of the holder makes them mean something.
 *
 * Reads: held, run, pause, activity_hour, holding, presence.
 */
export const gpuHour: Stage = {
  name: 'gpu_hour',
  version: 5,
  unit: 'day',
  reads: [
    { table: 'held', days: [0] },
    { table: 'run', days: [0] },
    { table: 'pause', days: [0] },
    { table: 'activity_hour', days: [0] },
    { table: 'holding', days: [0] },
    { table: 'presence', days: [0] },
  ],
  params: [],
  writes: [
    ['day', 'DATE'],
    ['hour_start', 'TIMESTAMP'],
    ['root_device_id', 'VARCHAR'],
    ['device_id', 'VARCHAR'],
    ['node_id', 'VARCHAR'],
    ['disposition', 'VARCHAR'],
    ['reason', 'VARCHAR'],
    ['source', 'VARCHAR'],
    ['allocation_id', 'VARCHAR'],
    ['attempt', 'BIGINT'],
    ['holder_cluster', 'VARCHAR'],
    ['conflict', 'BOOLEAN'],
    ['held_s', 'BIGINT'],
    ['shared_s', 'BIGINT'],
    ['computing_s', 'BIGINT'],
    ['idle_s', 'BIGINT'],
    ['unknown_s', 'BIGINT'],
    ['units', 'BIGINT'],
    ['computing_units', 'BIGINT'],
    ['idle_units', 'BIGINT'],
    ['unknown_units', 'BIGINT'],
    ['manner', 'VARCHAR'],
    ['idle_reason', 'VARCHAR'],
    ['computing_reason', 'VARCHAR'],
    ['pause_s', 'BIGINT'],
    ['gap_s', 'BIGINT'],
    ['exchange_s', 'BIGINT'],
    ['pause_units', 'BIGINT'],
    ['gap_units', 'BIGINT'],
    ['exchange_units', 'BIGINT'],
  ],
  orderBy: 'root_device_id, hour_start, device_id, disposition, allocation_id, source, attempt',
  sql: `
    WITH hourly_run AS (
      SELECT r.day, r.device_id, r.class, h.hour_start,
             CASE WHEN r.from_at < h.hour_start THEN h.hour_start ELSE r.from_at END AS from_at,
             CASE WHEN r.until_at > h.hour_end THEN h.hour_end ELSE r.until_at END AS until_at
      FROM run r JOIN calendar_hour h ON r.day = h.day AND r.from_at < h.hour_end AND r.until_at > h.hour_start
      WHERE r.class <> 'unknown'
    ), met AS (
      SELECT h.day, h.device_id, h.hour_start, h.from_at, h.place, h.node_id, h.pooled, h.until_at, r.class,
             CASE WHEN r.from_at > h.from_at THEN r.from_at ELSE h.from_at END AS met_from,
             CASE WHEN r.until_at < h.until_at THEN r.until_at ELSE h.until_at END AS met_until
      FROM held h JOIN hourly_run r ON h.day = r.day AND h.device_id = r.device_id AND h.hour_start = r.hour_start
        AND r.from_at < h.until_at AND r.until_at > h.from_at
      WHERE h.disposition = 'held'
    ), own AS (
      SELECT day, device_id, from_at, place,
             COALESCE(CAST(sum(date_diff('second', met_from, met_until)) FILTER (WHERE class = 'computing') AS BIGINT), 0)
               AS computing_s,
             COALESCE(CAST(sum(date_diff('second', met_from, met_until)) FILTER (WHERE class = 'idle') AS BIGINT), 0)
               AS idle_s
      FROM met WHERE NOT pooled GROUP BY day, device_id, from_at, place
    ), pool AS (
      SELECT day, node_id, from_at, place, count(*) AS devices FROM held WHERE pooled
      GROUP BY day, node_id, from_at, place
    ), change AS (
      SELECT day, node_id, from_at, place, class, met_from AS edge_at, 1 AS delta FROM met WHERE pooled
      UNION ALL
      SELECT day, node_id, from_at, place, class, met_until, -1 FROM met WHERE pooled
    ), together AS (
      SELECT day, node_id, from_at, place, class, edge_at,
             CAST(sum(delta) OVER (PARTITION BY day, node_id, from_at, place, class ORDER BY edge_at, delta
               ROWS UNBOUNDED PRECEDING) AS BIGINT) AS devices,
             lead(edge_at) OVER (PARTITION BY day, node_id, from_at, place, class ORDER BY edge_at, delta) AS next_at
      FROM change
    ), agreed AS (
      SELECT t.day, t.node_id, t.from_at, t.place,
             COALESCE(CAST(sum(date_diff('second', t.edge_at, t.next_at)) FILTER (WHERE t.class = 'computing') AS BIGINT), 0)
               AS computing_s,
             COALESCE(CAST(sum(date_diff('second', t.edge_at, t.next_at)) FILTER (WHERE t.class = 'idle') AS BIGINT), 0)
               AS idle_s
      FROM together t JOIN pool p ON t.day = p.day AND t.node_id = p.node_id AND t.from_at = p.from_at
        AND t.place = p.place AND t.devices = p.devices
      GROUP BY t.day, t.node_id, t.from_at, t.place
    ), paused AS (
      SELECT h.day, h.device_id, h.from_at, h.place,
             CAST(sum(date_diff('second', CASE WHEN p.from_at > h.from_at THEN p.from_at ELSE h.from_at END,
               CASE WHEN p.until_at < h.until_at THEN p.until_at ELSE h.until_at END)) AS BIGINT) AS pause_s
      FROM held h JOIN pause p ON h.day = p.day AND h.device_id = p.device_id AND h.source = p.source
        AND h.allocation_id = p.allocation_id AND h.attempt = p.attempt AND p.from_at < h.until_at AND p.until_at > h.from_at
      WHERE h.disposition = 'held' AND NOT h.pooled GROUP BY h.day, h.device_id, h.from_at, h.place
    ), company AS (
      SELECT day, device_id, from_at FROM held WHERE disposition = 'held' AND NOT pooled GROUP BY day, device_id, from_at
      HAVING min(source) <> max(source) OR min(allocation_id) <> max(allocation_id) OR min(attempt) <> max(attempt)
    ), measured AS (
      SELECT h.day, h.hour_start, h.root_device_id, h.device_id, h.node_id, h.disposition, h.reason, h.source,
             h.allocation_id, h.attempt, h.holder_cluster, h.conflict, h.seconds, h.share_units,
             CASE WHEN h.pooled THEN COALESCE(a.computing_s, 0) ELSE COALESCE(o.computing_s, 0) END AS computing_s,
             CASE WHEN h.pooled THEN COALESCE(a.idle_s, 0) ELSE COALESCE(o.idle_s, 0) END AS idle_s,
             CASE WHEN h.pooled THEN 0 ELSE COALESCE(o.computing_s, 0) END AS named_s, COALESCE(p.pause_s, 0) AS pause_s,
             CASE WHEN c.device_id IS NULL THEN 0 ELSE h.seconds END AS shared_s
      FROM held h
      LEFT JOIN company c ON h.day = c.day AND h.device_id = c.device_id AND h.from_at = c.from_at AND h.disposition = 'held'
      LEFT JOIN own o ON h.day = o.day AND h.device_id = o.device_id AND h.from_at = o.from_at AND h.place = o.place
      LEFT JOIN agreed a ON h.pooled AND h.day = a.day AND h.node_id = a.node_id AND h.from_at = a.from_at
        AND h.place = a.place
      LEFT JOIN paused p ON h.day = p.day AND h.device_id = p.device_id AND h.from_at = p.from_at AND h.place = p.place
    ), added AS (
      SELECT ${ROW}, min(node_id) AS node_id, min(holder_cluster) AS holder_cluster, bool_or(conflict) AS conflict,
             CAST(sum(seconds) AS BIGINT) AS held_s, CAST(sum(shared_s) AS BIGINT) AS shared_s,
             CAST(sum(computing_s) AS BIGINT) AS computing_s, CAST(sum(idle_s) AS BIGINT) AS idle_s,
             CASE WHEN disposition = 'held' THEN CAST(sum(seconds - computing_s - idle_s) AS BIGINT) ELSE 0 END AS unknown_s,
             CAST(sum(seconds * share_units) AS BIGINT) AS units,
             CAST(sum(computing_s * share_units) AS BIGINT) AS computing_units,
             CAST(sum(idle_s * share_units) AS BIGINT) AS idle_units,
             CASE WHEN disposition = 'held' THEN CAST(sum((seconds - computing_s - idle_s) * share_units) AS BIGINT)
                  ELSE 0 END AS unknown_units,
             CAST(sum(named_s) AS BIGINT) AS named_s, CAST(sum(named_s * share_units) AS BIGINT) AS named_units,
             CAST(sum(pause_s) AS BIGINT) AS pause_s, CAST(sum(pause_s * share_units) AS BIGINT) AS pause_units
      FROM measured GROUP BY ${ROW}
    ), holder AS (
      SELECT day, source, allocation_id, attempt, min(${mannerSql('holding')}) AS manner
      FROM holding WHERE ends_at > held_from GROUP BY day, source, allocation_id, attempt
    ), link_name AS (SELECT * FROM (VALUES ${LINK_ROWS}) AS v(name, exchange_mb_s)
    ), link AS (
      SELECT model, exchange_mb_s FROM (
        SELECT m.model, n.exchange_mb_s, row_number() OVER (PARTITION BY m.model ORDER BY length(n.name) DESC, n.name) AS place
        FROM (SELECT DISTINCT model FROM presence) m JOIN link_name n ON ${namesModel('m.model', 'n.name')}
      ) ranked WHERE place = 1
    ), linked AS (
      SELECT p.day, p.device_id, l.exchange_mb_s
      FROM (SELECT day, device_id, min(model) AS model FROM presence GROUP BY day, device_id) p JOIN link l ON p.model = l.model
    ), sensed AS (
      SELECT a.day, a.device_id, a.hour_start, a.gap_permille,
             CASE WHEN a.fb_used_mib_max >= ${PARKED_MIB_MIN} THEN 'parked' WHEN a.fb_used_mib_max >= 0 THEN 'bare' END
               AS idle_reason, ${COMPUTING_REASON} AS computing_reason,
             CAST((a.nvlink_mb_s * 1000 - a.nvlink_mb_s * 1000 % l.exchange_mb_s) / l.exchange_mb_s AS BIGINT) AS link_permille,
             CASE WHEN a.engine_permille < a.sm_permille THEN 0 ELSE a.engine_permille - a.sm_permille END AS off_sm_permille
      FROM activity_hour a LEFT JOIN linked l ON a.day = l.day AND a.device_id = l.device_id
    ), judged AS (
      SELECT g.*, o.manner, CASE WHEN g.disposition = 'held' THEN s.idle_reason END AS idle_reason,
             CASE WHEN g.disposition = 'held' THEN s.computing_reason END AS computing_reason,
             CASE WHEN o.manner IN ('job', 'serving') THEN COALESCE(s.gap_permille, 0) ELSE 0 END AS gap_permille,
             CASE WHEN o.manner <> 'job' OR s.link_permille IS NULL OR o.manner IS NULL THEN 0
                  WHEN s.off_sm_permille < s.link_permille THEN s.off_sm_permille ELSE s.link_permille END AS exchange_permille
      FROM added g
      LEFT JOIN holder o ON g.day = o.day AND g.source = o.source AND g.allocation_id = o.allocation_id AND g.attempt = o.attempt
      LEFT JOIN sensed s ON g.day = s.day AND g.device_id = s.device_id AND g.hour_start = s.hour_start
    ), gapped AS (
      SELECT judged.*, ${permilleOf('named_s', 'gap_permille')} AS gap_s, ${permilleOf('named_units', 'gap_permille')} AS gap_units
      FROM judged
    )
    SELECT ${ROW}, node_id, holder_cluster, conflict, ${SUMS.join(', ')}, manner, idle_reason, computing_reason, pause_s, gap_s,
           ${exchange('named_s', 'gap_s')} AS exchange_s,
           pause_units, gap_units, ${exchange('named_units', 'gap_units')} AS exchange_units
    FROM gapped`,
};
