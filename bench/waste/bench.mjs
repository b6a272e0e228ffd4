/**
 * The benchmark of waste: `npm run bench:waste -- [flags]`
 *
 *   (none)          every world of worlds.mjs, two new seeds each: what Bursar says against what the demo knows to be true
 *   --quick         one world, one seed
 *   --seeds 7,8     these seeds instead of new ones; a run prints the seeds that repeat it
 *   --only WORDS    the worlds whose names have these words
 *   --world FILE    a world file of one's own, at --step (5m)
 *   --data DIR      a demo that is there already; it must be derived
 *   --gpus, --days  the size of each demo (120, 14)
 *   --keep          leaves the demos in bench-data, to look into them
 *   --strict        ends with 1 where a bar is not reached
 *   --scale [DIR]   what `findings`, `waste` and `runaway` cost with 10,000 GPUs × 30 days; DIR: a demo of that size
 *
 * Prints Markdown for docs/BENCHMARKS.md. These are scores on a demo, not accuracy in the field.
 */
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { BENCH_DATA, bursar, discard } from '../demo/run.mjs';
import { barsOf, report } from './report.mjs';
import { saidOf } from './said.mjs';
import { scale } from './scale.mjs';
import { scoresOf } from './score.mjs';
import { sumsOf } from './sums.mjs';
import { openTold } from './told.mjs';
import { verdictsOf } from './verdicts.mjs';
import { WORLDS, worldFile } from './worlds.mjs';

/** @typedef {import('./worlds.mjs').World} World */
/** @typedef {{ world: string, seed: string, scores: import('./score.mjs').Scores, said: import('./said.mjs').Said, sums: import('./sums.mjs').Sums, verdicts: import('./verdicts.mjs').Verdict[] }} Result */

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seeds: { type: 'string' },
    world: { type: 'string' },
    only: { type: 'string', default: '' },
    step: { type: 'string', default: '5m' },
    data: { type: 'string' },
    gpus: { type: 'string', default: '120' },
    days: { type: 'string', default: '14' },
    quick: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    strict: { type: 'boolean', default: false },
    scale: { type: 'boolean', default: false },
  },
});

if (options.scale) {
  console.log(await scale(positionals[0]));
} else {
  const results = options.data === undefined ? await all() : [await judged(basename(options.data), '', options.data)];
  const size = `${options.gpus} GPUs × ${options.days} days`;
  console.log(report(results, options.data === undefined ? size : basename(options.data)));
  if (options.strict && results.some((result) => barsOf(result).some(({ isReached }) => !isReached)))
    process.exitCode = 1;
}

/** @returns {Promise<Result[]>} */
async function all() {
  const known = WORLDS.filter(({ name }) => name.includes(options.only));
  if (known.length === 0) throw new Error(`no world has "${options.only}" in its name`);
  const worlds = options.world === undefined ? known : [ownWorld(options.world)];
  const asked = options.quick ? worlds.slice(0, 1) : worlds;
  const seeds = options.seeds?.split(',') ?? newSeeds(options.quick ? 1 : 2);
  console.error(`seeds ${seeds.join(',')}: repeat this run with --seeds ${seeds.join(',')}`);
  const runs = asked.flatMap((world) => seeds.map((seed) => ({ world, seed })));
  /** @type {Result[]} */
  const results = [];
  // Two at a time: one demo keeps little more than one core busy.
  for (let from = 0; from < runs.length; from += 2) {
    const pair = runs.slice(from, from + 2);
    results.push(...(await Promise.all(pair.map(({ world, seed }) => made(world, seed)))));
  }
  return results;
}

/** @param {string} file @returns {World} */
const ownWorld = (file) => ({ name: basename(file), from: file, step: options.step });

/** Seeds nobody could have tried before. @param {number} count */
function newSeeds(count) {
  const now = Math.floor(Date.now() / 1000) % 1_000_000_000;
  return Array.from({ length: count }, (_, place) => String(now + place));
}

/** @param {World} world @param {string} seed @returns {Promise<Result>} */
async function made(world, seed) {
  const name = `waste-${world.name.replaceAll(/[^a-z0-9]+/gi, '-')}-${seed}`;
  const data = join(BENCH_DATA, name);
  discard(name);
  const file = await worldFile(world);
  const size = ['--gpus', options.gpus, '--days', options.days, '--step', world.step];
  await bursar(['demo', '--out', data, '--world', file, '--seed', seed, ...size, '--until', '2026-11-01', '--json']);
  const result = await judged(world.name, seed, data);
  if (!options.keep) discard(name);
  return result;
}

/** @param {string} world @param {string} seed @param {string} data @returns {Promise<Result>} */
async function judged(world, seed, data) {
  const told = await openTold(data);
  const scores = await scoresOf(told);
  const said = await saidOf(told, data);
  const verdicts = await verdictsOf(told, data, said.findings);
  const result = { world, seed, scores, said, verdicts, sums: await sumsOf(told, data) };
  const missed = barsOf(result).filter(({ isReached }) => !isReached);
  console.error(
    `${world}, seed ${seed}: ${missed.length === 0 ? 'all bars reached' : missed.map(({ name, value, write }) => `${name} ${write(value)}`).join(', ')}`,
  );
  return result;
}
