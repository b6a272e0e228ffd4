/**
 * The benchmark of the server: `npm run bench:serve -- [flags]`
 *
 *   --gpus, --days   the size of the ledger (10000, 90); made once of a small one, kept in bench-data
 *   --data DIR       a folder that is there already
 *   --base DIR       a small demo to make it of, instead of one made here
 *   --users N        people at once (20)
 *   --rounds N       times each goes through all pages (3)
 *   --strict         ends with 1 where a bar is not reached
 *   --no-pan         leaves out the panning of the map
 *
 * Prints Markdown for docs/BENCHMARKS.md. Beside the server the same people click through one that does nothing, in a process of its
 * own too: what that takes is the machine's own noise. Needs a chromium: what pages ask is listened to in it (walk.mjs), and it says when the
 * overview is painted and what a frame of the map costs.
 */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { section, table } from '../demo/words.mjs';
import { openings } from './first-paint.mjs';
import { panned } from './pan.mjs';
import { quantile, walk } from './users.mjs';
import { checkedWhole, namesIn, openedOnce } from './walk.mjs';
import { wideLake } from './wide-lake.mjs';

const { values: options } = parseArgs({
  options: {
    gpus: { type: 'string', default: '10000' },
    days: { type: 'string', default: '90' },
    data: { type: 'string' },
    base: { type: 'string' },
    users: { type: 'string', default: '20' },
    rounds: { type: 'string', default: '3' },
    strict: { type: 'boolean', default: false },
    'no-pan': { type: 'boolean', default: false },
  },
});

const BARS = { p95Ms: 100, rssMib: 1536, scriptKb: 300, paintMs: 1000, frameMs: 10 };
const OPENINGS = 9;
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const size = { users: Number(options.users), rounds: Number(options.rounds) };
const data = options.data ?? (await wideLake(Number(options.gpus), Number(options.days), options.base));

const ours = await started([
  join(ROOT, 'bin/bursar.js'),
  'serve',
  '--data',
  data,
  '--listen',
  '127.0.0.1:0',
  '--no-collect',
]);
const none = await started([join(ROOT, 'bench/serve/empty-server.mjs')]);
try {
  const names = await namesIn(ours.url);
  const { steps, first } = await openedOnce(ours.url, names);
  const checkedSeconds = await checkedWhole(ours.url);
  const painted = await openings(ours.url, OPENINGS);
  const pan = options['no-pan'] ? undefined : await panned(ours.url, 'today');
  // The first time through fills what is kept; it is told apart.
  await walk(ours.url, steps, { ...size, rounds: 1 });
  const warm = await walk(ours.url, steps, size);
  const rssMib = residentMib(ours.pid, 'VmHWM');
  const noise = await walk(none.url, steps, size);
  report({ steps, first, checkedSeconds, painted, pan, warm, noise, rssMib });
} finally {
  ours.stop();
  none.stop();
}

/** @param {{ steps: readonly import('./walk.mjs').Step[], first: Map<string, number>, checkedSeconds: number, painted: import('./first-paint.mjs').Opening[], pan: { shown: string, perFrameMs: number } | undefined, warm: import('./users.mjs').Answer[], noise: import('./users.mjs').Answer[], rssMib: number }} found */
function report({ steps, first, checkedSeconds, painted, pan, warm, noise, rssMib }) {
  const failed = warm.filter(({ status }) => status >= 400);
  const answered = warm.filter(({ status }) => status < 400);
  const times = (/** @type {import('./users.mjs').Answer[]} */ answers) => answers.map(({ ms }) => ms);
  const rows = [
    ...[...new Set(steps.map(({ page }) => page))].map((page) =>
      row(
        page,
        answered.filter((each) => each.page === page),
        first.get(page),
      ),
    ),
    row('**all**', answered, undefined),
    row('a server that does nothing', noise, undefined),
  ];
  const p95 = quantile(times(answered), 0.95);
  const script = scriptKb();
  const paintMs = quantile(
    painted.map((each) => each.paintMs),
    0.5,
  );
  const reached = [
    p95 <= BARS.p95Ms,
    rssMib <= BARS.rssMib,
    failed.length === 0,
    paintMs <= BARS.paintMs,
    script <= BARS.scriptKb,
    pan === undefined || pan.perFrameMs <= BARS.frameMs,
  ].every(Boolean);
  console.log(
    section('The server', `npm run bench:serve -- --gpus ${options.gpus} --days ${options.days}`, [
      `${size.users} people, a second between two clicks, ${warm.length} answers; ledger: ${data}.`,
      table(['page', 'first ms', 'p50 ms', 'p95 ms', 'p99 ms', 'longest ms', 'answers'], rows),
      `Peak memory of the server ${Math.round(rssMib)} MiB (bar ${BARS.rssMib}); p95 bar ${BARS.p95Ms} ms; ` +
        `JavaScript of the dashboard ${Math.round(script)} kB gzipped (bar ${BARS.scriptKb}); ` +
        `first paint of the overview ${paintWords(painted)} (bar ${BARS.paintMs} ms); ` +
        (pan === undefined
          ? ''
          : `script of a frame while the map is panned ${pan.perFrameMs.toFixed(1)} ms (bar ${BARS.frameMs}): ${pan.shown} `) +
        `The whole ledger was checked against its bills after ${Math.round(checkedSeconds)} s. ` +
        `${failed.length} answers failed${failed.length === 0 ? '' : `: ${[...new Set(failed.map(({ page, status }) => `${page} (${status})`))].join(', ')}`}.`,
    ]),
  );
  if (options.strict && !reached) process.exitCode = 1;
}

/** @param {readonly import('./first-paint.mjs').Opening[]} painted @returns {string} the middle one and the worst, of a browser without a cache */
function paintWords(painted) {
  const spread = (/** @type {number[]} */ times) =>
    `${Math.round(quantile(times, 0.5))} ms, at most ${Math.round(Math.max(...times))}`;
  return `${spread(painted.map(({ paintMs }) => paintMs))}, its figures after ${spread(painted.map(({ figuresMs }) => figuresMs))}`;
}

/** @param {string} what @param {import('./users.mjs').Answer[]} answers @param {number | undefined} first @returns {string[]} */
function row(what, answers, first) {
  const times = answers.map(({ ms }) => ms);
  const shown = (/** @type {number} */ ms) => (ms < 10 ? ms.toFixed(1) : String(Math.round(ms)));
  return [
    what,
    first === undefined ? '' : shown(first),
    shown(quantile(times, 0.5)),
    shown(quantile(times, 0.95)),
    shown(quantile(times, 0.99)),
    shown(Math.max(...times)),
    String(answers.length),
  ];
}

/** @param {readonly string[]} args @returns {Promise<{ url: string, pid: number, stop: () => void }>} once it says where it listens */
function started(args) {
  return new Promise((done, fail) => {
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    const read = (/** @type {Buffer} */ chunk) => {
      said += String(chunk);
      const url = /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0];
      if (url !== undefined) done({ url, pid: child.pid ?? 0, stop: () => child.kill('SIGTERM') });
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.on('error', fail);
    child.on('exit', (code) => fail(new Error(`${args.join(' ')} ended with ${code}: ${said.slice(-1000)}`)));
  });
}

/** @param {number} pid @param {'VmHWM' | 'VmRSS'} what @returns {number} */
function residentMib(pid, what) {
  const line = readFileSync(`/proc/${pid}/status`, 'utf8')
    .split('\n')
    .find((each) => each.startsWith(what));
  return Number(/\d+/.exec(line ?? '')?.[0] ?? Number.NaN) / 1024;
}

/** @returns {number} all scripts of the built dashboard, as they are sent */
function scriptKb() {
  const assets = join(ROOT, 'dist/web/assets');
  const scripts = readdirSync(assets).filter((name) => name.endsWith('.js'));
  return scripts.reduce((sum, name) => sum + gzipSync(readFileSync(join(assets, name)), { level: 9 }).length, 0) / 1000;
}
