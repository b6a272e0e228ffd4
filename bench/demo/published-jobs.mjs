/**
 * Jobs of the demo beside those of Microsoft's Philly clusters: sizes, lengths, outcomes.
 *
 * A job is all lives of an allocation, and its length the sum of theirs, as in the Philly file. Of 45 days that are made,
 * jobs count whose first life began in the first 30, so that each has at least 15 days to end.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { csv, greatestDistance, openDuck, quantile } from './duck.mjs';
import { demoFiles, discard } from './run.mjs';
import { decimals, length, percent, section, spread, table } from './words.mjs';

/** @typedef {import('./duck.mjs').Duck} Duck */
/** @typedef {{ gpus: number, seconds: number, heldSeconds: number, outcome: string }} Job */

const PHILLY = fileURLToPath(new URL('../../../shared/data/cluster/philly_jobs_to_2017-10.csv.gz', import.meta.url));
const SEEDS = [1, 2, 3];
const COUNTED_UNTIL = '2026-10-17';
const FLAGS = ['--gpus', '250', '--days', '45', '--step', '1h', '--until', '2026-11-01'];
const PLACES = [0.1, 0.25, 0.5, 0.75, 0.9, 0.99];
const SIZES = /** @type {const} */ ([
  ['1', 1, 1],
  ['2', 2, 2],
  ['3–4', 3, 4],
  ['5–8', 5, 8],
  ['more', 9, Infinity],
]);
/** Final status of Philly jobs, by count: Jeon et al., USENIX ATC 2019. The file itself says nothing of outcomes. */
const PHILLY_PERMILLE = { passed: 693, killed: 135, unsuccessful: 172 };

/** @param {string} world @returns {Promise<string>} */
export async function publishedJobs(world) {
  const command = `bursar demo --world ${world} ${FLAGS.join(' ')} --only-files, seeds ${SEEDS.join(', ')}`;
  const heading = 'Jobs of training and sweeps, beside Philly';
  if (!existsSync(PHILLY)) return section(heading, command, ['Skipped: ../shared/data/cluster is not here.']);
  const duck = await openDuck();
  const philly = await jobsOfPhilly(duck);
  /** @type {Job[][]} */
  const demos = [];
  for (const seed of SEEDS) {
    const files = await demoFiles('published-jobs', [...FLAGS, '--seed', String(seed), '--world', world]);
    demos.push(await jobsOfDemo(duck, files));
    discard('published-jobs');
  }
  return section(heading, command, [
    `${philly.length} jobs of Philly against ${demos.map((jobs) => jobs.length).join(', ')} of the demo; ${spread(
      demos.map((jobs) => jobs.filter(({ outcome }) => outcome === 'running').length / jobs.length),
      percent,
    )} of these still run when the window ends and count as long as they were seen.`,
    sizesTable(philly, demos),
    lengthsTable(philly, demos),
    outcomesTable(demos),
    'Lengths are of the work: what pods stay on after it is over is left out, but the last line says what the scheduler sees.',
  ]);
}

/** @param {Duck} duck @returns {Promise<Job[]>} */
async function jobsOfPhilly(duck) {
  const rows = await duck.rows(`SELECT duration::DOUBLE AS s, num_gpus::DOUBLE AS gpus FROM ${csv(PHILLY)}`);
  return rows.map(({ s, gpus }) => ({
    gpus: Number(gpus),
    seconds: Number(s),
    heldSeconds: Number(s),
    outcome: '',
  }));
}

/** @param {Duck} duck @param {string} files @returns {Promise<Job[]>} */
async function jobsOfDemo(duck, files) {
  const rows = await duck.rows(`
    WITH life AS (
      SELECT source, allocation_id, attempt::INT AS attempt, count(*) AS gpus, any_value(outcome) AS outcome,
        min(held_from::TIMESTAMPTZ) AS began,
        epoch(coalesce(max(held_until::TIMESTAMPTZ), TIMESTAMPTZ '2026-11-01 00:00:00Z') - min(held_from::TIMESTAMPTZ)) AS s
      FROM ${csv(`${files}/allocations.csv`)}
      WHERE workload_kind IN ('Job', 'PyTorchJob')
      GROUP BY ALL),
    job AS (
      SELECT source, allocation_id, max(gpus) AS gpus, sum(s) AS held, arg_max(outcome, attempt) AS outcome
      FROM life GROUP BY ALL
      HAVING min(attempt) = 0 AND min(began) > (SELECT min(held_from::TIMESTAMPTZ) FROM ${csv(`${files}/allocations.csv`)})
        AND min(began) < TIMESTAMPTZ '${COUNTED_UNTIL} 00:00:00Z'),
    stayed AS (
      SELECT source, allocation_id, sum(seconds::DOUBLE) / count(DISTINCT device_id) AS s
      FROM ${csv(`${files}/truth.csv`)} WHERE reason = 'finished-still-holding' GROUP BY ALL)
    SELECT gpus::DOUBLE AS gpus, held::DOUBLE AS held, (held - coalesce(stayed.s, 0))::DOUBLE AS s, outcome
    FROM job LEFT JOIN stayed USING (source, allocation_id)`);
  return rows.map(({ gpus, held, s, outcome }) => ({
    gpus: Number(gpus),
    seconds: Math.max(1, Number(s)),
    heldSeconds: Number(held),
    outcome: String(outcome),
  }));
}

/** @param {readonly number[]} values */
const sum = (values) => values.reduce((a, b) => a + b, 0);

/** @param {readonly Job[]} philly @param {readonly (readonly Job[])[]} demos */
function sizesTable(philly, demos) {
  /** @param {readonly Job[]} jobs @param {readonly Job[]} some */
  const ofJobs = (jobs, some) => some.length / jobs.length;
  /** @param {readonly Job[]} jobs @param {readonly Job[]} some */
  const ofHours = (jobs, some) =>
    sum(some.map((job) => job.gpus * job.seconds)) / sum(jobs.map((job) => job.gpus * job.seconds));
  const rows = SIZES.map(([name, least, most]) => {
    const some = (/** @type {readonly Job[]} */ jobs) => jobs.filter(({ gpus }) => gpus >= least && gpus <= most);
    const cells = (/** @type {typeof ofJobs} */ share) => [
      percent(share(philly, some(philly))),
      spread(
        demos.map((jobs) => share(jobs, some(jobs))),
        percent,
      ),
    ];
    return [name, ...cells(ofJobs), ...cells(ofHours)];
  });
  return table(['GPUs of a job', 'jobs, Philly', 'demo', 'GPU-hours, Philly', 'demo'], rows);
}

/** @param {readonly Job[]} philly @param {readonly (readonly Job[])[]} demos */
function lengthsTable(philly, demos) {
  /** @type {[string, (job: Job) => boolean, (job: Job) => number][]} */
  const kinds = [
    ['all', () => true, (job) => job.seconds],
    ['1 GPU', ({ gpus }) => gpus === 1, (job) => job.seconds],
    ['2 to 4', ({ gpus }) => gpus >= 2 && gpus <= 4, (job) => job.seconds],
    ['8 GPUs', ({ gpus }) => gpus === 8, (job) => job.seconds],
    ['more', ({ gpus }) => gpus > 8, (job) => job.seconds],
    ['all, as long as held', () => true, (job) => job.heldSeconds],
  ];
  const rows = kinds.flatMap(([name, counts, secondsOf]) => {
    const sorted = (/** @type {readonly Job[]} */ jobs) =>
      jobs
        .filter(counts)
        .map(secondsOf)
        .sort((a, b) => a - b);
    const [published, ours] = [sorted(philly), demos.map(sorted)];
    const together = ours.flat().sort((a, b) => a - b);
    const distances = ours.map((each) => greatestDistance(published, each));
    return [
      [`${name}, Philly`, ...PLACES.map((place) => length(quantile(published, place))), ''],
      [
        `${name}, demo`,
        ...PLACES.map((place) => length(quantile(together, place))),
        spread(distances, (value) => decimals(value)),
      ],
    ];
  });
  return table(['length', ...PLACES.map((place) => `p${place * 100}`), 'KS distance'], rows);
}

/** @param {readonly (readonly Job[])[]} demos */
function outcomesTable(demos) {
  const over = demos.map((jobs) => jobs.filter(({ outcome }) => outcome !== 'running'));
  /** @type {Record<keyof typeof PHILLY_PERMILLE, (outcome: string) => boolean>} */
  const kinds = {
    passed: (outcome) => outcome === 'completed',
    killed: (outcome) => outcome === 'cancelled',
    unsuccessful: (outcome) => outcome !== 'completed' && outcome !== 'cancelled',
  };
  const rows = Object.entries(kinds).map(([name, counts]) => [
    name,
    percent(PHILLY_PERMILLE[/** @type {keyof typeof PHILLY_PERMILLE} */ (name)] / 1000),
    spread(
      over.map((jobs) => jobs.filter(({ outcome }) => counts(outcome)).length / jobs.length),
      percent,
    ),
    spread(
      over.map(
        (jobs) =>
          sum(jobs.filter(({ outcome }) => counts(outcome)).map((job) => job.gpus * job.seconds)) /
          sum(jobs.map((job) => job.gpus * job.seconds)),
      ),
      percent,
    ),
  ]);
  return table(['end of a job', 'Philly (Jeon et al. 2019)', 'demo', 'GPU-hours of the demo'], rows);
}
