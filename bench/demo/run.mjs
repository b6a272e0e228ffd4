/** Runs commands of this repository as children and says what they and all Node processes below them cost. */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where benchmarks leave their files; git does not see it. */
export const BENCH_DATA = 'bench-data';
const BIN = fileURLToPath(new URL('../../bin/bursar.js', import.meta.url));
const HOOK = new URL('process-cost.mjs', import.meta.url).href;

/**
 * @typedef {object} Cost
 * @property {number} wallSeconds from the start of the command to its end
 * @property {number} cpuSeconds user and system, of all its Node processes together
 * @property {number} peakRssMib of the largest of them
 * @property {{ command: string, cpuSeconds: number, wallSeconds: number, peakRssMib: number }[]} processes
 */

/** @param {string} program @param {readonly string[]} args @returns {Promise<{ stdout: string, cost: Cost }>} */
export async function measured(program, args) {
  mkdirSync(BENCH_DATA, { recursive: true });
  const folder = mkdtempSync(join(BENCH_DATA, 'cost-'));
  try {
    const begun = performance.now();
    const stdout = await outputOf(program, args, {
      ...process.env,
      NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --import=${HOOK}`,
      BENCH_COST_DIR: resolve(folder),
    });
    const wallSeconds = (performance.now() - begun) / 1000;
    /** @type {Cost['processes']} */
    const processes = readdirSync(folder).map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')));
    const cpuSeconds = processes.reduce((sum, each) => sum + each.cpuSeconds, 0);
    const peakRssMib = Math.max(...processes.map((each) => each.peakRssMib));
    return { stdout, cost: { wallSeconds, cpuSeconds, peakRssMib, processes } };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {readonly string[]} args @returns {Promise<string>} */
export const bursar = (args) => outputOf(process.execPath, [BIN, ...args], process.env);

/** @param {readonly string[]} args @param {readonly string[]} [nodeFlags] */
export const measuredBursar = (args, nodeFlags = []) => measured(process.execPath, [...nodeFlags, BIN, ...args]);

/** @param {string} program @param {readonly string[]} args @param {NodeJS.ProcessEnv} env @returns {Promise<string>} */
function outputOf(program, args, env) {
  return new Promise((done, reject) => {
    const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) done(stdout);
      else reject(new Error(`${program} ${args.join(' ')} ended with ${code}:\n${stdout.slice(-2000)}${stderr}`));
    });
  });
}

/**
 * A demo as files only; `discard` throws it away.
 * @param {string} name @param {readonly string[]} flags @returns {Promise<string>} the folder of its files
 */
export async function demoFiles(name, flags) {
  const out = join(BENCH_DATA, name);
  discard(name);
  await bursar(['demo', '--out', out, '--only-files', ...flags]);
  return join(out, 'files');
}

/** @param {string} name */
export function discard(name) {
  rmSync(join(BENCH_DATA, name), { recursive: true, force: true });
}
