/**
 * Makes the input of the ledger benchmark: a fleet of GPUs, its holdings, samples every `--step` minutes, bills and rates.
 *
 *   node bench/ledger/make-fleet.mjs [--gpus 10000] [--start 2026-10-01] [--days 1] [--only 2026-10-01] [--step 1] [--dir bench-data]
 *
 * Every value comes from a hash of what it belongs to, so the same fleet is made each time, and a day's files are the
 * same whether they are made alone (`--only`) or with the others. The fleet lives from `--start` for `--days` days:
 * nothing is dated outside, so that the ledger has these days and no others.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';

const GPUS_PER_NODE = 8;
const PROVIDER = 'AWS';
const BILLING_ACCOUNT = '123456789012';

const { values: options } = parseArgs({
  options: {
    gpus: { type: 'string', default: '10000' },
    start: { type: 'string', default: '2026-10-01' },
    days: { type: 'string', default: '1' },
    only: { type: 'string' },
    step: { type: 'string', default: '1' },
    dir: { type: 'string', default: 'bench-data' },
  },
});
const gpus = Number(options.gpus);
const days = Number(options.days);
const stepMinutes = Number(options.step);
if (gpus % GPUS_PER_NODE !== 0) throw new Error(`--gpus must be a multiple of ${GPUS_PER_NODE}`);
mkdirSync(options.dir, { recursive: true });

const instance = await DuckDBInstance.create(':memory:', {
  threads: '2',
  memory_limit: '1400MB',
  temp_directory: join(options.dir, 'make-fleet.tmp'),
});
const connection = await instance.connect();

/** @param {number} index @returns {string} the fleet's day, counted from 0, as `2026-10-01` */
const dayAt = (index) =>
  new Date(Date.parse(`${options.start}T00:00:00Z`) + index * 86_400_000).toISOString().slice(0, 10);
/** @param {string} name */
const file = (name) => join(options.dir, name);
/** @param {string} name @param {string} query */
const writeParquet = (name, query) =>
  connection.run(`COPY (${query}) TO '${file(name)}' (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 122880)`);

await connection.run(`
  -- A number in [0, modulus) that depends on what is hashed and on nothing else.
  CREATE MACRO pick(what, key, modulus) AS CAST(hash(what, key) % modulus AS BIGINT);
  CREATE MACRO start_at() AS TIMESTAMP '${options.start} 00:00:00';`);
await connection.run(inventorySql());
await writeParquet('nodes.parquet', nodeRowsSql());
await writeParquet('devices.parquet', 'SELECT device_id, node_id, model FROM device ORDER BY device_number');
await connection.run(`COPY (${ratesSql()}) TO '${file('rates.csv')}' (FORMAT csv, HEADER)`);
for (let day = 0; day < days; day++) {
  if (options.only !== undefined && options.only !== dayAt(day)) continue;
  await writeParquet(`allocations-${dayAt(day)}.parquet`, allocationsSql(day));
  await writeParquet(`charges-${dayAt(day)}.parquet`, chargesSql(day));
  await writeParquet(`samples-${dayAt(day)}.parquet`, samplesSql(day));
}
writeFileSync(
  file('fleet.json'),
  `${JSON.stringify({ gpus, start: options.start, days, duckdb: await duckdbVersion() })}\n`,
);
connection.closeSync();

async function duckdbVersion() {
  const reader = await connection.runAndReadAll('SELECT version()');
  return String(reader.getRows()[0]?.[0]);
}

/**
 * Nodes: the first half of a cloud provider, the rest owned. On the first day a few join late, leave early, or are
 * drained for some hours; one in sixty is in a cluster without a scheduler. `sharing` says how its devices are handed out.
 */
function inventorySql() {
  return `
  CREATE TABLE node AS
    WITH numbered AS (SELECT n AS node_number, n * 2 < ${gpus / GPUS_PER_NODE} AS is_cloud FROM range(${gpus / GPUS_PER_NODE}) AS r(n))
    SELECT node_number, is_cloud, printf('gpu-%05d', node_number) AS node_id,
      CASE WHEN is_cloud THEN printf('i-0%015x', hash('instance', node_number) & 1152921504606846975) END AS resource_id,
      CASE WHEN is_cloud THEN '${PROVIDER}' ELSE 'own-dc' END AS provider,
      CASE WHEN is_cloud THEN '${BILLING_ACCOUNT}' ELSE 'dc-1' END AS billing_account,
      CASE WHEN NOT is_cloud THEN 'dc-east' WHEN pick('region', node_number, 3) = 0 THEN 'us-west-2' ELSE 'us-east-1' END AS region,
      CASE WHEN NOT is_cloud THEN 'hgx' WHEN pick('model', node_number, 10) < 6 THEN 'p5.48xlarge' ELSE 'p4de.24xlarge' END AS instance_type,
      CASE WHEN NOT is_cloud THEN 'owned' WHEN pick('purchase', node_number, 3) = 0 THEN 'committed' ELSE 'on-demand' END AS purchase,
      CASE WHEN NOT is_cloud AND pick('model', node_number, 10) >= 8 THEN 'NVIDIA L40S'
           WHEN pick('model', node_number, 10) < 6 THEN 'NVIDIA H100 80GB HBM3' ELSE 'NVIDIA A100-SXM4-80GB' END AS model,
      CASE WHEN pick('cluster', node_number, 60) = 0 THEN 'lab' WHEN is_cloud THEN 'cloud-' || pick('cluster', node_number, 2)
           ELSE 'dc-' || pick('cluster', node_number, 2) END AS cluster,
      CASE WHEN pick('sharing', node_number, 100) < 55 THEN 'node' WHEN pick('sharing', node_number, 100) < 90 THEN 'device' ELSE 'shared' END AS sharing,
      CASE WHEN pick('joins', node_number, 80) = 1 THEN 21600 + pick('joins at', node_number, 21600) ELSE 0 END AS joins_s,
      CASE WHEN is_cloud AND pick('joins', node_number, 80) = 2 THEN 50000 + pick('leaves at', node_number, 21600) END AS leaves_s,
      CASE WHEN pick('joins', node_number, 80) = 3 THEN 30000 + pick('drained at', node_number, 20000) END AS drained_s,
      CASE pick('joins', node_number, 80) WHEN 4 THEN 'spare' WHEN 5 THEN CASE WHEN is_cloud THEN 'up' ELSE 'down' END ELSE 'up' END AS state
    FROM numbered;
  CREATE TABLE device AS
    SELECT d AS device_number, printf('GPU-%08x', (d * 2654435761 + 305419896) % 4294967296) AS device_id, d % ${GPUS_PER_NODE} AS gpu_index,
      node.*,
      -- What a whole day of a device is like: how it is handed out, and whether anybody wants it.
      CASE WHEN sharing <> 'shared' THEN 'whole' WHEN pick('isolation', d, 100) < 60 THEN 'time-slice'
           WHEN pick('isolation', d, 100) < 80 THEN 'fraction' WHEN pick('isolation', d, 100) < 85 THEN 'mixed' ELSE 'whole' END AS handed_out,
      cluster = 'lab' OR state <> 'up' OR pick('unwanted', CASE WHEN sharing = 'node' THEN -1 - node_number ELSE d END, 100) < 4 AS is_unwanted
    FROM range(${gpus}) AS r(d) JOIN node ON node_number = d // ${GPUS_PER_NODE};`;
}

/** A state that changes is a new row of the node; only what leaves has an end, since an end is a fact of its time. */
function nodeRowsSql() {
  const columns = `node_id, present_from, present_until, resource_id, provider, billing_account, region, instance_type, purchase,
    cluster, gpu_count, state`;
  const of = (/** @type {string} */ from, /** @type {string} */ until, /** @type {string} */ state) => `
    SELECT node_number, node_id, start_at() + to_seconds(${from}) AS present_from, start_at() + to_seconds(${until}) AS present_until,
      resource_id, provider, billing_account, region, instance_type, purchase, cluster, ${GPUS_PER_NODE} AS gpu_count, ${state} AS state FROM node`;
  return `SELECT ${columns} FROM (${of('joins_s', 'leaves_s', 'state')}
    UNION ALL ${of('drained_s', 'NULL', `'drained'`)} WHERE drained_s IS NOT NULL
    UNION ALL ${of('drained_s + 9000', 'NULL', `'up'`)} WHERE drained_s IS NOT NULL)
    ORDER BY node_number, present_from`;
}

/** Owned hardware has a rate by model, and some machines one of their own. */
function ratesSql() {
  return `
    WITH rate(model, node_id, usd_per_gpu_hour, rate_source) AS (
      SELECT 'H100', NULL, CAST(1.953125 AS DECIMAL(18,9)), 'finance'
      UNION ALL SELECT 'A100', NULL, 1.071, 'finance'
      UNION ALL SELECT 'L40S', NULL, 0.463333333, 'finance'
      UNION ALL SELECT NULL, node_id, 1.5 + CAST(0.000001 AS DECIMAL(6,6)) * CAST(pick('rate', node_number, 1000000) AS DECIMAL(9,0)), 'contract'
      FROM node WHERE NOT is_cloud AND (joins_s > 0 OR pick('has a rate', node_number, 50) = 0))
    SELECT model, node_id, '${options.start}T00:00:00Z' AS valid_from, usd_per_gpu_hour, rate_source FROM rate ORDER BY node_id, model`;
}

/**
 * Holdings that began or ended on a day, or are open at its end, as a scheduler's log tells them at midnight: what is
 * open is told again, with its end, on the next day. Two to four one after the other on each node, device, or share.
 */
function allocationsSql(/** @type {number} */ day) {
  return `
  WITH lane AS (
    -- One lane is one line of holdings after another: a device has one, a shared device two or three.
    SELECT device_number, device_id, node_id, gpu_index, cluster, sharing, handed_out, joins_s, leaves_s, l AS lane_number,
      CASE WHEN sharing = 'node' THEN -1 - node_number ELSE device_number * 4 + l END AS lane_key,
      CASE handed_out WHEN 'mixed' THEN CASE l WHEN 0 THEN 'fraction' ELSE 'time-slice' END ELSE handed_out END AS isolation
    FROM device JOIN range(3) AS lanes(l) ON l < CASE handed_out WHEN 'whole' THEN 1 WHEN 'time-slice' THEN 2 ELSE 3 END
    WHERE NOT is_unwanted
  ), planned AS (
    SELECT lane.*, d AS day_number, j AS turn, job_count, lane_key || '/' || d || '/' || j AS job_key,
      start_at() + to_days(CAST(d AS INTEGER)) AS day_at, 86400 // job_count AS turn_s
    FROM (SELECT lane.*, d, 2 + pick('jobs', lane_key || '/' || d, 3) AS job_count FROM lane, range(${day - 1}, ${day + 1}) AS r(d) WHERE d >= 0) AS lane
    JOIN range(4) AS turns(j) ON j < job_count
  ), timed AS (
    SELECT *,
      day_at + to_seconds(turn * turn_s + CASE WHEN turn = 0 AND day_number > 0 AND pick('crosses', lane_key || '/' || (day_number - 1), 100) < 12
        THEN 7200 ELSE 0 END + pick('from', job_key, 900)) AS held_from,
      CASE WHEN turn = job_count - 1 AND pick('crosses', lane_key || '/' || day_number, 100) < 12
        THEN day_at + to_seconds(86400 + pick('until', job_key, 7200))
        -- One in a hundred hands over a minute late, one in a thousand far too late.
        WHEN turn < job_count - 1 AND pick('late', job_key, 1000) < 10 
          THEN day_at + to_seconds((turn + 1) * turn_s + pick('from', lane_key || '/' || day_number || '/' || (turn + 1), 900) + pick('until', job_key, 90))
        WHEN turn < job_count - 1 AND pick('late', job_key, 1000) = 10 THEN day_at + to_seconds((turn + 1) * turn_s + 1800)
        ELSE day_at + to_seconds((turn + 1) * turn_s - pick('until', job_key, 1200)) END AS held_until
    FROM planned WHERE pick('skipped', job_key, 25) > 0
  )
  SELECT CASE WHEN sharing = 'node' THEN 'slurm' ELSE 'kubernetes' END AS source,
    CASE WHEN sharing = 'node' THEN CAST(100000 + hash('job', job_key) % 900000000 AS VARCHAR) ELSE printf('%016x', hash('pod', job_key)) END AS allocation_id,
    CAST(pick('attempt', job_key, 40) = 0 AS INTEGER) AS attempt, node_id, CAST(gpu_index * 4 + lane_number AS INTEGER) AS slot, held_from,
    CASE WHEN held_until <= start_at() + INTERVAL ${day + 1} DAY THEN held_until END AS held_until,
    start_at() + INTERVAL ${day + 1} DAY AS observed_at, device_id, 1 AS gpu_count,
    CASE isolation WHEN 'fraction' THEN [12600, 15750, 18900][lane_number + 1] ELSE 63000 END AS share_units, isolation, cluster,
    CASE WHEN sharing = 'node' THEN ['nlp', 'vision', 'search', 'speech'][pick('user', job_key, 300) % 4 + 1] END AS account,
    'user' || pick('user', job_key, 300) AS user_name,
    CASE WHEN sharing = 'node' THEN 'Job' ELSE ['PyTorchJob', 'Notebook', 'Deployment'][pick('kind', job_key, 3) + 1] END AS workload_kind,
    'run-' || pick('name', job_key, 5000) AS workload_name,
    CASE WHEN pick('labelled', job_key, 10) < 8 THEN '{"team": "team-' || pick('user', job_key, 300) % 40 || '", "project": "p' || pick('user', job_key, 300) % 40 || '-' || pick('project', job_key, 4) || '"}' ELSE '{}' END AS labels
  FROM timed
  WHERE (day_number = ${day} OR held_until > start_at() + INTERVAL ${day} DAY)
    AND held_from >= start_at() + to_seconds(joins_s) AND (leaves_s IS NULL OR held_from < start_at() + to_seconds(leaves_s))
  ORDER BY coalesce(held_until, observed_at), device_number, lane_number, held_from`;
}

/**
 * One bill a day. Amounts of one resource differ in every row, because each hour has its own discount: the order of the
 * posting is then fixed by (resource, amount) and needs no hash of a row to break ties.
 */
function chargesSql(/** @type {number} */ day) {
  const bill = `'${PROVIDER}' AS ProviderName, '${BILLING_ACCOUNT}' AS BillingAccountId, start_at() + INTERVAL ${day} DAY AS BillingPeriodStart,
    start_at() + INTERVAL ${day + 1} DAY AS BillingPeriodEnd, 'USD' AS BillingCurrency`;
  const dayLong = `start_at() + INTERVAL ${day} DAY AS ChargePeriodStart, start_at() + INTERVAL ${day + 1} DAY AS ChargePeriodEnd`;
  /** @param {string} what @param {string} key @param {number} usdMax @returns {string} odd decimals, never the same twice */
  const money = (
    what,
    key,
    usdMax,
  ) => `CAST(CAST(0.000000001 AS DECIMAL(10,9)) * CAST(pick('${what} ${day}', ${key}, ${usdMax}000000000) AS DECIMAL(28,0))
    + CAST(0.000000000137 AS DECIMAL(12,12)) * CAST(${key} AS DECIMAL(9,0)) AS DECIMAL(30,15))`;
  return `
  WITH rows_of_the_bill AS (
    SELECT h * 100000 + node_number AS n, start_at() + to_hours(CAST(h AS BIGINT)) AS ChargePeriodStart, start_at() + to_hours(CAST(h + 1 AS BIGINT)) AS ChargePeriodEnd,
      'Usage' AS ChargeCategory, 'Compute' AS ServiceCategory, 'Amazon Elastic Compute Cloud' AS ServiceName,
      instance_type || ' per hour' AS ChargeDescription, CASE WHEN purchase = 'committed' THEN 'Committed' ELSE 'Standard' END AS PricingCategory,
      CASE WHEN purchase = 'committed' THEN 'sp-' || region END AS CommitmentDiscountId, CASE WHEN purchase = 'committed' THEN 'Used' END AS CommitmentDiscountStatus,
      'SKU-' || upper(instance_type) AS SkuId, region AS RegionId, 'arn:aws:ec2:' || region || ':${BILLING_ACCOUNT}:instance/' || resource_id AS ResourceId,
      CAST((CASE instance_type WHEN 'p5.48xlarge' THEN 55.04 ELSE 27.44705 END)
        * (CAST(1 AS DECIMAL(10,9)) - CAST(0.000000001 AS DECIMAL(10,9)) * (230000000 + pick('discount', node_number, 100000000) + (h - ${day * 24}) * 1000003)) AS DECIMAL(30,15)) AS usd
    FROM node, range(${day * 24}, ${day * 24 + 24}) AS hours(h)
    WHERE is_cloud AND (h + 1) * 3600 > joins_s AND h * 3600 < coalesce(leaves_s, 1000000000)
      AND pick('free hour', node_number * 100000 + h, 1000) > 0
    UNION ALL
    SELECT 10000000 + v, ${dayLong}, 'Usage', 'Storage', 'Amazon Elastic Block Store', 'Provisioned volume', 'Standard', NULL, NULL, 'SKU-GP3',
      CASE WHEN v % 3 = 0 THEN 'us-west-2' ELSE 'us-east-1' END, 'vol-' || printf('%08x', hash('volume', v) & 4294967295), ${money('volume', 'v', 30)}
    FROM range(${Math.ceil(gpus / 10)}) AS volumes(v)
    UNION ALL
    SELECT 11000000 + h * 10 + g, start_at() + to_hours(${day * 24} + CAST(h AS BIGINT)), start_at() + to_hours(${day * 24} + CAST(h + 1 AS BIGINT)), 'Usage', 'Networking',
      'Amazon Virtual Private Cloud', CASE WHEN g < 4 THEN 'NAT gateway hours' ELSE 'Data transfer out' END, 'Standard', NULL, NULL, 'SKU-NET-' || g,
      CASE WHEN g % 2 = 0 THEN 'us-west-2' ELSE 'us-east-1' END, 'nat-' || g, ${money('nat', 'h * 10 + g', 9)}
    FROM range(24) AS hours(h), range(8) AS gateways(g)
    UNION ALL
    SELECT 12000000 + h * 10 + c, start_at() + to_hours(${day * 24} + CAST(h AS BIGINT)), start_at() + to_hours(${day * 24} + CAST(h + 1 AS BIGINT)), 'Usage', 'Compute',
      'Amazon Elastic Compute Cloud', 'Unused commitment', 'Committed', 'sp-' || ['us-east-1', 'us-west-2'][c + 1], 'Unused', 'SKU-SP-' || c,
      ['us-east-1', 'us-west-2'][c + 1], 'sp-' || ['us-east-1', 'us-west-2'][c + 1], ${money('unused', 'h * 10 + c', 60)}
    FROM range(24) AS hours(h), range(2) AS commitments(c)
    UNION ALL
    SELECT 13000000 + t, ${dayLong}, 'Tax', 'Other', 'Tax', 'Sales tax', NULL, NULL, NULL, NULL, NULL, NULL, ${money('tax', 't', 4000)}
    FROM range(3) AS taxes(t)
  )
  SELECT ${bill}, * EXCLUDE (n, usd), CAST(usd AS DECIMAL(30,15)) AS BilledCost, CAST(usd AS DECIMAL(30,15)) AS EffectiveCost, CAST(usd * 1.25 AS DECIMAL(30,15)) AS ListCost
  FROM rows_of_the_bill ORDER BY n`;
}

/**
 * One sample a step and device, in order of arrival. Work comes in stretches of twenty minutes with some stalls between;
 * L40S have no profiling counters, only nvidia-smi's; two in a thousand samples contradict themselves; about one in a hundred
 * is lost, in gaps of one to twenty minutes, and some exporters are dead for hours.
 */
function samplesSql(/** @type {number} */ day) {
  return `
  WITH moment AS (
    SELECT minute, device.*, i % ${gpus} AS d, CAST(hash('noise ${day}', i) AS UBIGINT) AS noise, CAST(hash('rare ${day}', i) AS UBIGINT) AS rare,
      ${day} * 72 + minute // 20 AS stretch, ${day} * 48 + minute // 30 AS half_hour
    FROM (SELECT i, (i // ${gpus}) * ${stepMinutes} AS minute FROM range(${(gpus * 1440) / stepMinutes}) AS r(i)) r
    JOIN device ON device_number = i % ${gpus}
  ), stated AS (
    SELECT *, pick('stretch', d * 1000003 + stretch, 1000) AS stretch_pick,
      -- 0 rests, 1 works, 2 says two things at once
      CASE WHEN is_unwanted OR pick('stretch', d * 1000003 + stretch, 1000) < 60 OR rare % 1000 < 4 THEN 0 WHEN rare % 1000 < 6 THEN 2 ELSE 1 END AS doing,
      model <> 'NVIDIA L40S' AS has_counters
    FROM moment
    WHERE state <> 'down' AND ${day} * 86400 + minute * 60 >= joins_s AND ${day} * 86400 + minute * 60 < coalesce(leaves_s, 1000000000)
      AND NOT (pick('gap', d * 1000003 + half_hour, 100) < 3 AND minute % 30 < pick('gap length', d * 1000003 + half_hour, 20))
      AND NOT (pick('dead ${day}', node_number, 250) = 0 AND minute BETWEEN pick('dead from ${day}', node_number, 1000) AND pick('dead from ${day}', node_number, 1000) + 300)
  )
  SELECT device_id, start_at() + to_minutes(${day * 1440} + minute) AS ts, CAST(${stepMinutes * 60} AS INTEGER) AS step_s,
    CAST(CASE WHEN has_counters THEN CASE doing WHEN 1 THEN 700 + stretch_pick // 5 + noise % 100 ELSE noise % 6 END END AS INTEGER) AS engine_permille,
    CAST(CASE WHEN has_counters THEN CASE doing WHEN 1 THEN 400 + stretch_pick // 3 + (noise >> 8) % 120 ELSE 0 END END AS INTEGER) AS sm_permille,
    CAST(CASE WHEN has_counters THEN CASE doing WHEN 1 THEN 100 + stretch_pick // 3 + (noise >> 16) % 90 ELSE 0 END END AS INTEGER) AS tensor_permille,
    CAST(CASE WHEN has_counters THEN CASE doing WHEN 1 THEN 200 + stretch_pick // 4 + (noise >> 24) % 110 ELSE (noise >> 24) % 3 END END AS INTEGER) AS dram_permille,
    CAST(CASE doing WHEN 1 THEN 900 + (noise >> 32) % 101 WHEN 2 THEN 1000 ELSE 0 END AS INTEGER) AS util_permille,
    CAST(CASE WHEN is_unwanted THEN 4 ELSE 1024 * (8 + stretch_pick % 70) + (noise >> 36) % 16 END AS INTEGER) AS fb_used_mib,
    CAST(CASE doing WHEN 0 THEN CASE WHEN rare % 97 = 0 THEN 130 ELSE 68 + (noise >> 40) % 9 END ELSE 380 + stretch_pick // 5 + (noise >> 40) % 60 END AS INTEGER) AS power_w,
    CAST(CASE doing WHEN 1 THEN 200 + (noise >> 44) % 4000 ELSE (noise >> 44) % 8 END AS INTEGER) AS pcie_mb_s,
    CAST(CASE doing WHEN 1 THEN stretch_pick * 100 + (noise >> 50) % 9000 ELSE 0 END AS INTEGER) AS nvlink_mb_s
  FROM stated`;
}
