import { PRICE_USD_MAX } from './price.ts';
import { providerKeySql } from './provider-name.ts';

const FOR_EVER = `TIMESTAMP '9999-12-31 00:00:00'`;

/**
 * Prices with the time they are in force for, in portable SQL. Reads: price.
 *
 * A price holds from `as_of` to the next of its series (place, machine, accelerators, way to buy); one that vanished ends its series.
 * The first prices of a machine hold for the time before them too: an estimate by the oldest known price is better than none.
 * Flagged prices are not here. Of bare accelerators, `nanos` are those of one.
 */
export const PRICE_SERIES = `
  SELECT provider, region, zone, instance_type, accelerator, purchase, covers, as_of, price_source, from_at, ends_at,
         CASE WHEN covers = 'accelerator' THEN CAST((nanos - nanos % pieces) / pieces AS BIGINT) ELSE nanos END AS nanos
  FROM (
    SELECT b.*,
           CASE WHEN as_of = min(as_of) OVER (PARTITION BY provider, region, instance_type, bare, purchase)
                THEN TIMESTAMP '1970-01-01 00:00:00' ELSE as_of END AS from_at,
           COALESCE(lead(as_of) OVER (PARTITION BY provider, region, zone, instance_type, accelerator, accelerator_count,
             purchase, covers ORDER BY as_of, nanos, COALESCE(flag, '')), ${FOR_EVER}) AS ends_at
    FROM (
      SELECT ${providerKeySql('provider')} AS provider, lower(region) AS region, zone, instance_type, accelerator, accelerator_count,
             CASE WHEN covers = 'accelerator' THEN accelerator ELSE '' END AS bare, purchase, covers, flag, as_of, price_source,
             CASE WHEN accelerator_count >= 1 THEN CAST(accelerator_count AS BIGINT) ELSE 1 END AS pieces,
             CAST(round(usd_per_hour * 1000000000) AS BIGINT) AS nanos
      FROM price
      WHERE (flag IS NULL OR flag = 'vanished') AND usd_per_hour > 0 AND usd_per_hour <= ${PRICE_USD_MAX}
        AND (covers <> 'accelerator' OR accelerator_count >= 1)
    ) b
  ) s
  WHERE flag IS NULL AND from_at < ends_at`;
