/**
 * What the questions about waste cost with 10,000 GPUs × 30 days, once and again. The folder is a demo of that size, taken
 * in from its files and derived; samples come every half hour, which changes nothing in the tables that are asked. The samples of the last day
 * come later, so that the second time is a day after the first.
 */
import { rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { BENCH_DATA, bursar, discard, measuredBursar } from '../demo/run.mjs';
import { decimals, section, table } from '../demo/words.mjs';
import { takeIn } from './take-in.mjs';

const SIZE = ['--gpus', '10000', '--days', '30', '--step', '30m', '--until', '2026-11-01', '--seed', '11'];
const LAST_DAY = '2026-10-31';
const NAME = 'waste-scale';
const CPU_SECONDS_MOST = 10;
const MIB_MOST = 2048;

/** @param {string | undefined} dir a lake of that size, derived; made and thrown away where left out @returns {Promise<string>} */
export async function scale(dir) {
  const data = dir ?? (await prepared());
  const later = join(data, 'files', `samples-${LAST_DAY}.csv`);
  /** @type {string[][]} */
  const rows = [];
  /** @param {string} what @param {string[]} args */
  const ask = async (what, args) => {
    const { cost } = await measuredBursar([...args, '--data', data, '--json']);
    const cpu = decimals(cost.cpuSeconds);
    const mib = String(Math.round(cost.peakRssMib));
    rows.push([
      what,
      cost.cpuSeconds > CPU_SECONDS_MOST ? `**${cpu}**` : cpu,
      decimals(cost.wallSeconds),
      cost.peakRssMib > MIB_MOST ? `**${mib}**` : mib,
    ]);
    console.error(rows.at(-1)?.join(' | '));
  };
  // What an earlier run found is no first look.
  rmSync(join(data, 'found'), { recursive: true, force: true });
  await ask('`findings`, first', ['findings']);
  await ask('`findings`, again', ['findings']);
  await ask('`look`, after `findings`', ['look']);
  await ask('`finding F-1`', ['finding', 'F-1']);
  await ask('`waste`', ['waste']);
  await ask('`runaway`', ['runaway']);
  // A lake of somebody else's is asked, and stays as it is.
  if (dir === undefined) {
    await bursar(['import', 'samples', later, '--data', data]);
    await ask('derive one more day of samples', ['derive']);
    await ask('`findings`, after one more day', ['findings']);
    discard(NAME);
  }
  const made =
    dir === undefined
      ? `\`bursar demo ${SIZE.join(' ')}\`, taken in and derived before the clock starts`
      : basename(dir);
  return section('Waste of 10,000 GPUs', 'npm run bench:waste -- --scale', [
    `${made}; bars: ${CPU_SECONDS_MOST} s CPU and ${MIB_MOST} MiB for \`findings\`.`,
    table(['asked', 'CPU s', 'wall s', 'peak MiB'], rows),
  ]);
}

/** @returns {Promise<string>} */
async function prepared() {
  const data = join(BENCH_DATA, NAME);
  discard(NAME);
  await bursar(['demo', '--out', data, ...SIZE, '--only-files']);
  await takeIn(data, new RegExp(`^(samples-${LAST_DAY}|second-exporter)`));
  return data;
}
