import { ACCELERATOR_REFERENCES } from '../../facts/accelerator-reference.ts';
import { listedAccelerator } from '../../facts/accelerators.ts';
import { LIST_PRICES } from '../../facts/list-price.ts';
import { PRICE_USD_MAX } from '../../facts/price.ts';
import { literal } from '../values/sql-text.ts';
import type { PriceRole } from './price-columns.ts';

/** A generous price for the rest of a machine, so that one GPU in a large host is not taken for a dear GPU. */
const HOST_USD_PER_VCPU = 0.06;
const HOST_USD_PER_GIB = 0.008;

/** How far a price may be off what the market asks for the accelerator. */
const MEDIAN_TIMES = 5;
/** Off the list price of one provider, which is a coarser measure; and off either, for spot of which no price on demand is known. */
const LIST_TIMES = 10;

const MACHINE = 'feed, provider, region, instance_type, accelerator, accelerator_count';
const KEY = `${MACHINE}, zone`;

/**
 * Question: which prices do the rows of a feed hold, and which of them cannot be believed?
 *
 * A flag depends on its feed and the built-in table alone, never on what was imported before, so that the order of imports
 * changes nothing. `is_kept` is false for the same price told again. `rows` is a table in the shape of `feedRows`,
 * `names` the accelerators it mentions.
 */
export function feedPrices(rows: string, names: readonly string[], roles: { has(role: PriceRole): boolean }): string {
  return `
    WITH meant AS (SELECT * FROM (VALUES ${namesSql(names)}) AS v(listed, id, chips, comparable)
    ), reference AS (SELECT * FROM (VALUES ${referencesSql()}) AS v(id, usd, times)
    ), bare AS (SELECT DISTINCT feed, provider FROM ${rows} WHERE instance_type = '' AND accelerator <> ''
    ), named AS (
      SELECT r.feed, r.feed_row, r.provider, r.region, r.zone, r.instance_type, COALESCE(m.id, r.accelerator) AS accelerator, m.comparable,
             CASE WHEN r.accelerator = '' THEN COALESCE(r.accelerator_count, CAST(0 AS DECIMAL(18,6)))
                  WHEN m.chips > 1 THEN CAST(COALESCE(r.accelerator_count, 1) * m.chips AS DECIMAL(18,6))
                  ELSE COALESCE(r.accelerator_count, CAST(1 AS DECIMAL(18,6))) END AS accelerator_count,
             r.purchase, r.as_of, r.vcpu, r.memory_gib, r.is_gone, r.price_source, r.flag,
             COALESCE(r.covers, CASE WHEN r.instance_type = '' THEN 'accelerator'
               WHEN r.accelerator = '' AND b.provider IS NOT NULL THEN 'host' ELSE 'instance' END) AS covers,
             r.price, r.spot, r.committed_1y, r.committed_3y
      FROM ${rows} r LEFT JOIN meant m ON r.accelerator = m.listed LEFT JOIN bare b ON r.feed = b.feed AND r.provider = b.provider
      WHERE r.skip IS NULL
    ), followed AS (${roles.has('event') ? FOLLOWED : 'SELECT *, false AS is_lost FROM named'}
    ), ranged AS (
      SELECT ${MACHINE}, CAST(min(price) AS DOUBLE) AS price_least, CAST(max(price) AS DOUBLE) AS price_most FROM followed
      WHERE purchase = 'on-demand' AND price > 0 GROUP BY ${MACHINE}
    ), offered AS (${offeredSql(roles)}
    ), judged AS (
      SELECT o.feed, o.feed_row, o.provider, o.region, o.zone, o.instance_type, o.accelerator, o.accelerator_count, o.purchase, o.covers,
             o.as_of, o.vcpu, o.memory_gib, o.usd, o.price_source, ${flagSql()} AS flag
      FROM offered o LEFT JOIN reference f ON o.comparable = f.id
      LEFT JOIN ranged g ON CASE WHEN o.purchase = 'spot' AND o.on_demand IS NULL THEN o.provider END = g.provider AND o.feed = g.feed AND o.region = g.region
        AND o.instance_type = g.instance_type AND o.accelerator = g.accelerator AND o.accelerator_count = g.accelerator_count
    )
    SELECT *, row_number() OVER (PARTITION BY ${KEY}, purchase, covers, as_of ORDER BY flag IS NOT NULL, feed_row) = 1 AS is_kept
    FROM judged`;
}

/** One row for each price of a row; a way to buy that the feed has no column for costs nothing. */
function offeredSql(roles: { has(role: PriceRole): boolean }): string {
  const others = [
    ['spot', 'spot', `CASE WHEN purchase = 'on-demand' AND price > 0 THEN price END`],
    ['committed_1y', 'committed-1y', 'NULL'],
    ['committed_3y', 'committed-3y', 'NULL'],
  ] as const;
  return [
    'SELECT *, price AS usd, CAST(NULL AS DECIMAL(18,9)) AS on_demand FROM followed WHERE price IS NOT NULL',
    ...others
      .filter(([role]) => roles.has(role))
      .map(
        ([role, purchase, onDemand]) =>
          `SELECT * REPLACE ('${purchase}' AS purchase), ${role}, ${onDemand} FROM followed WHERE ${role} IS NOT NULL`,
      ),
  ].join(' UNION ALL ');
}

/**
 * Rows that say a price is gone carry the last known one. Where more than half of all that was offered goes at once, the feed
 * broke, and nothing else did.
 */
const FOLLOWED = `
  SELECT * REPLACE (
           CASE WHEN is_gone THEN last_price ELSE price END AS price,
           CASE WHEN is_gone THEN last_spot ELSE spot END AS spot),
         is_gone AND gone_now * 2 > live_before AS is_lost
  FROM (
    SELECT f.*, CAST(sum(CASE WHEN is_gone AND was_there THEN 1 ELSE 0 END) OVER (PARTITION BY f.feed, f.provider, f.as_of) AS BIGINT) AS gone_now,
           COALESCE(l.live, 0) AS live_before
    FROM (
      SELECT *, COALESCE(NOT lag(is_gone) OVER series, false) AS was_there,
             last_value(price IGNORE NULLS) OVER (series ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS last_price,
             last_value(spot IGNORE NULLS) OVER (series ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS last_spot
      FROM named WINDOW series AS (PARTITION BY ${KEY} ORDER BY as_of, feed_row)
    ) f
    LEFT JOIN (
      SELECT feed, provider, as_of, sum(came - went) OVER (PARTITION BY feed, provider ORDER BY as_of ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS live
      FROM (
        SELECT feed, provider, as_of, count(*) FILTER (WHERE NOT is_gone AND NOT was_there) AS came,
               count(*) FILTER (WHERE is_gone AND was_there) AS went
        FROM (SELECT feed, provider, as_of, is_gone, COALESCE(NOT lag(is_gone) OVER (PARTITION BY ${KEY} ORDER BY as_of, feed_row), false) AS was_there
              FROM named)
        GROUP BY feed, provider, as_of)
    ) l ON f.feed = l.feed AND f.provider = l.provider AND f.as_of = l.as_of
  )`;

/**
 * The first reason not to believe a price. A tenth is told to the last digit: AWS never goes below it, and rounds. Compared in
 * floating point, which no price is ever computed in: wide decimals cost fifty times as much here.
 */
function flagSql(): string {
  const real = (ref: string): string => `CAST(${ref} AS DOUBLE)`;
  const [usd, onDemand] = [real('o.usd'), real('o.on_demand')];
  const host = `CASE WHEN o.covers = 'instance'
    THEN COALESCE(${real('o.vcpu')}, 0) * ${HOST_USD_PER_VCPU} + COALESCE(${real('o.memory_gib')}, 0) * ${HOST_USD_PER_GIB} ELSE 0 END`;
  const usual = `f.usd * ${real('o.accelerator_count')}`;
  return `CASE WHEN o.flag IS NOT NULL THEN o.flag
    WHEN o.is_lost THEN 'feed-lost'
    WHEN o.is_gone THEN 'vanished'
    WHEN o.usd <= 0 THEN 'not-positive'
    WHEN o.usd > ${PRICE_USD_MAX} THEN 'beyond-reason'
    WHEN o.purchase = 'spot' AND ${usd} * 2 > COALESCE(${onDemand}, g.price_most) * 3 THEN 'spot-too-high'
    WHEN o.purchase = 'spot' AND ${usd} * 1000 < COALESCE(${onDemand}, g.price_least) * 99 THEN 'spot-too-low'
    WHEN o.purchase <> 'spot' AND o.accelerator_count > 0 AND o.covers <> 'host'
      AND (${usd} - (${host}) > ${usual} * f.times OR ${usd} * f.times < ${usual}) THEN 'far-off-median'
    WHEN o.purchase = 'spot' AND COALESCE(${onDemand}, g.price_most) IS NULL AND o.accelerator_count > 0 AND o.covers <> 'host'
      AND (${usd} - (${host}) > ${usual} * ${LIST_TIMES} OR ${usd} * ${LIST_TIMES} < ${usual}) THEN 'far-off-median' END`;
}

function namesSql(names: readonly string[]): string {
  const rows = names.map((name) => {
    const { id, count, comparable } = listedAccelerator(name);
    return `(${literal(name)}, ${literal(id)}, ${count}, ${literal(comparable ?? '')})`;
  });
  return rows.length === 0 ? `('', '', 1, '')` : rows.join(', ');
}

/** What the market asks for an accelerator; where too few providers have it for that, the built-in list price. */
function referencesSql(): string {
  const usual = new Map<string, { readonly usd: string; readonly times: number }>();
  for (const { id, medianUsdPerHour } of ACCELERATOR_REFERENCES) {
    usual.set(id, { usd: medianUsdPerHour, times: MEDIAN_TIMES });
  }
  for (const { model, usdPerGpuHour } of LIST_PRICES) {
    const id = listedAccelerator(model).comparable;
    if (id !== undefined && !usual.has(id)) usual.set(id, { usd: usdPerGpuHour, times: LIST_TIMES });
  }
  return [...usual].map(([id, { usd, times }]) => `(${literal(id)}, CAST(${usd} AS DOUBLE), ${times})`).join(', ');
}
