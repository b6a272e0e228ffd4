import type { FactRow, Skipped } from '../../../facts/source.ts';
import { isWaiting } from '../parse/job-state.ts';
import { expandTasks } from '../parse/node-list.ts';
import type { SlurmJob } from '../parse/slurm-job.ts';
import { labelsOf } from './labels.ts';

/** Tasks of one array that are listed one by one; more of them would tell nothing new. */
export const TASKS_LISTED_MAX = 1000;

/** Who waits for GPUs, one row for each job that would be one: every task of an array counts. */
export function waitingRows(
  jobs: readonly SlurmJob[],
  observedAt: Date,
  cluster?: string,
): { rows: readonly FactRow[]; skipped: readonly Skipped[] } {
  const rows: FactRow[] = [];
  const skips = { cpu: 0, cpuExample: '', tasks: 0, taskExample: '', undated: 0, undatedExample: '' };
  for (const job of jobs) {
    if (job.state === undefined || !isWaiting(job.state)) continue;
    const gpus = job.requested?.gpus ?? 0;
    if (gpus === 0) {
      skips.cpu += 1;
      skips.cpuExample ||= job.jobId;
    } else if (job.submit === undefined) {
      skips.undated += 1;
      skips.undatedExample ||= job.jobId;
    } else {
      const { ids, more } = idsOf(job);
      skips.tasks += more;
      if (more > 0) skips.taskExample ||= `${job.jobId}_[${job.pendingTasks ?? ''}]`;
      for (const id of ids) rows.push(waitingRow(job, id, gpus, observedAt, cluster));
    }
  }
  const skipped = [
    { reason: 'waiting jobs that ask for no GPU', count: skips.cpu, example: skips.cpuExample },
    { reason: 'waiting jobs without a time of submission', count: skips.undated, example: skips.undatedExample },
    {
      reason: `waiting tasks beyond the first ${TASKS_LISTED_MAX} of their array`,
      count: skips.tasks,
      example: skips.taskExample,
    },
  ];
  return { rows, skipped: skipped.filter(({ count }) => count > 0) };
}

function idsOf(job: SlurmJob): { ids: readonly string[]; more: number } {
  if (job.pendingTasks === undefined) return { ids: [job.jobId], more: 0 };
  const expanded = expandTasks(job.pendingTasks, TASKS_LISTED_MAX);
  if (expanded === undefined || expanded.tasks.length === 0) return { ids: [job.jobId], more: 0 };
  return {
    ids: expanded.tasks.map((task) => `${job.jobId}_${task}`),
    more: expanded.count - expanded.tasks.length,
  };
}

function waitingRow(job: SlurmJob, id: string, gpus: number, observedAt: Date, clusterName?: string): FactRow {
  const [model, ...others] = job.requested?.gpuTypes.keys() ?? [];
  const cluster = clusterName ?? job.cluster;
  const labels = labelsOf(job, undefined);
  return {
    source: 'slurm',
    allocation_id: id,
    submitted_at: new Date((job.submit ?? 0) * 1000),
    observed_at: observedAt,
    gpu_count: gpus,
    ...(model !== undefined && others.length === 0 && { model }),
    ...(job.reason !== undefined && { held_back_by: job.reason }),
    ...(cluster !== undefined && { cluster }),
    ...(job.account !== undefined && { account: job.account }),
    ...(job.user !== undefined && { user_name: job.user }),
    workload_kind: 'Job',
    ...(job.name !== undefined && { workload_name: job.name }),
    ...(Object.keys(labels).length > 0 && { labels }),
  };
}
