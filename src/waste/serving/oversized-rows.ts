import { z } from 'zod';
import { sqlCount } from '../../facts/sql-row.ts';
import { NEEDED_HOURS } from './needed-replicas.ts';

/** A service in the window. */
export const Service = z.object({
  service: z.string(),
  name: z.string(),
  cluster: z.string().nullable(),
  namespace: z.string().nullable(),
  workloadKind: z.string().nullable(),
  isStandby: z.boolean(),
  lastSubject: z.string(),
  replicaDays: sqlCount,
  silentReplicas: sqlCount,
  heldUnits: z.bigint(),
  busyUnits: z.bigint(),
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
  busyMilli: sqlCount,
  busyMilliMax: sqlCount,
  excessLowMilli: sqlCount,
  excessHighMilli: sqlCount,
  models: sqlCount,
  requests: sqlCount.nullable(),
  requestMs: sqlCount.nullable(),
});

/** What of the idle money of a replica lies beyond what its service needed. */
export const ReplicaShare = z.object({
  service: z.string(),
  subject: z.string(),
  firstDay: z.string(),
  lastDay: z.string(),
  permille: sqlCount,
});

export type Service = z.infer<typeof Service>;
export type ServiceHours = z.infer<typeof ServiceHours>;
export type ReplicaShare = z.infer<typeof ReplicaShare>;

const milli = (units: string): string =>
  `CAST((${units} * 1000 - (${units} * 1000) % one_units) / one_units AS BIGINT)`;

export const SERVICES_SQL = `
  SELECT service, min(name) AS name, min(cluster) AS cluster, min(namespace) AS namespace, min(workload_kind) AS "workloadKind",
         bool_or(is_standby) AS "isStandby", max_by(subject, CAST(day AS VARCHAR) || ' ' || subject) AS "lastSubject",
         count(*) AS "replicaDays", count(DISTINCT CASE WHEN is_silent THEN subject END) AS "silentReplicas",
         CAST(sum(held_units) AS BIGINT) AS "heldUnits", CAST(sum(busy_units) AS BIGINT) AS "busyUnits"
  FROM service_day GROUP BY service ORDER BY service`;

export const HOURS_SQL = `
  WITH ${NEEDED_HOURS}, timed AS (
    SELECT *, date_diff('day', DATE '2024-01-01', day) % 7 >= 5 AS is_weekend,
           date_diff('second', CAST(day AS TIMESTAMP), hour_start) AS second_of_day
    FROM needed_hour
  ), placed AS (
    SELECT *, row_number() OVER (PARTITION BY service, is_weekend, second_of_day, is_known ORDER BY needed_low, day) AS place,
           count(*) OVER (PARTITION BY service, is_weekend, second_of_day, is_known) AS places
    FROM timed
  )
  SELECT service, is_weekend AS "isWeekend", CAST((second_of_day - second_of_day % 3600) / 3600 AS BIGINT) AS hour,
         count(*) AS hours, count(*) FILTER (WHERE is_known) AS "knownHours",
         count(*) FILTER (WHERE is_known AND held_units >= 2 * needed_low * one_units) AS "quietHours",
         COALESCE(min(CASE WHEN is_known AND place * 10 >= places * 9 THEN needed_low END), 0) AS "neededLowMost",
         COALESCE(max(CASE WHEN is_known THEN needed_low END), 0) AS "neededLowMax", COALESCE(max(CASE WHEN is_known THEN needed_high END), 0) AS "neededHighMax",
         CAST(sum(${milli('held_units')}) AS BIGINT) AS "heldMilli", CAST(sum(${milli('busy_units')}) AS BIGINT) AS "busyMilli",
         max(${milli('busy_units')}) AS "busyMilliMax", CAST(sum(${milli('excess_low_units')}) AS BIGINT) AS "excessLowMilli",
         CAST(sum(${milli('excess_high_units')}) AS BIGINT) AS "excessHighMilli", max(models) AS models,
         CAST(sum(requests) AS BIGINT) AS requests, CAST(sum(request_ms) AS BIGINT) AS "requestMs"
  FROM placed
  WHERE service IN (SELECT service FROM needed_hour GROUP BY service HAVING max(excess_high_units) > 0)
  GROUP BY service, is_weekend, CAST((second_of_day - second_of_day % 3600) / 3600 AS BIGINT)`;

export const SHARES_SQL = `
  WITH ${NEEDED_HOURS}, day_total AS (
    SELECT day, service, CAST(sum(excess_high_units) AS BIGINT) AS excess_units, CAST(sum(idle_units) AS BIGINT) AS idle_units
    FROM needed_hour GROUP BY day, service
  ), day_share AS (
    SELECT day, service, CAST((excess_units * 1000 - (excess_units * 1000) % idle_units) / idle_units AS BIGINT) AS permille
    FROM day_total WHERE idle_units > 0
  ), money AS (
    SELECT d.day, d.service, s.subject, d.permille, CAST(sum(c.gpu_units) AS BIGINT) AS idle_units
    FROM service_day s JOIN day_share d ON s.day = d.day AND s.service = d.service
    JOIN subject_day c ON c.day = s.day AND c.subject = s.subject AND c.category = 'idle'
    WHERE NOT s.is_silent AND d.permille > 0 GROUP BY d.day, d.service, s.subject, d.permille
  ), summed AS (
    SELECT service, subject, CAST(min(day) AS VARCHAR) AS first_day, CAST(max(day) AS VARCHAR) AS last_day,
           CAST(sum(CAST(idle_units AS DECIMAL(38, 0)) * permille) AS DECIMAL(38, 0)) AS weighed,
           CAST(sum(idle_units) AS DECIMAL(38, 0)) AS idle_units
    FROM money GROUP BY service, subject
  )
  SELECT service, subject, first_day AS "firstDay", last_day AS "lastDay",
         CAST((weighed - weighed % idle_units) / idle_units AS BIGINT) AS permille
  FROM summed WHERE idle_units > 0 ORDER BY service, subject`;
