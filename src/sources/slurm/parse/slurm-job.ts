import type { GresItem, Tres } from './tres.ts';

/** The GPUs a job has on one machine. */
export interface NodeGpus {
  readonly node: string;
  readonly items: readonly GresItem[];
}

/** One life of a job, whichever way Slurm told us. Times are seconds since 1970; undefined is not said. */
export interface SlurmJob {
  /** As people see it: `884213`, task `884_3`, part `18+1` of a heterogeneous job. */
  readonly jobId: string;
  /** In upper case and without `by UID`; undefined where the text is no state of Slurm's. */
  readonly state?: string;
  readonly cluster?: string;
  readonly user?: string;
  readonly account?: string;
  readonly partition?: string;
  readonly qos?: string;
  readonly name?: string;
  readonly comment?: string;
  /** The command by which it was handed in. It may hold secrets, and is not kept. */
  readonly submitLine?: string;
  readonly adminComment?: string;
  readonly wckey?: string;
  readonly reservation?: string;
  readonly exitCode?: string;
  /** Why it waits. */
  readonly reason?: string;
  readonly submit?: number;
  readonly start?: number;
  readonly end?: number;
  /** Without the time it was suspended. */
  readonly elapsedS?: number;
  readonly suspendedS?: number;
  readonly nodes: readonly string[];
  readonly allocated?: Tres;
  readonly requested?: Tres;
  readonly cpus?: number;
  /** While it runs: which GPUs of which machine. */
  readonly perNode?: readonly NodeGpus[];
  /** How often it was sent back to the queue. */
  readonly restarts?: number;
  /** Tasks of an array that are not yet jobs of their own: `5-9%2`. */
  readonly pendingTasks?: string;
  /** GPUs are what was asked for, because what was given is not said. */
  readonly gpusAreRequested?: boolean;
  /** A time fell into the hour that autumn repeats, and nothing told which one was meant. */
  readonly isAmbiguous?: boolean;
}

/** A row that is no life of a job, and why. */
export interface LeftOut {
  readonly leftOut: string;
}

export const STEP_ROW = 'job steps (.batch, .extern, .0): what they had, their job’s own row has';
export const NEVER_STARTED = 'jobs that never started';

export function isLeftOut(job: SlurmJob | LeftOut): job is LeftOut {
  return 'leftOut' in job;
}

/** The id people see, from the numbers of a JSON reply. */
export function shownJobId(
  jobId: number,
  array: { readonly jobId?: number; readonly taskId?: number },
  het: { readonly jobId?: number; readonly offset?: number },
): string {
  if (array.jobId !== undefined && array.jobId !== 0 && array.taskId !== undefined) {
    return `${array.jobId}_${array.taskId}`;
  }
  if (het.jobId !== undefined && het.jobId !== 0) return `${het.jobId}+${het.offset ?? 0}`;
  return String(jobId);
}

/** How long the job had its machines: to the second what Slurm charges, suspended time included. */
export function heldSeconds(job: Pick<SlurmJob, 'elapsedS' | 'suspendedS'>): number | undefined {
  return job.elapsedS === undefined ? undefined : job.elapsedS + (job.suspendedS ?? 0);
}
