/** A real Prometheus of the lab for benchmarks, filled once and kept. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { remoteWrite } from './remote-write.mjs';

const SCRIPT = new URL('../../lab/prometheus', import.meta.url).pathname;

/** @param {string[]} args */
function lab(...args) {
  const { status, stderr, stdout } = spawnSync(SCRIPT, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  if (status !== 0) throw new Error(`lab/prometheus ${args.join(' ')}: ${stderr}${stdout}`);
}

/**
 * Starts it; `parts` are written one after the other if they have not been before.
 *
 * @param {string} dir
 * @param {Iterable<Iterable<import('./remote-write.mjs').WrittenSeries>>} parts
 * @returns {Promise<string>} its address
 */
export async function filledPrometheus(dir, parts) {
  const mark = join(dir, 'filled');
  if (!existsSync(mark)) rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  lab('start', dir);
  const url = /PROMETHEUS_URL=['"]?([^'"\s]+)/.exec(readFileSync(join(dir, 'env.sh'), 'utf8'))?.[1] ?? '';
  if (!existsSync(mark)) {
    for (const part of parts) await remoteWrite(url, part);
    writeFileSync(mark, '');
  }
  return url;
}

/** @param {string} dir */
export function stopPrometheus(dir) {
  lab('stop', dir);
}

/** CPU seconds the server has used since it started. @param {string} url */
export async function serverCpuSeconds(url) {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^process_cpu_seconds_total (\S+)$/m.exec(text)?.[1]);
}
