import { SHARE_UNITS } from '../facts/column.ts';
import { OVERLAP_SECONDS_MAX } from '../facts/overlap.ts';
import type { Stage } from '../facts/stage.ts';

/** `T · cum ÷ W − T · (cum − w) ÷ W`, truncating: the one way anything is divided (README, `split`). */
export const splitPart = (total: string, cumulative: string, weight: string, base: string): string => {
  const upTo = (cum: string): string =>
    `CAST((${total} * (${cum}) - (${total} * (${cum})) % (${base})) / (${base}) AS BIGINT)`;
  return cumulative === weight ? upTo(weight) : `(${upTo(cumulative)} - ${upTo(`${cumulative} - ${weight}`)})`;
};

/**
 * `splitPart` for money over unit-seconds. Their product leaves 64 bits when one GPU-hour costs more than $40,000, as it
 * can when a month's charge falls on a node that was there for an hour; such rows take the slow way.
 */
export const splitMoney = (total: string, cumulative: string, weight: string, base: string): string =>
  `CASE WHEN ${total} BETWEEN -40000000000 AND 40000000000 THEN ${splitPart(total, cumulative, weight, base)}
        ELSE ${splitPart(`CAST(${total} AS DECIMAL(38,0))`, cumulative, weight, base)} END`;

const HEARD_AT = `strpos($heard, chr(31) || p.cluster || chr(30))`;
const heardMoment = (place: number): string =>
  `CAST(substr($heard, ${HEARD_AT} + length(p.cluster) + ${place}, 19) AS TIMESTAMP)`;

/**
 * A scheduler speaks for the piece's machine: it names the machine's cluster, or none, and so any that has a name; where the machine
 * has no cluster, its jobs have been there. That jobs run on one machine says nothing of another that nobody ever hands out.
 */
const SPOKEN_FOR = `CASE WHEN p.cluster IS NULL THEN p.is_handed WHEN $spoken = '*' THEN TRUE
                         ELSE strpos($spoken, chr(31) || p.cluster || chr(31)) > 0 END`;

/** The piece reaches beyond the span in which its cluster's scheduler was heard: nobody said that it was free. */
const UNHEARD = `CASE WHEN ${HEARD_AT} > 0 THEN p.from_at < ${heardMoment(2)} OR p.until_at > ${heardMoment(22)} ELSE FALSE END`;

/**
 * Question: who held each second of each present device, and which share of it?
 *
 * Works on pieces of time in which nothing changes. A piece's scope is the GPU with its slices, or, where GPUs of the
 * node are held by count, the whole node, because then what happens on one device changes the share of the others.
 * The shares of a device's piece add up to its capacity: what nobody claims is a row too.
 *
 * Reads: presence, holding, handed. `$spoken` lists the clusters an allocation source speaks for (each between two unit separators), or is `*`;
 * `$heard` the span in which those of them were heard that are collected.
 */
export const held: Stage = {
  name: 'held',
  version: 3,
  unit: 'day',
  reads: [
    { table: 'presence', days: [0] },
    { table: 'holding', days: [0] },
    { table: 'handed', days: 'all' },
  ],
  growth: 24,
  params: ['spoken', 'heard'],
  writes: [
    ['day', 'DATE'],
    ['hour_start', 'TIMESTAMP'],
    ['from_at', 'TIMESTAMP'],
    ['until_at', 'TIMESTAMP'],
    ['seconds', 'BIGINT'],
    ['device_id', 'VARCHAR'],
    ['root_device_id', 'VARCHAR'],
    ['node_id', 'VARCHAR'],
    ['source', 'VARCHAR'],
    ['allocation_id', 'VARCHAR'],
    ['attempt', 'BIGINT'],
    ['holder_cluster', 'VARCHAR'],
    ['place', 'BIGINT'],
    ['share_units', 'BIGINT'],
    ['disposition', 'VARCHAR'],
    ['reason', 'VARCHAR'],
    ['conflict', 'BOOLEAN'],
    ['pooled', 'BOOLEAN'],
  ],
  orderBy: 'root_device_id, device_id, from_at, place',
  sql: `
    WITH holder AS (
      SELECT h.day, h.source, h.allocation_id, h.attempt, h.cluster, h.node_id, h.held_from, h.ends_at, h.device_id, h.gpu_count,
             h.share_units, h.isolation,
             CASE WHEN h.held_from < d.day_start THEN d.day_start ELSE h.held_from END AS from_at,
             CASE WHEN h.ends_at > d.day_end THEN d.day_end ELSE h.ends_at END AS until_at,
             row_number() OVER (PARTITION BY h.day ORDER BY h.source, h.allocation_id, h.attempt, h.node_id, h.slot,
               h.held_from, h.device_id) AS place
      FROM holding h JOIN calendar_day d ON h.day = d.day
    ), named AS (SELECT * FROM holder WHERE device_id IS NOT NULL
    ), counted AS (SELECT * FROM holder WHERE device_id IS NULL AND node_id <> ''
    ), there AS (
      SELECT p.*, c.node_id IS NOT NULL AS is_counted,
             m.node_id IS NOT NULL OR g.device_id IS NOT NULL OR strpos(p.device_id, 'held:') = 1 AS is_handed,
             CASE WHEN c.node_id IS NULL THEN 'device ' || p.root_device_id ELSE 'node ' || p.node_id END AS scope
      FROM presence p LEFT JOIN (SELECT DISTINCT day, node_id FROM counted) c
        ON p.day = c.day AND p.node_id = c.node_id
      LEFT JOIN (SELECT node_id FROM handed WHERE node_id IS NOT NULL) m ON p.node_id = m.node_id
      LEFT JOIN (SELECT DISTINCT device_id FROM handed WHERE device_id IS NOT NULL) g ON p.node_id IS NULL AND p.device_id = g.device_id
      WHERE p.day >= CAST($from AS DATE) AND p.day < CAST($until AS DATE)
    ), device_scope AS (SELECT DISTINCT day, device_id, scope FROM there
    ), edge AS (
      SELECT day, scope, from_at AS edge_at FROM there
      UNION SELECT day, scope, until_at FROM there
      UNION SELECT s.day, s.scope, n.from_at FROM named n JOIN device_scope s
        ON n.day = s.day AND n.device_id = s.device_id
      UNION SELECT s.day, s.scope, n.until_at FROM named n JOIN device_scope s
        ON n.day = s.day AND n.device_id = s.device_id
      UNION SELECT day, 'node ' || node_id, from_at FROM counted
      UNION SELECT day, 'node ' || node_id, until_at FROM counted
      UNION SELECT s.day, s.scope, h.hour_start FROM (SELECT DISTINCT day, scope FROM there) s
        JOIN calendar_hour h ON s.day = h.day
    ), span AS (
      SELECT day, scope, edge_at AS from_at, lead(edge_at) OVER (PARTITION BY day, scope ORDER BY edge_at) AS until_at FROM edge
    ), piece AS (
      SELECT t.day, t.device_id, t.root_device_id, t.node_id, t.is_slice, t.is_counted, t.is_handed, t.capacity_units,
             t.cluster, t.state, s.from_at, s.until_at
      FROM there t JOIN span s ON t.day = s.day AND t.scope = s.scope
        AND s.from_at >= t.from_at AND s.until_at <= t.until_at
    ), sliced AS (
      SELECT day, root_device_id, from_at, CAST(sum(capacity_units) AS BIGINT) AS units
      FROM piece WHERE is_slice GROUP BY day, root_device_id, from_at
    ), capable AS (
      SELECT p.*, s.units IS NOT NULL AS has_slices,
             row_number() OVER (ORDER BY p.day, p.device_id, p.from_at) AS piece_no,
             CASE WHEN p.is_slice OR s.units IS NULL THEN p.capacity_units
                  WHEN s.units >= p.capacity_units THEN 0 ELSE p.capacity_units - s.units END AS capacity
      FROM piece p LEFT JOIN sliced s ON NOT p.is_slice AND p.day = s.day AND p.device_id = s.root_device_id
        AND p.from_at = s.from_at
    ), yielded AS (
      SELECT day, place, from_at, until_at FROM (
        SELECT a.day, a.place, b.held_from AS from_at,
               CASE WHEN a.ends_at < b.ends_at THEN a.ends_at ELSE b.ends_at END AS until_at
        FROM named a JOIN named b ON a.day = b.day AND a.device_id = b.device_id
          AND b.held_from < a.ends_at AND a.held_from < b.ends_at
        WHERE a.isolation IN ('whole', 'mig') AND b.isolation IN ('whole', 'mig')
          AND (b.held_from > a.held_from OR (b.held_from = a.held_from AND b.place > a.place))
      ) overlap WHERE date_diff('second', from_at, until_at) <= ${OVERLAP_SECONDS_MAX}
    ), claim AS (
      SELECT p.piece_no, n.place, n.isolation, n.share_units
      FROM capable p JOIN named n ON p.day = n.day AND p.device_id = n.device_id
        AND n.from_at <= p.from_at AND n.until_at >= p.until_at
      LEFT JOIN yielded y ON n.day = y.day AND n.place = y.place
        AND y.from_at <= p.from_at AND y.until_at >= p.until_at
      WHERE y.place IS NULL
    ), company AS (
      SELECT piece_no, count(*) FILTER (WHERE isolation IN ('whole', 'mig')) AS wholes,
             count(*) FILTER (WHERE isolation = 'time-slice') AS slicers,
             COALESCE(CAST(sum(share_units) FILTER (WHERE isolation = 'fraction') AS BIGINT), 0) AS fractions
      FROM claim GROUP BY piece_no
    ), demanding AS (
      SELECT c.piece_no, c.place,
             CASE WHEN g.wholes > 0 OR g.fractions > ${SHARE_UNITS}
                    THEN CASE WHEN c.isolation = 'fraction' THEN c.share_units ELSE ${SHARE_UNITS} END
                  WHEN c.isolation = 'fraction'
                    THEN c.share_units * CASE WHEN g.slicers = 0 THEN 1 ELSE g.slicers END
                  ELSE ${SHARE_UNITS} - g.fractions END AS demand,
             CASE WHEN g.wholes > 0 OR g.fractions > ${SHARE_UNITS} OR g.slicers = 0 THEN ${SHARE_UNITS}
                  ELSE ${SHARE_UNITS} * g.slicers END AS base_least
      FROM claim c JOIN company g ON c.piece_no = g.piece_no
    ), free AS (
      SELECT p.piece_no, p.day, p.node_id, p.from_at, p.until_at,
             count(*) OVER (PARTITION BY p.day, p.node_id, p.from_at) AS devices
      FROM capable p LEFT JOIN company g ON p.piece_no = g.piece_no
      WHERE p.is_counted AND NOT p.is_slice AND NOT p.has_slices AND g.piece_no IS NULL
    ), counting AS (
      SELECT f.piece_no, c.place, c.gpu_count * c.share_units AS demand, ${SHARE_UNITS} * f.devices AS base_least
      FROM free f JOIN counted c ON f.day = c.day AND f.node_id = c.node_id
        AND c.from_at <= f.from_at AND c.until_at >= f.until_at
    ), wanted AS (
      SELECT piece_no, place, demand, base_least, FALSE AS by_count FROM demanding
      UNION ALL
      SELECT piece_no, place, demand, base_least, TRUE FROM counting
    ), summed AS (
      SELECT wanted.*, CAST(sum(demand) OVER (PARTITION BY piece_no) AS BIGINT) AS demand_total,
             CAST(sum(demand) OVER (PARTITION BY piece_no ORDER BY place ROWS UNBOUNDED PRECEDING) AS BIGINT)
               AS demand_upto,
             count(*) OVER (PARTITION BY piece_no) AS holders
      FROM wanted
    ), shared AS (
      SELECT p.piece_no, s.place, s.demand_total > s.base_least AS conflict,
             s.by_count AND NOT (s.holders = 1 AND s.demand = s.base_least) AS pooled,
             ${splitPart('p.capacity', 's.demand_upto', 's.demand', 'CASE WHEN s.demand_total > s.base_least THEN s.demand_total ELSE s.base_least END')} AS share_units
      FROM summed s JOIN capable p ON s.piece_no = p.piece_no
    ), shared_total AS (
      SELECT piece_no, CAST(sum(share_units) AS BIGINT) AS share_units FROM shared GROUP BY piece_no
    ), every AS (
      SELECT piece_no, place, share_units, conflict, pooled, FALSE AS is_rest FROM shared
      UNION ALL
      SELECT p.piece_no, 0, p.capacity - COALESCE(t.share_units, 0), FALSE, FALSE, TRUE
      FROM capable p LEFT JOIN shared_total t ON p.piece_no = t.piece_no
      WHERE p.capacity > COALESCE(t.share_units, 0)
    ), settled AS (
      SELECT p.*, e.place, e.share_units, e.conflict, e.pooled,
             e.is_rest AND ${SPOKEN_FOR} AND NOT ${UNHEARD} AS is_unallocated
      FROM every e JOIN capable p ON e.piece_no = p.piece_no
    )
    SELECT s.day, date_trunc('hour', s.from_at) AS hour_start, s.from_at, s.until_at,
           date_diff('second', s.from_at, s.until_at) AS seconds, s.device_id, s.root_device_id, s.node_id,
           h.source, h.allocation_id, h.attempt, h.cluster AS holder_cluster, s.place, s.share_units,
           CASE WHEN s.is_unallocated THEN 'unallocated' ELSE 'held' END AS disposition,
           CASE WHEN NOT s.is_unallocated THEN NULL WHEN s.state <> 'up' THEN s.state
                WHEN s.has_slices THEN 'mig-rest' ELSE 'empty' END AS reason,
           s.conflict, s.pooled
    FROM settled s LEFT JOIN holder h ON s.day = h.day AND s.place = h.place
    WHERE s.share_units > 0`,
};
