import { providerKeySql } from '../facts/provider-name.ts';
import type { Stage } from '../facts/stage.ts';
import { splitPart } from './held.ts';
import { NODE_ROW } from './presence.ts';

/** A month's charge is for the whole month, also while the month is young: a node that is still there stays for its charges. */
const STILL_THERE = "TIMESTAMP '9999-12-31 00:00:00'";

/** Node rows as charges see them. Reads: node. */
export const CHARGED_NODE_ROW = NODE_ROW.replaceAll('$horizon', STILL_THERE);

/** A charge whose words match this is for a GPU, even if no node is known for it. */
const GPU_WORDS = [
  '\\bgpu(s|[0-9]+)?\\b',
  '\\b(h100|h200|b200|b300|gb200|gb300|a100|a10g?|l40s?|l4|t4|v100|p100|mi[0-9]{3}x?|gaudi[0-9]?|trainium|inferentia|tpu)\\b',
  '\\b(p[2-6][a-z]*|g[4-7][a-z]*|trn[0-9][a-z]*|inf[0-9])\\.[0-9]*x?large\\b',
  '\\b(a2|a3|a4|g2)-(high|mega|ultra|standard)',
  'standard_n[cdv]',
  // A savings plan of one family of instances: `USE1-EC2SP:p5.3yrNoUpfront`.
  '\\bec2sp:(p[2-6]|g[4-7]|trn|inf)',
].join('|');

/** Whether the words of the row `c` of a bill speak of a GPU. */
const SPEAKS_OF_GPU = `regexp_like(lower(COALESCE(c.charge_description, '') || ' ' || COALESCE(c.sku_id, '') || ' ' ||
                       COALESCE(c.resource_type, '') || ' ' || COALESCE(c.service_name, '')), '${GPU_WORDS}')`;

/**
 * Commitments and reservations that are for GPUs: they paid for a machine with GPUs, or words of their rows speak of one. Words are looked at
 * once each: a savings plan has a row for every machine and hour. Reads: charge, node, device, met_node.
 */
const GPU_BOUGHT = `
  gpu_node AS (
    SELECT node_id FROM node GROUP BY node_id HAVING max(COALESCE(gpu_count, 1)) > 0
    UNION SELECT node_id FROM device
  ), bought_row AS (
    SELECT DISTINCT c.bill_id, c.commitment_id, c.capacity_reservation_id, c.charge_description, c.sku_id, c.resource_type, c.service_name,
           g.node_id IS NOT NULL AS is_gpu_node
    FROM charge c LEFT JOIN met_node m ON c.bill_id = m.bill_id AND c.part = m.part AND c.ordinal = m.ordinal
    LEFT JOIN gpu_node g ON m.node_id = g.node_id
    WHERE c.commitment_id IS NOT NULL OR c.capacity_reservation_id IS NOT NULL
  ), gpu_row AS (
    SELECT bill_id, commitment_id, capacity_reservation_id FROM bought_row c WHERE is_gpu_node OR ${SPEAKS_OF_GPU}
  ), gpu_bought AS (
    SELECT bill_id, commitment_id AS bought_id FROM gpu_row WHERE commitment_id IS NOT NULL
    UNION SELECT bill_id, capacity_reservation_id FROM gpu_row WHERE capacity_reservation_id IS NOT NULL
  )`;

/** Whether the row `c` of a bill has tags. */
export const HAS_TAGS = `COALESCE(map_keys(c.tags) <> map_keys(CAST(map() AS MAP(VARCHAR, VARCHAR))), FALSE)`;

/** What the row `c` stands for where it names no resource: its service in an account, with its tags; NULL where it has neither. */
export const UNNAMED_RESOURCE = `CASE WHEN ${HAS_TAGS} OR c.sub_account IS NOT NULL THEN
             COALESCE(c.service_name, 'charges') || COALESCE(' of ' || c.sub_account, '') || CASE WHEN ${HAS_TAGS}
               THEN ' (' || array_join(map_keys(c.tags), ', ') || ': ' || array_join(map_values(c.tags), ', ') || ')'
               ELSE '' END END`;

/** Whether the row `c` is for GPUs, by itself or by what its commitment `g` or its reservation `r` paid for. */
const IS_OF_GPU = `(g.bought_id IS NOT NULL OR r.bought_id IS NOT NULL OR ${SPEAKS_OF_GPU})`;

const lastSegment = (text: string): string => `regexp_replace(lower(${text}), '^.*[/:]', '')`;

/** The dollars of a bill's day up to a row of `dollar`, itself included, in the order in which rounding runs along them. */
export const USD_UPTO = `CAST(sum(usd) OVER (PARTITION BY bill_id, charge_day
             ORDER BY COALESCE(resource_id, ''), usd, row_hash, part, ordinal ROWS UNBOUNDED PRECEDING)
             AS DECIMAL(38,18))`;

/**
 * Each charge with its dollars, its kind, the node it is for, and its whole micros. Rounding runs along the charges of a
 * bill's day, so that no charge is off by a micro and a day by no more than half of one.
 * Reads: charge, bill, fx_rate, node, device.
 */
export const POSTED_CHARGE = `
  billed_node AS (
    SELECT DISTINCT b.bill_id, n.node_id, ${providerKeySql('n.provider')} AS provider,
           ${lastSegment('COALESCE(n.resource_id, n.node_id)')} AS resource_key
    FROM node n JOIN bill b ON n.present_from < b.ends_at
    UNION ALL
    SELECT DISTINCT b.bill_id, d.node_id, CAST(NULL AS VARCHAR), ${lastSegment('d.node_id')}
    FROM device d JOIN bill b ON d.present_from < b.ends_at
    LEFT JOIN node n ON d.node_id = n.node_id AND n.present_from < b.ends_at WHERE n.node_id IS NULL
  ), fx AS (
    SELECT bill_id, usd_per_unit FROM (
      SELECT b.bill_id, CAST(f.usd_per_unit AS DECIMAL(18,9)) AS usd_per_unit,
             row_number() OVER (PARTITION BY b.bill_id ORDER BY f.as_of DESC) AS place
      FROM (SELECT DISTINCT bill_id, currency, billing_period_end FROM charge) b
      JOIN fx_rate f ON b.currency = f.currency AND f.as_of <= b.billing_period_end
    ) dated WHERE place = 1
  ), dollar AS (
    SELECT c.*, date_trunc('day', c.charge_from) AS charge_day,
           CASE WHEN c.currency = 'USD' THEN c.effective ELSE round(c.effective * f.usd_per_unit, 18) END AS usd
    FROM charge c LEFT JOIN fx f ON c.bill_id = f.bill_id
    WHERE c.currency = 'USD' OR f.bill_id IS NOT NULL
  ), running AS (
    SELECT dollar.*, ${USD_UPTO} AS usd_upto
    FROM dollar
  ), met_node AS (
    SELECT c.bill_id, c.part, c.ordinal, min(n.node_id) AS node_id
    FROM charge c JOIN billed_node n ON c.bill_id = n.bill_id AND c.resource_key = n.resource_key
      AND (n.provider IS NULL OR n.provider = ${providerKeySql('c.provider')})
    GROUP BY c.bill_id, c.part, c.ordinal
  ), reservation_node AS (
    SELECT DISTINCT c.bill_id, c.capacity_reservation_id, m.node_id
    FROM charge c JOIN met_node m ON c.bill_id = m.bill_id AND c.part = m.part AND c.ordinal = m.ordinal
    WHERE c.capacity_reservation_id IS NOT NULL
  ), ${GPU_BOUGHT.trim()}, sorted_charge AS (
    SELECT c.*, m.node_id AS met_node_id,
           CASE WHEN lower(c.charge_category) = 'tax' THEN 'tax'
                WHEN lower(c.charge_category) = 'credit' THEN 'credit'
                WHEN lower(c.commitment_status) = 'unused' OR lower(c.capacity_reservation_status) = 'unused'
                  THEN CASE WHEN ${IS_OF_GPU} THEN 'stranded' ELSE 'unused' END
                WHEN m.node_id IS NULL AND lower(c.service_name) LIKE '%support%' THEN 'support'
                WHEN lower(c.service_category) = 'storage' THEN 'storage'
                WHEN lower(c.service_category) = 'networking' THEN
                  CASE WHEN regexp_like(lower(COALESCE(c.charge_description, '') || ' ' || COALESCE(c.sku_id, '')),
                         'transfer|egress|bandwidth') THEN 'transfer' ELSE 'network' END
                WHEN m.node_id IS NOT NULL THEN 'node'
                WHEN c.capacity_reservation_id IS NOT NULL AND c.effective <> 0
                  AND (lower(c.charge_category) = 'purchase' OR (lower(c.charge_category) = 'usage'
                    AND COALESCE(c.resource_key, '') IN ('', ${lastSegment('c.capacity_reservation_id')})))
                  AND ${IS_OF_GPU} THEN 'block'
                WHEN ${SPEAKS_OF_GPU} THEN 'unmatched'
                WHEN lower(c.service_category) = 'compute' THEN 'host'
                ELSE 'other' END AS kind
    FROM running c LEFT JOIN met_node m ON c.bill_id = m.bill_id AND c.part = m.part AND c.ordinal = m.ordinal
    LEFT JOIN gpu_bought g ON c.bill_id = g.bill_id AND c.commitment_id = g.bought_id
    LEFT JOIN gpu_bought r ON c.bill_id = r.bill_id AND c.capacity_reservation_id = r.bought_id
  ), posted_charge AS (
    SELECT c.bill_id, c.part, c.ordinal, c.provider, c.billing_account, c.region, c.sku_id, c.pricing_category,
           COALESCE(c.resource_id,
             CASE WHEN c.kind IN ('stranded', 'unused', 'block') THEN COALESCE(c.commitment_id, c.capacity_reservation_id) END,
             ${UNNAMED_RESOURCE}) AS resource_id,
           c.charge_from, c.charge_until, c.charge_day, c.usd,
           CAST(round(c.usd_upto * 1000000) AS BIGINT)
             - CAST(round((c.usd_upto - CAST(c.usd AS DECIMAL(38,18))) * 1000000) AS BIGINT) AS usd_micros,
           c.kind, CASE WHEN c.kind IN ('node', 'storage', 'transfer', 'network') THEN c.met_node_id END AS node_id,
           c.capacity_reservation_id,
           c.commitment_id IS NOT NULL OR c.capacity_reservation_id IS NOT NULL
             OR COALESCE(lower(c.pricing_category), '') = 'committed' AS is_committed
    FROM sorted_charge c
  )`;

/** The hour in which a charge's last second lies. */
const LAST_HOUR = `date_trunc('hour',
      CASE WHEN charge_until > charge_from THEN charge_until - INTERVAL '1' SECOND ELSE charge_from END)`;

/** What an hour of a charge is known by. Nearly all charges are of one hour, and take it along without being looked up again. */
const CARRIED = `c.kind, c.node_id, c.resource_id, c.region, c.sku_id,
           COALESCE(lower(c.pricing_category), '') = 'dynamic' AS is_spot, c.is_committed, c.capacity_reservation_id`;

/** Each posted charge by the hour: by the seconds its node was there, else by its own seconds. Reads: posted_charge, node. */
const CHARGE_BY_HOUR = `
  node_there AS (
    SELECT node_id, present_from AS from_at, ends_at AS until_at FROM node_row
  ), long_charge AS (
    SELECT * FROM posted_charge WHERE date_trunc('hour', charge_from) <> ${LAST_HOUR}
  ), long_hour AS (
    SELECT c.bill_id, c.part, c.ordinal, c.node_id, c.usd_micros, h.hour_start,
           CASE WHEN c.charge_from > h.hour_start THEN c.charge_from ELSE h.hour_start END AS from_at,
           CASE WHEN c.charge_until < h.hour_end THEN c.charge_until ELSE h.hour_end END AS until_at
    FROM long_charge c JOIN calendar_hour h ON h.hour_start < c.charge_until AND h.hour_end > c.charge_from
  ), present_hour AS (
    SELECT l.bill_id, l.part, l.ordinal, l.hour_start,
           CAST(sum(date_diff('second', CASE WHEN n.from_at > l.from_at THEN n.from_at ELSE l.from_at END,
             CASE WHEN n.until_at < l.until_at THEN n.until_at ELSE l.until_at END)) AS BIGINT) AS seconds
    FROM long_hour l JOIN node_there n ON l.node_id = n.node_id
      AND n.from_at < l.until_at AND n.until_at > l.from_at
    GROUP BY l.bill_id, l.part, l.ordinal, l.hour_start
  ), present_total AS (
    SELECT bill_id, part, ordinal, CAST(sum(seconds) AS BIGINT) AS seconds FROM present_hour
    GROUP BY bill_id, part, ordinal
  ), weighed AS (
    SELECT l.bill_id, l.part, l.ordinal, l.hour_start, l.usd_micros,
           CASE WHEN t.seconds > 0 THEN COALESCE(p.seconds, 0)
                ELSE date_diff('second', l.from_at, l.until_at) END AS weight
    FROM long_hour l
    LEFT JOIN present_total t ON l.bill_id = t.bill_id AND l.part = t.part AND l.ordinal = t.ordinal
    LEFT JOIN present_hour p ON l.bill_id = p.bill_id AND l.part = p.part AND l.ordinal = p.ordinal
      AND l.hour_start = p.hour_start
  ), cumulated AS (
    SELECT weighed.*, CAST(sum(weight) OVER (PARTITION BY bill_id, part, ordinal) AS BIGINT) AS weight_total,
           CAST(sum(weight) OVER (PARTITION BY bill_id, part, ordinal ORDER BY hour_start ROWS UNBOUNDED PRECEDING)
             AS BIGINT) AS weight_upto
    FROM weighed
  ), long_part AS (
    SELECT bill_id, part, ordinal, hour_start,
           ${splitPart('CAST(usd_micros AS DECIMAL(38,0))', 'weight_upto', 'weight', 'weight_total')} AS usd_micros
    FROM cumulated WHERE weight > 0
  ), hourly AS (
    SELECT c.bill_id, date_trunc('hour', c.charge_from) AS hour_start, c.usd_micros, ${CARRIED}
    FROM posted_charge c WHERE date_trunc('hour', c.charge_from) = ${LAST_HOUR}
    UNION ALL
    SELECT p.bill_id, p.hour_start, p.usd_micros, ${CARRIED}
    FROM long_part p JOIN long_charge c ON p.bill_id = c.bill_id AND p.part = c.part AND p.ordinal = c.ordinal
  )`;

/** What blocks of capacity cost in each hour, over the nodes of their reservation that were there. Reads: hourly, reservation_node. */
const BLOCK_BY_NODE = `
  block_hour AS (
    SELECT bill_id, hour_start, capacity_reservation_id, min(resource_id) AS resource_id,
           COALESCE(min(region), '') AS region, CAST(sum(usd_micros) AS BIGINT) AS block_micros
    FROM hourly WHERE kind = 'block' GROUP BY bill_id, hour_start, capacity_reservation_id
  ), block_weight AS (
    SELECT b.bill_id, b.hour_start, b.capacity_reservation_id, b.resource_id, b.region, b.block_micros, r.node_id,
           CAST(sum(date_diff('second', CASE WHEN n.from_at > b.hour_start THEN n.from_at ELSE b.hour_start END,
             CASE WHEN n.until_at < b.hour_start + INTERVAL '1' HOUR THEN n.until_at
                  ELSE b.hour_start + INTERVAL '1' HOUR END)) AS BIGINT) AS weight
    FROM block_hour b JOIN reservation_node r
      ON b.bill_id = r.bill_id AND b.capacity_reservation_id = r.capacity_reservation_id
    JOIN node_there n ON r.node_id = n.node_id
      AND n.from_at < b.hour_start + INTERVAL '1' HOUR AND n.until_at > b.hour_start
    GROUP BY b.bill_id, b.hour_start, b.capacity_reservation_id, b.resource_id, b.region, b.block_micros, r.node_id
  ), block_upto AS (
    SELECT block_weight.*, CAST(sum(weight) OVER in_block AS BIGINT) AS weight_total,
           CAST(sum(weight) OVER (in_block ORDER BY node_id ROWS UNBOUNDED PRECEDING) AS BIGINT) AS weight_upto
    FROM block_weight WINDOW in_block AS (PARTITION BY bill_id, hour_start, capacity_reservation_id)
  )`;

/**
 * Question: what does each bill charge for each resource in each hour?
 *
 * Its unit is the bill. Charges of one SKU, region and hour are one pool: which of two equal machines a floating
 * reservation happened to pay for is an accident of the bill, not a fact about the job on it. Spot is a pool of its own.
 * What a block of capacity costs is its nodes' while they are there. Beside the price stands the marginal one: the node's part of what the bill
 * would fall by without the pool, so that all parts together are what is on demand and no more.
 *
 * Reads: charge, bill, fx_rate, node, device.
 */
export const chargeHour: Stage = {
  name: 'charge_hour',
  version: 4,
  unit: 'bill',
  reads: [
    { table: 'charge', days: [0] },
    { table: 'bill', days: 'all' },
    { table: 'fx_rate', days: 'all' },
    { table: 'node', days: 'all' },
    { table: 'device', days: 'all' },
  ],
  params: [],
  writes: [
    ['bill_id', 'VARCHAR'],
    ['day', 'DATE'],
    ['hour_start', 'TIMESTAMP'],
    ['kind', 'VARCHAR'],
    ['node_id', 'VARCHAR'],
    ['resource_id', 'VARCHAR'],
    ['region', 'VARCHAR'],
    ['usd_micros', 'BIGINT'],
    ['marginal_usd_micros', 'BIGINT'],
  ],
  orderBy: 'hour_start, kind, node_id, resource_id',
  sql: `
    WITH node_row AS (${CHARGED_NODE_ROW}
    ), ${POSTED_CHARGE}, ${CHARGE_BY_HOUR}, ${BLOCK_BY_NODE}, node_hour AS (
      SELECT bill_id, hour_start, node_id, COALESCE(region, '') AS region,
             CASE WHEN sku_id IS NULL THEN 'node ' || node_id ELSE 'sku ' || sku_id END AS pool, is_spot,
             min(resource_id) AS resource_id, CAST(sum(usd_micros) AS BIGINT) AS usd_micros,
             CAST(sum(CASE WHEN is_committed THEN 0 ELSE usd_micros END) AS BIGINT) AS uncommitted_micros
      FROM hourly WHERE kind = 'node'
      GROUP BY bill_id, hour_start, node_id, COALESCE(region, ''),
               CASE WHEN sku_id IS NULL THEN 'node ' || node_id ELSE 'sku ' || sku_id END, is_spot
    ), crowd AS (
      SELECT node_hour.*, count(*) OVER in_pool AS nodes, CAST(sum(usd_micros) OVER in_pool AS BIGINT) AS pool_micros,
             CAST(sum(uncommitted_micros) OVER in_pool AS BIGINT) AS pool_uncommitted_micros
      FROM node_hour WINDOW in_pool AS (PARTITION BY bill_id, hour_start, region, pool, is_spot)
    ), node_seconds AS (
      SELECT c.bill_id, c.hour_start, c.node_id, c.region, c.pool, c.is_spot,
             CAST(sum(date_diff('second', CASE WHEN n.from_at > c.hour_start THEN n.from_at ELSE c.hour_start END,
               CASE WHEN n.until_at < c.hour_start + INTERVAL '1' HOUR THEN n.until_at
                    ELSE c.hour_start + INTERVAL '1' HOUR END)) AS BIGINT) AS seconds
      FROM crowd c JOIN node_there n ON c.node_id = n.node_id
        AND n.from_at < c.hour_start + INTERVAL '1' HOUR AND n.until_at > c.hour_start
      WHERE c.nodes > 1
      GROUP BY c.bill_id, c.hour_start, c.node_id, c.region, c.pool, c.is_spot
    ), pool_weight AS (
      SELECT c.*, COALESCE(s.seconds, 0) AS weight,
             CAST(sum(COALESCE(s.seconds, 0)) OVER (PARTITION BY c.bill_id, c.hour_start, c.region, c.pool, c.is_spot)
               AS BIGINT) AS weight_total
      FROM crowd c LEFT JOIN node_seconds s ON c.bill_id = s.bill_id AND c.hour_start = s.hour_start
        AND c.node_id = s.node_id AND c.region = s.region AND c.pool = s.pool AND c.is_spot = s.is_spot
      WHERE c.nodes > 1
    ), pool_even AS (
      SELECT bill_id, hour_start, node_id, resource_id, region, pool, is_spot, pool_micros, pool_uncommitted_micros,
             CASE WHEN weight_total = 0 THEN 1 ELSE weight END AS weight,
             CASE WHEN weight_total = 0 THEN nodes ELSE weight_total END AS weight_total
      FROM pool_weight
    ), pool_upto AS (
      SELECT pool_even.*,
             CAST(sum(weight) OVER (in_pool ORDER BY node_id ROWS UNBOUNDED PRECEDING) AS BIGINT) AS weight_upto
      FROM pool_even WINDOW in_pool AS (PARTITION BY bill_id, hour_start, region, pool, is_spot)
    ), pooled AS (
      SELECT bill_id, hour_start, node_id, resource_id, region, usd_micros, uncommitted_micros AS marginal_usd_micros
      FROM crowd WHERE nodes = 1
      UNION ALL
      SELECT bill_id, hour_start, node_id, resource_id, region,
             ${splitPart('CAST(pool_micros AS DECIMAL(38,0))', 'weight_upto', 'weight', 'weight_total')},
             ${splitPart('CAST(pool_uncommitted_micros AS DECIMAL(38,0))', 'weight_upto', 'weight', 'weight_total')}
      FROM pool_upto
      UNION ALL
      SELECT bill_id, hour_start, node_id, resource_id, region,
             ${splitPart('CAST(block_micros AS DECIMAL(38,0))', 'weight_upto', 'weight', 'weight_total')}, 0
      FROM block_upto
    ), beside_node AS (
      SELECT h.bill_id, h.hour_start, CASE WHEN h.kind = 'block' THEN 'stranded' ELSE h.kind END AS kind, h.node_id,
             h.resource_id, h.region, h.usd_micros,
             CASE WHEN h.is_committed OR h.kind IN ('stranded', 'unused', 'block', 'tax', 'credit', 'support') THEN 0
                  ELSE h.usd_micros END AS marginal_usd_micros
      FROM hourly h LEFT JOIN (SELECT DISTINCT bill_id, hour_start, capacity_reservation_id FROM block_upto) b
        ON h.kind = 'block' AND h.bill_id = b.bill_id AND h.hour_start = b.hour_start
        AND h.capacity_reservation_id = b.capacity_reservation_id
      WHERE h.kind <> 'node' AND b.bill_id IS NULL
    ), closing AS (
      SELECT bill_id, CAST(round(CAST(sum(usd) AS DECIMAL(38,18)) * 1000000) AS BIGINT) -
               CAST(sum(usd_micros) AS BIGINT) AS usd_micros,
             max(charge_day) + INTERVAL '23' HOUR AS hour_start
      FROM posted_charge GROUP BY bill_id
    )
    SELECT bill_id, CAST(date_trunc('day', hour_start) AS DATE) AS day, hour_start, 'node' AS kind, node_id,
           min(resource_id) AS resource_id, min(CASE WHEN region <> '' THEN region END) AS region, CAST(sum(usd_micros) AS BIGINT) AS usd_micros,
           CAST(sum(marginal_usd_micros) AS BIGINT) AS marginal_usd_micros
    FROM pooled GROUP BY bill_id, hour_start, node_id
    UNION ALL
    SELECT bill_id, CAST(date_trunc('day', hour_start) AS DATE), hour_start, kind, node_id, min(resource_id), min(region),
           CAST(sum(usd_micros) AS BIGINT), CAST(sum(marginal_usd_micros) AS BIGINT)
    FROM beside_node
    GROUP BY bill_id, hour_start, kind, node_id, CASE WHEN node_id IS NULL THEN resource_id END
    HAVING CAST(sum(usd_micros) AS BIGINT) <> 0
    UNION ALL
    SELECT bill_id, CAST(date_trunc('day', hour_start) AS DATE), hour_start, 'rounding', NULL, NULL, NULL, usd_micros,
           0
    FROM closing WHERE usd_micros <> 0`,
};
