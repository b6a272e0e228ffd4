/**
 * The worlds that scores are taken in: the printed worlds, with numbers changed. Nothing is added that a user could not
 * write into a world file.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { BENCH_DATA, bursar } from '../demo/run.mjs';

/**
 * @typedef {object} World
 * @property {string} name
 * @property {string} from the world it is made from: a name of the demo's, or a file
 * @property {string} step
 * @property {(world: any) => void} [change]
 * @property {RegExp} [leftOut] files of the demo that are not taken in
 */

/** @type {readonly World[]} */
export const WORLDS = [
  { name: 'unmanaged', from: 'unmanaged', step: '5m' },
  { name: 'well-run', from: 'well-run', step: '5m' },
  {
    name: '20 % of samples missing',
    from: 'unmanaged',
    step: '5m',
    change: (world) => (world.sensors.missing_permille = 200),
  },
  {
    name: 'no profiling fields',
    from: 'unmanaged',
    step: '5m',
    change: (world) => (world.sensors.no_profiling_percent = 100),
  },
  { name: '1-minute steps', from: 'unmanaged', step: '1m' },
  { name: 'MIG and shared GPUs', from: 'unmanaged', step: '5m', change: shareEverything },
  { name: 'no checkpoints recorded', from: 'unmanaged', step: '5m', leftOut: /^work\./ },
  { name: 'standby under another name', from: 'unmanaged', step: '5m', change: renameStandby },
  { name: 'evaluations of hours', from: 'unmanaged', step: '5m', change: evaluateForHours },
  { name: 'launch-bound', from: 'unmanaged', step: '5m', change: leaveTheEngine },
];

/** Writes the world down as a file of its own, and gives its path. @param {World} world @returns {Promise<string>} */
export async function worldFile({ name, from, change }) {
  const printed = parse(await bursar(['demo', '--world', from, '--print-world']));
  change?.(printed);
  printed.name = name;
  mkdirSync(BENCH_DATA, { recursive: true });
  const path = join(BENCH_DATA, `waste-${name.replaceAll(/[^a-z0-9]+/gi, '-')}.yaml`);
  writeFileSync(path, stringify(printed));
  return path;
}

/** A standby whose name has none of the words for it. @param {any} world */
function renameStandby(world) {
  for (const habit of world.habits) if (habit.purpose === 'standby') habit.name = 'helsinki-llm';
}

/** Evaluations on the CPU as long as a night. @param {any} world */
function evaluateForHours(world) {
  for (const habit of world.habits) {
    if (habit.kind !== 'training' || habit.validation_hours === 0) continue;
    habit.validation_hours = 6;
    habit.validation_minutes = { p0: 30, p10: 60, p50: 150, p90: 300, p99: 500, p100: 600 };
  }
}

/** Kernels too small for their GPU in all that trains or scores, hardly any of which waits for its input. @param {any} world */
function leaveTheEngine(world) {
  for (const name of ['llm-training', 'vision-training', 'speech-training', 'small-training', 'batch-inference']) {
    const kernel = world.kernels[name];
    for (const field of ['engine', 'sm', 'tensor', 'dram', 'power']) {
      kernel[`${field}_permille`] = Math.round(kernel[`${field}_permille`] * 0.6);
    }
    kernel.util_permille = Math.round(kernel.util_permille * 0.8);
  }
  for (const habit of world.habits) {
    if (habit.kind !== 'training') continue;
    habit.cpu_ms_per_step = Math.min(habit.cpu_ms_per_step, Math.round(habit.step_ms * 1.5));
    habit.storage_ms_per_step = Math.round(habit.step_ms * 0.3);
  }
}

/** The part of the fleet each pool has where sharing is the rule; the others are gone. */
const SHARED_FLEET = new Map([
  ['train-h100', 14],
  ['rent-h100', 7],
  ['mig-a100', 40],
  ['serve-l4', 16],
  ['dev-t4', 15],
  ['vm-l4', 6],
  ['legacy-t4', 2],
]);
/** GPU-hours that each habit asks for in the pool of slices, of all it has; a run there has one slice. */
const ON_SLICES = new Map([
  ['small-run', 25],
  ['speech-train', 20],
  ['offline-scoring', 15],
  ['asr-sweep', 10],
  ['vision-notebook', 15],
  ['nlp-notebook', 12],
]);

/** Two thirds of the GPUs are cut or shared: runs of one GPU move to slices, serving and development to time slices. @param {any} world */
function shareEverything(world) {
  world.pools = world.pools.filter((/** @type {any} */ pool) => SHARED_FLEET.has(pool.name));
  for (const pool of world.pools) {
    pool.share_percent = SHARED_FLEET.get(pool.name);
    if (pool.name === 'serve-l4') Object.assign(pool, { sharing: 'time-slice', time_slices: 2 });
  }
  for (const habit of world.habits) {
    const load = ON_SLICES.get(habit.name);
    if (load === undefined) continue;
    Object.assign(habit, { pool: 'mig-a100', load_percent: load });
    if (habit.kind === 'training') habit.gpus = { 1: 1 };
  }
  world.habits = world.habits.filter((/** @type {any} */ habit) => SHARED_FLEET.has(habit.pool));
}
