import { z } from 'zod';
import { SHARE_UNITS } from '../facts/column.ts';
import { sqlCount, sqlDay, sqlTime } from '../facts/sql-row.ts';
import { HUB_SERVER_LABEL, HUB_USER_LABEL } from './stop-command.ts';

/** A session, with the stretch without a kernel at its end and those before it that are as long as a night. */
export const session = z.object({
  subject: z.string(),
  source: z.string().nullable(),
  allocationId: z.string().nullable(),
  workloadKind: z.string().nullable(),
  workloadName: z.string().nullable(),
  stem: z.string().nullable(),
  /** Where it was handed out: account, else namespace. */
  home: z.string().nullable(),
  namespace: z.string().nullable(),
  cluster: z.string().nullable(),
  hubUser: z.string().nullable(),
  hubServer: z.string().nullable(),
  userName: z.string().nullable(),
  nodeId: z.string().nullable(),
  provider: z.string().nullable(),
  region: z.string().nullable(),
  resourceId: z.string().nullable(),
  model: z.string().nullable(),
  devices: sqlCount,
  /** What it holds of GPUs, in tenths: a slice or a share is less than one. */
  gpuTenths: sqlCount,
  heldSince: sqlTime.nullable(),
  isOpen: z.boolean(),
  knownUntil: sqlTime.nullable(),
  powerW: sqlCount.nullable(),
  memoryMib: sqlCount.nullable(),
  /** The stretch without a kernel that goes on to the end of what is known: in wall-clock seconds. */
  idleFrom: sqlTime,
  idleSeconds: sqlCount,
  unknownPermille: sqlCount,
  /** Of the idle device-seconds of its first day, those of the stretch. */
  firstDayPermille: sqlCount,
  firstDay: sqlDay,
  lastDay: sqlDay,
  /** Earlier stretches that are as long as a night. */
  nights: sqlCount,
  nightSeconds: sqlCount,
  nightsPermille: sqlCount,
  /** Of the day on which the stretch that goes on began, what belongs to the night before. */
  sharedPermille: sqlCount,
  nightsFirstDay: sqlDay.nullable(),
  nightsLastDay: sqlDay.nullable(),
  days: sqlCount,
  /** Of the known time of each of its last days, the permille that computed. */
  spark: z.array(sqlCount.nullable()),
});
export type Session = z.output<typeof session>;

/** So many days of activity are drawn. */
const SPARK_DAYS = 14;

/** A whole number of thousandths, at most all. */
const permille = (part: string, whole: string): string => `
  COALESCE(CASE WHEN ${part} <= 0 THEN 0 WHEN ${part} >= ${whole} THEN 1000
    ELSE CAST((${part} * 1000 - (${part} * 1000) % NULLIF(${whole}, 0)) / NULLIF(${whole}, 0) AS BIGINT) END, 0)`;

const tenths = (units: string, seconds: string, devices: string): string => {
  const [part, whole] = [`(${units} * ${devices} * 10)`, `NULLIF(${seconds} * ${SHARE_UNITS}, 0)`];
  return `COALESCE(CAST((${part} - ${part} % ${whole}) / ${whole} AS BIGINT), ${devices} * 10)`;
};

/** Nobody has said that it ended, and it was held to the end of what is known. */
const IS_OPEN = `n.open_devices > 0 AND n.held_until >= $until - INTERVAL '1' HOUR`;

/**
 * Days of a session are strung to stretches without a kernel: what follows the last kernel of a day, whole days without one, what
 * comes before the first kernel of the next. Nights far from Greenwich lie within a day: its longest pause is a stretch of its own. Holders by count have no times of their own: a day on which they computed is all use.
 */
export const SESSIONS_SQL = `
  WITH stint AS (
    SELECT day, subject, count(*) AS devices, CAST(sum(held_s) AS BIGINT) AS held_s, CAST(sum(computing_s) AS BIGINT) AS computing_s,
           CAST(sum(idle_s) AS BIGINT) AS idle_s, CAST(sum(unknown_s) AS BIGINT) AS unknown_s,
           CAST(sum(units) AS BIGINT) AS units, min(held_from) AS held_from,
           max(held_until) AS held_until, max(known_until) AS known_until, min(held_since) AS held_since,
           count(*) - count(ended_at) AS open_devices, min(COALESCE(inner_idle_s, 0)) AS inner_idle_s, max(power_w_max) AS power_w, max(fb_used_mib_max) AS memory_mib,
           min(source) AS source, min(allocation_id) AS allocation_id, min(workload_kind) AS workload_kind,
           min(workload_name) AS workload_name, min(node_id) AS node_id, min(workload_stem) AS stem, COALESCE(min(account), min(namespace)) AS home, min(namespace) AS namespace,
           min(cluster) AS cluster, min(user_name) AS user_name, max(model) AS model,
           min(CASE WHEN computing_s > 0 THEN COALESCE(first_computing_at, held_from) END) AS first_computing_at,
           max(CASE WHEN computing_s > 0 THEN COALESCE(last_computing_at, held_until) END) AS last_computing_at
    FROM stint_day WHERE manner = 'interactive' OR manner IS NULL GROUP BY day, subject
  ), numbered AS (
    SELECT s.*, count(first_computing_at) OVER (PARTITION BY subject ORDER BY day) AS used_days,
           row_number() OVER (PARTITION BY subject ORDER BY day DESC) AS recency
    FROM stint s
  ), piece AS (
    SELECT subject, day, devices, idle_s, held_s, unknown_s, used_days - CASE WHEN first_computing_at IS NULL THEN 0 ELSE 1 END AS stretch,
           held_from AS from_at, date_diff('second', held_from, COALESCE(first_computing_at, held_until)) AS seconds
    FROM numbered
    UNION ALL
    SELECT subject, day, devices, idle_s, held_s, unknown_s, used_days AS stretch, last_computing_at AS from_at,
           date_diff('second', last_computing_at, held_until) AS seconds
    FROM numbered WHERE last_computing_at IS NOT NULL
    UNION ALL
    SELECT subject, day, devices, idle_s, held_s, unknown_s, -recency AS stretch, held_from AS from_at, inner_idle_s AS seconds
    FROM numbered WHERE inner_idle_s >= $nightSeconds
  ), stretch AS (
    SELECT subject, stretch, min(from_at) AS from_at, min(day) AS first_day, max(day) AS last_day, CAST(sum(seconds) AS BIGINT) AS seconds,
           CAST(sum(seconds * devices) AS BIGINT) AS device_s, CAST(sum(unknown_s) AS BIGINT) AS unknown_s,
           CAST(sum(held_s) AS BIGINT) AS held_s, CAST(sum(idle_s) AS BIGINT) AS idle_s,
           CAST(sum(CASE WHEN day = first_piece_day THEN seconds * devices ELSE 0 END) AS BIGINT) AS first_day_s,
           max(CASE WHEN day = first_piece_day THEN idle_s END) AS first_day_idle_s,
           max(stretch) OVER (PARTITION BY subject) AS last_stretch
    FROM (SELECT p.*, min(day) OVER (PARTITION BY subject, stretch) AS first_piece_day FROM piece p) timed
    GROUP BY subject, stretch
  ), open_stretch AS (
    SELECT t.subject, t.first_day FROM stretch t JOIN numbered n ON t.subject = n.subject AND n.recency = 1
    WHERE t.stretch = t.last_stretch AND ${IS_OPEN}
  ), night_stretch AS (
    SELECT t.subject, t.stretch, t.seconds FROM stretch t LEFT JOIN open_stretch o ON t.subject = o.subject
    WHERE t.seconds >= $nightSeconds AND t.unknown_s * 1000 <= t.held_s * $unknownPermille
      AND (t.stretch < t.last_stretch OR o.subject IS NULL)
  ), night_day AS (
    SELECT p.subject, p.day, CAST(sum(p.seconds * p.devices) AS BIGINT) AS device_s, COALESCE(p.day = o.first_day, FALSE) AS is_shared
    FROM piece p JOIN night_stretch s ON p.subject = s.subject AND p.stretch = s.stretch
    LEFT JOIN open_stretch o ON p.subject = o.subject
    WHERE p.seconds > 0 GROUP BY p.subject, p.day, COALESCE(p.day = o.first_day, FALSE)
  ), night AS (
    SELECT subject, min(CASE WHEN NOT is_shared THEN day END) AS first_day, max(CASE WHEN NOT is_shared THEN day END) AS last_day,
           COALESCE(CAST(sum(CASE WHEN NOT is_shared THEN device_s END) AS BIGINT), 0) AS device_s,
           COALESCE(CAST(sum(CASE WHEN is_shared THEN device_s END) AS BIGINT), 0) AS shared_s
    FROM night_day GROUP BY subject
  ), night_count AS (
    SELECT subject, count(*) AS nights, CAST(sum(seconds) AS BIGINT) AS seconds FROM night_stretch GROUP BY subject
  ), night_idle AS (
    SELECT n.subject, CAST(sum(s.idle_s) AS BIGINT) AS idle_s
    FROM night n JOIN stint s ON n.subject = s.subject AND s.day >= n.first_day AND s.day <= n.last_day GROUP BY n.subject
  ), picked AS (
    SELECT n.subject, n.day FROM numbered n JOIN stretch t ON n.subject = t.subject AND t.stretch = t.last_stretch
    LEFT JOIN night_count c ON n.subject = c.subject
    WHERE n.recency = 1 AND (c.nights > 0 OR t.seconds >= $idleSeconds)
  ), known AS (
    SELECT s.subject, s.provider, s.region, s.resource_id, s.labels FROM subject s JOIN picked p ON s.subject = p.subject AND s.day = p.day
  ), lasting AS (
    SELECT subject, count(*) AS days, max(day) AS last_day,
           array_agg(CASE WHEN held_s > unknown_s THEN ${permille('computing_s', '(held_s - unknown_s)')} END ORDER BY day)
             FILTER (WHERE recency <= ${SPARK_DAYS}) AS spark
    FROM numbered GROUP BY subject
  )
  SELECT n.subject, n.source, n.allocation_id AS "allocationId", n.workload_kind AS "workloadKind",
         n.workload_name AS "workloadName", n.stem, n.home, n.namespace, n.cluster,
         k.labels['${HUB_USER_LABEL}'] AS "hubUser", k.labels['${HUB_SERVER_LABEL}'] AS "hubServer", n.user_name AS "userName", n.node_id AS "nodeId",
         k.provider, k.region, k.resource_id AS "resourceId", n.model, n.devices,
         ${tenths('n.units', 'n.held_s', 'n.devices')} AS "gpuTenths", n.held_since AS "heldSince",
         ${IS_OPEN} AS "isOpen", n.known_until AS "knownUntil", n.power_w AS "powerW",
         n.memory_mib AS "memoryMib", t.from_at AS "idleFrom", t.seconds AS "idleSeconds",
         ${permille('t.unknown_s', 't.held_s')} AS "unknownPermille",
         ${permille('t.first_day_s', 't.first_day_idle_s')} AS "firstDayPermille",
         CAST(t.first_day AS VARCHAR) AS "firstDay", CAST(l.last_day AS VARCHAR) AS "lastDay",
         COALESCE(c.nights, 0) AS nights, COALESCE(c.seconds, 0) AS "nightSeconds",
         ${permille('g.shared_s', 't.first_day_idle_s')} AS "sharedPermille",
         ${permille('g.device_s', 'i.idle_s')} AS "nightsPermille", CAST(g.first_day AS VARCHAR) AS "nightsFirstDay",
         CAST(g.last_day AS VARCHAR) AS "nightsLastDay", l.days, l.spark
  FROM picked z JOIN numbered n ON z.subject = n.subject AND n.recency = 1
  JOIN lasting l ON n.subject = l.subject
  JOIN stretch t ON n.subject = t.subject AND t.stretch = t.last_stretch
  LEFT JOIN night g ON n.subject = g.subject
  LEFT JOIN night_count c ON n.subject = c.subject
  LEFT JOIN night_idle i ON n.subject = i.subject
  LEFT JOIN known k ON n.subject = k.subject
  ORDER BY n.subject`;
