import { SHARE_UNITS } from '../facts/column.ts';
import { isKnownProviderSql, providerKeySql } from '../facts/provider-name.ts';
import type { Stage } from '../facts/stage.ts';
import { microsOf, RATE_ROW } from './estimate-hour.ts';
import { splitMoney, splitPart } from './held.ts';
import { gpuPart } from './machine-part.ts';
import { NODE_ROW } from './presence.ts';

const holderSubject = (row: string): string =>
  `'job ' || ${row}.source || '/' || ${row}.allocation_id || '/' || CAST(${row}.attempt AS VARCHAR)`;

/**
 * What the bill would fall by without an hour that no bill charges: nothing where the machine is paid for anyway, all of it where it is rented. A
 * cloud rents by the hour unless somebody says otherwise; of a machine nobody says who bills it, it is not known, and unknown is not cash.
 */
const UNBILLED_MARGINAL = `CASE WHEN usd_micros IS NULL THEN NULL WHEN purchase IN ('committed', 'owned') THEN 0
                  WHEN purchase IS NOT NULL OR is_of_cloud THEN usd_micros END`;

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
 * unit-seconds, and each entry carries the four numbers of its split, so that anyone can redo it. Where prices of its parts are
 * known, a machine's money is divided into the GPU and its host first; time is counted with the GPU. Storage and traffic of a machine
 * are of those who held it, beside the GPU.
 *
 * Reads: gpu_hour, estimate_hour, charge_hour, node, rate; bill (one row per bill: provider, account, covered_until).
 */
export const ledgerEntry: Stage = {
  name: 'ledger_entry',
  version: 6,
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
    ['marginal_usd_micros', 'BIGINT'],
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
    ['split_pause', 'BIGINT'],
    ['split_gap', 'BIGINT'],
    ['split_exchange', 'BIGINT'],
    ['manner', 'VARCHAR'],
    ['idle_reason', 'VARCHAR'],
    ['computing_reason', 'VARCHAR'],
  ],
  orderBy: 'subject, hour_start, device_id, bill_id, component, disposition, resource_id',
  sql: `
    WITH node_row AS (${NODE_ROW}
    ), rate_row AS (${RATE_ROW}
    ), charged AS (
      SELECT c.*, b.provider, b.billing_account AS account FROM charge_hour c JOIN bill b ON c.bill_id = b.bill_id
      WHERE c.day >= CAST($from AS DATE) AND c.day < CAST($until AS DATE)
    ), root_of_node AS (
      SELECT c.bill_id, c.day, c.hour_start, c.node_id, c.usd_micros, c.marginal_usd_micros, c.provider, c.account, c.region,
             e.root_device_id, e.present_s, e.gpu_nanos, e.host_nanos,
             CAST(sum(e.present_s) OVER (PARTITION BY c.bill_id, c.hour_start, c.node_id) AS BIGINT) AS seconds_total,
             CAST(sum(e.present_s) OVER (PARTITION BY c.bill_id, c.hour_start, c.node_id ORDER BY e.root_device_id
               ROWS UNBOUNDED PRECEDING) AS BIGINT) AS seconds_upto,
             min(c.bill_id) OVER (PARTITION BY e.root_device_id, c.hour_start) AS first_bill_id
      FROM charged c JOIN estimate_hour e ON c.kind = 'node' AND c.node_id = e.node_id AND c.hour_start = e.hour_start
    ), covered AS (
      SELECT ${providerKeySql('provider')} AS provider, billing_account, max(covered_until) AS covered_until
      FROM bill GROUP BY ${providerKeySql('provider')}, billing_account
    ), covered_any AS (
      SELECT provider, max(covered_until) AS covered_until FROM covered GROUP BY provider
    ), named_provider AS (
      SELECT name, ${providerKeySql('name')} AS provider, ${isKnownProviderSql('name')} AS is_cloud
      FROM (SELECT DISTINCT provider AS name FROM estimate_hour) p
    ), unbilled AS (
      SELECT e.day, e.hour_start, e.root_device_id, e.provider, e.billing_account, e.purchase, e.gpu_nanos, e.host_nanos,
             COALESCE(p.is_cloud, FALSE) OR a.provider IS NOT NULL OR y.provider IS NOT NULL AS is_of_cloud,
             CASE WHEN COALESCE(a.covered_until, y.covered_until) > e.hour_start OR e.usd_micros IS NULL THEN 'unpriced'
                  WHEN e.priced_by = 'rate' AND a.provider IS NULL AND y.provider IS NULL THEN 'rate'
                  ELSE 'estimated' END AS basis,
             CASE WHEN COALESCE(a.covered_until, y.covered_until) > e.hour_start THEN NULL ELSE e.usd_micros END AS usd_micros
      FROM estimate_hour e
      LEFT JOIN (SELECT DISTINCT root_device_id, hour_start FROM root_of_node) r
        ON e.root_device_id = r.root_device_id AND e.hour_start = r.hour_start
      LEFT JOIN named_provider p ON e.provider = p.name
      LEFT JOIN covered a ON p.provider = a.provider AND e.billing_account = a.billing_account
      LEFT JOIN covered_any y ON p.provider = y.provider AND e.billing_account IS NULL
      WHERE r.root_device_id IS NULL
    ), device_cost AS (
      SELECT day, hour_start, root_device_id, 'billed' AS basis, bill_id, provider, account, region, gpu_nanos, host_nanos,
             ${splitPart('usd_micros', 'seconds_upto', 'present_s', 'seconds_total')} AS usd_micros,
             ${splitPart('marginal_usd_micros', 'seconds_upto', 'present_s', 'seconds_total')} AS marginal_usd_micros,
             bill_id = first_bill_id AS counts_time
      FROM root_of_node
      UNION ALL
      SELECT day, hour_start, root_device_id, basis, NULL, provider, billing_account, NULL, gpu_nanos, host_nanos, usd_micros,
             ${UNBILLED_MARGINAL}, TRUE
      FROM unbilled
    ), divided_cost AS (
      SELECT device_cost.*, host_nanos > 0 AND usd_micros IS NOT NULL AS is_divided,
             CASE WHEN host_nanos > 0 THEN ${gpuPart('usd_micros', 'gpu_nanos', 'host_nanos')}
                  ELSE usd_micros END AS gpu_micros,
             CASE WHEN host_nanos > 0 THEN ${gpuPart('marginal_usd_micros', 'gpu_nanos', 'host_nanos')}
                  ELSE marginal_usd_micros END AS gpu_marginal
      FROM device_cost
    ), component_cost AS (
      SELECT hour_start, root_device_id, basis, bill_id, provider, account, region, counts_time, 'gpu' AS component,
             gpu_micros AS usd_micros, gpu_marginal AS marginal_usd_micros
      FROM divided_cost
      UNION ALL
      SELECT hour_start, root_device_id, basis, bill_id, provider, account, region, FALSE, 'host',
             usd_micros - gpu_micros, marginal_usd_micros - gpu_marginal
      FROM divided_cost WHERE is_divided AND (usd_micros <> gpu_micros OR marginal_usd_micros <> gpu_marginal)
    ), part AS (
      SELECT g.*, CAST(sum(units) OVER (PARTITION BY root_device_id, hour_start) AS BIGINT) AS units_total,
             CAST(sum(units) OVER (PARTITION BY root_device_id, hour_start ORDER BY device_id, disposition,
               COALESCE(reason, ''), COALESCE(source, ''), COALESCE(allocation_id, ''), COALESCE(attempt, 0)
               ROWS UNBOUNDED PRECEDING) AS BIGINT) AS units_upto
      FROM gpu_hour g
    ), holder_on_node AS (
      SELECT e.node_id, e.hour_start, g.source, g.allocation_id, g.attempt, min(g.holder_cluster) AS cluster,
             CAST(sum(g.units) AS BIGINT) AS units
      FROM (SELECT DISTINCT node_id, hour_start FROM charged WHERE kind <> 'node' AND node_id IS NOT NULL) c
      JOIN estimate_hour e ON c.node_id = e.node_id AND c.hour_start = e.hour_start
      JOIN gpu_hour g ON e.root_device_id = g.root_device_id AND e.hour_start = g.hour_start
      GROUP BY e.node_id, e.hour_start, g.source, g.allocation_id, g.attempt
    ), node_part AS (
      SELECT holder_on_node.*, CAST(sum(units) OVER on_node AS BIGINT) AS units_total,
             CAST(sum(units) OVER (on_node ORDER BY CASE WHEN allocation_id IS NULL THEN 1 ELSE 0 END, source,
               allocation_id, attempt ROWS UNBOUNDED PRECEDING) AS BIGINT) AS units_upto
      FROM holder_on_node WINDOW on_node AS (PARTITION BY node_id, hour_start)
    ), beside_part AS (
      SELECT c.day, c.hour_start, c.bill_id, c.resource_id, c.node_id, c.provider, c.account, c.region, c.kind, c.usd_micros,
             c.marginal_usd_micros, g.source, g.allocation_id, g.attempt, g.cluster, g.units, g.units_upto, g.units_total,
             ${splitPart('CAST(c.usd_micros AS DECIMAL(38,0))', 'g.units_upto', 'g.units', 'g.units_total')} AS part_micros,
             ${splitPart('CAST(c.marginal_usd_micros AS DECIMAL(38,0))', 'g.units_upto', 'g.units', 'g.units_total')}
               AS part_marginal
      FROM charged c JOIN node_part g ON c.node_id = g.node_id AND c.hour_start = g.hour_start
      WHERE c.kind <> 'node'
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
           g.source, g.allocation_id, g.attempt, c.component, g.disposition, g.reason, g.conflict,
           CASE WHEN g.allocation_id IS NOT NULL THEN ${holderSubject('g')}
                WHEN e.node_id IS NOT NULL THEN 'node ' || e.node_id ELSE 'device ' || g.root_device_id END AS subject,
           ${splitMoney('c.usd_micros', 'g.units_upto', 'g.units', 'g.units_total')} AS usd_micros,
           ${splitMoney('c.marginal_usd_micros', 'g.units_upto', 'g.units', 'g.units_total')} AS marginal_usd_micros,
           CASE WHEN c.counts_time THEN g.units ELSE 0 END AS gpu_units,
           c.usd_micros AS split_of_usd_micros, g.units_upto - g.units AS split_before, g.units AS split_weight,
           g.units_total AS split_total,
           CASE WHEN c.counts_time THEN g.computing_units ELSE 0 END AS computing_units,
           CASE WHEN c.counts_time THEN g.idle_units ELSE 0 END AS idle_units,
           CASE WHEN c.counts_time THEN g.unknown_units ELSE 0 END AS unknown_units,
           g.computing_units AS split_computing, g.idle_units AS split_idle, g.pause_units AS split_pause,
           g.gap_units AS split_gap, g.exchange_units AS split_exchange, g.manner, g.idle_reason,
           g.computing_reason
    FROM component_cost c
    JOIN part g ON c.root_device_id = g.root_device_id AND c.hour_start = g.hour_start
    JOIN estimate_hour e ON c.root_device_id = e.root_device_id AND c.hour_start = e.hour_start
    UNION ALL
    SELECT c.day, c.hour_start, 'billed', c.bill_id, c.resource_id, c.node_id, NULL, NULL, n.model, n.cluster,
           c.provider, c.account, COALESCE(n.region, c.region),
           CASE WHEN c.kind IN ('stranded', 'unused') THEN 'committed' ELSE n.purchase END, NULL, NULL, NULL,
           CASE WHEN c.kind IN ('stranded', 'unmatched') THEN 'gpu'
                WHEN c.kind = 'node' THEN CASE WHEN n.gpu_count = 0 THEN 'host' ELSE 'gpu' END
                WHEN c.kind IN ('storage', 'transfer', 'network', 'host') THEN c.kind ELSE 'other' END,
           CASE WHEN c.kind = 'node' THEN CASE WHEN n.gpu_count = 0 THEN 'beside' ELSE 'unmatched' END
                WHEN c.kind IN ('storage', 'transfer', 'network', 'host', 'other', 'unused') THEN 'beside' ELSE c.kind END,
           CASE WHEN c.kind = 'unused' THEN 'unused-commitment'
                WHEN c.kind = 'node' AND COALESCE(n.gpu_count, 1) <> 0
                THEN CASE WHEN c.hour_start >= $horizon THEN 'ahead' ELSE 'absent' END END, FALSE,
           CASE WHEN c.node_id IS NOT NULL THEN 'node ' || c.node_id
                WHEN c.resource_id IS NOT NULL THEN 'resource ' || c.resource_id ELSE 'bill ' || c.bill_id END,
           c.usd_micros, c.marginal_usd_micros, 0, c.usd_micros, 0, 1, 1, 0, 0, 0, 0, 0,
           0, 0, 0, NULL, NULL, NULL
    FROM charged c
    LEFT JOIN last_node n ON c.node_id = n.node_id AND c.day = n.day
    LEFT JOIN (SELECT DISTINCT node_id, hour_start FROM root_of_node) r
      ON c.kind = 'node' AND c.node_id = r.node_id AND c.hour_start = r.hour_start
    LEFT JOIN (SELECT DISTINCT node_id, hour_start FROM holder_on_node) h
      ON c.kind <> 'node' AND c.node_id = h.node_id AND c.hour_start = h.hour_start
    WHERE c.usd_micros <> 0 AND r.node_id IS NULL AND h.node_id IS NULL
    UNION ALL
    SELECT c.day, c.hour_start, 'billed', c.bill_id, c.resource_id, c.node_id, NULL, NULL, n.model,
           COALESCE(n.cluster, c.cluster), c.provider, c.account, COALESCE(n.region, c.region), n.purchase, c.source,
           c.allocation_id, c.attempt, c.kind, 'beside', NULL, FALSE,
           CASE WHEN c.allocation_id IS NOT NULL THEN ${holderSubject('c')} ELSE 'node ' || c.node_id END,
           c.part_micros, c.part_marginal, 0, c.usd_micros, c.units_upto - c.units, c.units, c.units_total, 0, 0, 0, 0, 0,
           0, 0, 0, NULL, NULL, NULL
    FROM beside_part c LEFT JOIN last_node n ON c.node_id = n.node_id AND c.day = n.day
    WHERE c.part_micros <> 0
    UNION ALL
    SELECT a.day, a.hour_start, 'rate', NULL, NULL, a.node_id, NULL, NULL, n.model, n.cluster, n.provider,
           n.billing_account, n.region, n.purchase, NULL, NULL, NULL, 'gpu', 'stranded', 'absent', FALSE,
           'node ' || a.node_id, ${microsOf('a.nanos', '(a.gpus * a.absent_s)')}, 0, a.gpus * a.absent_s * ${SHARE_UNITS},
           ${microsOf('a.nanos', '(a.gpus * a.absent_s)')}, 0, 1, 1, 0, 0, 0, 0, 0,
           0, 0, 0, NULL, NULL, NULL
    FROM absent_hour a JOIN first_node n ON a.node_id = n.node_id WHERE a.absent_s > 0`,
};
