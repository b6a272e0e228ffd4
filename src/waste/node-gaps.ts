import type { Take } from '../facts/detector.ts';
import { dayAfter } from './day-spark.ts';

/** The whole of a device, in 63,000ths. */
export const WHOLE_UNITS = 63_000n;

/** What was last seen within an hour is there now: sources are asked every few minutes. */
const NOW_S = 3600;

const earlier = (a: string, b: string): string => `CASE WHEN ${a} < ${b} THEN ${a} ELSE ${b} END`;
const later = (a: string, b: string): string => `CASE WHEN ${a} > ${b} THEN ${a} ELSE ${b} END`;

/**
 * Which time of each day's empty GPUs lies in a stretch in which the node was there and nobody held any GPU of it: `node_gap`, the empty
 * unit-seconds of each node and day (`empty_units`) beside each such stretch that reaches into the day, or beside none. A machine that had not come yet,
 * had gone, or was down stood nowhere empty. `is_open`: it goes on at the end of the window. What is free before and after a midnight is one
 * stretch. Several detectors ask this; it is worked out once.
 *
 * Reads: node_day, bare_time, presence.
 */
export const NODE_GAP = `
  size AS (
    SELECT node_id, max(node_gpus) AS gpus, max(held_units) > 0 AS is_held FROM node_day WHERE node_id IS NOT NULL GROUP BY node_id
  ), emptied AS (
    SELECT d.day, d.node_id, min(d.subject) AS subject, min(d.cluster) AS cluster, min(d.model) AS model,
           min(d.purchase) AS purchase, min(d.provider) AS provider, min(z.gpus) AS gpus, bool_or(z.is_held) AS is_held,
           CAST(sum(d.empty_units) AS BIGINT) AS empty_units
    FROM node_day d JOIN size z ON d.node_id = z.node_id WHERE d.empty_units > 0 GROUP BY d.day, d.node_id
  ), ending AS (
    SELECT CASE WHEN $now < $until THEN $now ELSE $until END AS ends_at
  ), there AS (
    SELECT p.node_id, p.from_at, max(p.until_at) AS until_at
    FROM presence p JOIN (SELECT DISTINCT node_id FROM emptied) n ON p.node_id = n.node_id
    WHERE COALESCE(p.state, 'up') = 'up' GROUP BY p.node_id, p.from_at
  ), met_before AS (
    SELECT there.*, max(until_at) OVER (PARTITION BY node_id ORDER BY from_at ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reached
    FROM there
  ), stayed AS (
    SELECT node_id, min(from_at) AS from_at, max(until_at) AS until_at FROM (
      SELECT met_before.*, sum(CASE WHEN reached >= from_at THEN 0 ELSE 1 END) OVER (PARTITION BY node_id ORDER BY from_at
               ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS stay_no
      FROM met_before
    ) numbered GROUP BY node_id, stay_no
  ), bare AS (
    SELECT t.node_id, t.from_at, ${earlier('b.ends_at', 't.until_at')} AS until_at
    FROM bare_time t CROSS JOIN ending b WHERE t.from_at < b.ends_at
  ), strung AS (
    SELECT bare.*, lag(until_at) OVER (PARTITION BY node_id ORDER BY from_at, until_at) AS before_at FROM bare
  ), free AS (
    SELECT f.node_id, min(f.from_at) AS from_at, max(f.until_at) AS until_at, max(f.until_at) = min(b.ends_at) AS is_last
    FROM (SELECT strung.*, sum(CASE WHEN before_at = from_at THEN 0 ELSE 1 END) OVER (PARTITION BY node_id ORDER BY from_at
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS stretch_no FROM strung) f CROSS JOIN ending b
    GROUP BY f.node_id, f.stretch_no
  ), gap AS (
    SELECT f.node_id, ${later('f.from_at', 's.from_at')} AS from_at, ${earlier('f.until_at', 's.until_at')} AS until_at,
           f.is_last AND date_diff('second', s.until_at, $now) <= ${NOW_S} AS is_open
    FROM free f JOIN stayed s ON f.node_id = s.node_id AND s.from_at < f.until_at AND s.until_at > f.from_at
  ), node_gap AS (
    SELECT n.*, g.from_at, g.until_at, COALESCE(g.is_open, FALSE) AS is_open,
           date_diff('second', g.from_at, g.until_at) AS gap_s,
           date_diff('second', ${later('g.from_at', 'CAST(n.day AS TIMESTAMP)')},
             ${earlier('g.until_at', "CAST(n.day AS TIMESTAMP) + INTERVAL '1' DAY")}) AS met_s
    FROM emptied n LEFT JOIN gap g ON n.node_id = g.node_id AND g.from_at < CAST(n.day AS TIMESTAMP) + INTERVAL '1' DAY
      AND g.until_at > CAST(n.day AS TIMESTAMP)
  )`;

/** The tables `NODE_GAP` reads. */
export const NODE_GAP_READS = ['node_day', 'bare_time', 'presence'] as const;

/** The same as the beginning of a WITH: `empty_day`, once for each node and day with empty time, and `met`, the stretches of at least `$gapSecondsMin`. */
export const NODE_GAPS = `
  WITH ${NODE_GAP}, empty_day AS (
    SELECT DISTINCT day, node_id, subject, cluster, model, purchase, provider, gpus, empty_units, is_held FROM node_gap
  ), met AS (
    SELECT * FROM node_gap WHERE gap_s >= $gapSecondsMin
  )`;

/** What of each day's empty time is meant, in SQL, for `dayTakes`: texts of the day and its permille. */
export const dayParts = (units: string): string =>
  `array_agg(CAST(day AS VARCHAR) || ' ' || CAST(CAST((${units} * 1000 - (${units} * 1000) % empty_units) / empty_units AS BIGINT) AS VARCHAR) ORDER BY day)
     FILTER (WHERE empty_units > 0 AND ${units} > 0)`;

/** Takes of a node's empty time, each day's own part of it. Days that follow each other with the same part are one. */
export function dayTakes(subject: string, parts: readonly string[]): readonly Take[] {
  const takes: Take[] = [];
  for (const part of parts) {
    const [day = '', permille = '0'] = part.split(' ');
    const last = takes.at(-1);
    const goesOn = last?.permille === Number(permille) && dayAfter(last.lastDay) === day;
    if (last !== undefined && goesOn) takes[takes.length - 1] = { ...last, lastDay: day };
    else
      takes.push({
        subject,
        firstDay: day,
        lastDay: day,
        category: 'unallocated',
        reason: 'empty',
        permille: Number(permille),
      });
  }
  return takes;
}

/**
 * How the nodes of a pool were got, as far as that is known: what is rented can be given back, of what is one's own (owned, committed) only the hours can be
 * used. Of a machine of which neither its purchase nor its provider is known nobody can say.
 */
export function tenureOf(
  nodes: readonly { readonly purchase: string | null; readonly provider: string | null }[],
): 'rented' | 'own' | 'unknown' {
  const isOwn = ({ purchase }: { readonly purchase: string | null }): boolean =>
    purchase === 'owned' || purchase === 'committed';
  if (nodes.some(isOwn)) return 'own';
  return nodes.every(({ purchase, provider }) => purchase !== null || provider !== null) ? 'rented' : 'unknown';
}
