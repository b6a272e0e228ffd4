/**
 * The benchmark of waste: `npm run bench:waste -- --help` says what it can be told.
 *
 * Prints Markdown for docs/BENCHMARKS.md. These are scores on a demo, not accuracy in the field.
 */
import { basename, join } from 'node:path';
import { BENCH_DATA, bursar, discard } from '../demo/run.mjs';
import { readFlags, repeating, usage } from './flags.mjs';
import { barsOf, report } from './report.mjs';
import { saidOf } from './said.mjs';
import { scale } from './scale.mjs';
import { scoresOf } from './score.mjs';
import { sumsOf } from './sums.mjs';
import { takeIn } from './take-in.mjs';
import { openTold } from './told.mjs';
import { verdictsOf } from './verdicts.mjs';
import { WORLDS, worldFile } from './worlds.mjs';

/** @typedef {import('./flags.mjs').Flags} Flags */
/** @typedef {import('./worlds.mjs').World} World */
/** @typedef {{ world: string, seed: string, scores: import('./score.mjs').Scores, said: import('./said.mjs').Said, sums: import('./sums.mjs').Sums, verdicts: import('./verdicts.mjs').Verdict[] }} Result */

const asked = readFlags(process.argv.slice(2));
if ('trouble' in asked) {
  console.error(`${asked.trouble}\n\n${usage()}`);
  process.exitCode = 1;
} else if (asked.flags.help) {
  console.log(usage());
} else if (asked.flags.scale) {
  console.log(await scale(asked.flags.place));
} else {
  await score(asked.flags);
}

/** @param {Flags} flags */
async function score(flags) {
  const { data, gpus, days, quick } = flags;
  const seeds = data === undefined ? (flags.seeds?.split(',') ?? newSeeds(quick ? 1 : 2)) : [];
  const command = repeating(flags, seeds);
  console.error(`repeat this run with ${command}`);
  const results = data === undefined ? await all(flags, seeds) : [await judged(basename(data), '', data)];
  console.log(report(results, { command, size: data === undefined ? `${gpus} GPUs × ${days} days` : basename(data) }));
  if (flags.strict && results.some((result) => barsOf(result).some(({ isReached }) => !isReached)))
    process.exitCode = 1;
}

/** @param {Flags} flags @param {readonly string[]} seeds @returns {Promise<Result[]>} */
async function all(flags, seeds) {
  const worlds =
    flags.world === undefined
      ? WORLDS.filter(({ name }) => name.includes(flags.only))
      : [{ name: basename(flags.world), from: flags.world, step: flags.step }];
  const runs = (flags.quick ? worlds.slice(0, 1) : worlds).flatMap((world) => seeds.map((seed) => ({ world, seed })));
  /** @type {Result[]} */
  const results = [];
  // Two at a time: one demo keeps little more than one core busy.
  for (let from = 0; from < runs.length; from += 2) {
    const pair = runs.slice(from, from + 2);
    results.push(...(await Promise.all(pair.map(({ world, seed }) => made(flags, world, seed)))));
  }
  return results;
}

/** Seeds nobody could have tried before. @param {number} count */
function newSeeds(count) {
  const now = Math.floor(Date.now() / 1000) % 1_000_000_000;
  return Array.from({ length: count }, (_, place) => String(now + place));
}

/** @param {Flags} flags @param {World} world @param {string} seed @returns {Promise<Result>} */
async function made({ gpus, days, keep }, world, seed) {
  const name = `waste-${world.name.replaceAll(/[^a-z0-9]+/gi, '-')}-${seed}`;
  const data = join(BENCH_DATA, name);
  discard(name);
  const file = await worldFile(world);
  const size = ['--gpus', gpus, '--days', days, '--step', world.step];
  const demo = ['demo', '--out', data, '--world', file, '--seed', seed, ...size, '--until', '2026-11-01'];
  if (world.leftOut === undefined) {
    await bursar([...demo, '--json']);
  } else {
    await bursar([...demo, '--only-files']);
    await takeIn(data, world.leftOut);
  }
  const result = await judged(world.name, seed, data);
  if (!keep) discard(name);
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
