import { SHARE_UNITS } from '../facts/column.ts';
import type { Stage } from '../facts/stage.ts';

/**
 * Node rows with the end that counts for them. Shared with the stages that need nodes without devices.
 * Reads: node.
 */
export const NODE_ROW = `
  SELECT n.*,
         CASE WHEN COALESCE(present_until, $horizon) < COALESCE(next_from, $horizon)
              THEN CASE WHEN COALESCE(present_until, $horizon) < $horizon
                        THEN COALESCE(present_until, $horizon) ELSE $horizon END
              ELSE CASE WHEN COALESCE(next_from, $horizon) < $horizon
                        THEN COALESCE(next_from, $horizon) ELSE $horizon END END AS ends_at
  FROM (SELECT node.*, lead(present_from) OVER (PARTITION BY node_id ORDER BY present_from) AS next_from FROM node) n`;

/**
 * Question: which devices were there, on which machine, in which state, on each day?
 *
 * Inventory goes before inference: a dead exporter must not make cost vanish. Where no inventory speaks of a device
 * it is there from the first to the last that was seen of it, and says so (`presence` = inferred).
 *
 * Reads: node, device (all rows), inferred.
 */
export const presence: Stage = {
  name: 'presence',
  version: 3,
  unit: 'day',
  reads: [
    { table: 'node', days: 'all' },
    { table: 'device', days: 'all' },
    { table: 'inferred', days: 'all' },
  ],
  growth: 16,
  params: ['horizon', 'begin'],
  writes: [
    ['day', 'DATE'],
    ['device_id', 'VARCHAR'],
    ['root_device_id', 'VARCHAR'],
    ['node_id', 'VARCHAR'],
    ['is_slice', 'BOOLEAN'],
    ['capacity_units', 'BIGINT'],
    ['from_at', 'TIMESTAMP'],
    ['until_at', 'TIMESTAMP'],
    ['model', 'VARCHAR'],
    ['cluster', 'VARCHAR'],
    ['provider', 'VARCHAR'],
    ['billing_account', 'VARCHAR'],
    ['region', 'VARCHAR'],
    ['purchase', 'VARCHAR'],
    ['state', 'VARCHAR'],
    ['presence', 'VARCHAR'],
    ['zone', 'VARCHAR'],
    ['instance_type', 'VARCHAR'],
    ['node_gpus', 'BIGINT'],
    ['vcpu', 'BIGINT'],
    ['memory_bytes', 'BIGINT'],
  ],
  orderBy: 'node_id, device_id, from_at',
  sql: `
    WITH node_row AS (${NODE_ROW}
    ), device_row AS (
      SELECT d.*,
             CASE WHEN COALESCE(present_until, $horizon) < COALESCE(next_from, $horizon)
                  THEN COALESCE(present_until, $horizon) ELSE COALESCE(next_from, $horizon) END AS ends_at
      FROM (SELECT device.*, lead(present_from) OVER (PARTITION BY device_id ORDER BY present_from) AS next_from
            FROM device) d
    ), inferred_on AS (
      SELECT node_id, count(*) AS devices FROM inferred WHERE device_id IS NOT NULL AND node_id IS NOT NULL
      GROUP BY node_id
    ), node_reach AS (
      SELECT node_row.*,
             CASE WHEN lag(present_from) OVER (PARTITION BY node_id ORDER BY present_from) IS NULL
                  THEN TIMESTAMP '1970-01-01 00:00:00' ELSE present_from END AS reach_from,
             COALESCE(next_from, TIMESTAMP '9999-12-31 00:00:00') AS reach_until
      FROM node_row
    ), there AS (
      SELECT d.device_id, d.parent_device_id, d.node_id, d.share_units, d.model, 'inventory' AS presence,
             d.present_from AS from_at, d.ends_at AS until_at, n.present_from AS node_from, n.ends_at AS node_until,
             n.cluster, n.provider, n.billing_account, n.region, n.purchase, n.state, n.zone, n.instance_type,
             n.gpu_count AS node_gpus, n.vcpu, n.memory_bytes
      FROM device_row d JOIN node_row n ON d.node_id = n.node_id
        AND d.present_from < n.ends_at AND d.ends_at > n.present_from
      UNION ALL
      SELECT d.device_id, d.parent_device_id, d.node_id, d.share_units, d.model, 'inventory',
             d.present_from, d.ends_at, d.present_from, d.ends_at, NULL, NULL, NULL, NULL, NULL, 'up', NULL, NULL, NULL,
             NULL, NULL
      FROM device_row d LEFT JOIN (SELECT DISTINCT node_id FROM node) n ON d.node_id = n.node_id
      WHERE n.node_id IS NULL
      UNION ALL
      SELECT n.node_id || '/gpu' || CAST(c.n AS VARCHAR), NULL, n.node_id, ${SHARE_UNITS}, n.model, n.presence,
             n.present_from, n.ends_at, n.present_from, n.ends_at,
             n.cluster, n.provider, n.billing_account, n.region, n.purchase, n.state, n.zone, n.instance_type, n.gpu_count,
             n.vcpu, n.memory_bytes
      FROM node_row n
      LEFT JOIN (SELECT DISTINCT node_id FROM device) d ON n.node_id = d.node_id
      LEFT JOIN inferred_on i ON n.node_id = i.node_id
      JOIN counter c ON c.n < n.gpu_count - COALESCE(i.devices, 0)
      WHERE d.node_id IS NULL
      UNION ALL
      SELECT i.device_id, NULL, i.node_id, ${SHARE_UNITS}, n.model, 'inferred', i.from_at, i.until_at,
             COALESCE(n.reach_from, i.from_at), COALESCE(n.reach_until, i.until_at),
             n.cluster, n.provider, n.billing_account, n.region, n.purchase, COALESCE(n.state, 'up'), n.zone,
             n.instance_type, n.gpu_count, n.vcpu, n.memory_bytes
      FROM inferred i LEFT JOIN node_reach n ON i.node_id = n.node_id
        AND i.from_at < n.reach_until AND i.until_at > n.reach_from
      WHERE i.device_id IS NOT NULL
      UNION ALL
      SELECT k.node_id || '/gpu' || CAST(c.n AS VARCHAR), NULL, k.node_id, ${SHARE_UNITS}, NULL, 'inferred',
             k.from_at, k.until_at, k.from_at, k.until_at, NULL, NULL, NULL, NULL, NULL, 'up', NULL, NULL, NULL, NULL, NULL
      FROM inferred k JOIN counter c ON c.n < k.counted_gpus WHERE k.device_id IS NULL
    ), both_there AS (
      SELECT there.*,
             CASE WHEN from_at <= TIMESTAMP '1970-01-01 00:00:00' AND node_from <= TIMESTAMP '1970-01-01 00:00:00' THEN $begin
                  WHEN from_at > node_from THEN from_at ELSE node_from END AS begins,
             CASE WHEN until_at < node_until THEN until_at ELSE node_until END AS ends
      FROM there
    )
    SELECT d.day, b.device_id, COALESCE(b.parent_device_id, b.device_id) AS root_device_id, b.node_id,
           b.parent_device_id IS NOT NULL AS is_slice,
           CASE WHEN b.parent_device_id IS NULL THEN ${SHARE_UNITS} ELSE b.share_units END AS capacity_units,
           CASE WHEN b.begins < d.day_start THEN d.day_start ELSE b.begins END AS from_at,
           CASE WHEN b.ends > d.day_end THEN d.day_end ELSE b.ends END AS until_at,
           b.model, b.cluster, b.provider, b.billing_account, b.region, b.purchase, b.state, b.presence,
           b.zone, b.instance_type, b.node_gpus, b.vcpu, b.memory_bytes
    FROM both_there b JOIN calendar_day d ON b.begins < d.day_end AND b.ends > d.day_start`,
};
