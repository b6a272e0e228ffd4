import { SHARE_UNITS } from '../facts/column.ts';
import type { Stage } from '../facts/stage.ts';
import { microsOf, RATE_ROW } from './estimate-hour.ts';
import { splitMoney, splitPart } from './held.ts';
import { NODE_ROW } from './presence.ts';

const holderSubject = `'job ' || g.source || '/' || g.allocation_id || '/' || CAST(g.attempt AS VARCHAR)`;

/** What an entry is of: the rows of the waterfall carry all of it. */
export const ENTRY_DIMENSIONS = [
  ['day', 'DATE'],
  ['hour_start', 'TIMESTAMP'],
  ['basis', 'VARCHAR'],
  ['bill_id', 'VARCHAR'],
  ['resource_id', 'VARCHAR'],
  ['node_id', 'VARCHAR'],
  ['device_id', 'VARCHAR'],
  ['root_device_id', 'VARCHAR'],
  ['model', 'VARCHAR'],
  ['cluster', 'VARCHAR'],
  ['provider', 'VARCHAR'],
  ['account', 'VARCHAR'],
  ['region', 'VARCHAR'],
  ['purchase', 'VARCHAR'],
  ['source', 'VARCHAR'],
  ['allocation_id', 'VARCHAR'],
  ['attempt', 'BIGINT'],
  ['component', 'VARCHAR'],
  ['disposition', 'VARCHAR'],
  ['reason', 'VARCHAR'],
] as const satisfies Stage['writes'];

/**
 * Question: which entry does each dollar of each hour stand on?
 *
 * Where a bill charges a device-hour the bill alone counts; where a bill covers the hour and does not charge it, the hour
 * is unpriced; where none covers it yet, rates or list prices stand in. Every device-hour is split over its holders by
 * unit-seconds, and each entry carries the four numbers of its split, so that anyone can redo it.
 *
 * Reads: gpu_hour, estimate_hour, charge_hour, node, rate; bill (one row per bill: provider, account, covered_until).
 */
export const ledgerEntry: Stage = {
  name: 'ledger_entry',
  version: 1,
  unit: 'day',
  reads: [
    { table: 'gpu_hour', days: [0] },
    { table: 'estimate_hour', days: [0] },
    { table: 'charge_hour', days: [0] },
    { table: 'node', days: 'all' },
    { table: 'rate', days: 'all' },
    { table: 'bill', days: 'all' },
  ],
  params: ['horizon'],
  writes: [
    ...ENTRY_DIMENSIONS,
    ['conflict', 'BOOLEAN'],
    ['subject', 'VARCHAR'],
    ['usd_micros', 'BIGINT'],
    ['gpu_units', 'BIGINT'],
    ['split_of_usd_micros', 'BIGINT'],
    ['split_before', 'BIGINT'],
    ['split_weight', 'BIGINT'],
    ['split_total', 'BIGINT'],
    ['computing_units', 'BIGINT'],
    ['idle_units', 'BIGINT'],
    ['unknown_units', 'BIGINT'],
    ['split_computing', 'BIGINT'],
    ['split_idle', 'BIGINT'],
  ],
  orderBy: 'subject, hour_start, device_id, bill_id, component, disposition, resource_id',
  sql: `
    WITH node_row AS (${NODE_ROW}
    ), rate_row AS (${RATE_ROW}
    ), charged AS (
      SELECT c.*, b.provider, b.billing_account AS account FROM charge_hour c JOIN bill b ON c.bill_id = b.bill_id
      WHERE c.day >= CAST($from AS DATE) AND c.day < CAST($until AS DATE)
    ), root_of_node AS (
      SELECT c.bill_id, c.day, c.hour_start, c.node_id, c.usd_micros, c.provider, c.account, c.region, e.root_device_id, e.present_s,
             CAST(sum(e.present_s) OVER (PARTITION BY c.bill_id, c.hour_start, c.node_id) AS BIGINT) AS seconds_total,
             CAST(sum(e.present_s) OVER (PARTITION BY c.bill_id, c.hour_start, c.node_id ORDER BY e.root_device_id
               ROWS UNBOUNDED PRECEDING) AS BIGINT) AS seconds_upto,
             min(c.bill_id) OVER (PARTITION BY e.root_device_id, c.hour_start) AS first_bill_id
      FROM charged c JOIN estimate_hour e ON c.kind = 'node' AND c.node_id = e.node_id AND c.hour_start = e.hour_start
    ), covered AS (
      SELECT lower(provider) AS provider, billing_account, max(covered_until) AS covered_until
      FROM bill GROUP BY lower(provider), billing_account
    ), covered_any AS (
      SELECT provider, max(covered_until) AS covered_until FROM covered GROUP BY provider
    ), device_cost AS (
      SELECT day, hour_start, root_device_id, 'billed' AS basis, bill_id, provider, account, region,
             ${splitPart('usd_micros', 'seconds_upto', 'present_s', 'seconds_total')} AS usd_micros,
             bill_id = first_bill_id AS counts_time
      FROM root_of_node
      UNION ALL
      SELECT e.day, e.hour_start, e.root_device_id,
             CASE WHEN COALESCE(a.covered_until, y.covered_until) > e.hour_start OR e.usd_micros IS NULL THEN 'unpriced'
                  WHEN e.priced_by = 'rate' AND a.provider IS NULL AND y.provider IS NULL THEN 'rate'
                  ELSE 'estimated' END,
             NULL, e.provider, e.billing_account, NULL,
             CASE WHEN COALESCE(a.covered_until, y.covered_until) > e.hour_start THEN NULL ELSE e.usd_micros END, TRUE
      FROM estimate_hour e
      LEFT JOIN (SELECT DISTINCT root_device_id, hour_start FROM root_of_node) r
        ON e.root_device_id = r.root_device_id AND e.hour_start = r.hour_start
      LEFT JOIN covered a ON lower(e.provider) = a.provider AND e.billing_account = a.billing_account
      LEFT JOIN covered_any y ON lower(e.provider) = y.provider AND e.billing_account IS NULL
      WHERE r.root_device_id IS NULL
    ), part AS (
      SELECT g.*, CAST(sum(units) OVER (PARTITION BY root_device_id, hour_start) AS BIGINT) AS units_total,
             CAST(sum(units) OVER (PARTITION BY root_device_id, hour_start ORDER BY device_id, disposition,
               COALESCE(reason, ''), COALESCE(source, ''), COALESCE(allocation_id, ''), COALESCE(attempt, 0)
               ROWS UNBOUNDED PRECEDING) AS BIGINT) AS units_upto
      FROM gpu_hour g
    ), kept_hour AS (
      SELECT h.day, h.hour_start, h.hour_end, n.node_id, n.gpus, r.nanos,
             date_diff('second', h.hour_start, CASE WHEN h.hour_end < $horizon THEN h.hour_end ELSE $horizon END)
               AS seconds
      FROM (SELECT node_id, max(gpu_count) AS gpus FROM node GROUP BY node_id
            HAVING bool_or(purchase IN ('owned', 'committed'))) n
      JOIN rate_row r ON r.node_id = n.node_id AND r.valid_from > TIMESTAMP '1970-01-01 00:00:00'
      JOIN calendar_hour h ON r.valid_from <= h.hour_start AND r.ends_at > h.hour_start AND h.hour_start < $horizon
      WHERE n.gpus > 0
    ), present_hour AS (
      SELECT k.node_id, k.hour_start, CAST(sum(date_diff('second',
               CASE WHEN p.present_from > k.hour_start THEN p.present_from ELSE k.hour_start END,
               CASE WHEN p.ends_at < k.hour_end THEN p.ends_at ELSE k.hour_end END)) AS BIGINT) AS seconds
      FROM kept_hour k JOIN node_row p ON p.node_id = k.node_id
        AND p.present_from < k.hour_end AND p.ends_at > k.hour_start
      GROUP BY k.node_id, k.hour_start
    ), absent_hour AS (
      SELECT k.day, k.hour_start, k.node_id, k.gpus, k.nanos, k.seconds - COALESCE(p.seconds, 0) AS absent_s
      FROM kept_hour k LEFT JOIN present_hour p ON k.node_id = p.node_id AND k.hour_start = p.hour_start
    ), last_node AS (
      SELECT day, node_id, model, cluster, region, purchase, gpu_count FROM (
        SELECT d.day, n.node_id, n.model, n.cluster, n.region, n.purchase, n.gpu_count,
               row_number() OVER (PARTITION BY d.day, n.node_id ORDER BY n.present_from DESC) AS place
        FROM node n JOIN calendar_day d ON n.present_from < d.day_end
      ) ranked WHERE place = 1
    ), first_node AS (
      SELECT node_id, model, cluster, provider, billing_account, region, purchase FROM (
        SELECT node.*, row_number() OVER (PARTITION BY node_id ORDER BY present_from) AS place FROM node
      ) ranked WHERE place = 1
    )
    SELECT g.day, g.hour_start, c.basis, c.bill_id, CAST(NULL AS VARCHAR) AS resource_id, e.node_id, g.device_id,
           g.root_device_id, e.model, COALESCE(e.cluster, g.holder_cluster) AS cluster, c.provider, c.account,
           COALESCE(e.region, c.region) AS region, e.purchase,
           g.source, g.allocation_id, g.attempt, 'gpu' AS component, g.disposition, g.reason, g.conflict,
           CASE WHEN g.allocation_id IS NOT NULL THEN ${holderSubject}
                WHEN e.node_id IS NOT NULL THEN 'node ' || e.node_id ELSE 'device ' || g.root_device_id END AS subject,
           ${splitMoney('c.usd_micros', 'g.units_upto', 'g.units', 'g.units_total')} AS usd_micros,
           CASE WHEN c.counts_time THEN g.units ELSE 0 END AS gpu_units,
           c.usd_micros AS split_of_usd_micros, g.units_upto - g.units AS split_before, g.units AS split_weight,
           g.units_total AS split_total,
           CASE WHEN c.counts_time THEN g.computing_units ELSE 0 END AS computing_units,
           CASE WHEN c.counts_time THEN g.idle_units ELSE 0 END AS idle_units,
           CASE WHEN c.counts_time THEN g.unknown_units ELSE 0 END AS unknown_units,
           g.computing_units AS split_computing, g.idle_units AS split_idle
    FROM device_cost c
    JOIN part g ON c.root_device_id = g.root_device_id AND c.hour_start = g.hour_start
    JOIN estimate_hour e ON c.root_device_id = e.root_device_id AND c.hour_start = e.hour_start
    UNION ALL
    SELECT c.day, c.hour_start, 'billed', c.bill_id, c.resource_id, c.node_id, NULL, NULL, n.model, n.cluster,
           c.provider, c.account, COALESCE(n.region, c.region),
           CASE WHEN c.kind = 'stranded' THEN 'committed' ELSE n.purchase END, NULL, NULL, NULL,
           CASE WHEN c.kind IN ('stranded', 'unmatched') THEN 'gpu'
                WHEN c.kind = 'node' THEN CASE WHEN n.gpu_count = 0 THEN 'host' ELSE 'gpu' END
                WHEN c.kind IN ('storage', 'transfer', 'network', 'host') THEN c.kind ELSE 'other' END,
           CASE WHEN c.kind = 'node' THEN CASE WHEN n.gpu_count = 0 THEN 'beside' ELSE 'unmatched' END
                WHEN c.kind IN ('storage', 'transfer', 'network', 'host', 'other') THEN 'beside' ELSE c.kind END,
           CASE WHEN c.kind = 'node' AND COALESCE(n.gpu_count, 1) <> 0
                THEN CASE WHEN c.hour_start >= $horizon THEN 'ahead' ELSE 'absent' END END, FALSE,
           CASE WHEN c.node_id IS NOT NULL THEN 'node ' || c.node_id
                WHEN c.resource_id IS NOT NULL THEN 'resource ' || c.resource_id ELSE 'bill ' || c.bill_id END,
           c.usd_micros, 0, c.usd_micros, 0, 1, 1, 0, 0, 0, 0, 0
    FROM charged c
    LEFT JOIN last_node n ON c.node_id = n.node_id AND c.day = n.day
    LEFT JOIN (SELECT DISTINCT node_id, hour_start FROM root_of_node) r
      ON c.node_id = r.node_id AND c.hour_start = r.hour_start
    WHERE c.usd_micros <> 0 AND (c.kind <> 'node' OR r.node_id IS NULL)
    UNION ALL
    SELECT a.day, a.hour_start, 'rate', NULL, NULL, a.node_id, NULL, NULL, n.model, n.cluster, n.provider,
           n.billing_account, n.region, n.purchase, NULL, NULL, NULL, 'gpu', 'stranded', 'absent', FALSE,
           'node ' || a.node_id, ${microsOf('a.nanos', '(a.gpus * a.absent_s)')}, a.gpus * a.absent_s * ${SHARE_UNITS},
           ${microsOf('a.nanos', '(a.gpus * a.absent_s)')}, 0, 1, 1, 0, 0, 0, 0, 0
    FROM absent_hour a JOIN first_node n ON a.node_id = n.node_id WHERE a.absent_s > 0`,
};
