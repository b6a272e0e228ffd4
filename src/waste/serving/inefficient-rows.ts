import { z } from 'zod';
import { sqlCount } from '../../facts/sql-row.ts';

const known = sqlCount.nullable();

/** What one service did in its hours, and in the busiest quarter of them by what it was asked for. */
export const ServedWork = z.object({
  service: z.string(),
  name: z.string(),
  namespace: z.string().nullable(),
  workloadKind: z.string().nullable(),
  lastSubject: z.string(),
  hours: sqlCount,
  models: sqlCount,
  /** Hours outside the busiest quarter, and their replicas added up. */
  quietHours: sqlCount,
  quietReplicas: sqlCount,
  /** Unit-seconds held, busy or not: what is paid for. */
  heldUnits: sqlCount,
  peakHeldUnits: sqlCount,
  /** What its replicas cost in the window, and their time; null where some of it has no price. */
  usdMicros: z.bigint().nullable(),
  paidUnits: sqlCount,
  /** Seconds of replicas and GPUs that were busy. */
  busyReplicaMs: sqlCount,
  busyUnits: sqlCount,
  peakBusyReplicaMs: sqlCount,
  peakBusyUnits: sqlCount,
  /** Tokens; where none are counted inferences, else requests. */
  hasTokens: z.boolean(),
  work: known,
  peakWork: known,
  requests: known,
  peakRequests: known,
  requestMs: known,
  peakRequestMs: known,
  /** Summed over requests: from the request to its first token. */
  firstTokenMs: known,
  peakFirstTokenMs: known,
  promptTokens: known,
  generationTokens: known,
  prefixQueryTokens: known,
  prefixHitTokens: known,
  preemptions: known,
  inferences: known,
  executions: known,
});
export type ServedWork = z.infer<typeof ServedWork>;

const sum = (column: string, where = ''): string =>
  `CAST(sum(${column})${where === '' ? '' : ` FILTER (WHERE ${where})`} AS BIGINT)`;
const PEAK = 'place * 4 <= places';

const SERVED = `
  hour AS (
    SELECT *, CAST((busy_units * 1000 - (busy_units * 1000) % replica_units) / replica_units AS BIGINT) AS busy_replica_ms,
           CASE WHEN prompt_tokens IS NOT NULL OR generation_tokens IS NOT NULL
                THEN COALESCE(prompt_tokens, 0) + COALESCE(generation_tokens, 0) ELSE COALESCE(inferences, requests) END AS work_done
    FROM service_hour
    WHERE replica_units > 0 AND busy_units > 0 AND unknown_units * 1000 <= held_units * $unknownPermilleMax
  ), ranked AS (
    SELECT *, row_number() OVER (PARTITION BY service ORDER BY work_done DESC, hour_start) AS place,
           count(*) OVER (PARTITION BY service) AS places
    FROM hour WHERE work_done IS NOT NULL
  ), served AS (
    SELECT service, count(*) AS hours, max(models) AS models, ${sum('busy_replica_ms')} AS busy_replica_ms,
           count(*) FILTER (WHERE NOT (${PEAK})) AS quiet_hours, ${sum('replicas', `NOT (${PEAK})`)} AS quiet_replicas,
           ${sum('held_units')} AS held_units, ${sum('held_units', PEAK)} AS peak_held_units,
           ${sum('first_token_ms')} AS first_token_ms, ${sum('first_token_ms', PEAK)} AS peak_first_token_ms,
           ${sum('busy_units')} AS busy_units, ${sum('busy_replica_ms', PEAK)} AS peak_busy_replica_ms,
           ${sum('busy_units', PEAK)} AS peak_busy_units, count(prompt_tokens) + count(generation_tokens) > 0 AS has_tokens,
           ${sum('work_done')} AS work_done, ${sum('work_done', PEAK)} AS peak_work_done, ${sum('requests')} AS requests,
           ${sum('requests', PEAK)} AS peak_requests, ${sum('request_ms')} AS request_ms,
           ${sum('request_ms', PEAK)} AS peak_request_ms, ${sum('prompt_tokens')} AS prompt_tokens,
           ${sum('generation_tokens')} AS generation_tokens, ${sum('prefix_query_tokens')} AS prefix_query_tokens,
           ${sum('prefix_hit_tokens')} AS prefix_hit_tokens, ${sum('preemptions')} AS preemptions,
           ${sum('inferences')} AS inferences, ${sum('executions')} AS executions
    FROM ranked GROUP BY service HAVING count(*) >= 4
  )`;

/** Reads: service_hour, service_day. Parameters: unknownPermilleMax. */
export const SERVED_SQL = `
  WITH ${SERVED}, named AS (
    SELECT service, min(name) AS name, min(namespace) AS namespace, min(workload_kind) AS workload_kind,
           max_by(subject, CAST(day AS VARCHAR) || ' ' || subject) AS last_subject
    FROM service_day GROUP BY service
  ), paid AS (
    SELECT service, CAST(sum(usd_micros) AS BIGINT) AS usd_micros, CAST(sum(paid_units) AS BIGINT) AS units,
           CAST(sum(unpriced_units) AS BIGINT) AS unpriced
    FROM service_day WHERE NOT is_silent GROUP BY service
  )
  SELECT s.service, n.name, n.namespace, n.workload_kind AS "workloadKind", n.last_subject AS "lastSubject", s.hours, s.models,
         s.quiet_hours AS "quietHours", COALESCE(s.quiet_replicas, 0) AS "quietReplicas", s.held_units AS "heldUnits", s.peak_held_units AS "peakHeldUnits",
         CASE WHEN p.unpriced = 0 THEN p.usd_micros END AS "usdMicros", COALESCE(p.units, 0) AS "paidUnits",
         s.first_token_ms AS "firstTokenMs", s.peak_first_token_ms AS "peakFirstTokenMs",
         s.busy_replica_ms AS "busyReplicaMs", s.busy_units AS "busyUnits", s.peak_busy_replica_ms AS "peakBusyReplicaMs",
         s.peak_busy_units AS "peakBusyUnits", s.has_tokens AS "hasTokens", s.work_done AS work, s.peak_work_done AS "peakWork",
         s.requests, s.peak_requests AS "peakRequests", s.request_ms AS "requestMs", s.peak_request_ms AS "peakRequestMs",
         s.prompt_tokens AS "promptTokens", s.generation_tokens AS "generationTokens",
         s.prefix_query_tokens AS "prefixQueryTokens", s.prefix_hit_tokens AS "prefixHitTokens", s.preemptions, s.inferences,
         s.executions
  FROM served s JOIN named n ON s.service = n.service LEFT JOIN paid p ON s.service = p.service ORDER BY s.service`;
