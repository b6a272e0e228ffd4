/**
 * Something that must not be. `asks` has to come back empty: each row is something that does not add up, computed anew
 * from the files alone. `breaks` makes it so, to show that the question can fail.
 */
export interface Offence {
  readonly asks: string;
  readonly breaks: string;
}

/** `a ÷ b`, rounded half up, for whole numbers that are not negative. */
const rounded = (a: string, b: string): string => `((2 * CAST(${a} AS HUGEINT) + (${b})) // (2 * (${b})))`;

/** Every machine in every hour (or day) it was there for some of, with what it has to cost by the price of its pool. */
const BY_PRICE = `
  slot AS (
    SELECT n.*, p.* EXCLUDE (pool), greatest(n.came_s, s.at) AS from_s, least(n.went_s, s.at + p.period_s) AS until_s,
           s.at - s.at % 86400 AS day_s
    FROM node n JOIN pool p ON p.pool = n.pool
    JOIN (SELECT unnest(generate_series(first_s, last_s - 3600, 3600)) AS at FROM span) s
      ON s.at % p.period_s = 0 AND s.at < n.went_s AND s.at + p.period_s > n.came_s
    WHERE p.is_billed),
  net AS (
    SELECT ResourceId AS resource_id, from_s, until_s, CAST(sum(effective) AS BIGINT) AS effective,
           CAST(sum(list) AS BIGINT) AS list, CAST(sum(billed) AS BIGINT) AS billed
    FROM charge GROUP BY ResourceId, from_s, until_s),
  -- Nobody knows a spot price before the bill; it is the same for all of a pool and a day.
  spot AS (
    SELECT s.pool, s.day_s, max(n.effective // s.gpus) AS price
    FROM slot s JOIN net n USING (resource_id, from_s, until_s)
    WHERE s.purchase = 'spot' AND until_s - from_s = 3600 GROUP BY s.pool, s.day_s),
  priced AS (
    SELECT s.*, ${rounded('s.gpus * COALESCE(t.price, s.price) * (until_s - from_s)', '3600 * step')} * step AS want,
           ${rounded('s.gpus * s.list_price * (until_s - from_s)', '3600 * step')} * step AS want_list
    FROM slot s LEFT JOIN spot t ON t.pool = s.pool AND t.day_s = s.day_s)`;

/** What an owned GPU cost by its stated rate: hour by hour, rounded half up. */
const BY_RATE = `
  owned AS (
    SELECT n.node_id, n.gpus * ${rounded(
      'CAST(CAST(r.usd_per_gpu_hour AS DECIMAL(38,9)) * 1000000000 AS BIGINT) * (least(n.went_s, s.at + 3600) - greatest(n.came_s, s.at))',
      '3600000',
    )} AS usd_micros
    FROM node n JOIN rate r ON r.node_id = n.node_id
    JOIN (SELECT unnest(generate_series(first_s, last_s - 3600, 3600)) AS at FROM span) s
      ON s.at < n.went_s AND s.at + 3600 > n.came_s)`;

/** Charges in dollars; those of other currencies are whole cents, and a rate has four decimals: nothing to round. */
const IN_DOLLARS = `
  dollar AS (
    SELECT c.*, CAST(CASE WHEN BillingCurrency = 'USD' THEN effective
                     ELSE effective * CAST(fx.usd_per_unit AS DECIMAL(18,4)) END AS BIGINT) AS usd_micros
    FROM charge c LEFT JOIN fx ON fx.currency = c.BillingCurrency)`;

export const FILES_OFFENCES: Readonly<Record<string, Offence>> = {
  'who waits when the window ends has asked before, and has nothing': {
    asks: `
    SELECT w.* FROM waiting w, span WHERE w.submitted_at >= last_s
       OR epoch(CAST(w.observed_at AS TIMESTAMP)) <> last_s OR EXISTS (
         SELECT * FROM allocation a WHERE a.source = w.source AND a.allocation_id = w.allocation_id
           AND (a.held_from >= w.submitted_at OR a.outcome = 'running'))`,
    breaks: 'UPDATE waiting SET submitted_at = 0, allocation_id = (SELECT min(allocation_id) FROM allocation)',
  },
  'a machine is billed for the seconds it was there, at the price of its pool; corrections net out': {
    asks: `
    WITH ${BY_PRICE}
    SELECT * FROM priced p FULL JOIN (SELECT * FROM net WHERE resource_id IN (SELECT resource_id FROM node)) n
      ON n.resource_id = p.resource_id AND n.from_s = p.from_s AND n.until_s = p.until_s
    WHERE n.effective IS DISTINCT FROM p.want OR n.list IS DISTINCT FROM p.want_list
       OR n.billed IS DISTINCT FROM CASE WHEN p.purchase = 'committed' THEN 0 ELSE p.want END`,
    breaks:
      "UPDATE charge SET effective = effective + 1 WHERE PricingCategory = 'Standard' AND ServiceCategory = 'Compute'",
  },
  'a spot price stays near its mean': {
    asks: `
    WITH ${BY_PRICE}
    SELECT * FROM spot JOIN pool p ON p.pool = spot.pool
    WHERE spot.price NOT BETWEEN p.price * 8 // 10 AND p.price * 12 // 10`,
    breaks: "UPDATE pool SET price = price * 2 WHERE purchase = 'spot'",
  },
  'a correction takes back a row that is there': {
    asks: `
    SELECT * FROM charge c WHERE ChargeClass = 'Correction' AND NOT EXISTS (
      SELECT * FROM charge o WHERE o.ChargeClass IS NULL AND o.ResourceId = c.ResourceId AND o.from_s = c.from_s
      AND o.until_s = c.until_s AND o.effective = -c.effective AND o.billed = -c.billed AND o.list = -c.list)`,
    breaks: "UPDATE charge SET effective = effective - 1 WHERE ChargeClass = 'Correction'",
  },
  'what a commitment cost, used and unused, is its fee': {
    asks: `
    SELECT CommitmentDiscountId, BillingPeriodStart FROM charge WHERE CommitmentDiscountId IS NOT NULL
    GROUP BY ALL HAVING sum(effective) <> sum(billed) OR count(*) FILTER (WHERE ChargeCategory = 'Purchase') <> 1`,
    breaks: "DELETE FROM charge WHERE CommitmentDiscountStatus = 'Unused' AND rowid < 1000",
  },
  'in each hour a commitment costs what was signed for': {
    asks: `
    WITH signed AS (
      SELECT p.pool, CAST(round(sum(n.gpus) * 100 / any_value(p.used_percent)) AS BIGINT) * any_value(p.price) AS micros
      FROM node n JOIN pool p ON p.pool = n.pool WHERE p.purchase = 'committed' GROUP BY p.pool)
    SELECT * FROM (
      SELECT CommitmentDiscountId, from_s - from_s % 3600 AS hour_s, sum(effective) AS micros FROM charge
      WHERE CommitmentDiscountStatus IS NOT NULL GROUP BY ALL) h
    FULL JOIN signed ON h.CommitmentDiscountId = 'commitment-' || signed.pool
    WHERE h.micros IS DISTINCT FROM signed.micros`,
    breaks: "DELETE FROM charge WHERE CommitmentDiscountStatus = 'Unused' AND rowid < 1000",
  },
  'a first issue is the bill without its last three days': {
    asks: `
    WITH late AS (SELECT ProviderName, BillingAccountId, BillingPeriodEnd, max(until_s) - 3 * 86400 AS end_s
                  FROM charge GROUP BY ALL),
      early AS (SELECT c.* FROM charge c JOIN late USING (ProviderName, BillingAccountId, BillingPeriodEnd)
                WHERE c.until_s <= end_s AND ProviderName IN (SELECT ProviderName FROM first_charge)),
      a AS (SELECT md5(CAST(first_charge AS VARCHAR)) AS line FROM first_charge),
      b AS (SELECT md5(CAST(early AS VARCHAR)) AS line FROM early)
    (FROM a EXCEPT ALL FROM b) UNION ALL (FROM b EXCEPT ALL FROM a)`,
    breaks: 'DELETE FROM first_charge WHERE rowid = (SELECT max(rowid) FROM first_charge)',
  },
  'the truth adds up to what is paid': {
    asks: `
    WITH ${BY_RATE}, ${IN_DOLLARS}
    SELECT * FROM (SELECT sum(usd_micros) AS micros FROM truth),
      (SELECT COALESCE(sum(usd_micros), 0) AS billed FROM dollar), (SELECT COALESCE(sum(usd_micros), 0) AS rates FROM owned)
    WHERE micros <> billed + rates`,
    breaks: 'UPDATE truth SET usd_micros = usd_micros + 1 WHERE rowid = 0',
  },
  'the truth of a machine adds up to what was paid for it': {
    asks: `
    WITH ${BY_RATE}, ${IN_DOLLARS},
      paid AS (SELECT node_id, sum(usd_micros) AS micros FROM (
        SELECT node_id, usd_micros FROM owned UNION ALL
        SELECT n.node_id, usd_micros FROM dollar d JOIN node n ON n.resource_id = d.ResourceId) GROUP BY node_id)
    SELECT * FROM paid p
    FULL JOIN (SELECT node_id, sum(usd_micros) AS micros FROM truth WHERE node_id IS NOT NULL GROUP BY node_id) t
      ON t.node_id = p.node_id WHERE p.micros IS DISTINCT FROM t.micros`,
    breaks: "UPDATE rate SET usd_per_gpu_hour = '1.000000001'",
  },
  'what is of no machine has the reason its row speaks of': {
    asks: `
    WITH ${IN_DOLLARS},
      paid AS (SELECT CASE WHEN CommitmentDiscountStatus = 'Unused' THEN 'commitment-unused'
                           WHEN ChargeCategory = 'Tax' THEN 'tax' WHEN ChargeCategory = 'Credit' THEN 'credit'
                           WHEN ServiceCategory = 'Storage' THEN 'storage' WHEN ServiceCategory = 'Networking' THEN 'egress'
                           WHEN ServiceName = 'Support Plan' THEN 'support' ELSE 'unlisted-machine' END AS reason,
                      sum(usd_micros) AS micros
               FROM dollar WHERE usd_micros <> 0
                 AND COALESCE(ResourceId, '') NOT IN (SELECT resource_id FROM node WHERE resource_id IS NOT NULL)
               GROUP BY ALL)
    SELECT * FROM paid p
    FULL JOIN (SELECT reason, sum(usd_micros) AS micros FROM truth WHERE node_id IS NULL GROUP BY reason) t
      ON t.reason = p.reason WHERE p.micros IS DISTINCT FROM t.micros`,
    breaks: "UPDATE truth SET reason = 'egress' WHERE reason = 'storage'",
  },
  'every second of every device has its reasons, its slices’ included': {
    asks: `
    WITH slices AS (SELECT parent_device_id, sum(share_units) AS share FROM device
                    WHERE parent_device_id IS NOT NULL GROUP BY parent_device_id)
    SELECT * FROM device d LEFT JOIN slices s ON s.parent_device_id = d.device_id
    FULL JOIN (SELECT device_id, sum(CAST(millis AS HUGEINT) * share_units) AS units FROM truth
               WHERE device_id IS NOT NULL GROUP BY device_id) t ON t.device_id = d.device_id
    WHERE COALESCE(t.units, 0) IS DISTINCT FROM
          CAST(d.present_until - d.present_from AS HUGEINT) * 1000 * (d.share_units - COALESCE(s.share, 0))`,
    breaks: 'UPDATE device SET present_until = present_until - 1 WHERE parent_device_id IS NOT NULL',
  },
  'reasons of a piece of time add up to it': {
    asks: `
    SELECT "from", "until", device_id, source, allocation_id, attempt, share_units FROM truth WHERE device_id IS NOT NULL
    GROUP BY ALL HAVING sum(millis) <> ("until" - "from") * 1000`,
    breaks: "UPDATE truth SET millis = millis + 1 WHERE reason = 'stepping'",
  },
  'a holder has reasons for the seconds it held, on each device': {
    asks: `
    SELECT * FROM (SELECT source, allocation_id, attempt, device_id, sum(held_until - held_from) * 1000 AS millis
                   FROM allocation GROUP BY ALL) a
    FULL JOIN (SELECT source, allocation_id, attempt, device_id, sum(millis) AS millis
               FROM truth WHERE allocation_id IS NOT NULL GROUP BY ALL) t
      USING (source, allocation_id, attempt, device_id)
    WHERE a.millis IS DISTINCT FROM t.millis`,
    breaks: "DELETE FROM allocation WHERE attempt = '1'",
  },
  'nobody holds a machine that is not up': {
    asks: `
    SELECT * FROM allocation a JOIN (
      SELECT node_id, state, present_from AS from_s, COALESCE(lead(present_from) OVER (PARTITION BY node_id ORDER BY present_from),
        present_until, last_s) AS until_s FROM node_row, span) s ON s.node_id = a.node_id
    WHERE s.state = 'down' AND a.held_from < s.until_s AND a.held_until > s.from_s`,
    breaks: "UPDATE node_row SET state = 'down'",
  },
  'the category of a reason is the one of the world file': {
    asks: `
    SELECT DISTINCT t.reason, t.category FROM truth t ANTI JOIN reason r ON r.reason = t.reason AND r.category = t.category`,
    breaks: "UPDATE truth SET category = 'idle' WHERE reason = 'stepping'",
  },
};

/** The same against the ledger, given where the derived tables lie: `entry` is `ledger_entry`. */
export const LEDGER_OFFENCES: Readonly<Record<string, Offence>> = {
  'a holder holds as much in the ledger as in truth': {
    asks: `
    SELECT * FROM (SELECT source, allocation_id, attempt, sum(CAST(millis AS HUGEINT) * share_units) AS units FROM truth
                   WHERE allocation_id IS NOT NULL GROUP BY ALL) t
    FULL JOIN (SELECT source, allocation_id, CAST(attempt AS VARCHAR) AS attempt, sum(gpu_units) * 1000 AS units FROM entry
               WHERE allocation_id IS NOT NULL GROUP BY ALL) l
      USING (source, allocation_id, attempt)
    WHERE t.units IS DISTINCT FROM l.units`,
    breaks: 'UPDATE truth SET share_units = 63000 WHERE share_units = 31500',
  },
  'nobody has as much of a device in the ledger as in truth, and why; machines without a list of holders are held': {
    asks: `
    WITH unspoken AS (SELECT node_id FROM node_row WHERE cluster NOT IN (SELECT cluster FROM allocation)),
      truly AS (SELECT device_id, CASE WHEN node_id IN (FROM unspoken) THEN NULL ELSE reason END AS reason,
                       sum(CAST(millis AS HUGEINT) * share_units) AS units
                FROM truth WHERE device_id IS NOT NULL AND allocation_id IS NULL GROUP BY ALL),
      posted AS (SELECT device_id, reason, sum(gpu_units) * 1000 AS units FROM entry
                 WHERE device_id IS NOT NULL AND allocation_id IS NULL GROUP BY ALL)
    (FROM truly EXCEPT FROM posted) UNION ALL (FROM posted EXCEPT FROM truly)`,
    breaks: "UPDATE truth SET reason = 'empty' WHERE reason = 'drained'",
  },
  'money of a holder is that of the truth, but for what four splits round in each entry': {
    asks: `
    SELECT * FROM (SELECT source, allocation_id, attempt, sum(usd_micros) AS micros FROM truth
                   WHERE allocation_id IS NOT NULL GROUP BY ALL) t
    FULL JOIN (SELECT source, allocation_id, CAST(attempt AS VARCHAR) AS attempt, sum(usd_micros) AS micros, count(*) AS n
               FROM entry WHERE allocation_id IS NOT NULL GROUP BY ALL) l
      USING (source, allocation_id, attempt)
    WHERE NOT COALESCE(abs(t.micros - l.micros) <= 4 * n, FALSE)`,
    breaks: "UPDATE truth SET usd_micros = usd_micros * 2 WHERE reason = 'stepping'",
  },
  'GPU charges that meet no machine are at most one in a hundred': {
    asks: `
    SELECT * FROM (
      SELECT sum(usd_micros) FILTER (WHERE disposition = 'unmatched') AS unmatched, sum(usd_micros) AS gpu
      FROM entry WHERE component = 'gpu' AND basis = 'billed')
    WHERE unmatched * 100 > gpu`,
    breaks: "UPDATE entry SET usd_micros = 0 WHERE disposition <> 'unmatched'",
  },
  'nothing is unpriced, in conflict, estimated or left to rounding': {
    asks: `
    SELECT * FROM entry WHERE usd_micros IS NULL OR conflict OR basis NOT IN ('billed', 'rate') OR disposition = 'rounding'`,
    breaks: "UPDATE entry SET conflict = TRUE WHERE disposition = 'unallocated'",
  },
};
