/**
 * The benchmark of bills: `npm run bench:bills`.
 *
 *   node bench/bills/bench.mjs [--dir bench-data/bills] [--rows 5000000] [--rounds 3] [--formats parquet,csv.gz]
 *
 * A made FOCUS bill of 46 columns, as Parquet and as gzipped CSV: CPU and peak memory of `bursar import charges` (the bill into the
 * lake) and of `bursar bills add` (the bill into the lake and the ledger), each in a process of its own, against bare DuckDB that
 * reads the same columns of the same file into Parquet, in turn. Prints one JSON object; CPU seconds are of whole processes.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const { values: options } = parseArgs({
  options: {
    dir: { type: 'string', default: 'bench-data/bills' },
    rows: { type: 'string', default: '5000000' },
    rounds: { type: 'string', default: '3' },
    formats: { type: 'string', default: 'parquet,csv.gz' },
  },
});
const here = new URL('.', import.meta.url).pathname;
const dir = join(options.dir, options.rows);

/** @param {string} script @param {string[]} args @returns {{cpuSeconds: number, peakRssMib: number}} */
function cost(script, args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(here, script), ...args], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${script} ${args.join(' ')} failed:\n${stdout}${stderr}`);
  return JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '{}');
}
/** @param {number[]} values */
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? 0;
/** @param {number} value */
const round = (value) => Number(value.toFixed(2));

if (!existsSync(join(dir, 'bill.csv.gz'))) {
  const made = spawnSync(process.execPath, [join(here, 'make-bill.mjs'), dir, options.rows], { stdio: 'inherit' });
  if (made.status !== 0) throw new Error('the bill could not be made');
}
/** @type {Record<string, unknown>} */
const result = { rows: Number(options.rows) };
for (const format of options.formats.split(',')) {
  const file = join(dir, `bill.${format}`);
  const data = join(dir, 'data');
  const runs = Array.from({ length: Number(options.rounds) }, () => {
    const bare = cost('bare.mjs', [file, join(dir, 'bare.parquet')]);
    rmSync(data, { recursive: true, force: true });
    const imported = cost('../ledger/product.mjs', [`import charges ${file} --data ${data} --json`]);
    rmSync(data, { recursive: true, force: true });
    const added = cost('../ledger/product.mjs', [`bills add ${file} --data ${data} --json`]);
    return { bare, imported, added };
  });
  const cpu = (/** @type {'bare' | 'imported' | 'added'} */ which) =>
    round(median(runs.map((run) => run[which].cpuSeconds)));
  const ratio = (/** @type {'imported' | 'added'} */ which) =>
    round(median(runs.map((run) => run[which].cpuSeconds / run.bare.cpuSeconds)));
  result[format] = {
    bareCpuSeconds: cpu('bare'),
    importCpuSeconds: cpu('imported'),
    addCpuSeconds: cpu('added'),
    importRatio: ratio('imported'),
    addRatio: ratio('added'),
    importPeakRssMib: Math.max(...runs.map(({ imported }) => imported.peakRssMib)),
    addPeakRssMib: Math.max(...runs.map(({ added }) => added.peakRssMib)),
    barePeakRssMib: Math.max(...runs.map(({ bare }) => bare.peakRssMib)),
  };
}
process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
