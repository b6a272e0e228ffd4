/** Runs commands where a bursar.yaml lies, as a user would. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

const BIN = fileURLToPath(new URL('../../bin/bursar.js', import.meta.url));

/** @param {readonly string[]} args @param {string} cwd @returns {Promise<string>} */
export function bursarIn(args, cwd) {
  return new Promise((done, reject) => {
    const child = spawn(process.execPath, [BIN, ...args], { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
    child.on('error', reject);
    child.on('close', (code) => (code === 0 ? done(stdout) : reject(new Error(`${args.join(' ')}: ${stderr}`))));
  });
}

/**
 * What `rules suggest` says in a folder, and the share of money that has no team there.
 * @param {string} data @param {string | undefined} folder none: a folder without rules
 */
export async function suggestedIn(data, folder) {
  const empty = mkdtempSync(join(tmpdir(), 'bursar-bench-'));
  try {
    const cwd = folder ?? empty;
    const flags = ['--data', resolve(data), '--window', 'all'];
    const yaml = await bursarIn(['rules', 'suggest', ...flags], cwd);
    const spend = JSON.parse(await bursarIn(['spend', ...flags, '--json'], cwd));
    /** @type {{ team: string | null, costUsdMicros: string | null }[]} */
    const rows = spend.rows;
    const nobody = rows.find(({ team }) => team === null);
    const written = parse(yaml);
    return {
      yaml,
      unowned: Number(nobody?.costUsdMicros ?? 0) / Number(spend.totalUsdMicros),
      rules: written.rules?.length ?? 0,
      shared: written.shared?.length ?? 0,
    };
  } finally {
    rmSync(empty, { recursive: true, force: true });
  }
}

/** Money by team, job and machine. @param {string} data @param {string} folder */
export function spendByJob(data, folder) {
  return bursarIn(['spend', '--data', resolve(data), '--window', 'all', '--by', 'team,job,node', '--json'], folder);
}

/** The team of each habit of a world. @param {string} files @returns {Map<string, string>} */
export function habitTeams(files) {
  const world = parse(readFileSync(join(files, 'world.yaml'), 'utf8'));
  return new Map(world.habits.map((/** @type {{ name: string, team: string }} */ { name, team }) => [name, team]));
}
