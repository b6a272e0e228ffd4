import { z } from 'zod';
import { sqlCount, sqlTexts, textsInOne } from '../../facts/sql-row.ts';
import { nearestRank } from '../nearest-rank.ts';
import { excess, NEEDED_HOURS } from './needed-replicas.ts';

/** A service in the window. */
export const Service = z.object({
  service: z.string(),
  name: z.string(),
  cluster: z.string().nullable(),
  namespace: z.string().nullable(),
  workloadKind: z.string().nullable(),
  isStandby: z.boolean(),
  lastSubject: z.string(),
  days: sqlCount,
  replicaDays: sqlCount,
  silentReplicas: sqlCount,
  /** Seconds of all its replicas, whatever GPUs each has. */
  heldS: sqlCount,
  heldUnits: z.bigint(),
  busyUnits: z.bigint(),
  /** What its replicas cost in the window; null where some of it has no price. */
  usdMicros: z.bigint().nullable(),
});

/** An hour of the day of one service, on working days or at weekends. */
export const ServiceHours = z.object({
  service: z.string(),
  isWeekend: z.boolean(),
  hour: sqlCount,
  hours: sqlCount,
  knownHours: sqlCount,
  quietHours: sqlCount,
  /** On nine days of ten not more than this. */
  neededLowMost: sqlCount,
  neededLowMax: sqlCount,
  neededHighMax: sqlCount,
  heldMilli: sqlCount,
  heldMilliMax: sqlCount,
  busyMilli: sqlCount,
  busyMilliMax: sqlCount,
  excessLowMilli: sqlCount,
  excessHighMilli: sqlCount,
  /** What a fixed number of replicas frees, as many as the busiest hour needs. */
  staticMilli: sqlCount,
  models: sqlCount,
  requests: sqlCount.nullable(),
  requestMs: sqlCount.nullable(),
});

/** A day of a service: what of its idle time lay beyond what its hours needed, and the replicas that had it. */
export const ServiceDay = z.object({
  service: z.string(),
  day: z.string(),
  /** Of the idle time of the day. */
  excessPermille: sqlCount,
  /** Of the time held; null where too much of it is unknown. */
  busyPermille: sqlCount.nullable(),
  subjects: sqlTexts,
});

export type Service = z.infer<typeof Service>;
export type ServiceHours = z.infer<typeof ServiceHours>;
export type ServiceDay = z.infer<typeof ServiceDay>;

const milli = (units: string): string =>
  `CAST((${units} * 1000 - (${units} * 1000) % one_units) / one_units AS BIGINT)`;

/** Reads: service_day. */
export const SERVICES_SQL = `
  WITH paid AS (
    SELECT service, CAST(sum(usd_micros) AS BIGINT) AS usd_micros, CAST(sum(unpriced_units) AS BIGINT) AS unpriced
    FROM service_day GROUP BY service
  ), named AS (
    SELECT service, min(name) AS name, min(cluster) AS cluster, min(namespace) AS namespace, min(workload_kind) AS workload_kind,
           bool_or(is_standby) AS is_standby, max_by(subject, CAST(day AS VARCHAR) || ' ' || subject) AS last_subject,
           count(DISTINCT day) AS days, count(*) AS replica_days, count(DISTINCT CASE WHEN is_silent THEN subject END) AS silent_replicas,
           CAST(sum(held_s) AS BIGINT) AS held_s, CAST(sum(held_units) AS BIGINT) AS held_units, CAST(sum(busy_units) AS BIGINT) AS busy_units
    FROM service_day GROUP BY service
  )
  SELECT n.service, n.name, n.cluster, n.namespace, n.workload_kind AS "workloadKind", n.is_standby AS "isStandby",
         n.last_subject AS "lastSubject", n.days, n.replica_days AS "replicaDays", n.silent_replicas AS "silentReplicas",
         COALESCE(n.held_s, 0) AS "heldS", n.held_units AS "heldUnits", n.busy_units AS "busyUnits", CASE WHEN p.unpriced = 0 THEN p.usd_micros END AS "usdMicros"
  FROM named n LEFT JOIN paid p ON n.service = p.service ORDER BY n.service`;

export const HOURS_SQL = `
  WITH ${NEEDED_HOURS}, peak AS (
    SELECT *, max(CASE WHEN is_known THEN needed_low END) OVER (PARTITION BY service) AS needed_most FROM needed_hour
  ), timed AS (
    SELECT *, date_diff('day', DATE '2024-01-01', day) % 7 >= 5 AS is_weekend,
           date_diff('second', CAST(day AS TIMESTAMP), hour_start) AS second_of_day, ${excess('needed_most')} AS static_units
    FROM peak
  ), told AS (
    SELECT service, is_weekend AS "isWeekend", CAST((second_of_day - second_of_day % 3600) / 3600 AS BIGINT) AS hour,
           count(*) AS hours, count(*) FILTER (WHERE is_known) AS "knownHours",
           count(*) FILTER (WHERE is_known AND held_units >= 2 * needed_low * one_units) AS "quietHours",
           COALESCE(${nearestRank('needed_low', 90, 'is_known')}, 0) AS "neededLowMost",
           COALESCE(max(CASE WHEN is_known THEN needed_low END), 0) AS "neededLowMax", COALESCE(max(CASE WHEN is_known THEN needed_high END), 0) AS "neededHighMax",
           CAST(sum(${milli('held_units')}) AS BIGINT) AS "heldMilli", max(${milli('held_units')}) AS "heldMilliMax",
           CAST(sum(${milli('busy_units')}) AS BIGINT) AS "busyMilli",
           max(${milli('busy_units')}) AS "busyMilliMax", CAST(sum(${milli('excess_low_units')}) AS BIGINT) AS "excessLowMilli",
           CAST(sum(${milli('excess_high_units')}) AS BIGINT) AS "excessHighMilli", CAST(sum(${milli('static_units')}) AS BIGINT) AS "staticMilli", max(models) AS models,
           CAST(sum(requests) AS BIGINT) AS requests, CAST(sum(request_ms) AS BIGINT) AS "requestMs",
           max(excess_high_units) AS excess_units_max
    FROM timed GROUP BY service, is_weekend, CAST((second_of_day - second_of_day % 3600) / 3600 AS BIGINT)
  )
  SELECT * FROM told WHERE service IN (SELECT service FROM told WHERE excess_units_max > 0) ORDER BY service, "isWeekend", hour`;

const permille = (part: string, whole: string): string =>
  `CAST((${part} * 1000 - (${part} * 1000) % ${whole}) / ${whole} AS BIGINT)`;

/** By day: a few days with replicas to spare say nothing about the money of the others. */
export const DAYS_SQL = `
  WITH ${NEEDED_HOURS}, day_total AS (
    SELECT day, service, CAST(sum(excess_high_units) AS BIGINT) AS excess_units, CAST(sum(idle_units) AS BIGINT) AS idle_units,
           CAST(sum(held_units) AS BIGINT) AS held_units, CAST(sum(busy_units) AS BIGINT) AS busy_units,
           CAST(sum(unknown_units) AS BIGINT) AS unknown_units
    FROM needed_hour GROUP BY day, service
  ), replica AS (
    SELECT day, service, ${textsInOne('array_agg(subject ORDER BY subject)')} AS subjects FROM service_day WHERE NOT is_silent GROUP BY day, service
  )
  SELECT d.service, CAST(d.day AS VARCHAR) AS day, r.subjects,
         CASE WHEN d.idle_units > 0 THEN ${permille('d.excess_units', 'd.idle_units')} ELSE 0 END AS "excessPermille",
         CASE WHEN d.held_units > 0 AND d.unknown_units * 1000 <= d.held_units * $unknownPermilleMax
              THEN ${permille('d.busy_units', 'd.held_units')} END AS "busyPermille"
  FROM day_total d JOIN replica r ON d.day = r.day AND d.service = r.service
  WHERE d.service IN (SELECT service FROM day_total WHERE excess_units > 0) ORDER BY d.service, d.day`;
