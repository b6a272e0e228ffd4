/**
 * What it costs to take in the price catalogs of 24 clouds, and every price list there is: `npm run bench:collect -- prices`, or
 * `node bench/collect/prices.mjs` after a build. CPU is that of the whole process, from its start to its end.
 */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { BENCH_DATA, measuredBursar } from '../demo/run.mjs';

const PRICES = fileURLToPath(new URL('../../../shared/data/prices', import.meta.url));
const CATALOGS = join(PRICES, 'skypilot-catalog-2026-08-22');
const RUNS = 3;
const CPU_SECONDS_MAX = 5;

/** @param {string} path */
async function takeIn(path) {
  const data = join(BENCH_DATA, 'prices');
  rmSync(data, { recursive: true, force: true });
  const { stdout, cost } = await measuredBursar(['import', 'prices', path, '--data', data, '--json']);
  rmSync(data, { recursive: true, force: true });
  /** @type {{ files: { rows: number, prices: number }[] }} */
  const { files } = JSON.parse(stdout);
  const sum = (/** @type {(file: { rows: number, prices: number }) => number} */ of) =>
    files.reduce((total, file) => total + of(file), 0);
  return { files: files.length, rows: sum(({ rows }) => rows), prices: sum(({ prices }) => prices), ...cost };
}

/** @returns {Promise<boolean>} whether the catalogs stayed within their time */
export async function benchPrices() {
  if (!existsSync(CATALOGS)) {
    console.log(`prices: skipped, there is nothing at ${PRICES}`);
    return true;
  }
  const runs = [];
  for (let run = 0; run < RUNS; run += 1) runs.push(await takeIn(CATALOGS));
  const all = await takeIn(PRICES);
  const best = runs.reduce((a, b) => (a.cpuSeconds < b.cpuSeconds ? a : b));
  console.log('| lists | files | rows | prices | CPU s | wall s | peak MiB |\n|---|---|---|---|---|---|---|');
  for (const [name, cost] of /** @type {const} */ ([
    ['catalogs of 24 clouds', best],
    ['all price lists', all],
  ])) {
    const figures = [cost.files, cost.rows, cost.prices].map((count) => count.toLocaleString('en-US'));
    console.log(
      `| ${name} | ${figures.join(' | ')} | ${cost.cpuSeconds.toFixed(1)} | ${cost.wallSeconds.toFixed(1)} | ${cost.peakRssMib.toFixed(0)} |`,
    );
  }
  console.log(
    `CPU of ${RUNS} runs of the catalogs: ${runs.map(({ cpuSeconds }) => cpuSeconds.toFixed(2)).join(', ')} s; allowed ${CPU_SECONDS_MAX} s`,
  );
  return best.cpuSeconds < CPU_SECONDS_MAX;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  if (!(await benchPrices())) process.exitCode = 1;
}
