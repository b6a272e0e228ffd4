import type { FactRow, Skipped } from '../../facts/source.ts';
import { hasJobstats, readJobstats } from './parse/jobstats.ts';
import { accountedJob, queuedJob } from './parse/job-json.ts';
import { at, objectOf } from './parse/json-value.ts';
import type { LeftOut, SlurmJob } from './parse/slurm-job.ts';
import { heldSeconds, isLeftOut, NEVER_STARTED } from './parse/slurm-job.ts';
import { holdingRows } from './rows/holding-rows.ts';
import { skipCounter } from './slurm-reader.ts';

/** Takes the jobs of accounting files one by one and gives the rows of `allocation` they are. */
export interface SacctTaker {
  /** Rows of this entry; none where it was left out, which the report then counts. */
  take(job: SlurmJob | LeftOut, example: string): readonly FactRow[];
  report(): SacctReport;
}

export interface SacctReport {
  readonly jobs: number;
  readonly skipped: readonly Skipped[];
  readonly notes: readonly string[];
  /** Lives of a job did not come in the order of their starts: which is which is known only now. */
  readonly isOutOfOrder: boolean;
}

/** Starts of each job's lives, in order. */
export type Lives = Map<string, number[]>;

/**
 * A taker that numbers the lives of each job by their starts, over all files it is given. Where lives come out of order, the files are
 * gone through again with the lives that were found.
 */
export function sacctTaker(lives: Lives, cluster?: string): SacctTaker {
  const skipped = skipCounter();
  const seen = { jobs: 0, open: 0, gpus: 0, shards: 0, requested: 0, mismatched: 0, ambiguous: 0, uneven: 0 };
  const jobstats = { read: 0, unreadable: 0 };
  let isOutOfOrder = false;
  const attemptOf = (job: SlurmJob, start: number): number => {
    const key = `${job.cluster ?? ''}|${job.jobId}`;
    const starts = lives.get(key);
    if (starts === undefined) {
      lives.set(key, [start]);
      return 0;
    }
    const place = starts.indexOf(start);
    if (place >= 0) return place;
    if (start < (starts.at(-1) ?? 0)) isOutOfOrder = true;
    starts.push(start);
    starts.sort((a, b) => a - b);
    return starts.indexOf(start);
  };

  const take = (job: SlurmJob | LeftOut, example: string): readonly FactRow[] => {
    if (isLeftOut(job)) {
      skipped.add(job.leftOut, example);
      return [];
    }
    const { start, end } = job;
    if (start === undefined) {
      skipped.add(NEVER_STARTED, example);
      return [];
    }
    if (end !== undefined && end < start) {
      skipped.add('jobs that end before they begin', example);
      return [];
    }
    const heldS = heldSeconds(job);
    // How long it has run tells when the file was written; without that, the newest time in the file has to do.
    const known = end ?? (heldS === undefined ? undefined : start + heldS);
    const { rows } = holdingRows(job, {
      attempt: attemptOf(job, start),
      ...(cluster !== undefined && { cluster }),
      ...(known !== undefined && { observedAt: new Date(known * 1000) }),
    });
    seen.jobs += 1;
    seen.gpus += rows.some((row) => row['gpu_count'] !== 0) ? 1 : 0;
    seen.shards += holdsShardsOnly(job, rows) ? 1 : 0;
    seen.open += end === undefined ? 1 : 0;
    seen.requested += job.gpusAreRequested === true ? 1 : 0;
    seen.ambiguous += job.isAmbiguous === true ? 1 : 0;
    seen.mismatched += end !== undefined && heldS !== undefined && end - start !== heldS ? 1 : 0;
    seen.uneven += isUneven(rows) ? 1 : 0;
    if (job.adminComment !== undefined && hasJobstats(job.adminComment)) {
      if (readJobstats(job.adminComment) === undefined) jobstats.unreadable += 1;
      else jobstats.read += 1;
    }
    return rows;
  };
  return {
    take,
    report: () => ({
      jobs: seen.jobs,
      skipped: skipped.list(),
      notes: notesOf(seen, jobstats),
      isOutOfOrder,
    }),
  };
}

/** It held parts of GPUs; an accounting file does not say how many of them make one. */
function holdsShardsOnly({ allocated, requested }: SlurmJob, rows: readonly FactRow[]): boolean {
  return ((allocated ?? requested)?.shards ?? 0) > 0 && rows.every((row) => row['gpu_count'] === 0);
}

function isUneven(rows: readonly FactRow[]): boolean {
  const labels = rows[0]?.['labels'];
  return typeof labels === 'object' && labels !== null && 'gpu_spread' in labels;
}

function notesOf(
  seen: Readonly<
    Record<'jobs' | 'open' | 'gpus' | 'shards' | 'requested' | 'mismatched' | 'ambiguous' | 'uneven', number>
  >,
  jobstats: { readonly read: number; readonly unreadable: number },
): string[] {
  const many = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`;
  const notes: readonly (readonly [boolean, string])[] = [
    [
      seen.jobs > 0 && seen.gpus === 0 && seen.shards === 0,
      'no job had a GPU: if that is wrong, the cluster does not account for them (AccountingStorageTRES=gres/gpu)',
    ],
    [
      seen.shards > 0,
      `${many(seen.shards, 'job')} held shards of GPUs; how many shards make one GPU is not told: their GPU-hours are not counted`,
    ],
    [seen.open > 0, `${many(seen.open, 'job')} still ran when this was written: known until then, not beyond`],
    [seen.requested > 0, `${many(seen.requested, 'job')}: GPUs as asked for, since what was given is not in the file`],
    [
      seen.mismatched > 0,
      `${many(seen.mismatched, 'job')}: End − Start is not Elapsed + Suspended; End − Start was taken`,
    ],
    [seen.ambiguous > 0, `${many(seen.ambiguous, 'job')} in the hour that autumn repeats: the first was taken`],
    [seen.uneven > 0, `${many(seen.uneven, 'job')}: GPUs per machine are not told and were spread evenly`],
    [jobstats.read > 0, `${many(jobstats.read, 'jobstats summary').replace(/summarys$/, 'summaries')} kept as labels`],
    [jobstats.unreadable > 0, `${jobstats.unreadable} jobstats summaries cannot be read`],
  ];
  return notes.filter(([holds]) => holds).map(([, note]) => note);
}

/** One entry of `sacct --json` or of `squeue --json`, told apart by where their state lies. */
export function jobFromJson(value: unknown): SlurmJob | LeftOut {
  const entry = objectOf(value);
  return entry !== undefined && at(entry, 'job_state') !== undefined ? queuedJob(value) : accountedJob(value);
}
