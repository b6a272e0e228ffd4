-- The ledger of one day by hand: what `src/ledger/README.md` defines, in plain DuckDB, for the input of make-fleet.mjs.
--
-- It is the yardstick for the product's CPU, so it does what a careful engineer would do for exactly this input and
-- no more: GPUs are named in every holding and listed in the inventory, there are no MIG slices, one bill a day with
-- hourly charges for nodes, and a device carries the same metrics in all of its samples (the last step checks that).
-- Seconds are counted from midnight of the day. U = 63000 is a whole device.
-- bare.mjs puts in the names between braces and measures each step.

-- step: inventory
CREATE TEMP TABLE node_row AS
  SELECT node_id, state, gpu_count, resource_id, provider, billing_account, region, purchase, cluster, present_from,
    least(present_until, lead(present_from) OVER (PARTITION BY node_id ORDER BY present_from)) AS present_until
  FROM read_parquet({nodes});
CREATE TEMP TABLE device AS
  SELECT CAST(row_number() OVER (ORDER BY device_id) AS INTEGER) AS device_number, device_id, node_id, model,
    cluster, provider, billing_account, region, purchase
  FROM read_parquet({devices})
  JOIN (SELECT DISTINCT node_id, cluster, provider, billing_account, region, purchase FROM node_row) USING (node_id);

-- step: samples
-- Sorted by a number instead of the device's name, which is the same order at half the CPU.
COPY (
  SELECT sample.* FROM read_parquet({samples}) AS sample JOIN device USING (device_id) ORDER BY device_number, ts
) TO {store} (FORMAT parquet, PARQUET_VERSION v2, COMPRESSION zstd, ROW_GROUP_SIZE 122880);

-- step: level
-- The least positive power of today and the day before; the last samples of yesterday are judged by yesterday's level.
-- Grouping by name before joining costs a fifth of the other way round: the store is sorted by name.
CREATE TEMP TABLE device_power AS
  SELECT device_number, device_id, least(power_w_today, power_w_yesterday) AS level, power_w_before AS level_before, last_until
  FROM (
    SELECT device_id, min(power_w) FILTER (power_w > 0 AND ts >= {from} AND ts < {until}) AS power_w_today,
      min(power_w) FILTER (power_w > 0 AND ts < {from} AND ts >= {from} - INTERVAL 1 DAY) AS power_w_yesterday,
      min(power_w) FILTER (power_w > 0 AND ts < {from}) AS power_w_before, max(ts) + to_seconds(max(step_s)) AS last_until
    FROM read_parquet({samples_for_level}) WHERE ts < {until} + INTERVAL 3 MINUTE GROUP BY device_id
  ) JOIN device USING (device_id);

-- step: runs
-- Only samples that differ from the one before, or come after a gap, begin a run: 2 in 100.
-- Class 2 computes, 1 is idle, 0 is unknown.
CREATE TEMP TABLE run AS
  WITH classed AS (
    SELECT device_number, ts, step_s, CAST(CASE
        WHEN coalesce(engine_permille, sm_permille, util_permille) IS NULL THEN 0
        WHEN coalesce(engine_permille, sm_permille, util_permille) >= 10 THEN 2
        WHEN util_permille >= 500 OR power_w * 10 > 13 * CASE WHEN ts < {from} THEN level_before ELSE level END THEN 0
        ELSE 1 END AS UTINYINT) AS class
    FROM read_parquet({samples_around}) JOIN device_power USING (device_id)
    WHERE ts >= {from} - INTERVAL 3 MINUTE AND ts < {until} + INTERVAL 3 MINUTE
  ), compared AS (
    SELECT device_number, ts, class, lag(class) OVER by_time AS class_before, lag(ts) OVER by_time AS ts_before,
      lag(step_s) OVER by_time AS step_s_before
    FROM classed WINDOW by_time AS (PARTITION BY device_number ORDER BY ts)
  ), begun AS (
    SELECT device_number, ts AS run_from, class,
      CASE WHEN ts > ts_before + to_seconds(3 * step_s_before) THEN ts_before + to_seconds(step_s_before) ELSE ts END AS until_before
    FROM compared
    WHERE ts_before IS NULL OR class <> class_before OR ts > ts_before + to_seconds(3 * step_s_before)
  ), ended AS (
    SELECT device_number, class, run_from,
      coalesce(lead(until_before) OVER (PARTITION BY device_number ORDER BY run_from), last_until) AS run_until
    FROM begun JOIN device_power USING (device_number)
  )
  SELECT device_number, class, CAST(date_diff('second', {from}, greatest(run_from, {from})) AS INTEGER) AS from_s,
    CAST(date_diff('second', {from}, least(run_until, {until})) AS INTEGER) AS until_s
  FROM ended WHERE class > 0 AND run_until > {from} AND run_from < {until};

-- step: held
-- The newest telling of a holding counts; an open one lasts two polls beyond it, or to the newest fact.
CREATE TEMP TABLE told AS
  SELECT * FROM (
    SELECT *, row_number() OVER (PARTITION BY source, allocation_id, attempt, node_id, slot, held_from ORDER BY observed_at DESC) AS age
    FROM read_parquet({allocations})
  ) WHERE age = 1;
CREATE TEMP TABLE horizon AS
  SELECT greatest((SELECT max(greatest(held_from, held_until, observed_at)) FROM told),
    (SELECT max(present_until) FROM node_row), (SELECT max(last_until) FROM device_power),
    (SELECT max(ChargePeriodEnd) FROM read_parquet({charges}))) AS newest;
CREATE TEMP TABLE holding AS
  SELECT *, greatest(0, date_diff('second', {from}, held_from)) AS from_s, least(86400, date_diff('second', {from}, held_end)) AS until_s
  FROM (
    SELECT CAST(row_number() OVER (ORDER BY source, allocation_id, attempt, told.node_id, slot, held_from) AS INTEGER) AS holding_number,
      device_number, source, allocation_id, attempt, isolation, share_units, held_from,
      coalesce(held_until, least(observed_at + INTERVAL 120 SECOND, newest)) AS held_end
    FROM told JOIN device USING (device_id), horizon WHERE gpu_count > 0
  ) WHERE held_from < {until} AND held_end > {from};
-- Of two whole holdings that overlap for at most two minutes in all, the earlier yields to the later.
CREATE TEMP TABLE yielding AS
  SELECT earlier.holding_number, later.holding_number AS yields_to, later.from_s, least(earlier.until_s, later.until_s) AS until_s
  FROM holding AS earlier JOIN holding AS later ON earlier.device_number = later.device_number
    AND (earlier.held_from, earlier.holding_number) < (later.held_from, later.holding_number) AND earlier.held_end > later.held_from
  WHERE earlier.isolation = 'whole' AND later.isolation = 'whole'
    AND date_diff('second', later.held_from, least(earlier.held_end, later.held_end)) <= 120;
-- Where a node is present, and the moments between which nothing changes on a device.
CREATE TEMP TABLE presence AS
  SELECT node_id, state, greatest(0, date_diff('second', {from}, present_from)) AS from_s,
    least(86400, date_diff('second', {from}, least(coalesce(present_until, newest), newest))) AS until_s
  FROM node_row, horizon WHERE present_from < {until} AND least(coalesce(present_until, newest), newest) > {from};
CREATE TEMP TABLE segment AS
  WITH boundary AS (
    SELECT device_number, CAST(h * 3600 AS INTEGER) AS at_s FROM device, range(25) AS hours(h)
    UNION SELECT device_number, CAST(unnest([from_s, until_s]) AS INTEGER) FROM holding
    UNION SELECT device_number, CAST(unnest([from_s, until_s]) AS INTEGER) FROM presence JOIN device USING (node_id)
  ), piece AS (
    SELECT device_number, at_s AS from_s, lead(at_s) OVER (PARTITION BY device_number ORDER BY at_s) AS until_s FROM boundary
  )
  SELECT device_number, piece.from_s, piece.until_s, piece.from_s // 3600 AS hour, state
  FROM piece JOIN device USING (device_number) JOIN presence USING (node_id)
  WHERE piece.from_s >= presence.from_s AND piece.until_s <= presence.until_s;
-- Who is on the device in each piece, and what each asks for.
CREATE TEMP TABLE part AS
  WITH claim AS (
    SELECT device_number, segment.from_s, holding_number, share_units, isolation
    FROM segment JOIN holding USING (device_number)
    WHERE segment.from_s >= holding.from_s AND segment.until_s <= holding.until_s
      AND NOT EXISTS (SELECT 1 FROM yielding WHERE yielding.holding_number = holding.holding_number
        AND segment.from_s >= yielding.from_s AND segment.until_s <= yielding.until_s)
  ), crowd AS (
    SELECT *, count(*) FILTER (isolation = 'time-slice') OVER everyone AS slices, count(*) FILTER (isolation = 'whole') OVER everyone AS wholes,
      coalesce(sum(share_units) FILTER (isolation = 'fraction') OVER everyone, 0) AS fraction_units
    FROM claim WINDOW everyone AS (PARTITION BY device_number, from_s)
  ), demand AS (
    SELECT *, wholes = 0 AND fraction_units <= 63000 AS fits, CAST(CASE
        WHEN NOT (wholes = 0 AND fraction_units <= 63000) THEN CASE isolation WHEN 'fraction' THEN share_units ELSE 63000 END
        WHEN isolation = 'fraction' THEN share_units * greatest(slices, 1)
        ELSE 63000 - fraction_units END AS BIGINT) AS demand
    FROM crowd
  ), summed AS (
    SELECT *, CAST(sum(demand) OVER (PARTITION BY device_number, from_s ORDER BY holding_number ROWS UNBOUNDED PRECEDING) AS BIGINT) AS demand_cum,
      CAST(sum(demand) OVER (PARTITION BY device_number, from_s) AS BIGINT) AS demand_sum
    FROM demand
  ), based AS (
    SELECT *, CASE WHEN fits THEN 63000 * greatest(slices, 1) ELSE greatest(63000, demand_sum) END AS base FROM summed
  )
  SELECT device_number, from_s, holding_number, NOT fits AND demand_sum > 63000 AS conflict,
    63000 * demand_cum // base - 63000 * (demand_cum - demand) // base AS share
  FROM based;

-- step: activity
CREATE TEMP TABLE segment_activity AS
  WITH run_hour AS (
    SELECT device_number, class, from_s, until_s, unnest(range(from_s // 3600, (until_s - 1) // 3600 + 1)) AS hour FROM run
  )
  SELECT device_number, segment.from_s,
    CAST(sum(least(run_hour.until_s, segment.until_s) - greatest(run_hour.from_s, segment.from_s)) FILTER (class = 2) AS BIGINT) AS computing_s,
    CAST(sum(least(run_hour.until_s, segment.until_s) - greatest(run_hour.from_s, segment.from_s)) FILTER (class = 1) AS BIGINT) AS idle_s
  FROM segment JOIN run_hour USING (device_number, hour)
  WHERE run_hour.from_s < segment.until_s AND run_hour.until_s > segment.from_s
  GROUP BY device_number, segment.from_s;
CREATE TEMP TABLE gpu_hour AS
  WITH rest AS (
    SELECT device_number, from_s, CAST(63000 - coalesce(sum(share), 0) AS BIGINT) AS share
    FROM segment LEFT JOIN part USING (device_number, from_s) GROUP BY device_number, from_s
  ), piece AS (
    SELECT device_number, part.from_s, 'held' AS disposition, CAST(NULL AS VARCHAR) AS reason, source, allocation_id, attempt, conflict, share
    FROM part JOIN holding USING (device_number, holding_number)
    UNION ALL
    -- Where no scheduler speaks for a cluster, nobody said that the rest is free.
    SELECT device_number, rest.from_s, CASE WHEN spoken THEN 'unallocated' ELSE 'held' END,
      CASE WHEN spoken THEN CASE state WHEN 'up' THEN 'empty' ELSE state END END, NULL, NULL, NULL, false, share
    FROM rest JOIN segment USING (device_number, from_s)
    JOIN (SELECT device_number, cluster IN (SELECT cluster FROM told) AS spoken FROM device) USING (device_number)
    WHERE share > 0
  )
  SELECT device_number, hour, disposition, reason, source, allocation_id, attempt, bool_or(conflict) AS conflict,
    CAST(sum(share * (until_s - piece.from_s)) AS BIGINT) AS units,
    CAST(sum(CASE disposition WHEN 'held' THEN share * coalesce(computing_s, 0) ELSE 0 END) AS BIGINT) AS computing_units,
    CAST(sum(CASE disposition WHEN 'held' THEN share * coalesce(idle_s, 0) ELSE 0 END) AS BIGINT) AS idle_units
  FROM piece JOIN segment USING (device_number, from_s) LEFT JOIN segment_activity USING (device_number, from_s)
  GROUP BY device_number, hour, disposition, reason, source, allocation_id, attempt;

-- step: bill
CREATE TEMP TABLE charge AS
  WITH rowed AS (
    SELECT ProviderName || '|' || BillingAccountId || '|' || strftime(BillingPeriodStart, '%Y-%m-%d') AS bill_id,
      ProviderName AS provider, BillingAccountId AS account, RegionId AS region, ResourceId AS resource_id, SkuId AS sku_id,
      PricingCategory = 'Dynamic' AS is_spot, date_diff('second', {from}, ChargePeriodStart) AS from_s,
      date_diff('second', {from}, ChargePeriodEnd) AS until_s, EffectiveCost AS usd, node_id,
      CASE WHEN ChargeCategory = 'Tax' THEN 'tax' WHEN CommitmentDiscountStatus = 'Unused' THEN 'stranded' WHEN node_id IS NOT NULL THEN 'node'
        WHEN ServiceCategory = 'Storage' THEN 'storage' WHEN ServiceCategory = 'Networking'
        THEN CASE WHEN regexp_matches(ChargeDescription || ' ' || SkuId, 'transfer|egress|bandwidth', 'i') THEN 'transfer' ELSE 'network' END
        ELSE 'other' END AS kind
    FROM read_parquet({charges})
    LEFT JOIN (SELECT DISTINCT node_id, lower(provider) AS node_provider, lower(resource_id) AS name FROM node_row WHERE resource_id IS NOT NULL)
      ON name = lower(regexp_extract(ResourceId, '[^/:]*$')) AND node_provider = lower(ProviderName)
  ), summed AS (
    SELECT *, CAST(round(sum(usd) OVER (PARTITION BY bill_id ORDER BY coalesce(resource_id, ''), usd ROWS UNBOUNDED PRECEDING), 6)
      * 1000000 AS BIGINT) AS micros_cum
    FROM rowed
  )
  SELECT *, micros_cum - lag(micros_cum, 1, 0) OVER (PARTITION BY bill_id ORDER BY coalesce(resource_id, ''), usd) AS micros FROM summed;
-- Charges for nodes are hourly; the others are split over the hours they touch, by seconds.
CREATE TEMP TABLE charge_hour AS
  WITH touched AS (
    SELECT *, unnest(range(from_s // 3600, (until_s - 1) // 3600 + 1)) AS hour FROM charge
  )
  SELECT bill_id, provider, account, region, resource_id, sku_id, is_spot, node_id, kind, hour,
    micros * (least(until_s, hour * 3600 + 3600) - from_s) // (until_s - from_s)
      - micros * (greatest(from_s, hour * 3600) - from_s) // (until_s - from_s) AS micros
  FROM touched;
CREATE TEMP TABLE node_hour AS
  SELECT node_id, h AS hour, sum(least(until_s, h * 3600 + 3600) - greatest(from_s, h * 3600)) AS present_s
  FROM presence JOIN range(24) AS hours(h) ON from_s < h * 3600 + 3600 AND until_s > h * 3600 GROUP BY node_id, h;
CREATE TEMP TABLE device_hour AS
  SELECT device_number, hour, CAST(sum(until_s - from_s) AS BIGINT) AS present_s FROM segment GROUP BY device_number, hour;
CREATE TEMP TABLE billed AS
  WITH charged AS (
    SELECT bill_id, region, sku_id, is_spot, hour, node_id, CAST(sum(micros) AS BIGINT) AS micros
    FROM charge_hour WHERE kind = 'node' GROUP BY bill_id, region, sku_id, is_spot, hour, node_id
  ), pool AS (
    SELECT bill_id, hour, node_id, CAST(sum(micros) OVER pooled AS BIGINT) AS micros, CAST(sum(present_s) OVER pooled AS BIGINT) AS weight_sum,
      CAST(sum(present_s) OVER (PARTITION BY bill_id, region, sku_id, is_spot, hour ORDER BY node_id ROWS UNBOUNDED PRECEDING) AS BIGINT) AS weight_cum,
      CAST(present_s AS BIGINT) AS weight
    FROM charged JOIN node_hour USING (node_id, hour) WINDOW pooled AS (PARTITION BY bill_id, region, sku_id, is_spot, hour)
  ), node_money AS (
    SELECT bill_id, hour, node_id, CAST(sum(micros * weight_cum // weight_sum - micros * (weight_cum - weight) // weight_sum) AS BIGINT) AS micros
    FROM pool GROUP BY bill_id, hour, node_id
  ), shared AS (
    SELECT bill_id, hour, device_number, micros, present_s AS weight,
      CAST(sum(present_s) OVER (PARTITION BY bill_id, node_id, hour ORDER BY device_number ROWS UNBOUNDED PRECEDING) AS BIGINT) AS weight_cum,
      CAST(sum(present_s) OVER (PARTITION BY bill_id, node_id, hour) AS BIGINT) AS weight_sum
    FROM node_money JOIN device USING (node_id) JOIN device_hour USING (device_number, hour)
  )
  SELECT bill_id, hour, device_number, micros * weight_cum // weight_sum - micros * (weight_cum - weight) // weight_sum AS micros FROM shared;

-- step: rates
CREATE TEMP TABLE rate AS
  SELECT model, node_id, CAST(valid_from AS TIMESTAMP) AS valid_from, CAST(CAST(usd_per_gpu_hour AS DECIMAL(38,9)) * 1000000000 AS BIGINT) AS nanos
  FROM read_csv({rates}, types = {model: VARCHAR, node_id: VARCHAR, valid_from: VARCHAR, usd_per_gpu_hour: 'DECIMAL(18,9)'});
-- The rate of the node goes before that of the model, the longer name of a model before the shorter.
CREATE TEMP TABLE device_rate AS
  SELECT device_number, nanos FROM (
    SELECT device_number, nanos, row_number() OVER (PARTITION BY device_number ORDER BY rate.node_id IS NULL, length(rate.model) DESC, rate.model) AS place
    FROM device JOIN rate ON rate.node_id = device.node_id OR (rate.node_id IS NULL AND contains(lower(device.model), lower(rate.model)))
    WHERE valid_from <= {from}
  ) WHERE place = 1;
CREATE TEMP TABLE priced AS
  SELECT device_number, hour, 'billed' AS basis, bill_id, micros FROM billed
  UNION ALL
  SELECT device_number, hour, CASE WHEN covered OR nanos IS NULL THEN 'unpriced' ELSE 'rate' END, NULL,
    CASE WHEN NOT covered THEN (nanos * present_s + 1800000) // 3600000 END
  FROM device_hour ANTI JOIN billed USING (device_number, hour)
  JOIN (SELECT device_number, EXISTS (SELECT 1 FROM charge WHERE lower(charge.provider) = lower(device.provider) AND charge.account = device.billing_account) AS covered
        FROM device) USING (device_number)
  LEFT JOIN device_rate USING (device_number);

-- step: entries
COPY (
  WITH weighed AS (
    SELECT *, CAST(sum(units) OVER (PARTITION BY device_number, hour
        ORDER BY disposition, coalesce(reason, ''), coalesce(source, ''), coalesce(allocation_id, ''), coalesce(attempt, 0) ROWS UNBOUNDED PRECEDING) AS BIGINT) AS units_cum,
      CAST(sum(units) OVER (PARTITION BY device_number, hour) AS BIGINT) AS units_sum
    FROM gpu_hour JOIN priced USING (device_number, hour)
  ), entry AS (
    SELECT device_number, hour, basis, bill_id, CAST(NULL AS VARCHAR) AS resource_id, node_id, device_id, device_id AS root_device_id, model, cluster, provider,
      billing_account AS account, region, purchase, source, allocation_id, attempt, 'gpu' AS component, disposition, reason, conflict,
      CASE WHEN source IS NULL THEN 'node ' || node_id ELSE 'job ' || source || '/' || allocation_id || '/' || attempt END AS subject,
      micros * units_cum // units_sum - micros * (units_cum - units) // units_sum AS usd_micros, units AS gpu_units,
      micros AS split_of_usd_micros, units_cum - units AS split_before, units AS split_weight, units_sum AS split_total, computing_units, idle_units,
      CASE disposition WHEN 'held' THEN units - computing_units - idle_units ELSE 0 END AS unknown_units,
      computing_units AS split_computing, idle_units AS split_idle
    FROM weighed JOIN device USING (device_number)
    UNION ALL
    SELECT NULL, hour, 'billed', bill_id, resource_id, NULL, NULL, NULL, NULL, NULL, provider, account, min(region),
      CASE kind WHEN 'stranded' THEN 'committed' END, NULL, NULL, NULL,
      CASE kind WHEN 'stranded' THEN 'gpu' WHEN 'tax' THEN 'other' ELSE kind END, CASE WHEN kind IN ('stranded', 'tax') THEN kind ELSE 'beside' END,
      NULL, false, coalesce('resource ' || resource_id, 'bill ' || bill_id), CAST(sum(micros) AS BIGINT), 0, CAST(sum(micros) AS BIGINT), 0, 1, 1, 0, 0, 0, 0, 0
    FROM charge_hour WHERE kind <> 'node' GROUP BY hour, bill_id, resource_id, provider, account, kind HAVING sum(micros) <> 0
    UNION ALL
    -- Owned machines with a rate of their own cost while they are away, too.
    SELECT NULL, h, 'rate', NULL, NULL, node_id, NULL, NULL, NULL, cluster, provider, billing_account, region, purchase, NULL, NULL, NULL, 'gpu', 'stranded', 'absent', false,
      'node ' || node_id, (nanos * gpu_count * absent_s + 1800000) // 3600000, 63000 * gpu_count * absent_s,
      (nanos * gpu_count * absent_s + 1800000) // 3600000, 0, 1, 1, 0, 0, 0, 0, 0
    FROM (
      SELECT h, node.*, nanos, CAST(3600 - coalesce(present_s, 0) AS BIGINT) AS absent_s
      FROM rate JOIN (SELECT node_id, cluster, provider, billing_account, region, purchase, max(gpu_count) AS gpu_count FROM node_row
        WHERE purchase IN ('owned', 'committed') GROUP BY ALL) AS node USING (node_id)
      CROSS JOIN range(24) AS hours(h) LEFT JOIN node_hour ON node_hour.node_id = node.node_id AND node_hour.hour = h
      WHERE coalesce(present_s, 0) < 3600
    )
  )
  SELECT {day} AS day, {from} + to_hours(CAST(hour AS BIGINT)) AS hour_start, * EXCLUDE (device_number, hour)
  FROM entry ORDER BY device_number, hour, bill_id, disposition, reason, source, allocation_id, attempt, resource_id, component, node_id
) TO {entries} (FORMAT parquet, PARQUET_VERSION v2, COMPRESSION zstd, ROW_GROUP_SIZE 122880);
