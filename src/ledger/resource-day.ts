import type { Stage } from '../facts/stage.ts';
import { HAS_TAGS, UNNAMED_RESOURCE } from './charge-hour.ts';

/** What a row may be charged for: its resource, or without one the commitment or the reservation it is about, and what its words say. */
const CHARGED = `
      SELECT c.*, COALESCE(c.resource_id, c.commitment_id, c.capacity_reservation_id) AS charged_id FROM charge c
      UNION ALL
      SELECT c.*, ${UNNAMED_RESOURCE} FROM charge c WHERE c.resource_id IS NULL`;

/** Of the rows of one resource and day, one speaks: not its purchase if there are others, one with tags before one without, the least. */
const ROW_KEY = `CASE WHEN lower(c.charge_category) = 'purchase' THEN '1' ELSE '0' END
             || CASE WHEN ${HAS_TAGS} THEN '0' ELSE '1' END
             || c.row_hash || ' ' || COALESCE(c.resource_name, '') || ' ' || CAST(c.part AS VARCHAR) || ' ' || CAST(c.ordinal AS VARCHAR)`;

/**
 * Question: what do bills say about each resource they charge for, day by day: its tags, its name, its service?
 *
 * What is charged for a commitment has the tags of its purchase besides its own, which go first: what nobody used belongs to who
 * bought it. One row for a bill, day and resource, however many charges it has, so that what rules ask about costs the posting nothing.
 *
 * Reads: charge.
 */
export const resourceDay: Stage = {
  name: 'resource_day',
  version: 1,
  unit: 'bill',
  reads: [{ table: 'charge', days: [0] }],
  params: [],
  writes: [
    ['bill_id', 'VARCHAR'],
    ['day', 'DATE'],
    ['resource_id', 'VARCHAR'],
    ['resource_name', 'VARCHAR'],
    ['provider', 'VARCHAR'],
    ['billing_account', 'VARCHAR'],
    ['sub_account', 'VARCHAR'],
    ['service_name', 'VARCHAR'],
    ['region', 'VARCHAR'],
    ['tags', 'MAP(VARCHAR, VARCHAR)'],
  ],
  orderBy: 'day, resource_id',
  sql: `
    WITH named AS (${CHARGED}
    ), charged AS (
      SELECT c.bill_id, d.day, c.charged_id AS resource_id, min(${ROW_KEY}) AS row_key
      FROM named c JOIN calendar_day d ON d.day_end > c.charge_from
        AND (d.day_start < c.charge_until OR d.day_start <= c.charge_from)
      WHERE c.charged_id IS NOT NULL
      GROUP BY c.bill_id, d.day, c.charged_id
    ), bought AS (
      SELECT c.bill_id, COALESCE(c.commitment_id, c.capacity_reservation_id) AS bought_id, min(${ROW_KEY}) AS row_key
      FROM charge c WHERE lower(c.charge_category) = 'purchase' AND ${HAS_TAGS}
        AND COALESCE(c.commitment_id, c.capacity_reservation_id) IS NOT NULL
      GROUP BY c.bill_id, COALESCE(c.commitment_id, c.capacity_reservation_id)
    ), buyer AS (
      SELECT k.bill_id, k.bought_id, c.tags FROM bought k JOIN charge c ON k.bill_id = c.bill_id
        AND k.bought_id = COALESCE(c.commitment_id, c.capacity_reservation_id) AND k.row_key = ${ROW_KEY}
    )
    SELECT k.bill_id, k.day, k.resource_id, c.resource_name, c.provider, c.billing_account, c.sub_account, c.service_name,
           c.region,
           CASE WHEN b.tags IS NULL THEN c.tags WHEN c.tags IS NULL THEN b.tags ELSE map_concat(b.tags, c.tags) END AS tags
    FROM charged k JOIN named c ON k.bill_id = c.bill_id AND k.resource_id = c.charged_id AND k.row_key = ${ROW_KEY}
    LEFT JOIN buyer b ON k.bill_id = b.bill_id AND b.bought_id = CASE
      WHEN lower(c.commitment_status) = 'unused' OR lower(c.capacity_reservation_status) = 'unused'
      THEN COALESCE(c.commitment_id, c.capacity_reservation_id) ELSE k.resource_id END`,
};
