const HOUR_S = 3600;

/** `a ÷ b`, rounded up, in portable SQL; neither is below 0. */
const roundedUp = (a: string, b: string): string =>
  `CAST((${a} + ${b} - 1 - (${a} + ${b} - 1) % ${b}) / ${b} AS BIGINT)`;

const lesser = (a: string, b: string): string => `CASE WHEN ${a} < ${b} THEN ${a} ELSE ${b} END`;

/** Replicas that carry what was busy at a load in thousandths, and those in reserve beside them. */
const needed = (load: string): string => `${roundedUp('busy_units * 1000', `(one_units * ${load})`)} + $reserve`;

/** What is held beyond that, in unit-seconds: never more than was idle, and nothing of an hour of which too much is unknown. */
export const excess = (replicas: string): string => `
  CASE WHEN NOT is_known OR held_units <= ${replicas} * one_units THEN 0
       ELSE ${lesser(`held_units - ${replicas} * one_units`, 'idle_units')} END`;

/**
 * The hours of services with the replicas each needed, as a list of common table expressions; the last is `needed_hour`.
 *
 * `low` is the careful figure (the replicas run at `$loadPermille`), `high` the one if they run at `$loadPermilleMax`. Busy seconds
 * are added up over replicas as if one more request took as long on a busy replica: batching makes it take less, so the need
 * is rather overstated.
 *
 * Reads: service_hour. Parameters: loadPermille, loadPermilleMax, reserve, unknownPermilleMax.
 */
export const NEEDED_HOURS = `
  service_now AS (
    SELECT *, replica_units * ${HOUR_S} AS one_units, held_units - busy_units - unknown_units AS idle_units,
           unknown_units * 1000 <= held_units * $unknownPermilleMax AS is_known
    FROM service_hour WHERE replica_units > 0
  ), needing AS (
    SELECT *, ${needed('$loadPermille')} AS needed_low, ${needed('$loadPermilleMax')} AS needed_high FROM service_now
  ), needed_hour AS (
    SELECT *, ${excess('needed_low')} AS excess_low_units, ${excess('needed_high')} AS excess_high_units FROM needing
  )`;
