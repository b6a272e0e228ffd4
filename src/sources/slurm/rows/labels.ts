import { SESSION_LABEL } from '../../../facts/workload-manner.ts';
import type { JobstatsSummary } from '../parse/jobstats.ts';
import { tellingState } from '../parse/job-state.ts';
import type { SlurmJob } from '../parse/slurm-job.ts';

const PAIR = /^\s*([A-Za-z][\w.-]{0,62})\s*=\s*(.*?)\s*$/;
const LABEL_TEXT_MAX = 1000;

/**
 * What a job says about itself beside its columns. A comment such as `team=nlp;run=7` gives a label for each pair; what
 * Slurm itself says is never overwritten by it.
 */
export function labelsOf(job: SlurmJob, jobstats: JobstatsSummary | undefined): Record<string, string> {
  const state = job.state === undefined ? undefined : tellingState(job.state);
  const failed = job.exitCode !== undefined && job.exitCode !== '0:0' ? job.exitCode : undefined;
  const known: Readonly<Record<string, string | undefined>> = {
    partition: job.partition,
    qos: job.qos,
    wckey: job.wckey?.replace(/^\*/, ''),
    reservation: job.reservation,
    slurm_state: state,
    exit_code: failed,
    [SESSION_LABEL]: sessionOf(job.submitLine),
    ...(jobstats === undefined ? {} : jobstatsLabels(jobstats)),
  };
  const labels: Record<string, string> = { ...commentLabels(job.comment) };
  for (const [name, value] of Object.entries(known)) {
    if (value !== undefined && value !== '') labels[name] = value.slice(0, LABEL_TEXT_MAX);
  }
  return labels;
}

function commentLabels(comment: string | undefined): Readonly<Record<string, string>> {
  if (comment === undefined) return {};
  const pairs = comment.split(/[;,]/).map((part) => PAIR.exec(part));
  const isPairs = pairs.every((pair) => pair !== null);
  if (!isPairs) return { comment: comment.slice(0, LABEL_TEXT_MAX) };
  return Object.fromEntries(pairs.map(([, name = '', value = '']) => [name, value.slice(0, LABEL_TEXT_MAX)]));
}

/**
 * Averages of a whole job, kept as labels: as samples they would say something about each minute that nobody measured.
 * `node:index=percent` for each GPU, and the mean of all.
 */
function jobstatsLabels({ nodes }: JobstatsSummary): Readonly<Record<string, string>> {
  const used = nodes.flatMap(({ node, gpus }) =>
    gpus.flatMap(({ index, utilisationPercent }) =>
      utilisationPercent === undefined ? [] : [{ place: `${node}:${index}`, percent: utilisationPercent }],
    ),
  );
  const memory = nodes.flatMap(({ node, gpus }) =>
    gpus.flatMap(({ index, memoryUsedBytes }) =>
      memoryUsedBytes === undefined ? [] : [`${node}:${index}=${Math.round(memoryUsedBytes / 1024 ** 2)}`],
    ),
  );
  const mean = used.reduce((sum, { percent }) => sum + percent, 0) / Math.max(used.length, 1);
  return {
    ...(used.length > 0 && {
      jobstats_gpu_util_percent: String(Math.round(mean * 10) / 10),
      jobstats_gpu_util_percent_each: used.map(({ place, percent }) => `${place}=${percent}`).join(' '),
    }),
    ...(memory.length > 0 && { jobstats_gpu_memory_mib_each: memory.join(' ') }),
  };
}

/** Whether somebody sits in front of the job, by how it was handed in: `salloc`, or `srun` with a terminal. */
function sessionOf(submitLine: string | undefined): string | undefined {
  const [program = '', ...words] = (submitLine ?? '').trim().split(/\s+/);
  const command = program.split('/').at(-1);
  if (command === 'salloc') return 'salloc';
  return command === 'srun' && words.includes('--pty') ? 'srun' : undefined;
}
