/**
 * The ledger benchmark: `npm run bench:ledger`.
 *
 *   node bench/ledger/bench.mjs [--dir bench-data] [--parts day,growth,spend,version] [--gpus 10000] [--growth-gpus 1000]
 *                               [--days 90] [--rounds 3]
 *
 * day      one day of one-minute samples: import and derive against bare.sql, rounds in turn, entries compared row by row
 * growth   that many days of five-minute samples of a smaller fleet: what the last day costs against the second. A smaller fleet is the harder test: whatever grows with history weighs more beside its day.
 * spend    `spend --by team,class` over that many days of hourly samples of the whole fleet, against the same process answering
 *          `SELECT 1`; how often samples come changes nothing in the tables it reads
 * version  `bursar --version` against `node -e 0`
 *
 * Prints one JSON object. CPU seconds are of whole processes; a machine with others on it inflates both sides.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';

const { values: options } = parseArgs({
  options: {
    dir: { type: 'string', default: 'bench-data' },
    parts: { type: 'string', default: 'day,growth,spend,version' },
    gpus: { type: 'string', default: '10000' },
    'growth-gpus': { type: 'string', default: '1000' },
    days: { type: 'string', default: '90' },
    rounds: { type: 'string', default: '3' },
  },
});
const START = '2026-10-01';
const here = new URL('.', import.meta.url).pathname;
const parts = new Set(options.parts.split(','));

/** @param {number[]} values */
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? 0;
/** @param {number} index */
const dayAt = (index) => new Date(Date.parse(`${START}T00:00:00Z`) + index * 86_400_000).toISOString().slice(0, 10);
/** @param {number} value */
const round = (value) => Number(value.toFixed(3));

/** @param {string} script @param {string[]} args @returns {{stdout: string, stderr: string}} */
function node(script, args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(here, script), ...args], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  if (status !== 0) throw new Error(`${script} ${args.join(' ')} failed:\n${stdout}${stderr}`);
  return { stdout, stderr };
}

/** @param {string[]} commands @returns {{cpuSeconds: number, peakRssMib: number, steps: Record<string, number>}} */
const product = (commands) => JSON.parse(node('product.mjs', commands).stderr.trimEnd().split('\n').at(-1) ?? '');

/** @param {string} dir @param {string} data @param {string} day */
const importsOf = (dir, data, day) =>
  ['allocations', 'charges', 'samples'].map(
    (table) => `import ${table} ${dir}/${table}-${day}.parquet --data ${data} --json`,
  );
/** @param {string} dir @param {string} data */
const inventoryOf = (dir, data) => [
  `import nodes ${dir}/nodes.parquet --data ${data} --json`,
  `import devices ${dir}/devices.parquet --data ${data} --json`,
  `import rates ${dir}/rates.csv --data ${data} --json`,
];

/** @type {Record<string, unknown>} */
const figures = {};
if (parts.has('day')) figures['day'] = await benchDay();
if (parts.has('growth')) figures['growth'] = benchGrowth();
if (parts.has('spend')) figures['spend'] = benchSpend();
if (parts.has('version')) figures['version'] = benchVersion();
console.log(JSON.stringify(figures, null, 2));

async function benchDay() {
  const dir = join(options.dir, 'day');
  const data = join(options.dir, 'day-data');
  if (!existsSync(join(dir, `samples-${START}.parquet`)))
    node('make-fleet.mjs', ['--dir', dir, '--gpus', options.gpus]);
  const runs = [];
  for (let index = 0; index < Number(options.rounds); index += 1) {
    const bare = JSON.parse(node('bare.mjs', ['--dir', dir]).stdout);
    rmSync(data, { recursive: true, force: true });
    const ours = product([...inventoryOf(dir, data), ...importsOf(dir, data, START), `derive --data ${data} --json`]);
    runs.push({ bare, ours });
  }
  const ratios = runs.map(({ bare, ours }) => ours.cpuSeconds / bare.cpuSeconds);
  return {
    entries: await equalEntries(dir, data),
    bareCpuSeconds: runs.map(({ bare }) => bare.cpuSeconds),
    productCpuSeconds: runs.map(({ ours }) => ours.cpuSeconds),
    productSteps: runs.at(-1)?.ours.steps,
    ratioMedian: round(median(ratios)),
    ratios: ratios.map(round),
    productPeakRssMib: Math.max(...runs.map(({ ours }) => ours.peakRssMib)),
    barePeakRssMib: Math.max(...runs.map(({ bare }) => bare.peakRssMib)),
  };
}

/** Rows that only one side has; the benchmark fails if there is one. @param {string} dir @param {string} data */
async function equalEntries(dir, data) {
  const connection = await (await DuckDBInstance.create(':memory:', { memory_limit: '2GB' })).connect();
  const read = async (/** @type {string} */ sql) => (await connection.runAndReadAll(sql)).getRowObjectsJson();
  const ours = `read_parquet('${data}/tables/ledger_entry/day=${START}/data.parquet', hive_partitioning = false)`;
  const bare = `read_parquet('${dir}/bare/entries-${START}.parquet')`;
  const columns = JSON.stringify((await read(`DESCRIBE SELECT * FROM ${bare}`)).map((row) => row['column_name'])).slice(
    1,
    -1,
  );
  const [answer] = await read(`
    SELECT (SELECT count(*) FROM ${bare}) AS rows,
      (SELECT count(*) FROM (SELECT ${columns} FROM ${ours} EXCEPT ALL SELECT ${columns} FROM ${bare})) AS "onlyProduct",
      (SELECT count(*) FROM (SELECT ${columns} FROM ${bare} EXCEPT ALL SELECT ${columns} FROM ${ours})) AS "onlyBare"`);
  if (answer?.['onlyProduct'] !== '0' || answer['onlyBare'] !== '0') {
    throw new Error(`entries differ: ${JSON.stringify(answer)}`);
  }
  return answer;
}

/**
 * Two folders, one with the first day and one with all days but the last. The second day on the one and the last day on the
 * other are taken in turn, each on a fresh copy: whatever disturbs the machine disturbs both.
 */
function benchGrowth() {
  const dir = join(options.dir, 'growth');
  const early = join(options.dir, 'growth-early');
  const late = join(options.dir, 'growth-late');
  const trial = join(options.dir, 'growth-trial');
  const days = Number(options.days);
  const gpus = options['growth-gpus'];
  const takes = (/** @type {number} */ index) => importsOf(dir, late, dayAt(index));
  for (const folder of [early, late]) rmSync(folder, { recursive: true, force: true });
  for (let index = 0; index < days; index += 1) makeDay(dir, gpus, '5', dayAt(index));
  product([...inventoryOf(dir, early), ...importsOf(dir, early, dayAt(0)), `derive --data ${early} --json`]);
  product([...inventoryOf(dir, late), ...Array.from({ length: days - 1 }, (_, index) => takes(index)).flat()]);
  product([`derive --data ${late} --json`]);
  /** @param {string} folder @param {number} index */
  const cost = (folder, index) => {
    rmSync(trial, { recursive: true, force: true });
    cpSync(folder, trial, { recursive: true });
    return product([...importsOf(dir, trial, dayAt(index)), `derive --data ${trial} --json`]).cpuSeconds;
  };
  const rounds = Array.from({ length: Number(options.rounds) * 2 + 1 }, () => [cost(early, 1), cost(late, days - 1)]);
  rmSync(trial, { recursive: true, force: true });
  const [second, last] = [0, 1].map((side) => rounds.map((pair) => pair[side] ?? 0));
  return {
    gpus: Number(gpus),
    days,
    secondDayCpuSeconds: second,
    lastDayCpuSeconds: last,
    ratioOfMedians: round(median(last ?? []) / median(second ?? [])),
  };
}

/** @param {string} dir @param {string} gpus @param {string} step @param {string} day */
function makeDay(dir, gpus, step, day) {
  node('make-fleet.mjs', ['--dir', dir, '--gpus', gpus, '--days', options.days, '--step', step, '--only', day]);
}

function benchSpend() {
  const dir = join(options.dir, 'spend');
  const data = join(options.dir, 'spend-data');
  if (!existsSync(join(data, 'tables', 'spend_day'))) {
    rmSync(data, { recursive: true, force: true });
    for (let index = 0; index < Number(options.days); index += 1) {
      makeDay(dir, options.gpus, '60', dayAt(index));
      product([...(index === 0 ? inventoryOf(dir, data) : []), ...importsOf(dir, data, dayAt(index))]);
    }
    product([`derive --data ${data} --json`]);
  }
  const command = `spend --by team,class --window ${options.days}d --json --data ${data}`;
  const [asked, nothing] = [[command], ['select-1']].map((commands) =>
    Array.from({ length: 7 }, () => product(commands).cpuSeconds),
  );
  return {
    days: Number(options.days),
    spendCpuSeconds: median(asked ?? []),
    selectOneCpuSeconds: median(nothing ?? []),
    aboveSelectOneSeconds: round(median(asked ?? []) - median(nothing ?? [])),
  };
}

/** The shell's `times` knows what its children cost. */
function benchVersion() {
  const cpuOf = (/** @type {string} */ command) => {
    const loop = `for i in $(seq 20); do ${command} > /dev/null; done; times`;
    const text = spawnSync('bash', ['-c', loop], { encoding: 'utf8' }).stdout.trimEnd().split('\n').at(-1) ?? '';
    const seconds = text.split(' ').map((part) => {
      const [minutes = '0', rest = '0'] = part.replace('s', '').split('m');
      return Number(minutes) * 60 + Number(rest);
    });
    return seconds.reduce((a, b) => a + b, 0) / 20;
  };
  const bin = join(here, '..', '..', 'bin', 'bursar.js');
  const rounds = Array.from(
    { length: 5 },
    () => cpuOf(`'${process.execPath}' '${bin}' --version`) / cpuOf(`'${process.execPath}' -e 0`),
  );
  return { ratioMedian: round(median(rounds)), ratios: rounds.map(round) };
}
