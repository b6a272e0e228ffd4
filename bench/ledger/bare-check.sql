-- Each step selects what is wrong; no rows means that the promise of its name holds. Run by `bare.mjs --check`.

-- step: the store has every sample, once
SELECT * FROM (SELECT count(*) AS stored FROM read_parquet({store})), (SELECT count(*) AS given FROM read_parquet({samples})) WHERE stored <> given;

-- step: a device carries the same metrics in all of its samples, as bare.sql relies on
SELECT device_id FROM read_parquet({store}) GROUP BY device_id
HAVING count(engine_permille) NOT IN (0, count(*)) OR count(sm_permille) NOT IN (0, count(*)) OR count(engine_permille) <> count(sm_permille)
  OR count(util_permille) < count(*) OR count(power_w) < count(*) OR min(power_w) <= 0 OR min(step_s) <> 60 OR max(step_s) <> 60;

-- step: a resource has no two charges of the same amount, so that the posting's order needs no row hash
SELECT ResourceId, EffectiveCost FROM read_parquet({charges}) GROUP BY ALL HAVING count(*) > 1;

-- step: charges for nodes lie in one hour, and their nodes are present in it
SELECT * FROM charge LEFT JOIN node_hour ON node_hour.node_id = charge.node_id AND node_hour.hour = from_s // 3600
WHERE kind = 'node' AND (until_s - 1) // 3600 = from_s // 3600 AND coalesce(present_s, 0) = 0
UNION ALL SELECT *, NULL, NULL, NULL FROM charge WHERE kind = 'node' AND (until_s - 1) // 3600 <> from_s // 3600;

-- step: the entries of each bill add up to the bill
SELECT * FROM (SELECT bill_id, sum(usd_micros) AS posted FROM read_parquet({entries}) WHERE bill_id IS NOT NULL GROUP BY bill_id)
FULL JOIN (SELECT bill_id, round(sum(usd), 6) * 1000000 AS billed FROM charge GROUP BY bill_id) USING (bill_id) WHERE posted IS DISTINCT FROM billed;

-- step: unit-seconds are 63000 times the seconds in which each device is present
SELECT device_id, hour_start, sum(gpu_units) AS units, any_value(present_s) AS present_s
FROM read_parquet({entries}) AS entry JOIN device USING (device_id) LEFT JOIN device_hour
  ON device_hour.device_number = device.device_number AND device_hour.hour = hour(hour_start)
GROUP BY ALL HAVING sum(gpu_units) IS DISTINCT FROM 63000 * any_value(present_s);

-- step: every present device-hour has entries
SELECT device_number, hour FROM device_hour EXCEPT SELECT device_number, hour(hour_start) FROM read_parquet({entries}) JOIN device USING (device_id);

-- step: activity is never more than what is held, and none of it negative
SELECT * FROM read_parquet({entries}) WHERE unknown_units < 0 OR computing_units < 0 OR idle_units < 0
  OR (disposition = 'held' AND computing_units + idle_units + unknown_units <> gpu_units) OR (disposition <> 'held' AND computing_units + idle_units + unknown_units <> 0);

-- step: every entry's split gives its micros
SELECT * FROM read_parquet({entries}) WHERE usd_micros IS DISTINCT FROM
  split_of_usd_micros * (split_before + split_weight) // split_total - split_of_usd_micros * split_before // split_total;

-- step: a device-hour at a rate costs what the rate says
SELECT root_device_id, hour_start FROM read_parquet({entries}) WHERE basis = 'rate' AND root_device_id IS NOT NULL
GROUP BY ALL HAVING sum(usd_micros) <> min(split_of_usd_micros) OR min(split_of_usd_micros) <> max(split_of_usd_micros);
