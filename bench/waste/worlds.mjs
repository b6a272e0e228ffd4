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
