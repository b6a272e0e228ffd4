import type { ComponentPrice } from '../facts/component-price.ts';
import { LIST_PRICES } from '../facts/list-price.ts';
import type { Stage } from '../facts/stage.ts';
import { CATALOG, isOfMachine } from './catalog-price.ts';
import { componentPriceRows, hostNanos, nanosOf } from './machine-part.ts';
import { namesModel } from './model-name.ts';

const LIST_PRICE_ROWS = LIST_PRICES.map(
  (price) => `('${price.model}', CAST(${nanosOf(price.usdPerGpuHour)} AS BIGINT))`,
).join(', ');

/** Nano-dollars an hour × seconds, in whole micros, half up. */
export const microsOf = (nanosPerHour: string, seconds: string): string =>
  `CAST((${nanosPerHour} * ${seconds} + 1800000 - (${nanosPerHour} * ${seconds} + 1800000) % 3600000) / 3600000 AS BIGINT)`;

/** Rate rows with the end that counts for them. Reads: rate. */
export const RATE_ROW = `
  SELECT r.model, r.node_id, r.valid_from, r.rate_source, CAST(round(r.usd_per_gpu_hour * 1000000000) AS BIGINT) AS nanos,
         CASE WHEN COALESCE(r.valid_until, TIMESTAMP '9999-12-31 00:00:00') <
                   COALESCE(r.next_from, TIMESTAMP '9999-12-31 00:00:00')
              THEN COALESCE(r.valid_until, TIMESTAMP '9999-12-31 00:00:00')
              ELSE COALESCE(r.next_from, TIMESTAMP '9999-12-31 00:00:00') END AS ends_at
  FROM (SELECT rate.*, lead(valid_from) OVER (PARTITION BY model, node_id ORDER BY valid_from) AS next_from FROM rate) r`;

/** A machine's price is that of all its GPUs; an accelerator that is priced apart from its host comes on top. */
const CATALOG_NANOS = `CAST((k.machine_nanos - k.machine_nanos % k.gpus) / k.gpus AS BIGINT) + COALESCE(k.accelerator_nanos, 0)`;

/** Of the prices that name a model, the one that says most about it. */
const bestFor = (prices: string, columns: string): string => `
  SELECT model, ${columns} FROM (
    SELECT m.model, ${columns}, row_number() OVER (PARTITION BY m.model ORDER BY length(p.model) DESC, p.model) AS place
    FROM (SELECT DISTINCT model FROM presence) m JOIN ${prices} p ON ${namesModel('m.model', 'p.model')}
  ) ranked WHERE place = 1`;

/** GPUs that a machine's price, or its host, is divided by. */
const GPUS = 'CASE WHEN d.node_gpus > 0 THEN d.node_gpus ELSE n.roots END';

const ESTIMATE_HOUR: Omit<Stage, 'sql'> = {
  name: 'estimate_hour',
  version: 3,
  unit: 'day',
  reads: [
    { table: 'presence', days: [0] },
    { table: 'rate', days: 'all' },
    { table: 'price', days: 'all' },
  ],
  growth: 24,
  params: [],
  writes: [
    ['day', 'DATE'],
    ['hour_start', 'TIMESTAMP'],
    ['root_device_id', 'VARCHAR'],
    ['present_s', 'BIGINT'],
    ['node_id', 'VARCHAR'],
    ['model', 'VARCHAR'],
    ['cluster', 'VARCHAR'],
    ['provider', 'VARCHAR'],
    ['billing_account', 'VARCHAR'],
    ['region', 'VARCHAR'],
    ['purchase', 'VARCHAR'],
    ['presence', 'VARCHAR'],
    ['priced_by', 'VARCHAR'],
    ['usd_nanos_per_hour', 'BIGINT'],
    ['usd_micros', 'BIGINT'],
    ['gpu_nanos', 'BIGINT'],
    ['host_nanos', 'BIGINT'],
  ],
  orderBy: 'root_device_id, hour_start',
};

/** Common table expressions and what is selected from them. Reads: component_price, presence, rate, price, calendar_hour. */
const PRICED_HOUR = `
    rate_row AS (${RATE_ROW}
    ), list_price AS (SELECT * FROM (VALUES ${LIST_PRICE_ROWS}) AS v(model, nanos)
    ), root_rows AS (
      SELECT day, root_device_id, count(*) AS presence_rows FROM presence GROUP BY day, root_device_id
    ), piece AS (
      SELECT p.day, h.hour_start, p.root_device_id, p.device_id, p.is_slice, p.from_at, p.node_id, p.model, p.cluster,
             p.provider, p.billing_account, p.region, p.purchase, p.presence, p.zone, p.instance_type,
             p.node_gpus, p.vcpu, p.memory_bytes, r.presence_rows,
             date_diff('second', CASE WHEN p.from_at > h.hour_start THEN p.from_at ELSE h.hour_start END,
               CASE WHEN p.until_at < h.hour_end THEN p.until_at ELSE h.hour_end END) AS seconds
      FROM presence p
      JOIN root_rows r ON p.day = r.day AND p.root_device_id = r.root_device_id
      JOIN calendar_hour h ON p.day = h.day AND p.from_at < h.hour_end AND p.until_at > h.hour_start
    ), summed AS (
      SELECT piece.*, CAST(sum(seconds) OVER (PARTITION BY hour_start, device_id) AS BIGINT) AS device_s
      FROM piece WHERE presence_rows > 1
    ), ranked AS (
      SELECT summed.*, max(device_s) OVER (PARTITION BY hour_start, root_device_id) AS present_s,
             row_number() OVER (PARTITION BY hour_start, root_device_id ORDER BY is_slice, from_at, device_id) AS place
      FROM summed
    ), described AS (
      SELECT day, hour_start, root_device_id, seconds AS present_s, node_id, model, cluster, provider, billing_account,
             region, purchase, presence, zone, instance_type, node_gpus, vcpu, memory_bytes
      FROM piece WHERE presence_rows = 1
      UNION ALL
      SELECT day, hour_start, root_device_id, present_s, node_id, model, cluster, provider, billing_account, region,
             purchase, presence, zone, instance_type, node_gpus, vcpu, memory_bytes
      FROM ranked WHERE place = 1
    ), asked AS (SELECT DISTINCT day, node_id, model FROM presence
    ), offered AS (
      SELECT a.day, h.hour_start, a.node_id, a.model, r.nanos, 'rate' AS priced_by,
             CASE WHEN r.node_id <> '' THEN 1 WHEN r.model <> '*' THEN 2 ELSE 3 END AS rank_kind,
             length(r.model) AS match_length, r.model AS match_model
      FROM asked a JOIN rate_row r ON (r.node_id = '' OR r.node_id = a.node_id)
        AND (r.model = '*' OR ${namesModel('a.model', 'r.model')})
      JOIN calendar_hour h ON a.day = h.day AND r.valid_from <= h.hour_start AND r.ends_at > h.hour_start
    ), chosen AS (
      SELECT day, hour_start, node_id, model, nanos FROM (
        SELECT offered.*, row_number() OVER (PARTITION BY hour_start, node_id, model
                 ORDER BY rank_kind, match_length DESC, match_model) AS place
        FROM offered
      ) ranked WHERE place = 1
    ), listed AS (${bestFor('list_price', 'nanos')}
    ), parted AS (${bestFor('component_price', 'gpu_nanos, vcpu_nanos, memory_gib_nanos')}
    ), ${CATALOG.trim()}, node_roots AS (
      SELECT day, node_id, count(DISTINCT root_device_id) AS roots FROM presence
      WHERE instance_type IS NOT NULL OR vcpu IS NOT NULL
      GROUP BY day, node_id
    ), catalog_hour AS (
      SELECT d.root_device_id, d.hour_start, c.machine_nanos, c.accelerator_nanos,
             ${GPUS} AS gpus
      FROM described d JOIN catalog c ON d.hour_start = c.hour_start AND ${isOfMachine('d', 'c')}
      JOIN node_roots n ON d.day = n.day AND d.node_id = n.node_id
    ), priced AS (
      SELECT d.*, c.nanos AS rate_nanos, ${CATALOG_NANOS} AS catalog_nanos, l.nanos AS list_nanos,
             m.gpu_nanos, ${hostNanos({ machine: 'd', price: 'm', gpus: `(${GPUS})` })} AS host_nanos
      FROM described d LEFT JOIN chosen c ON d.hour_start = c.hour_start
        AND COALESCE(d.node_id, '') = COALESCE(c.node_id, '') AND COALESCE(d.model, '') = COALESCE(c.model, '')
      LEFT JOIN catalog_hour k ON d.root_device_id = k.root_device_id AND d.hour_start = k.hour_start
      LEFT JOIN listed l ON d.model = l.model
      LEFT JOIN parted m ON d.model = m.model
      LEFT JOIN node_roots n ON d.day = n.day AND d.node_id = n.node_id
    )
    SELECT day, hour_start, root_device_id, present_s, node_id, model, cluster, provider, billing_account, region, purchase, presence,
           CASE WHEN rate_nanos IS NOT NULL THEN 'rate' WHEN catalog_nanos IS NOT NULL THEN 'catalog'
                WHEN list_nanos IS NOT NULL THEN 'list' END AS priced_by,
           COALESCE(rate_nanos, catalog_nanos, list_nanos) AS usd_nanos_per_hour,
           ${microsOf('COALESCE(rate_nanos, catalog_nanos, list_nanos)', 'present_s')} AS usd_micros,
           CASE WHEN host_nanos IS NOT NULL THEN gpu_nanos END AS gpu_nanos, host_nanos
    FROM priced`;

/**
 * Question: how long was each GPU there in each hour, what would that hour cost by rate, catalog or list price, and how does a
 * price divide into the GPU and its host?
 *
 * Computed for billed hours too: the difference is how far off our estimates are. The fitted prices of components are handed in, so
 * that a test can use its own.
 *
 * Reads: presence, rate, price (all rows).
 */
export const estimateHourBy = (componentPrices: readonly ComponentPrice[]): Stage => ({
  ...ESTIMATE_HOUR,
  sql: `
    WITH component_price AS (${componentPriceRows(componentPrices)}
    ), ${PRICED_HOUR.trim()}`,
});
