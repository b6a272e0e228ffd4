import { execFile } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { runCommand } from '../../../src/app/run-command.ts';
import type { RunCommand } from '../../../src/facts/source.ts';
import type { LabVariables } from '../../lab.ts';

const execute = promisify(execFile);

/** One row of `sacct -D -X`, as the cluster itself counts. */
export interface AccountedLife {
  readonly jobId: string;
  readonly state: string;
  /** Seconds since 1970; undefined for a job that never started or has not ended. */
  readonly start: number | undefined;
  readonly end: number | undefined;
  readonly elapsedS: number;
  readonly suspendedS: number;
  readonly gpus: number;
}

/** The lab's Slurm, as people and their commands meet it. */
export interface SlurmCluster {
  /** Runs one of Slurm's commands as root and gives what it printed. */
  readonly command: (...argv: readonly string[]) => Promise<string>;
  /** Submits a job that runs a shell line, and gives its id. */
  readonly submit: (user: string, account: string, options: readonly string[], line: string) => Promise<string>;
  readonly stateOf: (jobId: string) => Promise<string>;
  /** Asks again until it holds; throws when the patience of a busy machine is over. */
  readonly until: (what: string, holds: () => Promise<boolean>) => Promise<void>;
  readonly accounts: () => Promise<readonly AccountedLife[]>;
  /** How a source runs the commands of this cluster. */
  readonly run: RunCommand;
}

const PATIENCE_MS = 90_000;

export function clusterOf(variables: LabVariables): SlurmCluster {
  const conf = variables['SLURM_CONF'] ?? '';
  const jobs = variables['SLURM_LAB_JOBS'] ?? '';
  const env = { ...process.env, SLURM_CONF: conf, TZ: 'UTC' };
  const command = async (...argv: readonly string[]): Promise<string> => {
    const [program = '', ...args] = argv;
    const { stdout } = await execute(program, args, { env, maxBuffer: 64 * 1024 * 1024, timeout: 60_000 });
    return stdout;
  };
  return {
    command,
    async submit(user, account, options, line) {
      const files = [`--chdir=${jobs}`, `--output=${jobs}/%j.out`];
      const sbatch = ['sbatch', '--parsable', `--account=${account}`, ...files, ...options, '--wrap', line];
      const said = await command('runuser', '-u', user, '--', ...sbatch);
      return said.trim();
    },
    async stateOf(jobId) {
      const said = await command('squeue', '-h', '-a', '-t', 'all', '-j', jobId, '-o', '%T');
      return said.trim().split('\n')[0] ?? '';
    },
    async until(what, holds) {
      const deadline = Date.now() + PATIENCE_MS;
      while (!(await holds())) {
        if (Date.now() > deadline) throw new Error(`waited in vain: ${what}`);
        await pause(200);
      }
    },
    accounts: async () => (await command(...SACCT)).trim().split('\n').map(lifeOf),
    run: (argv, options) => runCommand(argv, { ...options, env: { ...options.env, SLURM_CONF: conf } }),
  };
}

const SACCT = [
  'sacct',
  '-a',
  '-D',
  '-X',
  '-n',
  '-P',
  '-S',
  '2020-01-01',
  '--format=JobID,State,Start,End,ElapsedRaw,Suspended,AllocTRES',
] as const;

function lifeOf(line: string): AccountedLife {
  const [jobId = '', state = '', start = '', end = '', elapsed = '', suspended = '', tres = ''] = line.split('|');
  const [hours = 0, minutes = 0, seconds = 0] = suspended.split(':').map(Number);
  return {
    jobId,
    state: state.split(' ')[0] ?? '',
    start: secondsOf(start),
    end: secondsOf(end),
    elapsedS: Number(elapsed),
    suspendedS: hours * 3600 + minutes * 60 + seconds,
    gpus: Number(/gres\/gpu=(\d+)/.exec(tres)?.[1] ?? 0),
  };
}

function secondsOf(text: string): number | undefined {
  return /^\d{4}-/.test(text) ? Date.parse(`${text}Z`) / 1000 : undefined;
}
