/**
 * CPU or storage? Of each finding about work that waits for its input, what the world's own numbers say its jobs waited for,
 * beside what the finding says; one that says "its input" names no cause and is not judged. A loader waits for the slower of the two: its cores, or the storage however many cores wait.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { csv } from '../demo/duck.mjs';

/** @typedef {import('../demo/duck.mjs').Duck} Duck */
/** @typedef {import('./said.mjs').Finding} Finding */
/** @typedef {'cpu' | 'storage' | 'machines'} Cause */
/** @typedef {{ what: string, usd: number, cpuPart: number, said: Cause, isRight: boolean }} Verdict */

/** Between machines an exchange takes so many times what it takes within one; the demo's world file says so. */
const BETWEEN_MACHINES = 4;

/** @param {Duck} duck as `saidOf` leaves it @param {string} data @param {readonly Finding[]} findings @returns {Promise<Verdict[]>} */
export async function verdictsOf(duck, data, findings) {
  const habits = habitsOf(data);
  const rows = await duck.rows(`
    WITH job AS (
      SELECT allocation_id AS holder, any_value(workload_name) AS name, count(DISTINCT node_id) AS machines,
        sum(CAST(cpu_millis AS BIGINT)) / sum(CAST(gpu_count AS BIGINT)) / 1000 AS cores
      FROM ${csv(join(data, 'files', 'allocations.csv'))} GROUP BY allocation_id
    ), waited AS (
      SELECT holder, CAST(hour AS DATE) AS day, sum(usd) FILTER (reason = 'waiting-for-data') AS data_usd,
        sum(usd) FILTER (reason = 'all-reduce') AS exchange_usd
      FROM true_hour WHERE category = 'starved' AND holder <> '' GROUP BY ALL
    )
    SELECT finding, name, machines, cores, sum(data_usd) AS data_usd, sum(exchange_usd) AS exchange_usd
    FROM (SELECT DISTINCT finding, subject, first_day, last_day FROM taken WHERE category = 'starved' AND reason = 'gap') t
    JOIN job ON t.subject LIKE '%/' || job.holder || '/%' JOIN waited ON waited.holder = job.holder AND day BETWEEN first_day AND last_day
    GROUP BY ALL ORDER BY finding`);
  /** @type {Map<number, { cpu: number, storage: number, machines: number }>} */
  const sums = new Map();
  for (const { finding, name, machines, cores, data_usd: waited, exchange_usd: exchanged } of rows) {
    const sum = sums.get(Number(finding)) ?? { cpu: 0, storage: 0, machines: 0 };
    const part = cpuPart(habits.get(String(name).replace(/-\d+$/, '')), Number(cores), Number(machines));
    sum.cpu += Number(waited ?? 0) * part;
    sum.storage += Number(waited ?? 0) * (1 - part);
    sum.machines += Number(machines) > 1 ? Number(exchanged ?? 0) : 0;
    sums.set(Number(finding), sum);
  }
  const named = [...sums].filter(([finding]) => !findings[finding]?.what.includes('waits for its input'));
  return named.map(([finding, { cpu, storage, machines }]) => {
    const { what } = findings[finding] ?? { what: '' };
    const said = causeSaid(what);
    const largest = Math.max(cpu, storage, machines);
    return {
      what,
      usd: cpu + storage,
      cpuPart: cpu / (cpu + storage),
      said,
      isRight: { cpu, storage, machines }[said] === largest,
    };
  });
}

/** @param {string} what @returns {Cause} */
function causeSaid(what) {
  if (what.includes('CPU cores')) return 'cpu';
  return what.includes('other machines') ? 'machines' : 'storage';
}

/** Of the time a run waits for data, the part that more cores would take away. @param {any} habit @param {number} cores @param {number} machines */
function cpuPart(habit, cores, machines) {
  if (habit?.kind !== 'training') return 0;
  const busyMs = habit.step_ms + habit.all_reduce_ms * (machines > 1 ? BETWEEN_MACHINES : 1);
  const waitsMs = Math.max(habit.cpu_ms_per_step / cores, habit.storage_ms_per_step) - busyMs;
  const staysMs = Math.max(0, habit.storage_ms_per_step - busyMs);
  return waitsMs <= 0 ? 0 : Math.max(0, waitsMs - staysMs) / waitsMs;
}

/** @param {string} data @returns {Map<string, any>} */
function habitsOf(data) {
  const world = parse(readFileSync(join(data, 'files', 'world.yaml'), 'utf8'));
  return new Map(world.habits.map((/** @type {{ name: string }} */ habit) => [habit.name, habit]));
}
