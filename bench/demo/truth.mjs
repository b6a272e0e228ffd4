/**
 * Do bill, stated rates, truth and ledger of the demo agree? Asked of the files with a DuckDB of the benchmark's own, and
 * of Bursar with its own commands.
 */
import { join } from 'node:path';
import { csv, openDuck } from './duck.mjs';
import { BENCH_DATA, bursar, discard } from './run.mjs';
import { percent, section, spread, table } from './words.mjs';

/** @typedef {import('./duck.mjs').Duck} Duck */
/** @typedef {import('./duck.mjs').Row} Row */

const UNTIL = '2026-11-01';
const SEEDS = [1, 2, 3];
const FLAGS = ['--gpus', '250', '--days', '30', '--step', '5m', '--until', UNTIL];
const HASH_FLAGS = ['--gpus', '60', '--days', '5', '--step', '5m', '--until', UNTIL];
const WORLDS = /** @type {const} */ ([
  ['unmanaged', 0.15, 0.4],
  ['well-run', 0.6, 0.8],
]);
const UNMATCHED_MOST = 0.01;
const WHOLE_UNITS = 63_000;

/**
 * @typedef {object} Findings
 * @property {string} world
 * @property {number} seed
 * @property {bigint} truthMicros
 * @property {bigint} offMicros truth less bills and rates
 * @property {bigint} checkMicros what `ledger check` finds missing or too much
 * @property {number} faults what else it finds
 * @property {number} unmatchedFiles unmatched GPU charges as a share of all, from the files
 * @property {number} unmatchedLedger the same, as Bursar says
 * @property {Record<string, number>} shares computing, each a share of 1
 */

/** @returns {Promise<string>} */
export async function truth() {
  /** @type {Findings[]} */
  const findings = [];
  for (const seed of SEEDS) {
    // Two at a time: one process keeps little more than one core busy.
    findings.push(...(await Promise.all(WORLDS.map(([world]) => findingsOf(world, seed)))));
  }
  findings.sort(
    (a, b) => WORLDS.findIndex(([name]) => name === a.world) - WORLDS.findIndex(([name]) => name === b.world),
  );
  const text = section('The demo adds up', `bursar demo ${FLAGS.join(' ')}, both worlds, seeds ${SEEDS.join(', ')}`, [
    agreementTable(findings),
    `Hashes of the ledger, ${HASH_FLAGS.join(' ')}: ${await hashes()}`,
    'What computes, as a share of GPU-hours or of what GPUs cost. Truth: what the world says of each second. Screen: what the first screen says, of what it knows; it does not yet tell starved and lost time from computing.',
    sharesTable(findings),
  ]);
  const wrong = findings.find(
    ({ offMicros, checkMicros, faults }) => offMicros !== 0n || checkMicros !== 0n || faults > 0,
  );
  if (wrong !== undefined) throw new Error(`${wrong.world}, seed ${wrong.seed}, does not add up\n\n${text}`);
  return text;
}

/** @param {string} world @param {number} seed @returns {Promise<Findings>} */
async function findingsOf(world, seed) {
  const name = `truth-${world}-${seed}`;
  const data = join(BENCH_DATA, name);
  discard(name);
  await bursar(['demo', '--out', data, '--world', world, '--seed', String(seed), ...FLAGS, '--json']);
  const check = JSON.parse(await bursar(['ledger', 'check', '--data', data, '--json']));
  const look = JSON.parse(await bursar(['look', '--window', 'all', '--data', data, '--json']));
  const duck = await openDuck();
  const money = await moneyOf(duck, join(data, 'files'));
  const time = await timeOf(duck, join(data, 'files'));
  const truthMicros = micros(money['truth']);
  const offMicros = truthMicros - micros(money['billed']) - (await ratedMicros(duck, join(data, 'files')));
  discard(name);
  const gpuMicros = Number(BigInt(look.paidUsdMicros) - BigInt(look.categories.beside.usdMicros));
  return {
    world,
    seed,
    truthMicros,
    offMicros,
    checkMicros: BigInt(check.differenceUsdMicros),
    faults: check.faults.length,
    unmatchedFiles: Number(money['unmatched']) / Number(money['gpu_charges']),
    unmatchedLedger: Number(look.unmatchedUsdMicros) / (gpuMicros - Number(look.basisUsdMicros.rate)),
    shares: {
      truthHours: Number(time['computing_s']) / Number(time['all_s']),
      truthHoursWithStranded:
        Number(time['computing_s']) / (Number(time['all_s']) + Number(money['stranded_hours']) * 3600),
      arguableHours: Number(time['arguable_s']) / Number(time['all_s']),
      truthMoney: Number(time['computing_usd']) / Number(time['gpu_usd']),
      screenHours: look.computeShareHoursPermille / 1000,
      screenMoney: look.computeSharePermille / 1000,
    },
  };
}

/** An exact decimal of at most six places that count. @param {unknown} amount */
function micros(amount) {
  const [whole = '0', fraction = ''] = String(amount).split('.');
  if (/[1-9]/.test(fraction.slice(6))) throw new Error(`${String(amount)} is no whole number of micros`);
  return BigInt(`${whole}${fraction.slice(0, 6).padEnd(6, '0')}`);
}

/** What the bills and the truth come to, in exact decimals. @param {Duck} duck @param {string} files @returns {Promise<Row>} */
function moneyOf(duck, files) {
  return duck.one(`
    WITH fx AS (SELECT currency, usd_per_unit::DECIMAL(9, 6) AS usd FROM ${csv(`${files}/fx.csv`)}),
    -- A first issue is replaced by the bill that follows it.
    charge AS (
      SELECT b.*, EffectiveCost::DECIMAL(18, 6) * coalesce(fx.usd, 1)::DECIMAL(9, 6) AS usd
      FROM read_csv('${files}/bill-*.csv', header = true, all_varchar = true, filename = true) AS b
      LEFT JOIN fx ON fx.currency = BillingCurrency
      WHERE NOT contains(filename, '-first-issue')),
    gpu AS (
      SELECT usd, CommitmentDiscountStatus IS DISTINCT FROM 'Unused'
          AND ResourceId NOT IN (SELECT resource_id FROM ${csv(`${files}/nodes.csv`)} WHERE resource_id IS NOT NULL) AS unmatched,
        CASE WHEN CommitmentDiscountStatus = 'Unused' THEN ConsumedQuantity::DOUBLE ELSE 0 END AS stranded_hours
      FROM charge WHERE ServiceCategory = 'Compute' AND ChargeCategory = 'Usage')
    SELECT (SELECT sum(usd) FROM charge)::VARCHAR AS billed,
      (SELECT sum(usd::DECIMAL(18, 6)) FROM ${csv(`${files}/truth.csv`)})::VARCHAR AS truth,
      (SELECT sum(usd)::DOUBLE FROM gpu) AS gpu_charges,
      (SELECT coalesce(sum(usd) FILTER (unmatched), 0)::DOUBLE FROM gpu) AS unmatched,
      (SELECT sum(stranded_hours) FROM gpu) AS stranded_hours`);
}

/** What owned machines cost by their stated rates: GPUs × seconds they were there × rate. @param {Duck} duck @param {string} files */
async function ratedMicros(duck, files) {
  const rows = await duck.rows(`
    SELECT any_value(gpu_count) AS gpus, any_value(usd_per_gpu_hour) AS rate, epoch(
        coalesce(max(present_until::TIMESTAMPTZ), TIMESTAMPTZ '${UNTIL} 00:00:00Z') - min(present_from::TIMESTAMPTZ)
      )::BIGINT AS s
    FROM ${csv(`${files}/nodes.csv`)} AS node JOIN ${csv(`${files}/rates.csv`)} AS rate USING (node_id) GROUP BY node_id`);
  return rows.reduce((sum, { gpus, rate, s }) => {
    const perHour = micros(rate);
    return sum + (BigInt(String(gpus)) * BigInt(String(s)) * perHour + 1800n) / 3600n;
  }, 0n);
}

/** GPU-seconds and dollars of the truth; seconds count by the share of the GPU they were of. @param {Duck} duck @param {string} files */
function timeOf(duck, files) {
  return duck.one(`
    WITH told AS (
      SELECT category, usd::DOUBLE AS usd, coalesce(seconds::DOUBLE * share_units::DOUBLE / ${WHOLE_UNITS}, 0) AS gpu_s
      FROM ${csv(`${files}/truth.csv`)})
    SELECT sum(gpu_s) AS all_s, sum(gpu_s) FILTER (category = 'computing') AS computing_s,
      sum(gpu_s) FILTER (category = 'arguable') AS arguable_s,
      sum(usd) FILTER (category = 'computing') AS computing_usd, sum(usd) FILTER (category <> 'beside') AS gpu_usd
    FROM told`);
}

/** @returns {Promise<string>} */
async function hashes() {
  /** @type {string[]} */
  const found = [];
  for (const seed of ['1', '1', '2']) {
    const data = join(BENCH_DATA, 'truth-hash');
    discard('truth-hash');
    await bursar(['demo', '--out', data, '--seed', seed, ...HASH_FLAGS, '--json']);
    found.push(JSON.parse(await bursar(['ledger', 'hash', '--data', data, '--json'])).hash);
  }
  discard('truth-hash');
  const [first, again, other] = found;
  if (first !== again) throw new Error(`two runs of one seed differ: ${first} and ${again}`);
  if (first === other) throw new Error('another seed gives the same ledger');
  return `seed 1 twice the same, seed 2 another.`;
}

/** @param {readonly Findings[]} findings */
function agreementTable(findings) {
  const rows = findings.map((each) => [
    each.world,
    each.seed,
    dollars(each.truthMicros),
    String(each.offMicros),
    each.faults === 0 ? String(each.checkMicros) : `${each.checkMicros}, ${each.faults} faults`,
    percent(each.unmatchedFiles),
    percent(each.unmatchedLedger),
  ]);
  const bars = ['bar', '', '', '0', '0', `≤ ${percent(UNMATCHED_MOST)}`, `≤ ${percent(UNMATCHED_MOST)}`];
  return table(
    [
      'world',
      'seed',
      'truth',
      'truth − bills − rates, micro-dollars',
      '`ledger check`, micro-dollars',
      'GPU charges that meet no node: files',
      'ledger',
    ],
    [bars, ...rows],
  );
}

/** @param {bigint} amountMicros */
const dollars = (amountMicros) =>
  `$${(amountMicros / 1_000_000n).toLocaleString('en-US')}.${String(amountMicros % 1_000_000n).padStart(6, '0')}`;

/** @param {readonly Findings[]} findings */
function sharesTable(findings) {
  const rows = WORLDS.map(([world, least, most]) => {
    const shares = findings.filter((each) => each.world === world).map((each) => each.shares);
    const cell = (/** @type {string} */ name) =>
      spread(
        shares.map((each) => each[name] ?? Number.NaN),
        percent,
      );
    const isWithin = shares.every(({ truthHours = Number.NaN }) => truthHours >= least && truthHours <= most);
    return [
      world,
      `${percent(least)} to ${percent(most)}`,
      isWithin ? cell('truthHours') : `**${cell('truthHours')}**: not reached`,
      cell('truthHoursWithStranded'),
      cell('arguableHours'),
      cell('truthMoney'),
      cell('screenHours'),
      cell('screenMoney'),
    ];
  });
  return table(
    [
      'world',
      'bar',
      'truth, GPU-hours',
      'with unused commitment',
      'arguable beside it',
      'truth, money',
      'screen, GPU-hours',
      'screen, money',
    ],
    rows,
  );
}
