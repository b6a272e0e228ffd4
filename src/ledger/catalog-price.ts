import { ACCELERATOR_NAMES } from '../facts/accelerators.ts';
import { PRICE_SERIES } from '../facts/price-series.ts';
import { providerKeySql } from '../facts/provider-name.ts';
import { namesModel } from './model-name.ts';

const ACCELERATOR_NAME_ROWS = ACCELERATOR_NAMES.map(({ name, id }) => `('${name}', '${id}')`).join(', ');

/** Which prices a node is priced by, by how it was bought: first the better way, `reference` only to judge a spot price. */
const WAYS = `
  ('', 'price', 'on-demand', 0), ('on-demand', 'price', 'on-demand', 0),
  ('spot', 'price', 'spot', 0), ('spot', 'reference', 'on-demand', 0),
  ('committed', 'price', 'committed-1y', 0), ('committed', 'price', 'committed-3y', 1)`;

const MACHINE = 'provider, region, zone, instance_type, purchase, model';

/** A machine as price lists know it, of a row of `presence` or one like it. */
export const machineColumns = (row: string): string => `
  ${providerKeySql(`${row}.provider`)} AS provider, COALESCE(lower(${row}.region), '') AS region,
  COALESCE(${row}.zone, '') AS zone, ${row}.instance_type, COALESCE(${row}.purchase, '') AS purchase,
  COALESCE(${row}.model, '') AS model`;

/** Whether a row of `presence` or one like it is of a machine of `catalog`. */
export const isOfMachine = (row: string, catalog: string): string => `
  ${row}.instance_type = ${catalog}.instance_type AND ${providerKeySql(`${row}.provider`)} = ${catalog}.provider
  AND COALESCE(lower(${row}.region), '') = ${catalog}.region AND COALESCE(${row}.zone, '') = ${catalog}.zone
  AND COALESCE(${row}.purchase, '') = ${catalog}.purchase AND COALESCE(${row}.model, '') = ${catalog}.model`;

const sameOffer = (other: string): string =>
  `m.hour_start = ${other}.hour_start AND ${MACHINE.split(', ')
    .map((column) => `m.${column} = ${other}.${column}`)
    .join(' AND ')}`;

/**
 * Common table expressions that end in `catalog`: what each machine that was there is listed for in each hour, whole, in
 * nano-dollars, and beside it one of its accelerators where the list prices them apart from their host.
 *
 * Machines are few, however many nodes there are of each, so prices are looked up for machines and not for nodes.
 *
 * Reads: presence, price (all rows), calendar_hour.
 */
export const CATALOG = `
  price_row AS (${PRICE_SERIES}
  ), accelerator_name AS (SELECT * FROM (VALUES ${ACCELERATOR_NAME_ROWS}) AS v(name, id)
  ), machine AS (
    SELECT DISTINCT p.day, ${machineColumns('p')}
    FROM presence p WHERE p.instance_type IS NOT NULL AND p.provider IS NOT NULL
  ), machine_accelerator AS (
    SELECT model, id FROM (
      SELECT m.model, a.id, row_number() OVER (PARTITION BY m.model ORDER BY length(a.name) DESC, a.name) AS place
      FROM (SELECT DISTINCT model FROM machine) m JOIN accelerator_name a ON ${namesModel('m.model', 'a.name')}
    ) ranked WHERE place = 1
  ), wanted AS (
    SELECT m.*, a.id AS accelerator, w.role, w.price_purchase, w.way_rank
    FROM machine m JOIN (SELECT * FROM (VALUES ${WAYS}) AS v(purchase, role, price_purchase, way_rank)) w
      ON m.purchase = w.purchase
    LEFT JOIN machine_accelerator a ON m.model = a.model
  ), listing AS (
    SELECT w.*, 'machine' AS part, CASE WHEN p.covers = 'instance' THEN 0 ELSE 1 END AS covers_rank, p.covers, p.nanos,
           p.as_of, p.from_at, p.ends_at,
           CASE WHEN p.region = '' THEN 2 WHEN p.zone = w.zone THEN 0 ELSE 1 END AS place_rank
    FROM wanted w JOIN price_row p ON w.instance_type = p.instance_type AND w.provider = p.provider
      AND w.price_purchase = p.purchase AND (p.region = w.region OR p.region = '') AND p.covers <> 'accelerator'
    UNION ALL
    SELECT w.*, 'accelerator', 0, p.covers, p.nanos, p.as_of, p.from_at, p.ends_at,
           CASE WHEN p.region = '' THEN 2 WHEN p.zone = w.zone THEN 0 ELSE 1 END
    FROM wanted w JOIN price_row p ON w.accelerator = p.accelerator AND w.provider = p.provider
      AND w.price_purchase = p.purchase AND (p.region = w.region OR p.region = '') AND p.covers = 'accelerator'
  ), listed_hour AS (
    SELECT h.hour_start, l.*, dense_rank() OVER (PARTITION BY h.hour_start, ${MACHINE}, role, part
             ORDER BY way_rank, covers_rank, place_rank, as_of DESC) AS offer_rank
    FROM listing l JOIN calendar_hour h ON l.day = h.day AND l.from_at <= h.hour_start AND l.ends_at > h.hour_start
  ), middle AS (
    SELECT o.*, row_number() OVER (PARTITION BY hour_start, ${MACHINE}, role, part ORDER BY nanos) AS place,
           count(*) OVER (PARTITION BY hour_start, ${MACHINE}, role, part) AS offers
    FROM listed_hour o WHERE offer_rank = 1
  ), best AS (SELECT * FROM middle WHERE place * 2 - offers IN (0, 1)
  ), catalog AS (
    SELECT m.hour_start, m.provider, m.region, m.zone, m.instance_type, m.purchase, m.model, m.nanos AS machine_nanos,
           CASE WHEN m.covers = 'host' THEN a.nanos END AS accelerator_nanos
    FROM best m
    LEFT JOIN (SELECT * FROM best WHERE part = 'accelerator' AND role = 'price') a ON ${sameOffer('a')}
    LEFT JOIN (SELECT * FROM best WHERE part = 'machine' AND role = 'reference') r ON ${sameOffer('r')}
      AND m.covers = r.covers
    WHERE m.part = 'machine' AND m.role = 'price' AND (m.covers = 'instance' OR a.nanos IS NOT NULL)
      AND (r.nanos IS NULL OR (m.nanos * 2 <= r.nanos * 3 AND m.nanos * 1000 >= r.nanos * 99))
  )`;
