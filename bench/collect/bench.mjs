/**
 * The benchmark of collecting: `npm run bench:collect`.
 *
 *   npm run bench:collect [-- PART… [--dir bench-data/collect] [--gpus 10000] [--rounds 3] [--gzip]]
 *   npm run bench:collect -- prices | kill [KILLS] [SEED]
 *
 * PART is hour or table; without one it is both.
 *
 * hour   one hour of that many GPUs × 10 metrics at 30 s in a real Prometheus: Bursar's pull, and pull with the write into a data folder,
 *        against bare clients that fetch the same bytes and throw them away; in turn, each a process of its own. --gzip adds the bare client
 *        that lets the server compress.
 * table  500 GPUs × 1 day, the pod of each GPU changing every 40 minutes: the hourly average per GPU, by PromQL as people write it, by
 *        PromQL as it has to be, and from what Bursar collected; what each costs client and server, and how wrong it is.
 *
 * Needs the lab's Prometheus (lab/prometheus install). Prints one JSON object. A machine with others on it inflates both sides.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { rolldown } from 'rolldown';
import { hourlyTables } from './hourly-tables.mjs';
import { filledPrometheus, serverCpuSeconds, stopPrometheus } from './lab-prometheus.mjs';
import { madeFleet, METRICS } from './made-fleet.mjs';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    dir: { type: 'string', default: 'bench-data/collect' },
    gpus: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '3' },
    gzip: { type: 'boolean', default: false },
  },
});
const HOUR_MS = 3_600_000;
const FROM_MS = Date.parse('2026-03-02T10:00:00Z');
const here = new URL('.', import.meta.url).pathname;
const dir = resolve(options.dir);
const parts = new Set(positionals.length === 0 ? ['hour', 'table'] : positionals);

/** @typedef {{ cpuSeconds: number, wallSeconds: number, peakRssMib: number, bytes?: number, rows?: number }} Cost */

/** @param {string} script @param {string[]} args @returns {Cost} */
function cost(script, ...args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${script} ${args.join(' ')} failed:\n${stdout}${stderr}`);
  return JSON.parse(stdout);
}

/** Bursar's own code without its command line, as one file. */
async function bundledProduct() {
  const bundle = await rolldown({
    input: join(here, 'product.ts'),
    platform: 'node',
    external: ['@duckdb/node-api', '@photostructure/sqlite'],
    logLevel: 'silent',
  });
  await bundle.write({ dir: join(dir, 'product'), format: 'esm', entryFileNames: 'product.mjs' });
  return join(dir, 'product', 'product.mjs');
}

/** @param {number[]} values */
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? 0;
/** @param {number} value */
const round = (value) => Number(value.toFixed(2));

for (const other of ['prices', 'kill']) {
  if (!parts.has(other)) continue;
  const rest = positionals.slice(positionals.indexOf(other) + 1);
  const { status } = spawnSync(process.execPath, [join(here, `${other}.mjs`), ...rest], { stdio: 'inherit' });
  process.exit(status ?? 1);
}

mkdirSync(dir, { recursive: true });
const product = await bundledProduct();
/** @type {Record<string, unknown>} */
const figures = {};
if (parts.has('hour')) figures['hour'] = await benchHour();
if (parts.has('table')) figures['table'] = await hourlyTables(join(dir, 'day'), product);
console.log(JSON.stringify(figures, null, 2));

async function benchHour() {
  const gpus = Number(options.gpus);
  const folder = join(dir, `hour-${gpus}`);
  const data = join(dir, 'hour-data');
  const url = await filledPrometheus(folder, [
    madeFleet({ gpus, fromMs: FROM_MS, untilMs: FROM_MS + HOUR_MS, stepMs: 30_000 }),
  ]);
  const span = [String(FROM_MS), String(FROM_MS + HOUR_MS)];
  /** @type {Record<string, Cost[]>} */
  const runs = {};
  /** @type {Record<string, number[]>} */
  const server = {};
  try {
    for (let turn = 0; turn < Number(options.rounds); turn += 1) {
      for (const way of ['http', 'fetch', ...(options.gzip ? ['gzip'] : []), 'pull', 'write']) {
        rmSync(data, { recursive: true, force: true });
        const before = await serverCpuSeconds(url);
        const isOurs = way === 'pull' || way === 'write';
        const found = isOurs
          ? cost(product, way, url, ...span, data)
          : cost(join(here, 'bare.mjs'), way, url, span[1] ?? '', '3600', ...METRICS);
        (runs[way] ??= []).push(found);
        (server[way] ??= []).push((await serverCpuSeconds(url)) - before);
      }
    }
  } finally {
    stopPrometheus(folder);
  }
  /** @param {string} ours @param {string} bare */
  const ratio = (ours, bare) =>
    (runs[ours] ?? []).map(({ cpuSeconds }, turn) => round(cpuSeconds / (runs[bare]?.[turn]?.cpuSeconds ?? NaN)));
  return {
    gpus,
    samples: gpus * METRICS.length * 120,
    megabytes: round((runs['http']?.[0]?.bytes ?? 0) / 1e6),
    ...Object.fromEntries(
      Object.entries(runs).map(([way, all]) => [
        way,
        {
          cpuSeconds: all.map(({ cpuSeconds }) => round(cpuSeconds)),
          serverCpuSeconds: (server[way] ?? []).map(round),
          wallSeconds: round(median(all.map(({ wallSeconds }) => wallSeconds))),
          peakRssMib: Math.max(...all.map(({ peakRssMib }) => peakRssMib)),
          ...(all[0]?.rows !== undefined && { rows: all[0].rows }),
        },
      ]),
    ),
    ratios: {
      'pull ÷ fetch': ratio('pull', 'fetch'),
      'pull + write ÷ fetch': ratio('write', 'fetch'),
      'pull ÷ http': ratio('pull', 'http'),
      'pull + write ÷ http': ratio('write', 'http'),
    },
  };
}
