import { z } from 'zod';
import { SHARE_UNITS } from '../facts/column.ts';
import { LONG_SILENCE_S } from '../facts/long-silence.ts';
import { sqlCount, sqlDay, sqlTexts, sqlTime, textsInOne } from '../facts/sql-row.ts';
import { SPENT_DAY } from './day-spark.ts';
import { HUB_SERVER_LABEL, HUB_USER_LABEL } from './stop-command.ts';

/** A session that goes on, with the stretch without a kernel at its end. */
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
  zone: z.string().nullable(),
  resourceId: z.string().nullable(),
  model: z.string().nullable(),
  devices: sqlCount,
  /** What it holds of GPUs, in tenths: a slice or a share is less than one. */
  gpuTenths: sqlCount,
  heldSince: sqlTime.nullable(),
  knownUntil: sqlTime.nullable(),
  /** The most since the last kernel; null where its last day has one, whose own they may be. */
  powerW: sqlCount.nullable(),
  memoryMib: sqlCount.nullable(),
  /** The stretch: in wall-clock seconds. */
  idleFrom: sqlTime,
  idleSeconds: sqlCount,
  unknownPermille: sqlCount,
  /** Of the idle device-seconds of its first day, those of the stretch. */
  firstDayPermille: sqlCount,
  firstDay: sqlDay,
  lastDay: sqlDay,
  days: sqlCount,
  /** Of the known time of each of its last days, the permille that computed. */
  spark: sqlTexts.transform((days) => days.map((permille) => (permille === '' ? null : Number(permille)))),
});
export type Session = z.output<typeof session>;

/** Stretches as long as a night of sessions that are told together: those of a person of one name and place, or the boxes of one pool. */
export const nightsOfSessions = z.object({
  /** What they have in common. */
  kin: z.string(),
  /** The session, where it is one. */
  subject: z.string().nullable(),
  /** The one that was there last, and what is said of it. */
  latest: z.string(),
  source: z.string().nullable(),
  allocationId: z.string().nullable(),
  workloadKind: z.string().nullable(),
  workloadName: z.string().nullable(),
  stem: z.string().nullable(),
  cluster: z.string().nullable(),
  namespace: z.string().nullable(),
  hubUser: z.string().nullable(),
  hubServer: z.string().nullable(),
  nodeId: z.string().nullable(),
  provider: z.string().nullable(),
  model: z.string().nullable(),
  gpuTenths: sqlCount,
  sessions: sqlCount,
  days: sqlCount,
  nights: sqlCount,
  nightSeconds: sqlCount,
  /** The longest of them, and when it began: a day, or a moment where that is known. */
  longestSeconds: sqlCount,
  longestFrom: z.string(),
  /** All of them are one known person's. */
  isOnes: z.boolean(),
  /** Power was measured of all of them. */
  hasPower: z.boolean(),
  /** The part of the idle time of each session that is theirs: first day, last day, permille, subject. */
  takes: z.array(z.string()).nullable(),
  /** Their days, used or not, for `addedSpark`. */
  spent: sqlTexts,
});
export type NightsOfSessions = z.output<typeof nightsOfSessions>;

/** So many days of activity are drawn. */
const SPARK_DAYS = 14;

/** A whole number of thousandths, at most all. */
const permille = (part: string, whole: string): string => `
  COALESCE(CASE WHEN ${part} <= 0 THEN 0 WHEN ${part} >= ${whole} THEN 1000
    ELSE CAST((${part} * 1000 - (${part} * 1000) % NULLIF(${whole}, 0)) / NULLIF(${whole}, 0) AS BIGINT) END, 0)`;

const tenths = (units: string, seconds: string, devices: string): string => {
  const whole = `NULLIF(${seconds} * ${SHARE_UNITS}, 0)`;
  // To the nearest, as everywhere: half of the divisor first.
  const part = `(${units} * ${devices} * 10 + (${seconds} * ${SHARE_UNITS / 2}))`;
  return `COALESCE(CAST((${part} - ${part} % ${whole}) / ${whole} AS BIGINT), ${devices} * 10)`;
};

const IS_SESSION = `(s.manner = 'interactive' OR s.manner IS NULL)`;

/** It was held to the end of what is known. */
const isThere = (heldUntil: string): string => `${heldUntil} >= $until - INTERVAL '1' HOUR`;

/** The numbers of a session's day; what it is called is looked up of those that are told. */
const NUMBERS =
  's.subject_key, s.day, s.devices, s.held_s, s.computing_s, s.idle_s, s.unknown_s, s.held_from, s.held_until, s.ended_at IS NULL AS is_open, s.inner_idle_s, s.used_from, s.used_until';

/** What a session is called on its last day, and what it held then. */
const WORDS = `
  s.subject, s.source, s.allocation_id, s.workload_kind, s.workload_name, s.workload_stem AS stem, COALESCE(s.account, s.namespace) AS home, s.namespace, s.cluster,
  s.user_name, s.node_id, s.model, s.devices, ${tenths('s.units', 's.held_s', 's.devices')} AS gpu_tenths`;

/** The last kernel of a day, or the end of a long silence after it, of the day or over midnight: what was before is not the same stretch. */
const BROKEN_AT = `CASE WHEN date_diff('second', COALESCE(s.used_until, s.known_before, s.held_from), s.idle_from) > ${LONG_SILENCE_S} THEN s.idle_from ELSE s.used_until END`;

/**
 * Of each session that is there: what follows its last kernel and its last long silence, and the whole days after. Nobody has said that it ended.
 * Of the day of a silence what is unknown is what the idle time does not fill.
 */
export const SESSIONS_SQL = `
  WITH there AS (
    SELECT DISTINCT s.subject_key FROM life_day s WHERE ${IS_SESSION} AND ${isThere('s.held_until')}
  ), stint AS (
    SELECT ${NUMBERS}, s.idle_from,
           max(s.known_until) OVER (PARTITION BY s.subject_key ORDER BY s.day ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS known_before
    FROM life_day s JOIN there t ON s.subject_key = t.subject_key WHERE ${IS_SESSION}
  ), broken AS (
    SELECT s.*, ${BROKEN_AT} AS broken_at FROM stint s
  ), session AS (
    SELECT subject_key, count(*) AS days, COALESCE(max(CASE WHEN broken_at IS NOT NULL THEN day END), min(day)) AS first_day, max(day) AS last_day
    FROM broken GROUP BY subject_key
  ), since AS (
    SELECT s.*, z.days, z.first_day, z.last_day, COALESCE(s.broken_at, s.held_from) AS from_at,
           date_diff('second', COALESCE(s.broken_at, s.held_from), s.held_until) AS seconds
    FROM session z JOIN broken s ON z.subject_key = s.subject_key AND s.day >= z.first_day
  ), idle AS (
    SELECT subject_key, min(days) AS days, min(first_day) AS first_day, min(last_day) AS last_day, min(from_at) AS from_at,
           CAST(sum(seconds) AS BIGINT) AS seconds,
           CAST(sum(CASE WHEN broken_at IS NULL OR broken_at = used_until THEN unknown_s WHEN seconds * devices > idle_s THEN seconds * devices - idle_s ELSE 0 END) AS BIGINT) AS unknown_s, CAST(sum(held_s) AS BIGINT) AS held_s,
           max(CASE WHEN day = first_day THEN seconds * devices END) AS first_day_s, max(CASE WHEN day = first_day THEN idle_s END) AS first_day_idle_s
    FROM since GROUP BY subject_key
    HAVING CAST(sum(seconds) AS BIGINT) >= $idleSeconds AND bool_or(day = last_day AND is_open)
  ), told AS (
    SELECT s.subject_key, s.day, ${WORDS}, s.held_since, s.known_until, CASE WHEN s.used_until IS NULL THEN s.power_w_max END AS power_w,
           CASE WHEN s.used_until IS NULL THEN s.fb_used_mib_max END AS memory_mib
    FROM life_day s JOIN idle i ON s.subject_key = i.subject_key AND s.day = i.last_day WHERE ${IS_SESSION}
  ), known AS (
    SELECT s.subject, s.provider, s.region, s.resource_id, s.labels FROM subject s JOIN told w ON s.subject = w.subject AND s.day = w.day
  ), placed AS (
    SELECT node_id, max(zone) AS zone FROM node GROUP BY node_id
  ), recent AS (
    SELECT subject_key, day, CASE WHEN held_s > unknown_s THEN ${permille('computing_s', '(held_s - unknown_s)')} END AS used_permille,
           row_number() OVER (PARTITION BY subject_key ORDER BY day DESC) AS recency
    FROM stint
  ), drawn AS (
    SELECT subject_key, ${textsInOne(`array_agg(COALESCE(CAST(used_permille AS VARCHAR), '') ORDER BY day)`)} AS spark FROM recent WHERE recency <= ${SPARK_DAYS} GROUP BY subject_key
  )
  SELECT w.subject, w.source, w.allocation_id AS "allocationId", w.workload_kind AS "workloadKind", w.workload_name AS "workloadName", w.stem, w.home,
         w.namespace, w.cluster, k.labels['${HUB_USER_LABEL}'] AS "hubUser", k.labels['${HUB_SERVER_LABEL}'] AS "hubServer", w.user_name AS "userName",
         w.node_id AS "nodeId", k.provider, k.region, p.zone, k.resource_id AS "resourceId", w.model, w.devices, w.gpu_tenths AS "gpuTenths",
         w.held_since AS "heldSince", w.known_until AS "knownUntil", w.power_w AS "powerW", w.memory_mib AS "memoryMib", i.from_at AS "idleFrom",
         i.seconds AS "idleSeconds", ${permille('i.unknown_s', 'i.held_s')} AS "unknownPermille",
         ${permille('i.first_day_s', 'i.first_day_idle_s')} AS "firstDayPermille", CAST(i.first_day AS VARCHAR) AS "firstDay",
         CAST(i.last_day AS VARCHAR) AS "lastDay", i.days, d.spark
  FROM idle i JOIN told w ON i.subject_key = w.subject_key JOIN drawn d ON i.subject_key = d.subject_key LEFT JOIN known k ON w.subject = k.subject
  LEFT JOIN placed p ON w.node_id = p.node_id
  ORDER BY w.subject`;

/** Where the boxes of no scheduler are, for whoever stops them: by subject. Reads: life_day, subject, node. */
export const boxPlace = z.object({
  subject: z.string(),
  provider: z.string().nullable(),
  region: z.string().nullable(),
  zone: z.string().nullable(),
  resourceId: z.string().nullable(),
});
export type BoxPlace = z.output<typeof boxPlace>;

export const BOX_PLACES_SQL = `
  WITH placed AS (
    SELECT 'node ' || node_id AS subject, max(zone) AS zone FROM node GROUP BY node_id
  )
  SELECT k.subject, max(k.provider) AS provider, max(k.region) AS region, max(p.zone) AS zone, max(k.resource_id) AS "resourceId"
  FROM subject k LEFT JOIN placed p ON k.subject = p.subject
  WHERE k.subject IN (SELECT subject FROM life_day WHERE manner IS NULL AND allocation_id IS NULL)
  GROUP BY k.subject ORDER BY k.subject`;

/**
 * Days of a session are strung to stretches without a kernel: what follows the last kernel of a day, whole days without one, what
 * comes before the first kernel of the next. Nights far from Greenwich lie within a day: its longest pause is a stretch of its own. The stretch that goes on is no night, and
 * the day of the last kernel before it (`shared`) is told apart from the nights' other days.
 *
 * One row for a session, for all of a person's sessions of one name and place, or for the boxes of one pool: never one a night.
 */
export const NIGHTS_SQL = `
  WITH held AS (
    SELECT * FROM life_day s WHERE ${IS_SESSION}
  ), stint AS (
    SELECT ${NUMBERS} FROM held s
  ), numbered AS (
    SELECT s.*, count(used_from) OVER (PARTITION BY subject_key ORDER BY day) AS used_days,
           row_number() OVER (PARTITION BY subject_key ORDER BY day) AS day_no, count(*) OVER (PARTITION BY subject_key) AS days
    FROM stint s
  ), piece AS (
    SELECT subject_key, day, devices, held_s, unknown_s, used_days - CASE WHEN used_from IS NULL THEN 0 ELSE 1 END AS stretch, held_from AS from_at,
           date_diff('second', held_from, COALESCE(used_from, held_until)) AS seconds
    FROM numbered
    UNION ALL
    SELECT subject_key, day, devices, held_s, unknown_s, used_days AS stretch, used_until AS from_at, date_diff('second', used_until, held_until) AS seconds
    FROM numbered WHERE used_until IS NOT NULL
    UNION ALL
    SELECT subject_key, day, devices, held_s, unknown_s, -day_no AS stretch, NULL AS from_at, inner_idle_s AS seconds
    FROM numbered WHERE inner_idle_s >= $nightSeconds
  ), long_stretch AS (
    SELECT subject_key, stretch, CAST(sum(seconds) AS BIGINT) AS seconds,
           COALESCE(CAST(min(CASE WHEN seconds > 0 THEN from_at END) AS VARCHAR), CAST(min(day) AS VARCHAR)) AS begun
    FROM piece GROUP BY subject_key, stretch
    HAVING CAST(sum(seconds) AS BIGINT) >= $nightSeconds
      AND CAST(sum(unknown_s) AS BIGINT) * 1000 <= CAST(sum(held_s) AS BIGINT) * $unknownPermille
  ), ending AS (
    SELECT subject_key, day AS last_day, days, used_days AS last_stretch, is_open AND ${isThere('held_until')} AS is_open
    FROM numbered WHERE day_no = days
  ), shared AS (
    SELECT n.subject_key, n.day, n.idle_s FROM ending e JOIN numbered n ON e.subject_key = n.subject_key AND e.last_stretch = n.used_days
    WHERE e.is_open AND n.used_until IS NOT NULL
  ), night_stretch AS (
    SELECT t.subject_key, t.stretch, t.seconds, t.begun FROM long_stretch t JOIN ending e ON t.subject_key = e.subject_key
    WHERE t.stretch < e.last_stretch OR NOT e.is_open
  ), night_count AS (
    SELECT subject_key, count(*) AS nights, CAST(sum(seconds) AS BIGINT) AS seconds, max(seconds) AS longest_s,
           (array_agg(begun ORDER BY seconds DESC, begun))[1] AS longest_from
    FROM night_stretch GROUP BY subject_key
  ), night_piece AS (
    SELECT p.subject_key, p.day, p.seconds * p.devices AS device_s, COALESCE(p.day = h.day, FALSE) AS is_shared
    FROM piece p JOIN night_stretch t ON p.subject_key = t.subject_key AND p.stretch = t.stretch LEFT JOIN shared h ON p.subject_key = h.subject_key
    WHERE p.seconds > 0
  ), night AS (
    SELECT subject_key, min(CASE WHEN NOT is_shared THEN day END) AS first_day, max(CASE WHEN NOT is_shared THEN day END) AS last_day,
           CAST(sum(CASE WHEN is_shared THEN 0 ELSE device_s END) AS BIGINT) AS device_s,
           CAST(sum(CASE WHEN is_shared THEN device_s ELSE 0 END) AS BIGINT) AS shared_s
    FROM night_piece GROUP BY subject_key
  ), night_idle AS (
    SELECT g.subject_key, CAST(sum(s.idle_s) AS BIGINT) AS idle_s
    FROM night g JOIN stint s ON g.subject_key = s.subject_key AND s.day >= g.first_day AND s.day <= g.last_day GROUP BY g.subject_key
  ), take AS (
    SELECT g.subject_key, g.first_day, g.last_day, ${permille('g.device_s', 'i.idle_s')} AS permille
    FROM night g JOIN night_idle i ON g.subject_key = i.subject_key
    UNION ALL
    SELECT g.subject_key, h.day AS first_day, h.day AS last_day, ${permille('g.shared_s', 'h.idle_s')} AS permille
    FROM night g JOIN shared h ON g.subject_key = h.subject_key WHERE g.shared_s > 0 AND g.shared_s * 1000 >= h.idle_s
  ), named AS (
    SELECT s.subject_key, s.subject, e.last_day, e.days, s.power_w_max IS NOT NULL AS has_power, s.user_name,
           CASE WHEN s.allocation_id IS NULL THEN COALESCE('boxes of ' || s.cluster, s.subject)
                ELSE COALESCE(s.cluster, '') || '/' || COALESCE(s.account, s.namespace, '') || '/' || COALESCE(s.user_name, '') || ' '
                  || COALESCE(s.workload_stem, s.subject) END AS kin
    FROM held s JOIN ending e ON s.subject_key = e.subject_key AND s.day = e.last_day JOIN night_count c ON s.subject_key = c.subject_key
  ), ranked AS (
    SELECT n.*, row_number() OVER (PARTITION BY kin ORDER BY last_day DESC, subject) AS recency FROM named n
  ), kindred AS (
    SELECT n.kin, count(*) AS sessions, max(CASE WHEN n.recency = 1 THEN n.subject END) AS latest, max(CASE WHEN n.recency = 1 THEN n.subject_key END) AS latest_key, max(n.last_day) AS last_day,
           max(c.longest_s) AS longest_s, (array_agg(c.longest_from ORDER BY c.longest_s DESC, c.longest_from))[1] AS longest_from,
           CAST(sum(n.days) AS BIGINT) AS days, CAST(sum(c.nights) AS BIGINT) AS nights, CAST(sum(c.seconds) AS BIGINT) AS seconds,
           count(n.user_name) = count(*) AND min(n.user_name) = max(n.user_name) AS is_ones, min(n.has_power) AS has_power
    FROM ranked n JOIN night_count c ON n.subject_key = c.subject_key GROUP BY n.kin
  ), taken AS (
    SELECT n.kin, array_agg(CAST(t.first_day AS VARCHAR) || ' ' || CAST(t.last_day AS VARCHAR) || ' ' || CAST(t.permille AS VARCHAR) || ' ' || n.subject
             ORDER BY n.subject, t.first_day) AS takes
    FROM take t JOIN named n ON t.subject_key = n.subject_key GROUP BY n.kin
  ), spent AS (
    SELECT kin, ${textsInOne(`array_agg(${SPENT_DAY} ORDER BY day)`)} AS spent FROM stint s JOIN ranked r ON s.subject_key = r.subject_key GROUP BY kin
  ), told AS (
    SELECT ${WORDS} FROM held s JOIN kindred f ON s.subject_key = f.latest_key AND s.day = f.last_day
  )
  SELECT f.kin, CASE WHEN f.sessions = 1 THEN f.latest END AS subject, f.latest, w.source, w.allocation_id AS "allocationId", w.workload_kind AS "workloadKind",
         w.workload_name AS "workloadName", w.stem, w.cluster, w.namespace, k.labels['${HUB_USER_LABEL}'] AS "hubUser", k.labels['${HUB_SERVER_LABEL}'] AS "hubServer", w.node_id AS "nodeId", k.provider, w.model, w.gpu_tenths AS "gpuTenths", f.sessions, f.days,
         f.nights, f.seconds AS "nightSeconds", f.longest_s AS "longestSeconds", f.longest_from AS "longestFrom", q.spent, f.is_ones AS "isOnes", f.has_power AS "hasPower", t.takes
  FROM kindred f JOIN told w ON f.latest = w.subject LEFT JOIN taken t ON f.kin = t.kin JOIN spent q ON f.kin = q.kin
  LEFT JOIN subject k ON f.latest = k.subject AND f.last_day = k.day
  ORDER BY f.kin`;
