import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The real servers that `lab/` can start on this machine, one script each. */
export const LAB_PARTS = ['prometheus', 'slurm', 'kubernetes', 'aws', 'objectstore', 'chromium'] as const;
export type LabName = (typeof LAB_PARTS)[number];

/** What a script is told beside its folder. */
export interface LabOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** A script that takes longer is ended, and the call fails with what it had said. */
  readonly timeoutMs?: number;
}

/** One part of the lab: its script, and whether what it starts is on this machine. */
export interface LabPart {
  readonly name: LabName;
  readonly installed: boolean;
  /** Starts the servers in a folder of the test's own and gives the variables of its `env.sh`. */
  start(dir: string, env?: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<LabVariables>;
  /** Ends everything that was started in the folder; harmless where nothing runs. */
  stop(dir: string): Promise<void>;
  /** Any other verb of the script; gives what it printed, and throws where it failed. */
  run(verb: string, args: readonly string[], options?: LabOptions): Promise<string>;
}

export type LabVariables = Readonly<Record<string, string>>;

const LAB = fileURLToPath(new URL('../lab/', import.meta.url));
const SCRIPT_TIMEOUT_MS = 240_000;
/** Set by the shell itself, whatever it is given. */
const SHELLS_OWN = new Set(['PWD', 'OLDPWD', 'SHLVL', '_']);
const missingWords = new Set<LabName>();

/**
 * Is this part of the lab here, and how is it started?
 *
 * Tests say `const slurm = labPart('slurm'); describe.skipIf(!slurm.installed)(…)`. What is missing is said once, with the
 * command that installs it. BURSAR_LAB_REQUIRED=prometheus,slurm makes a missing part a failure: a gate that has just
 * installed it must not pass by skipping.
 */
export function labPart(name: LabName): LabPart {
  const installed = isInstalled(name);
  if (!installed) sayMissing(name);
  return {
    name,
    installed,
    start: async (dir, env = {}, ...args) => {
      await runScript(name, ['start', dir, ...args], { env });
      return variablesOf(join(dir, 'env.sh'));
    },
    stop: async (dir) => {
      await runScript(name, ['stop', dir], {});
    },
    run: (verb, args, options = {}) => runScript(name, [verb, ...args], options),
  };
}

/** The parts that may not be missing, from a list such as `prometheus,slurm`. */
export function requiredParts(list: string): ReadonlySet<LabName> {
  const names = list.split(/[\s,]+/).filter((word) => word !== '');
  const strangers = names.filter((name) => !LAB_PARTS.some((part) => part === name));
  if (strangers.length > 0)
    throw new Error(`BURSAR_LAB_REQUIRED names ${strangers.join(', ')}; the lab has ${LAB_PARTS.join(', ')}`);
  return new Set(names as LabName[]);
}

/** What an `env.sh` sets, as a shell that reads it would see it. */
export function variablesOf(path: string): LabVariables {
  const shell = spawnSync('bash', ['-c', 'set -a; . "$1" && env -0', 'env.sh', path], { encoding: 'utf8' });
  if (shell.status !== 0) throw new Error(`${path} cannot be read: ${shell.stderr.trim()}`);
  const pairs = shell.stdout
    .split('\0')
    .filter((line) => line.includes('='))
    .map((line): [string, string] => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]);
  return Object.fromEntries(pairs.filter(([key, value]) => process.env[key] !== value && !SHELLS_OWN.has(key)));
}

function isInstalled(name: LabName): boolean {
  const script = join(LAB, name);
  return existsSync(script) && spawnSync(script, ['installed'], { stdio: 'ignore', timeout: 20_000 }).status === 0;
}

function sayMissing(name: LabName): void {
  const word = `the lab's ${name} is not installed; lab/${name} install`;
  if (requiredParts(process.env['BURSAR_LAB_REQUIRED'] ?? '').has(name))
    throw new Error(`${word} (BURSAR_LAB_REQUIRED says that it must be here)`);
  if (!missingWords.has(name)) process.stderr.write(`skipped: ${word}\n`);
  missingWords.add(name);
}

/**
 * What the script prints goes through a file: servers it leaves running may have inherited a pipe, and its end would never
 * come.
 */
async function runScript(name: LabName, args: readonly string[], options: LabOptions): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'bursar-lab-'));
  const log = join(folder, 'said.txt');
  const file = openSync(log, 'w');
  try {
    const env = { ...process.env, ...options.env };
    const child = spawn(join(LAB, name), args, { stdio: ['ignore', file, file], env, detached: true });
    const limit = setTimeout(() => endGroup(child.pid), options.timeoutMs ?? SCRIPT_TIMEOUT_MS);
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    clearTimeout(limit);
    const said = readFileSync(log, 'utf8');
    if (code !== 0) throw new Error(`lab/${name} ${args.join(' ')}: ${signal ?? `exit ${code}`}\n${said.slice(-4000)}`);
    return said;
  } finally {
    closeSync(file);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The script and what it waits for are one process group; servers it has started stand in sessions of their own. */
function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (failure) {
    // It has ended in the meantime.
    if (!(failure instanceof Error && 'code' in failure && failure.code === 'ESRCH')) throw failure;
  }
}
