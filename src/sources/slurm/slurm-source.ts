import type { RunCommand, Source } from '../../facts/source.ts';
import { shownUrl } from '../http/http-failure.ts';
import { commandReader } from './command-reader.ts';
import { checkCommands, checkRest } from './slurm-check.ts';
import { pullSlurm } from './slurm-pull.ts';
import type { RestOptions } from './rest-reader.ts';
import { restReader } from './rest-reader.ts';

export interface SlurmOptions {
  readonly name: string;
  readonly run: RunCommand;
  /** Put before every command: `['ssh', 'login1']`. */
  readonly prefix?: readonly string[];
  /** Where Slurm's clients have their clocks, if they cannot be told to speak UTC. */
  readonly zone?: string;
  /** The name of the cluster, if not the one Slurm has. */
  readonly cluster?: string;
  readonly pollS?: number;
  /** slurmrestd instead of commands. */
  readonly rest?: RestOptions;
}

const POLL_S = 60;
/** Above telemetry: the scheduler knows who holds what. */
const PRIORITY = 20;

/** A Slurm cluster: its jobs, its queue and its machines, by its commands or by slurmrestd. It only reads. */
export function slurmSource(options: SlurmOptions): Source {
  const { name, run, prefix = [], zone, cluster, pollS = POLL_S, rest } = options;
  const described = {
    name,
    kind: 'slurm',
    priority: PRIORITY,
    pollS,
  } as const;
  const pulling = { pollS, ...(cluster !== undefined && { cluster }) };
  if (rest !== undefined) {
    const reader = restReader(rest);
    return {
      ...described,
      reads: `jobs, queue and nodes of Slurm from slurmrestd at ${rest.url.startsWith('unix:') ? rest.url : shownUrl(rest.url)}`,
      check: (signal) => checkRest(reader, signal),
      pull: (cursor, request) => pullSlurm(reader, pulling, cursor, request),
    };
  }
  const reader = commandReader({ run, prefix, ...(zone !== undefined && { zone }) });
  return {
    ...described,
    reads: `jobs, queue and nodes of Slurm by sacct, squeue, scontrol and sacctmgr${prefix.length === 0 ? '' : ` over ${prefix.join(' ')}`}`,
    check: (signal) => checkCommands(reader, signal),
    pull: (cursor, request) => pullSlurm(reader, pulling, cursor, request),
  };
}
