import { OperationError } from '../../facts/operation-error.ts';
import { NO_ACCOUNTING } from './slurm-reader.ts';

interface KnownTrouble {
  readonly says: RegExp;
  readonly code: string;
  readonly means: string;
  readonly hint: string;
}

const NO_PROGRAM: Omit<KnownTrouble, 'says'> = {
  code: 'no-program',
  means: 'the command is not there',
  hint: 'Run on a login node (command_prefix: [ssh, login1]), or put Slurm’s folder into PATH.',
};

/** What Slurm's commands print when something is wrong, and what to do about it. */
const TROUBLES: readonly KnownTrouble[] = [
  {
    says: /accounting storage is disabled|accounting_storage\/none/i,
    code: NO_ACCOUNTING,
    means: 'this Slurm keeps no accounts: only what runs now can be read',
    hint: 'Set AccountingStorageType=accounting_storage/slurmdbd in slurm.conf and run slurmdbd.',
  },
  {
    says: /munge|authentication|Invalid (?:user|authentication) credential|Security violation/i,
    code: 'munge',
    means: 'Slurm does not know who is asking',
    hint: 'Is munged running here with the cluster’s key? Try: munge -n | unmunge',
  },
  {
    says: /DNS SRV|cannot stat file|ClusterName needs to be specified|configless|establish_config_source|Unable to process configuration/i,
    code: 'no-slurm-conf',
    means: 'there is no slurm.conf here',
    hint: 'Run on a login node (command_prefix: [ssh, login1]), or set SLURM_CONF to the cluster’s slurm.conf.',
  },
  {
    says: /slurm_persist_conn_open|slurmdbd|Problem talking to the database|accounting_storage/i,
    code: 'slurmdbd-down',
    means: 'slurmdbd does not answer',
    hint: 'Nothing is lost: it is read when slurmdbd is back. Try: sacctmgr show cluster',
  },
  {
    says: /Unable to contact slurm controller|Socket timed out|Connection refused|Zero Bytes were transmitted/i,
    code: 'slurmctld-down',
    means: 'slurmctld does not answer',
    hint: 'Try: scontrol ping',
  },
  {
    says: /Host key verification|Could not resolve hostname|Permission denied \(publickey|port 22|ssh:/i,
    code: 'no-ssh',
    means: 'the machine of command_prefix cannot be reached',
    hint: 'Try it by hand without a password prompt: ssh -o BatchMode=yes HOST sinfo --version',
  },
  {
    says: /Access\/permission denied|Permission denied|must be an? (?:operator|administrator)/i,
    code: 'no-permission',
    means: 'this user may not ask that',
    hint: 'Let a Slurm administrator run: sacctmgr modify user NAME set adminlevel=operator',
  },
  { says: /command not found|No such file or directory|cannot execute/i, ...NO_PROGRAM },
];

const WORDS_MAX = 200;

/** The error a failed command means, with what it said and what to do. */
export function slurmFailure(command: string, exitCode: number, stderr: string): OperationError {
  const words = stderr
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .slice(0, 3)
    .join('; ')
    .slice(0, WORDS_MAX);
  const known = TROUBLES.find(({ says }) => says.test(stderr)) ?? (exitCode === 127 ? NO_PROGRAM : undefined);
  if (known !== undefined) {
    return new OperationError(known.code, `${known.means}; ${command} says: ${words}`, { hint: known.hint });
  }
  return new OperationError('slurm-failed', `${command} ended with ${exitCode}${words === '' ? '' : `: ${words}`}`, {
    hint: `Try it by hand: ${command}`,
  });
}
