import { z } from 'zod';
import { detector, type Claim, type Take } from '../facts/detector.ts';
import { FORGOTTEN_DAYS } from '../facts/forgotten-after.ts';
import { STANDBY_WORDS } from '../facts/standby-words.ts';
import { sqlCount, sqlDay, sqlTexts, sqlTime } from '../facts/sql-row.ts';
import { addedSpark, spentDays } from './day-spark.ts';
import { WHOLE_UNITS } from './node-gaps.ts';
import { PODS_ARE_NOT_NODES } from './serving/serving-fix.ts';
import { HUB_SERVER_LABEL, HUB_USER_LABEL, stopCommand } from './stop-command.ts';
import { gpuHourWords, gpuWords, spanWords, timeWords } from './wording.ts';

/** A service of which no replica computed, or a session nobody used, and how long that has been so. */
const UnusedHolder = z.object({
  manner: z.enum(['serving', 'interactive']),
  cluster: z.string().nullable(),
  account: z.string().nullable(),
  source: z.string().nullable(),
  allocationId: z.string(),
  namespace: z.string().nullable(),
  userName: z.string().nullable(),
  kind: z.string().nullable(),
  name: z.string().nullable(),
  stem: z.string().nullable(),
  /** Labels as one text: `role=standby app=chat`. */
  labels: z.string(),
  model: z.string().nullable(),
  /** The newest holder of it, and all in the window. */
  subject: z.string(),
  subjects: z.array(z.string()),
  /** Names of those that are there now. */
  names: z.array(z.string().nullable()),
  heldSince: sqlTime,
  unusedSince: sqlTime,
  heldUntil: sqlTime,
  /** GPU-seconds from then on. */
  gpuS: sqlCount,
  firstDay: sqlDay,
  lastDay: sqlDay,
  /** Of the idle time of the day of its last kernel, what came after it. */
  lastUsePermille: sqlCount,
  memoryMibMax: sqlCount.nullable(),
  hasPower: z.boolean(),
  hubUser: z.string().nullable(),
  hubServer: z.string().nullable(),
  /** Of its newest holder. */
  days: sqlTexts.nullable(),
  /** Services of the same namespace and beginning of the name that do compute. */
  siblings: sqlCount,
});
type UnusedHolder = z.infer<typeof UnusedHolder>;

const joined = (map: string): string =>
  `COALESCE(array_join(map_keys(${map}), ' ') || ' ' || array_join(map_values(${map}), ' '), '')`;

/** A place and the beginning of a name there: services of one family may stand by for each other. */
const family = (t: string): string =>
  `COALESCE(${t}.cluster, '') || '/' || COALESCE(${t}.namespace, '') || '/' || regexp_replace(COALESCE(${t}.stem, ''), '[-_.].*$', '')`;

/** Of the day of the last kernel what came after it, in parts of a device: shared ones count by their share. */
const TAIL_UNITS = `CAST(date_diff('second', u.unused_since, s.held_until) * s.devices AS DECIMAL(38,0)) * s.units`;

/**
 * Of a session what comes after its last kernel; of a service only if there was none at all. Numbers are added up first: most sessions have ended, and of those nothing is to be
 * said. Who has a manner has an allocation, too.
 */
const HOLDERS = `
  WITH stint AS (
    SELECT * FROM life_day WHERE manner <> 'job'
  ), attempt AS (
    SELECT subject_key, min(manner) AS manner, min(held_since) AS held_since, max(held_until) AS held_until, count(ended_at) = 0 AS is_open,
           max(last_computing_at) AS last_at,
           CAST(sum(computing_s) AS BIGINT) > 0 AND COALESCE(date_diff('second', min(held_since), max(last_computing_at)) > $handoverSeconds, TRUE)
             AS is_used, CAST(sum(held_s) AS BIGINT) AS held_s, CAST(sum(unknown_s) AS BIGINT) AS unknown_s, min(day) AS first_day, max(day) AS last_day,
           max(fb_used_mib_max) AS memory_mib_max, count(power_w_max) > 0 AS has_power, min(held_from) AS seen_from, max(known_until) AS known_until
    FROM stint GROUP BY subject_key
  ), named AS (
    SELECT s.subject_key, s.subject, s.source, s.allocation_id, s.workload_kind AS kind, s.workload_name AS name, s.cluster, s.account, s.namespace, s.user_name, s.workload_stem
    FROM stint s JOIN attempt a ON s.subject_key = a.subject_key AND s.day = a.last_day WHERE a.manner = 'serving' OR a.is_open
  ), one AS (
    SELECT a.*, k.subject, k.source, k.allocation_id, k.kind, k.name, k.cluster, k.account, k.namespace, k.user_name, k.workload_stem AS stem,
           CASE WHEN a.manner = 'serving' THEN COALESCE(k.cluster, '') || '/' || COALESCE(k.account, '') || '/' || COALESCE(k.namespace, '') || '/'
             || COALESCE(k.workload_stem, k.name, k.subject) ELSE k.subject END AS thing
    FROM attempt a JOIN named k ON a.subject_key = k.subject_key
  ), thing AS (
    SELECT thing, min(manner) AS manner, max_by(subject, CAST(held_until AS VARCHAR) || subject) AS subject,
           array_agg(subject ORDER BY subject) AS subjects, min(held_since) AS held_since, max(held_until) AS held_until,
           max(last_at) AS last_at, min(seen_from) AS seen_from, CAST(sum(held_s) AS BIGINT) AS held_s,
           CAST(sum(unknown_s) AS BIGINT) AS unknown_s, max(is_used) AS is_used, array_agg(DISTINCT name) FILTER (WHERE is_open) AS names, min(first_day) AS first_day,
           max(last_day) AS last_day, max(is_open) AS is_open, max(memory_mib_max) AS memory_mib_max,
           max(known_until) AS known_until, min(namespace) AS namespace, min(account) AS account, min(cluster) AS cluster, min(stem) AS stem
    FROM one GROUP BY thing
  ), serving AS (
    SELECT ${family('t')} AS family, count(*) AS siblings FROM thing t WHERE t.manner = 'serving' AND t.is_used AND t.stem IS NOT NULL GROUP BY ${family('t')}
  ), since AS (
    SELECT t.*, CASE WHEN t.manner = 'interactive' AND t.last_at IS NOT NULL THEN t.last_at ELSE t.seen_from END AS unused_since
    FROM thing t WHERE t.is_open AND (NOT t.is_used OR t.manner = 'interactive')
  ), unused AS (
    SELECT * FROM since WHERE date_diff('second', unused_since, held_until) >= $unusedSecondsMin
      AND unknown_s * 1000 <= held_s * $unknownPermilleMax AND date_diff('second', known_until, $now) <= $freshSeconds
  ), known AS (
    SELECT j.subject, o.thing, ${joined('j.labels')} AS labels, j.labels['${HUB_USER_LABEL}'] AS hub_user, j.labels['${HUB_SERVER_LABEL}'] AS hub_server
    FROM unused u JOIN one o ON o.thing = u.thing JOIN subject j ON j.day = o.last_day AND j.subject = o.subject
  ), labelled AS (
    SELECT thing, min(labels) AS labels FROM known GROUP BY thing
  ), priced AS (
    SELECT m.subject, min(m.model) AS model FROM subject_day m JOIN unused u ON m.day = u.last_day AND m.subject = u.subject
    GROUP BY m.subject
  ), tail AS (
    SELECT u.thing, CAST(sum(CASE WHEN s.held_from >= u.unused_since THEN s.units WHEN s.held_s <= 0 THEN 0
             ELSE CAST((${TAIL_UNITS} - (${TAIL_UNITS}) % s.held_s) / s.held_s AS BIGINT) END) AS BIGINT) AS units,
           CAST(sum(CASE WHEN s.held_from < u.unused_since THEN date_diff('second', u.unused_since, s.held_until) * s.devices ELSE 0 END) AS BIGINT) AS first_s,
           CAST(sum(CASE WHEN s.held_from < u.unused_since THEN s.idle_s ELSE 0 END) AS BIGINT) AS first_idle_s
    FROM unused u JOIN one o ON o.thing = u.thing JOIN stint s ON s.subject_key = o.subject_key AND s.held_until > u.unused_since
    GROUP BY u.thing
  )
  SELECT u.manner, u.cluster, u.account, o.source, o.allocation_id AS "allocationId", u.namespace, o.user_name AS "userName", o.kind, o.name,
         u.stem, COALESCE(l.labels, '') AS labels, p.model, u.subject, u.subjects, u.names, u.held_since AS "heldSince",
         u.unused_since AS "unusedSince", u.held_until AS "heldUntil", CAST((t.units - t.units % ${WHOLE_UNITS}) / ${WHOLE_UNITS} AS BIGINT) AS "gpuS", u.first_day AS "firstDay", u.last_day AS "lastDay",
         CASE WHEN t.first_idle_s <= 0 THEN 0 WHEN t.first_s >= t.first_idle_s THEN 1000
           ELSE CAST((t.first_s * 1000 - (t.first_s * 1000) % t.first_idle_s) / t.first_idle_s AS BIGINT) END AS "lastUsePermille",
         u.memory_mib_max AS "memoryMibMax", o.has_power AS "hasPower", k.hub_user AS "hubUser", k.hub_server AS "hubServer", q.days, COALESCE(v.siblings, 0) AS siblings
  FROM unused u JOIN one o ON u.subject = o.subject JOIN tail t ON u.thing = t.thing LEFT JOIN priced p ON u.subject = p.subject
  LEFT JOIN known k ON u.subject = k.subject LEFT JOIN labelled l ON u.thing = l.thing
  LEFT JOIN (${spentDays('SELECT o.subject_key FROM one o JOIN unused u ON o.subject = u.subject')}) q ON o.subject_key = q.subject_key
  LEFT JOIN serving v ON v.family = ${family('u')}
  ORDER BY u.subject`;

/**
 * Question: what is there and forgotten: services that never compute, sessions nobody has used for a week?
 *
 * What stands by on purpose is not forgotten: a service that says so by its name or a label, or whose neighbours serve, because it may take over
 * from them, is left to `oversized-serving`, which asks. The quarterly audit asks the same with a longer window.
 *
 * Reads: life_day, subject, subject_day.
 */
export const forgottenResources = detector({
  name: 'forgotten-resources',
  title: 'services and sessions that were forgotten',
  category: 'idle',
  factor: 'utilisation',
  basis: 'measured',
  blastRadius: 2,
  blast: 'A session that comes back starts anew; settings and files stay.',
  effort: 'one question to its owner, one command',
  options: z.object({
    unusedDaysMin: z.number().min(0.1).default(FORGOTTEN_DAYS), // The audit and idle-sessions go by the same.
    handoverMinutes: z.number().default(15), // A kernel in the first minutes may be the last of who had the GPU before.
    freshMinutes: z.number().int().default(60), // Older news say nothing about now.
    unknownPermilleMax: z.number().int().default(50), // Beyond this nothing is said: telemetry-gaps does.
  }),
  ask: (options) => ({
    holders: {
      row: UnusedHolder,
      tables: ['life_day', 'subject', 'subject_day'],
      params: {
        unusedSecondsMin: Math.round(options.unusedDaysMin * 86_400),
        handoverSeconds: Math.round(options.handoverMinutes * 60),
        freshSeconds: options.freshMinutes * 60,
        unknownPermilleMax: options.unknownPermilleMax,
      },
      sql: HOLDERS,
    },
  }),
  judge: ({ holders }, { now, until }) =>
    holders
      .filter((holder) => !standsBy(holder))
      .map((holder) => ({ ...holderClaim(holder, now), spark: addedSpark([holder.days], { until }) })),
});

const STANDBY = new RegExp(STANDBY_WORDS);

const standsBy = ({ manner, name, stem, kind, labels, siblings }: UnusedHolder): boolean =>
  manner === 'serving' &&
  (siblings > 0 || [name, stem, kind, labels].some((text) => text !== null && STANDBY.test(text.toLowerCase())));

function holderClaim(holder: UnusedHolder, now: Date): Claim {
  const isService = holder.manner === 'serving';
  const seconds = (holder.heldUntil.getTime() - holder.unusedSince.getTime()) / 1000;
  const gpus = Math.max(1, Math.round((holder.gpuS * 10) / Math.max(1, seconds))) / 10;
  const names = holder.names.flatMap((name) => name ?? []).toSorted();
  const name = isService ? (holder.stem ?? names[0] ?? '').replace(/[-_.]0$/, '') : (names[0] ?? holder.allocationId);
  return {
    about: isService
      ? [holder.cluster, holder.account ?? holder.namespace, holder.stem ?? name].join('/')
      : holder.subject,
    ownerSubject: holder.subject,
    what: isService
      ? `service ${name} has not computed in ${spanWords(seconds)}, ${gpuWords(gpus, holder.model)}`
      : `session ${name} unused since ${timeWords(holder.unusedSince, now)}, ${gpuWords(gpus, holder.model)}`,
    because: [
      `No kernel on any of its GPUs since ${timeWords(holder.unusedSince, now)}${isService ? ' or longer' : ''}: ${spanWords(seconds)}, ${gpuHourWords(holder.gpuS)} (engine, else SM, else utilisation${holder.hasPower ? '; power' : ''}).`,
      ...(holder.memoryMibMax === null
        ? []
        : [`Device memory at most ${holder.memoryMibMax.toLocaleString('en-US')} MiB.`]),
      ...(isService ? ['Neither its name nor a label says that it stands by.'] : []),
    ],
    fix: [
      ...(isService && names.length > 0 ? names : [holder.name]).map((each) => stopCommand({ ...holder, name: each })),
      ...(holder.source === 'kubernetes' ? [PODS_ARE_NOT_NODES] : []),
    ],
    ...(isService && {
      blastRadius: 3,
      blast:
        'A caller nobody has seen in the whole window gets no answer any more; if it stands by for another, nothing takes over.',
    }),
    unless: isService
      ? 'It stands by for another service: say so by a label (role=standby), and it is not named again.'
      : 'Its owner comes back to what is in its memory.',
    liveSince: holder.unusedSince,
    takes: holder.subjects.flatMap((subject) => takesOf(subject, holder)),
  };
}

/** Whole days of it, and what came after the last kernel on the day of that: else the rest would be a finding of its own. */
function takesOf(subject: string, { unusedSince, firstDay, lastDay, lastUsePermille }: UnusedHolder): Take[] {
  const whole: Take = { subject, firstDay: laterDay(firstDay, unusedSince), lastDay, category: 'idle' };
  if (lastUsePermille === 0) return [whole];
  const day = unusedSince.toISOString().slice(0, 10);
  return [whole, { subject, firstDay: day, lastDay: day, category: 'idle', permille: lastUsePermille }];
}

/** The first whole day of it: the day on which it was last used has idle time of another kind, too. */
function laterDay(firstDay: string, since: Date): string {
  const isMidnight = since.getTime() % 86_400_000 === 0;
  const day = new Date(since.getTime() + (isMidnight ? 0 : 86_400_000)).toISOString().slice(0, 10);
  return day > firstDay ? day : firstDay;
}
