import type { Stage } from '../facts/stage.ts';
import { BUSY_UNITS, serviceName } from './service-day.ts';

/** What is summed of work, and in which parts of its unit: seconds in thousandths. */
const COUNTED = [
  ['requests', 'request', 1],
  ['prompt_tokens', 'prompt_token', 1],
  ['generation_tokens', 'generation_token', 1],
  ['inferences', 'inference', 1],
  ['executions', 'execution', 1],
  ['request_ms', 'request_second', 1000],
  ['queue_ms', 'queue_second', 1000],
  ['first_token_ms', 'first_token_second', 1000],
  ['prefix_query_tokens', 'prefix_query_token', 1],
  ['prefix_hit_tokens', 'prefix_hit_token', 1],
  ['preemptions', 'preemption', 1],
] as const;

const counted = (unit: string, per: number): string =>
  `CAST(sum(CAST(quantity AS DECIMAL(38, 6))${per === 1 ? '' : ` * ${per}`}) FILTER (WHERE unit = '${unit}') AS BIGINT)`;

/**
 * Question: how many replicas did each service hold in each hour, how busy were they together, and what was asked of them?
 *
 * Silent replicas (see `service_day`) are left out: they share no traffic. `replica_units` is the capacity of one replica, the largest
 * where they differ. Work meets its service by job, else by the name of its pod; NULL where nothing was counted, which is not 0.
 *
 * Reads: service_day, gpu_hour, work.
 */
export const serviceHour: Stage = {
  name: 'service_hour',
  version: 1,
  unit: 'day',
  reads: [
    { table: 'service_day', days: [0] },
    { table: 'gpu_hour', days: [0] },
    { table: 'work', days: [0] },
  ],
  params: [],
  writes: [
    ['day', 'DATE'],
    ['service', 'VARCHAR'],
    ['hour_start', 'TIMESTAMP'],
    ['replicas', 'BIGINT'],
    ['replica_units', 'BIGINT'],
    ['held_units', 'BIGINT'],
    ['busy_units', 'BIGINT'],
    ['unknown_units', 'BIGINT'],
    ['models', 'BIGINT'],
    ...COUNTED.map(([name]) => [name, 'BIGINT'] as const),
  ],
  orderBy: 'service, hour_start',
  sql: `
    WITH used AS (
      SELECT g.day, s.service, g.hour_start, g.source, g.allocation_id, g.attempt, max(g.held_s) AS held_s,
             CAST(sum(g.units) AS BIGINT) AS held_units, ${BUSY_UNITS} AS busy_units,
             CAST(sum(g.unknown_units) AS BIGINT) AS unknown_units
      FROM gpu_hour g
      JOIN service_day s ON g.day = s.day AND g.source = s.source AND g.allocation_id = s.allocation_id AND g.attempt = s.attempt
      WHERE g.disposition = 'held' AND g.held_s > 0 AND NOT s.is_silent
      GROUP BY g.day, s.service, g.hour_start, g.source, g.allocation_id, g.attempt
    ), busy AS (
      SELECT day, service, hour_start, count(*) AS replicas, max(CAST((held_units - held_units % held_s) / held_s AS BIGINT)) AS replica_units,
             CAST(sum(held_units) AS BIGINT) AS held_units, CAST(sum(busy_units) AS BIGINT) AS busy_units,
             CAST(sum(unknown_units) AS BIGINT) AS unknown_units
      FROM used GROUP BY day, service, hour_start
    ), done AS (
      SELECT CAST(window_from AS DATE) AS day, date_trunc('hour', window_from) AS hour_start, unit, quantity, model_name,
             allocation_id, cluster, namespace, ${serviceName('pod')} AS pod_name
      FROM work WHERE window_from >= $from AND window_from < $until
    ), by_job AS (
      SELECT DISTINCT day, allocation_id, service FROM service_day
    ), by_name AS (
      SELECT DISTINCT day, cluster, namespace, name, service FROM service_day
    ), met AS (
      SELECT d.day, d.hour_start, j.service, d.unit, d.quantity, d.model_name
      FROM done d JOIN by_job j ON d.day = j.day AND d.allocation_id = j.allocation_id
      UNION ALL
      SELECT d.day, d.hour_start, n.service, d.unit, d.quantity, d.model_name
      FROM done d JOIN by_name n ON d.day = n.day AND d.namespace = n.namespace AND d.pod_name = n.name
        AND (d.cluster IS NULL OR n.cluster IS NULL OR d.cluster = n.cluster)
      WHERE d.allocation_id IS NULL
    ), counted AS (
      SELECT day, service, hour_start, count(DISTINCT model_name) AS models,
             ${COUNTED.map(([name, unit, per]) => `${counted(unit, per)} AS ${name}`).join(', ')}
      FROM met GROUP BY day, service, hour_start
    )
    SELECT b.day, b.service, b.hour_start, b.replicas, b.replica_units, b.held_units, b.busy_units, b.unknown_units,
           COALESCE(c.models, 0) AS models, ${COUNTED.map(([name]) => `c.${name}`).join(', ')}
    FROM busy b LEFT JOIN counted c ON b.day = c.day AND b.service = c.service AND b.hour_start = c.hour_start`,
};
