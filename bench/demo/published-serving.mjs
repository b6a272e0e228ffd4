/**
 * The serving fleet of the demo beside a real one (GenTD26: GPU duty of 80 pods, every 57 s for 22.8 hours) and beside an
 * hour of real requests (Azure 2023): how long replicas rest and work, day and night, minute by minute.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { csv, openDuck, quantile } from './duck.mjs';
import { demoFiles, discard } from './run.mjs';
import { decimals, length, percent, section, spread, table } from './words.mjs';

/** @typedef {import('./duck.mjs').Duck} Duck */

const shared = (/** @type {string} */ path) => fileURLToPath(new URL(`../../../shared/data/${path}`, import.meta.url));
const DUTY = shared('telemetry/gentd26/pod_gpu_duty_cycle_anon_dev.csv.gz');
const REQUESTS = shared('inference/azure_llm_2023_code.csv');
const SEEDS = [1, 2, 3];
/** A working day, and as many replicas as the real fleet has pods. */
const DAY = '2026-10-14';
const FLAGS = ['--gpus', '500', '--days', '1', '--step', '1m', '--until', '2026-10-15'];
/** Below one percent a GPU is at rest, in both series. */
const REST_BELOW_PERMILLE = 10;
const PLACES = [0.25, 0.5, 0.75, 0.9, 0.99];
/** UTC hours in which the demo's services are busy: those of half the peak and more. */
const [FIRST_BUSY_HOUR, LAST_BUSY_HOUR] = [12, 20];

/** @param {string} world @returns {Promise<string>} */
export async function publishedServing(world) {
  const command = `bursar demo --world ${world} ${FLAGS.join(' ')} --only-files, seeds ${SEEDS.join(', ')}`;
  const duck = await openDuck();
  /** @type {Fleet[]} */
  const demos = [];
  /** @type {Minutes[]} */
  const minutes = [];
  for (const seed of SEEDS) {
    const files = await demoFiles('published-serving', [...FLAGS, '--seed', String(seed), '--world', world]);
    await readDemo(duck, files);
    demos.push({ all: await figuresOf(duck, 'true'), called: await figuresOf(duck, 'is_called') });
    minutes.push(await minutesOfDemo(duck));
    discard('published-serving');
  }
  return [
    section('Idle spells and day and night of serving, beside GenTD26', command, await besideFleet(duck, demos)),
    section('Minutes of requests, beside Azure 2023', command, await besideRequests(duck, minutes)),
  ].join('\n\n');
}

/** @typedef {{ all: Figures, called: Figures }} Fleet */
/** @typedef {{ cv: number, p95ToMedian: number, service: string }} Minutes */
/**
 * @typedef {object} Figures
 * @property {number} devices
 * @property {number} duty mean, of 1
 * @property {number} restShare samples at rest
 * @property {number} zeroShare samples that are exactly 0
 * @property {number[]} idle lengths of spells at rest, ascending, in seconds
 * @property {number[]} busy lengths of the others
 * @property {number} zeroHours hours of a device in which every sample is 0, of all
 * @property {number[]} hours mean duty by hour
 */

/** A table `series`: who, when, permille, and whether it is a service that is called. @param {Duck} duck @param {string} files */
async function readDemo(duck, files) {
  await duck.run(`CREATE OR REPLACE TABLE series AS
    WITH held AS (
      SELECT DISTINCT device_id, regexp_replace(workload_name, '-[0-9]+$', '') AS service,
        epoch(held_from::TIMESTAMPTZ) AS held_from, coalesce(epoch(held_until::TIMESTAMPTZ), 1e18) AS held_until
      FROM ${csv(`${files}/allocations.csv`)} WHERE workload_kind = 'Deployment'),
    idle_on_purpose AS (
      SELECT DISTINCT device_id FROM ${csv(`${files}/truth.csv`)} WHERE reason IN ('standby', 'abandoned')),
    reading AS (
      SELECT device_id, epoch(ts::TIMESTAMPTZ) AS t,
        coalesce(engine_permille::DOUBLE, util_permille::DOUBLE) AS permille
      FROM ${csv(`${files}/samples-${DAY}.csv`)})
    SELECT device_id AS who, service, t, permille, device_id NOT IN (FROM idle_on_purpose) AS is_called, 60 AS step_s
    FROM reading JOIN held USING (device_id)
    -- A blank is a number near 2^31 or 2^63.
    WHERE permille <= 1000 AND t >= held_from AND t < held_until`);
}

/** @param {Duck} duck @param {string} condition @returns {Promise<Figures>} */
async function figuresOf(duck, condition) {
  const some = `(SELECT * FROM series WHERE ${condition})`;
  const all = await duck.one(`
    SELECT count(DISTINCT who)::DOUBLE AS devices, avg(permille) / 1000 AS duty,
      avg((permille < ${REST_BELOW_PERMILLE})::INT) AS rest, avg((permille = 0)::INT) AS zero FROM ${some}`);
  const zero = await duck.one(`
    SELECT avg((most = 0)::INT) AS share
    FROM (SELECT max(permille) AS most FROM ${some} GROUP BY who, floor(t / 3600))`);
  const hours = await duck.rows(`
    SELECT avg(permille) / 1000 AS duty FROM ${some} GROUP BY floor(t / 3600)
    -- Not the hours of which the series has only a part.
    HAVING max(t) - min(t) > 3400 ORDER BY floor(min(t) / 3600)`);
  const spells = await duck.rows(`
    WITH marked AS (
      SELECT *, permille < ${REST_BELOW_PERMILLE} AS rests,
        lag(rests) OVER w IS DISTINCT FROM rests OR t - lag(t) OVER w > 3 * step_s AS begins
      FROM ${some} WINDOW w AS (PARTITION BY who ORDER BY t)),
    numbered AS (SELECT *, sum(begins::INT) OVER (PARTITION BY who ORDER BY t) AS spell FROM marked)
    SELECT any_value(rests) AS rests, (max(t) - min(t) + any_value(step_s))::DOUBLE AS s
    FROM numbered GROUP BY who, spell ORDER BY s`);
  const lengths = (/** @type {boolean} */ rests) =>
    spells.filter((spell) => spell['rests'] === rests).map((spell) => Number(spell['s']));
  return {
    devices: Number(all['devices']),
    duty: Number(all['duty']),
    restShare: Number(all['rest']),
    zeroShare: Number(all['zero']),
    idle: lengths(true),
    busy: lengths(false),
    zeroHours: Number(zero['share']),
    hours: hours.map(({ duty }) => Number(duty)),
  };
}

/** @param {Duck} duck @param {readonly Fleet[]} demos @returns {Promise<string[]>} */
async function besideFleet(duck, demos) {
  if (!existsSync(DUTY)) return ['Skipped: ../shared/data/telemetry/gentd26 is not here.'];
  await duck.run(`CREATE OR REPLACE TABLE series AS
    SELECT container_ip AS who, timestamp_anon::DOUBLE AS t, value::DOUBLE * 10 AS permille, 57 AS step_s
    FROM ${csv(DUTY)}`);
  const real = await figuresOf(duck, 'true');
  /** @param {string} name @param {(figures: Figures) => number} figure @param {(value: number) => string} write */
  const row = (name, figure, write) => [
    name,
    write(figure(real)),
    spread(
      demos.map(({ called }) => figure(called)),
      write,
    ),
    spread(
      demos.map(({ all }) => figure(all)),
      write,
    ),
  ];
  const spells = (/** @type {'idle' | 'busy'} */ kind) =>
    PLACES.map((place) => row(`${kind} spells, p${place * 100}`, (each) => quantile(each[kind], place), length));
  const total = (/** @type {readonly number[]} */ values) => values.reduce((a, b) => a + b, 0);
  const ofMean =
    (/** @type {(...hours: number[]) => number} */ pick) =>
    (/** @type {Figures} */ { hours }) =>
      pick(...hours) / (total(hours) / hours.length);
  const rows = [
    row('pods or replicas', ({ devices }) => devices, String),
    row('mean duty', ({ duty }) => duty, percent),
    row('samples at rest (below 1 %)', ({ restShare }) => restShare, percent),
    row('samples that are 0', ({ zeroShare }) => zeroShare, percent),
    ...spells('idle'),
    row(
      'idle time in spells longer than 1 h',
      ({ idle }) => total(idle.filter((s) => s > 3600)) / total(idle),
      percent,
    ),
    ...spells('busy'),
    row('hours of a pod with only zeros', ({ zeroHours }) => zeroHours, percent),
    row('busiest hour ÷ mean', ofMean(Math.max), decimals),
    row('quietest hour ÷ mean', ofMean(Math.min), decimals),
    row(
      'hours above the mean',
      ({ hours }) => hours.filter((h) => h > total(hours) / hours.length).length / hours.length,
      percent,
    ),
  ];
  const header = ['', 'GenTD26', 'demo, services that are called', 'demo, with standby and abandoned ones'];
  return [table(header, rows)];
}

/**
 * How the work of the busiest service varies from minute to minute within a busy hour: the busy shares of its replicas
 * together. It is no count of requests: those that are worked on at once keep a GPU busy for less than one by one would.
 * @param {Duck} duck @returns {Promise<Minutes>}
 */
async function minutesOfDemo(duck) {
  const row = await duck.one(`
    WITH busy AS (
      SELECT * FROM series
      WHERE is_called AND hour(to_timestamp(t)) BETWEEN ${FIRST_BUSY_HOUR} AND ${LAST_BUSY_HOUR}),
    busiest AS (SELECT service FROM busy GROUP BY service ORDER BY avg(permille) DESC LIMIT 1),
    by_minute AS (
      SELECT service, floor(t / 60) AS minute, avg(permille) AS work FROM busy SEMI JOIN busiest USING (service) GROUP BY ALL),
    by_hour AS (
      SELECT stddev_pop(work) / avg(work) AS cv, quantile_cont(work, 0.95) / median(work) AS ratio
      FROM by_minute GROUP BY floor(minute / 60))
    SELECT avg(cv) AS cv, avg(ratio) AS ratio, (SELECT service FROM busiest) AS service FROM by_hour`);
  return { cv: Number(row['cv']), p95ToMedian: Number(row['ratio']), service: String(row['service']) };
}

/** @param {Duck} duck @param {readonly Minutes[]} demos @returns {Promise<string[]>} */
async function besideRequests(duck, demos) {
  if (!existsSync(REQUESTS)) return ['Skipped: ../shared/data/inference is not here.'];
  const real = await duck.one(`
    WITH request AS (
      SELECT t - min(t) OVER () AS t, max(t) OVER () - min(t) OVER () AS span_s
      FROM (SELECT epoch("TIMESTAMP"::TIMESTAMP) AS t FROM ${csv(REQUESTS)})),
    -- Whole minutes, those without a request too.
    minute AS (SELECT unnest(range(0, floor(max(span_s) / 60)::BIGINT)) AS minute FROM request),
    by_minute AS (
      SELECT minute, count(t) AS n FROM minute LEFT JOIN request ON floor(t / 60) = minute GROUP BY minute)
    SELECT count(*)::DOUBLE AS minutes, stddev_pop(n) / avg(n) AS cv, quantile_cont(n, 0.95) / median(n) AS ratio
    FROM by_minute`);
  const services = [...new Set(demos.map(({ service }) => service))].join(', ');
  const write = (/** @type {number} */ value) => decimals(value);
  /** @param {string} name @param {unknown} published @param {readonly number[]} ours */
  const row = (name, published, ours) => [name, write(Number(published)), spread(ours, write)];
  const header = [
    '',
    `Azure: requests of ${Number(real['minutes'])} minutes`,
    `demo: work of ${services} in a busy hour`,
  ];
  return [
    table(header, [
      row(
        'coefficient of variation',
        real['cv'],
        demos.map(({ cv }) => cv),
      ),
      row(
        'p95 ÷ median',
        real['ratio'],
        demos.map(({ p95ToMedian }) => p95ToMedian),
      ),
    ]),
    `The demo’s column is the busy share of all replicas of its busiest service, minute by minute, over the hours from ${FIRST_BUSY_HOUR} to ${LAST_BUSY_HOUR} UTC; batching and full replicas make it calmer than the requests behind it.`,
  ];
}
