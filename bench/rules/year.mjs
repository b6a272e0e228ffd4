/** What the first question after an edit of a rule costs, over a year of 10,000 GPUs. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BENCH_DATA, discard, measured } from '../demo/run.mjs';
import { decimals, section, table } from '../demo/words.mjs';

const MAKE = fileURLToPath(new URL('make-year.mjs', import.meta.url));
const BIN = fileURLToPath(new URL('../../bin/bursar.js', import.meta.url));
const SECONDS_MOST = 2;

const RULES = `
rules:
  - {when: {label.app: app-1, namespace: '/^team-(1.)$/'}, set: {team: 'group-{1}', class: batch}}
  - {when: {user: ['user-1*', '/7$/'], namespace: default}, set: {team: found}}
  - {when: {name: 'kind-3-of-2*'}, set: {class: inference}}
`;
const SHARED = `
shared:
  - {name: spares, when: {state: spare}, split: gpu-hours}
  - {name: storage and tax, when: {what: [bill, resource]}, split: cost}
`;

/** @returns {Promise<string>} */
export async function year() {
  const data = join(BENCH_DATA, 'rules-year');
  discard('rules-year');
  mkdirSync(data, { recursive: true });
  await measured(process.execPath, [MAKE, data, '365']);
  const home = process.cwd();
  /** @type {string[][]} */
  const rows = [];
  for (const [what, yaml] of [
    ['rules', RULES],
    ['rules and shared pools', RULES + SHARED],
  ]) {
    for (const window of ['30d', 'all']) {
      writeFileSync(join(data, 'bursar.yaml'), `# edited ${rows.length}\n${yaml}`);
      process.chdir(data);
      const { cost } = await measured(process.execPath, [
        BIN,
        'spend',
        '--data',
        '.',
        '--as-of',
        '2026-11-01',
        '--window',
        window,
      ]);
      process.chdir(home);
      rows.push([
        String(what),
        window,
        decimals(cost.cpuSeconds),
        decimals(cost.wallSeconds),
        String(Math.round(cost.peakRssMib)),
      ]);
    }
  }
  discard('rules-year');
  return section('A rule edit, at once', `npm run bench:rules -- year`, [
    `\`spend\` by team right after an edit, 365 days with 3,060 profiles and about 12,000 rows of sums each, made up; bar ${SECONDS_MOST} s CPU.`,
    table(['bursar.yaml', 'window', 'CPU s', 'wall s', 'peak MiB'], rows),
  ]);
}
