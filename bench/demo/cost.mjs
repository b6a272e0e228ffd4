/** What the demo costs: as `npm start` makes it for a newcomer, and a fleet of 10,000 GPUs written as a stream. */
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { BENCH_DATA, discard, measured, measuredBursar } from './run.mjs';
import { decimals, section, table } from './words.mjs';

const START_WALL_MOST_S = 60;
const START_RSS_MOST_MIB = 1.5 * 1024;

/** The build and the demo with its defaults, in processes of their own. @returns {Promise<string>} */
export async function start() {
  discard('start');
  const before = loadavg()[0] ?? 0;
  const { cost } = await measured('npm', ['run', '--silent', 'demo', '--', '--out', join(BENCH_DATA, 'start')]);
  discard('start');
  const [build, demo] = [/rolldown/, /bursar\.js demo/].map((name) =>
    cost.processes.find(({ command }) => name.test(command)),
  );
  if (build === undefined || demo === undefined) throw new Error('npm run demo is not a build and a demo any more');
  /** @param {string} name @param {{ wallSeconds: number, cpuSeconds: number, peakRssMib: number }} each */
  const row = (name, { wallSeconds, cpuSeconds, peakRssMib }) => [
    name,
    decimals(wallSeconds, 1),
    decimals(cpuSeconds, 1),
    Math.round(peakRssMib),
  ];
  const bar = ['bar', START_WALL_MOST_S, 'stated', START_RSS_MOST_MIB];
  const rows = [bar, row('`npm run demo`', cost), row('the build in it', build), row('the demo in it', demo)];
  return section('npm start', 'npm run demo', [
    table(['', 'wall, s', 'CPU, s', 'peak RSS, MiB'], rows),
    `Load of the machine when it began: ${decimals(before)}; the wall clock counts on two quiet cores only.`,
  ]);
}

const LARGE = ['--gpus', '10000', '--step', '5m', '--until', '2026-11-01', '--only-files', '--json'];

/**
 * As files only: ten days, then thirty, then thirty with a ceiling on the heap: left to itself the collector lets garbage
 * pile up, and what is really needed shows only where there is no more. @returns {Promise<string>}
 */
export async function large() {
  const rows = [];
  for (const [days, heapMib] of /** @type {[number, number?][]} */ ([[10], [30], [30, 600]])) {
    discard('large');
    const flags = ['--out', join(BENCH_DATA, 'large'), '--days', String(days), ...LARGE];
    const ceiling = heapMib === undefined ? [] : [`--max-old-space-size=${heapMib}`];
    const { stdout, cost } = await measuredBursar(['demo', ...flags], ceiling);
    discard('large');
    const samples = Number(JSON.parse(stdout).samples);
    rows.push([
      days,
      heapMib ?? 'none',
      samples.toLocaleString('en-US'),
      decimals(cost.cpuSeconds, 1),
      decimals(cost.cpuSeconds / (samples / 1e6), 2),
      decimals(cost.wallSeconds, 1),
      Math.round(cost.peakRssMib),
    ]);
  }
  return section('10,000 GPUs as a stream', `bursar demo --days 30 ${LARGE.join(' ')}`, [
    table(
      ['days', 'heap ceiling, MiB', 'samples', 'CPU, s', 'CPU, s per million samples', 'wall, s', 'peak RSS, MiB'],
      rows,
    ),
  ]);
}
