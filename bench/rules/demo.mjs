/**
 * After `rules suggest` is applied to a demo: how much is nobody's, and does the truth agree? Also with the labels, accounts and
 * namespaces of a third of the jobs taken away before import.
 *
 * Whose a job is says the world file: jobs are named after habits, and a habit is of a team. Whose an empty machine is says the tag of
 * its pool. What is split as shared has no truth to compare with; it counts as attributed and stands beside the agreement.
 */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { csv, openDuck } from '../demo/duck.mjs';
import { BENCH_DATA, bursar, discard } from '../demo/run.mjs';
import { percent, section, table } from '../demo/words.mjs';
import { habitTeams, spendByJob, suggestedIn } from './folder.mjs';

const FLAGS = [
  '--gpus',
  process.env['BENCH_GPUS'] ?? '120',
  '--days',
  process.env['BENCH_DAYS'] ?? '10',
  '--step',
  '5m',
  '--until',
  '2026-11-01',
];
const SEEDS = [1, 2, 3];
const WORLDS = ['unmanaged', 'well-run'];
const UNOWNED_MOST = 0.02;
const AGREEMENT_LEAST = 0.98;

/** @returns {Promise<string>} */
export async function demo() {
  /** @type {(string | number)[][]} */
  const rows = [];
  for (const world of WORLDS) {
    for (const seed of SEEDS) {
      for (const stripped of [false, true]) {
        const line = await lineOf(world, seed, stripped);
        console.error(line.join(' | '));
        rows.push(line);
      }
    }
  }
  return section(
    'Rules that suggest themselves',
    `bursar demo ${FLAGS.join(' ')}, both worlds, seeds ${SEEDS.join(', ')}`,
    [
      table(
        [
          'world',
          'seed',
          'a third of jobs stripped',
          'unattributed before',
          'after',
          'rules',
          'shared',
          'truth agrees',
        ],
        [['bar', '', '', '', `< ${percent(UNOWNED_MOST)}`, '', '', `≥ ${percent(AGREEMENT_LEAST)}`], ...rows],
      ),
    ],
  );
}

/** @param {string} world @param {number} seed @param {boolean} stripped */
async function lineOf(world, seed, stripped) {
  const name = `rules-${world}-${seed}`;
  const out = join(BENCH_DATA, name);
  discard(name);
  await bursar([
    'demo',
    '--out',
    out,
    '--world',
    world,
    '--seed',
    String(seed),
    ...FLAGS,
    ...(stripped ? ['--only-files'] : []),
  ]);
  const data = stripped ? await imported(out) : out;
  const before = await suggestedIn(data, undefined);
  const folder = join(out, 'with-rules');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'bursar.yaml'), before.yaml);
  const after = await suggestedIn(data, folder);
  const agreement = await agreementOf(data, join(out, 'files'), folder);
  discard(name);
  return [
    world,
    seed,
    stripped ? 'yes' : '',
    percent(before.unowned),
    percent(after.unowned),
    before.rules,
    before.shared,
    percent(agreement),
  ];
}

/** Imports the files with the jobs' own words taken from every third of them. @param {string} out */
async function imported(out) {
  const files = join(out, 'files');
  const data = join(out, 'stripped');
  const duck = await openDuck();
  await duck.run(`COPY (
    SELECT * EXCLUDE (lost) REPLACE (CASE WHEN lost THEN NULL ELSE labels END AS labels, CASE WHEN lost THEN NULL ELSE account END AS account,
      CASE WHEN lost AND namespace IS NOT NULL THEN 'default' ELSE namespace END AS namespace)
    FROM (SELECT *, hash(allocation_id) % 3 = 0 AS lost FROM ${csv(`${files}/allocations.csv`)})
  ) TO '${files}/stripped.csv' (HEADER)`);
  /** @type {readonly (readonly [string, RegExp])[]} */
  const tables = [
    ['nodes', /^nodes/],
    ['devices', /^devices/],
    ['rates', /^rates/],
    ['fx', /^fx/],
    ['allocations', /^stripped/],
    ['charges', /^bill-(?!.*first-issue)/],
    ['samples', /^samples-/],
  ];
  for (const [word, pattern] of tables) {
    const names = readdirSync(files).filter((file) => pattern.test(file));
    if (names.length > 0) await bursar(['import', word, ...names.map((file) => join(files, file)), '--data', data]);
  }
  await bursar(['derive', '--data', data]);
  return data;
}

/** Of the money that has a team and whose owner the world knows, the share that is the owner's. @param {string} data @param {string} files @param {string} folder */
async function agreementOf(data, files, folder) {
  const duck = await openDuck();
  const answer = JSON.parse(await spendByJob(data, folder));
  const jobs = await duck.rows(`SELECT DISTINCT allocation_id, workload_name FROM ${csv(`${files}/allocations.csv`)}`);
  const nodes = await duck.rows(
    `SELECT DISTINCT node_id, json_extract_string(tags, '$.team') AS team FROM ${csv(`${files}/nodes.csv`)}`,
  );
  const habits = habitTeams(files);
  const teamOfJob = new Map(
    jobs.map((row) => [String(row['allocation_id']), habits.get(String(row['workload_name']).replace(/-\d+$/, ''))]),
  );
  const teamOfNode = new Map(nodes.map((row) => [String(row['node_id']), row['team'] ?? undefined]));
  let [agreed, known] = [0n, 0n];
  for (const { job, node, team, costUsdMicros } of answer.rows) {
    if (team === null || costUsdMicros === null) continue;
    const truth = job === null ? (node === null ? undefined : teamOfNode.get(node)) : teamOfJob.get(job);
    if (truth === undefined) continue;
    known += BigInt(costUsdMicros);
    if (truth === team) agreed += BigInt(costUsdMicros);
  }
  return Number(agreed) / Number(known);
}
