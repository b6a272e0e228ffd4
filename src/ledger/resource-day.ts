import type { Stage } from '../facts/stage.ts';

/** Of the rows of one resource and day, one speaks: one with tags before one without, then the least row. */
const ROW_KEY = `CASE WHEN map_keys(c.tags) <> map_keys(CAST(map() AS MAP(VARCHAR, VARCHAR))) THEN '0' ELSE '1' END
             || c.row_hash || ' ' || CAST(c.part AS VARCHAR) || ' ' || CAST(c.ordinal AS VARCHAR)`;

/**
 * Question: what do bills say about each resource they charge for, day by day: its tags, its name, its service?
 *
 * One row for a bill, day and resource, however many charges it has, so that what rules ask about costs the posting nothing.
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
    WITH charged AS (
      SELECT c.bill_id, d.day, c.resource_id, min(${ROW_KEY}) AS row_key
      FROM charge c JOIN calendar_day d ON d.day_end > c.charge_from
        AND (d.day_start < c.charge_until OR d.day_start <= c.charge_from)
      WHERE c.resource_id IS NOT NULL
      GROUP BY c.bill_id, d.day, c.resource_id
    )
    SELECT k.bill_id, k.day, k.resource_id, c.resource_name, c.provider, c.billing_account, c.sub_account, c.service_name,
           c.region, c.tags
    FROM charged k JOIN charge c ON k.bill_id = c.bill_id AND k.resource_id = c.resource_id AND k.row_key = ${ROW_KEY}`,
};
