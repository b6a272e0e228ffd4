import { STANDBY_WORDS } from '../facts/standby-words.ts';
import type { Stage } from '../facts/stage.ts';
import { mannerSql } from '../facts/workload-manner.ts';
import { DRAWN_NAME_END } from './subject.ts';
import { HELD_CATEGORIES } from './waterfall.ts';

/** What a service is called, without what a machine put behind it: `chat-7f9c8d6b5-x2x4l` and `chat-0` are of `chat`. */
export const serviceName = (name: string): string => `regexp_replace(${name}, '${DRAWN_NAME_END}', '')`;

/** A replica that computed in no known second of so many hours of a day, while the others did, does not share their traffic. */
const SILENT_SECONDS_MIN = 6 * 3600;

/** Computing less the gaps between requests, of rows of `gpu_hour`. */
export const BUSY_UNITS = 'CAST(sum(g.computing_units - g.gap_units) AS BIGINT)';

/**
 * Question: which replicas did each service hold on a day, and how busy was each of them?
 *
 * A service is what answers requests under one name in one namespace of one cluster. Busy is computing less the gaps between
 * requests. A replica is `is_silent` where it served nothing while others of its service did: it may be there for a failover. What its GPUs cost that day stands
 * beside it, with their time (`paid_units`) and what of it has no price.
 *
 * Reads: holding, gpu_hour, subject_day.
 */
export const serviceDay: Stage = {
  name: 'service_day',
  version: 4,
  unit: 'day',
  reads: [
    { table: 'holding', days: [0] },
    { table: 'gpu_hour', days: [0] },
    { table: 'subject_day', days: [0] },
  ],
  params: [],
  writes: [
    ['day', 'DATE'],
    ['service', 'VARCHAR'],
    ['cluster', 'VARCHAR'],
    ['namespace', 'VARCHAR'],
    ['name', 'VARCHAR'],
    ['workload_kind', 'VARCHAR'],
    ['is_standby', 'BOOLEAN'],
    ['subject', 'VARCHAR'],
    ['source', 'VARCHAR'],
    ['allocation_id', 'VARCHAR'],
    ['attempt', 'BIGINT'],
    ['held_s', 'BIGINT'],
    ['held_units', 'BIGINT'],
    ['busy_units', 'BIGINT'],
    ['unknown_units', 'BIGINT'],
    ['is_silent', 'BOOLEAN'],
    ['usd_micros', 'BIGINT'],
    ['paid_units', 'BIGINT'],
    ['unpriced_units', 'BIGINT'],
  ],
  orderBy: 'service, source, allocation_id, attempt',
  sql: `
    WITH holder AS (
      SELECT day, source, allocation_id, attempt, min(cluster) AS cluster, min(namespace) AS namespace,
             min(${serviceName('workload_name')}) AS name, min(workload_kind) AS workload_kind,
             bool_or(regexp_like(lower(workload_name || ' ' || COALESCE(array_join(map_keys(labels), ' '), '') || ' ' ||
               COALESCE(array_join(map_values(labels), ' '), '')), '${STANDBY_WORDS}')) AS is_standby
      FROM holding
      WHERE workload_name IS NOT NULL AND ${mannerSql('holding')} = 'serving'
        AND day >= CAST($from AS DATE) AND day < CAST($until AS DATE)
      GROUP BY day, source, allocation_id, attempt
    ), used AS (
      SELECT g.day, g.source, g.allocation_id, g.attempt, g.hour_start, max(g.held_s) AS held_s,
             CAST(sum(g.units) AS BIGINT) AS held_units, ${BUSY_UNITS} AS busy_units,
             CAST(sum(g.unknown_units) AS BIGINT) AS unknown_units
      FROM gpu_hour g WHERE g.disposition = 'held' AND g.manner = 'serving'
      GROUP BY g.day, g.source, g.allocation_id, g.attempt, g.hour_start
    ), replica AS (
      SELECT h.day, COALESCE(h.cluster, '') || '/' || COALESCE(h.namespace, '') || '/' || h.name AS service, h.cluster, h.namespace,
             h.name, h.workload_kind, h.is_standby, h.source, h.allocation_id, h.attempt, CAST(sum(u.held_s) AS BIGINT) AS held_s,
             CAST(sum(u.held_units) AS BIGINT) AS held_units, CAST(sum(u.busy_units) AS BIGINT) AS busy_units,
             CAST(sum(u.unknown_units) AS BIGINT) AS unknown_units
      FROM holder h JOIN used u ON h.day = u.day AND h.source = u.source AND h.allocation_id = u.allocation_id AND h.attempt = u.attempt
      GROUP BY h.day, h.cluster, h.namespace, h.name, h.workload_kind, h.is_standby, h.source, h.allocation_id, h.attempt
    ), paid AS (
      SELECT day, source, allocation_id, attempt, CAST(sum(usd_micros) AS BIGINT) AS usd_micros, CAST(sum(gpu_units) AS BIGINT) AS paid_units,
             CAST(sum(unpriced_units) AS BIGINT) AS unpriced_units
      FROM subject_day WHERE category IN (${HELD_CATEGORIES}) GROUP BY day, source, allocation_id, attempt
    )
    SELECT r.day, r.service, r.cluster, r.namespace, r.name, r.workload_kind, r.is_standby,
           'job ' || r.source || '/' || r.allocation_id || '/' || CAST(r.attempt AS VARCHAR) AS subject,
           r.source, r.allocation_id, r.attempt, r.held_s, r.held_units, r.busy_units, r.unknown_units,
           r.busy_units = 0 AND r.unknown_units * 20 <= r.held_units AND r.held_s >= ${SILENT_SECONDS_MIN}
             AND CAST(sum(r.busy_units) OVER (PARTITION BY r.day, r.service) AS BIGINT) > 0 AS is_silent,
           p.usd_micros, COALESCE(p.paid_units, 0) AS paid_units, COALESCE(p.unpriced_units, 0) AS unpriced_units
    FROM replica r
    LEFT JOIN paid p ON r.day = p.day AND r.source = p.source AND r.allocation_id = p.allocation_id AND r.attempt = p.attempt`,
};
