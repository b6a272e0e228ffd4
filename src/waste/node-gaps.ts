/** The whole of a device, in 63,000ths. */
export const WHOLE_UNITS = 63_000n;

const earlier = (a: string, b: string): string => `CASE WHEN ${a} < ${b} THEN ${a} ELSE ${b} END`;
const later = (a: string, b: string): string => `CASE WHEN ${a} > ${b} THEN ${a} ELSE ${b} END`;

/**
 * Which time of each day's empty GPUs lies in a stretch in which nobody held any GPU of the node, as the beginning of a WITH: `node_day`
 * (empty unit-seconds of a node and day) and `met` (of these days the seconds of each such stretch of at least `$gapSecondsMin`).
 *
 * Reads: subject_day, stint_day.
 */
export const NODE_GAPS = `
  WITH size AS (
    SELECT node_id, count(DISTINCT device_id) AS gpus FROM subject_day WHERE node_id IS NOT NULL AND gpu_units > 0 GROUP BY node_id
  ), node_day AS (
    SELECT d.day, d.node_id, min(d.subject) AS subject, min(d.cluster) AS cluster, min(d.model) AS model,
           min(d.purchase) AS purchase, min(d.provider) AS provider, min(z.gpus) AS gpus, CAST(sum(d.gpu_units) AS BIGINT) AS empty_units
    FROM subject_day d JOIN size z ON d.node_id = z.node_id
    WHERE d.category = 'unallocated' AND d.reason = 'empty' GROUP BY d.day, d.node_id
  ), bound AS (
    SELECT CASE WHEN $now < $until THEN $now ELSE $until END AS ends_at
  ), held AS (
    SELECT s.node_id, s.held_from, max(s.held_until) AS held_until
    FROM stint_day s JOIN (SELECT DISTINCT node_id FROM node_day) n ON s.node_id = n.node_id GROUP BY s.node_id, s.held_from
  ), ordered AS (
    SELECT node_id, held_from, max(held_until) OVER (PARTITION BY node_id ORDER BY held_from
             ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reached
    FROM held
  ), gap AS (
    SELECT node_id, COALESCE(reached, $from) AS from_at, held_from AS until_at FROM ordered
    UNION ALL
    SELECT h.node_id, max(h.held_until), min(b.ends_at) FROM held h CROSS JOIN bound b GROUP BY h.node_id
    UNION ALL
    SELECT DISTINCT n.node_id, $from, b.ends_at FROM node_day n CROSS JOIN bound b WHERE n.node_id NOT IN (SELECT node_id FROM held)
  ), met AS (
    SELECT n.*, g.from_at, g.until_at, date_diff('second', g.from_at, g.until_at) AS gap_s,
           date_diff('second', ${later('g.from_at', 'CAST(n.day AS TIMESTAMP)')},
             ${earlier('g.until_at', "CAST(n.day AS TIMESTAMP) + INTERVAL '1' DAY")}) AS met_s
    FROM node_day n JOIN gap g ON n.node_id = g.node_id AND g.from_at < CAST(n.day AS TIMESTAMP) + INTERVAL '1' DAY
      AND g.until_at > CAST(n.day AS TIMESTAMP)
    WHERE date_diff('second', g.from_at, g.until_at) >= $gapSecondsMin
  )`;
