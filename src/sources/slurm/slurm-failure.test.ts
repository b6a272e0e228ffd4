import { describe, expect, it } from 'vitest';
import type { RunCommand } from '../../facts/source.ts';
import { slurmFailure } from './slurm-failure.ts';
import { slurmSource } from './slurm-source.ts';

describe('what a failed command means', () => {
  const cases: Record<string, { stderr: string; exitCode?: number; code: string }> = {
    'no accounts': { stderr: 'Slurm accounting storage is disabled', code: 'no-accounting' },
    'no munge': {
      stderr:
        'sacct: error: If munged is up, restart with --num-threads=10\nsacct: error: Munge encode failed: Failed to access "/run/munge/munge.socket.2"',
      code: 'munge',
    },
    'no slurm.conf': {
      stderr:
        'sinfo: error: resolve_ctls_from_dns_srv: res_nsearch error\nsinfo: error: fetch_config: DNS SRV lookup failed',
      code: 'no-slurm-conf',
    },
    'slurmdbd is down': {
      stderr:
        'sacct: error: slurm_persist_conn_open_without_init: failed to open persistent connection to host:127.0.0.1:6819: Connection refused',
      code: 'slurmdbd-down',
    },
    'slurmctld is down': {
      stderr: 'slurm_load_jobs error: Unable to contact slurm controller (connect failure)',
      code: 'slurmctld-down',
    },
    'no command': { stderr: "env: 'sacct': No such file or directory", exitCode: 127, code: 'no-program' },
    'no command, without a word': { stderr: '', exitCode: 127, code: 'no-program' },
    'no machine': {
      stderr: 'ssh: Could not resolve hostname login9: Name or service not known',
      exitCode: 255,
      code: 'no-ssh',
    },
    'not allowed': { stderr: 'Access/permission denied', code: 'no-permission' },
    'something else': { stderr: 'sacct: error: something new', code: 'slurm-failed' },
  };
  it.each(Object.entries(cases))('%s', (_, { stderr, exitCode = 1, code }) => {
    const failure = slurmFailure('sacct -a', exitCode, stderr);
    expect(failure.code).toBe(code);
    expect(failure.hint).toBeTruthy();
  });
});

const CONFIG =
  'AccountingStorageTRES   = cpu,mem,gres/gpu\nClusterName             = train\nPrivateData             = PRIVATE\nSLURM_VERSION           = 24.11.5\n';
const NODES = 'NodeName=g1 CPUTot=96\n   Gres=gpu:h100:8\n   State=IDLE\n';

/** A command line that answers as a cluster would. */
function answering(answers: Readonly<Record<string, { stdout?: string; stderr?: string; exitCode?: number }>>): {
  run: RunCommand;
  argvs: string[][];
} {
  const argvs: string[][] = [];
  return {
    argvs,
    run: (argv) => {
      argvs.push([...argv]);
      const words = argv.join(' ');
      const found = Object.entries(answers).find(([part]) => words.includes(part))?.[1] ?? {};
      return Promise.resolve({ exitCode: found.exitCode ?? 0, stdout: found.stdout ?? '', stderr: found.stderr ?? '' });
    },
  };
}

describe('check', () => {
  const healthy = { 'show config': { stdout: CONFIG.replace('PRIVATE', 'none') }, 'show nodes': { stdout: NODES } };
  const cases: Record<string, { answers: Parameters<typeof answering>[0]; want: object }> = {
    'all is well': {
      answers: healthy,
      want: { state: 'ok', gpus: 8, says: 'Slurm 24.11.5, cluster train, 1 nodes, 8 GPUs' },
    },
    'nobody keeps accounts': {
      answers: { ...healthy, sacct: { stderr: 'Slurm accounting storage is disabled' } },
      want: { state: 'partial', says: expect.stringContaining('no accounting') },
    },
    'others’ jobs are hidden': {
      answers: {
        ...healthy,
        'show config': { stdout: CONFIG.replace('PRIVATE', 'jobs,usage') },
        'id -un': { stdout: 'kim\n' },
        'show user kim': { stdout: 'None\n' },
      },
      want: { state: 'partial', todo: expect.stringContaining('sacctmgr modify user kim set adminlevel=operator') },
    },
    'an operator sees them': {
      answers: {
        ...healthy,
        'show config': { stdout: CONFIG.replace('PRIVATE', 'jobs') },
        'id -un': { stdout: 'kim\n' },
        'show user kim': { stdout: 'Operator\n' },
      },
      want: { state: 'ok' },
    },
    'GPUs are not accounted for': {
      answers: { ...healthy, 'show config': { stdout: 'AccountingStorageTRES = cpu,mem\nClusterName = train\n' } },
      want: {
        advice: expect.arrayContaining([expect.objectContaining({ todo: expect.stringContaining('gres/gpu') })]),
      },
    },
    'there is no Slurm': {
      answers: { 'show config': { exitCode: 127, stderr: 'scontrol: command not found' } },
      want: { state: 'down', todo: expect.stringContaining('command_prefix') },
    },
  };
  it.each(Object.entries(cases))('%s', async (_, { answers, want }) => {
    const { run } = answering(answers);
    expect(await slurmSource({ name: 'slurm', run }).check(new AbortController().signal)).toMatchObject(want);
  });
});

it('asks in UTC, and over ssh says nothing a shell would understand', async () => {
  const { run, argvs } = answering({
    'show config': { stdout: CONFIG },
    '--helpformat': { stdout: 'JobID AllocTRES Start End State' },
    squeue: { stdout: '{"jobs": []}' },
  });
  const source = slurmSource({ name: 'slurm', run, prefix: ['ssh', 'login1'] });
  const request = {
    now: new Date(),
    since: new Date(Date.now() - 60_000),
    signal: new AbortController().signal,
    progress: () => undefined,
  };
  for await (const haul of source.pull(undefined, request)) expect(haul.facts.length).toBeGreaterThan(0);
  expect(argvs.length).toBeGreaterThan(4);
  for (const argv of argvs) {
    expect(argv.slice(0, 3)).toEqual(['ssh', 'login1', 'env']);
    expect(argv).toContain('TZ=UTC');
    for (const word of argv) expect(word).toMatch(/^[\w=,.:/~+-]+$/);
  }
});
