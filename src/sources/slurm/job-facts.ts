import type { FactRow, FactRows, HolderHint, Skipped } from '../../facts/source.ts';
import { isHolding, mayLiveAgain } from './parse/job-state.ts';
import type { SlurmJob } from './parse/slurm-job.ts';
import { NEVER_STARTED } from './parse/slurm-job.ts';
import type { SlurmNode } from './parse/slurm-node.ts';
import type { HoldingContext } from './rows/holding-rows.ts';
import { holdingRows } from './rows/holding-rows.ts';
import { waitingRows } from './rows/waiting-rows.ts';
import type { SlurmCursor } from './slurm-cursor.ts';
import { attemptOf, lifeKey, perNodeOf, placesOf, rememberLife } from './slurm-cursor.ts';
import { skipCounter } from './slurm-reader.ts';

/** What is the same for all rows of a pull. */
export interface JobContext {
  readonly now: number;
  readonly pollS: number;
  readonly cluster?: string;
  readonly gpusOn: (node: string) => number | undefined;
  readonly shardsPerGpuOn: (node: string) => number | undefined;
  /** Machines that are read; undefined for all. */
  readonly isRead?: (node: string) => boolean;
}

export interface JobFacts {
  readonly facts: readonly FactRows[];
  readonly skipped: readonly Skipped[];
}

interface Batch {
  rows: FactRow[];
  hints: (HolderHint | undefined)[];
}

/** Names and sizes of machines, for what jobs alone do not tell. */
export function nodeSizes(nodes: readonly SlurmNode[]): Pick<JobContext, 'gpusOn' | 'shardsPerGpuOn'> {
  const byName = new Map(nodes.map((node) => [node.name, node]));
  return {
    gpusOn: (name) => byName.get(name)?.gpus,
    shardsPerGpuOn: (name) => {
      const node = byName.get(name);
      const [shards, gpus] = [node?.shards, node?.gpus];
      return shards === undefined || gpus === undefined || gpus === 0 ? undefined : shards / gpus;
    },
  };
}

/**
 * What is held and waited for now. The cursor keeps which GPUs each job has: Slurm forgets it when the job ends, and the row of its
 * end shall still have it.
 */
export function queueFacts(
  jobs: readonly SlurmJob[],
  endedLives: ReadonlySet<string>,
  cursor: SlurmCursor,
  context: JobContext,
): JobFacts {
  const open: Batch = { rows: [], hints: [] };
  for (const job of jobs) {
    if (job.state === undefined || !isHolding(job.state) || job.start === undefined) continue;
    const key = lifeKey(job);
    if (endedLives.has(key)) continue;
    const attempt = attemptOf(cursor, job);
    const isWorthKeeping = (job.allocated?.gpus ?? 0) > 0 || attempt > 0;
    if (isWorthKeeping) {
      const places = placesOf(job.perNode);
      const before = cursor.running[key]?.places ?? [];
      cursor.running[key] = {
        attempt,
        seenAt: context.now,
        hasEnded: false,
        places: places.length > 0 ? places : before,
      };
    }
    addRows(open, job, context, cursor, new Date(context.now * 1000));
  }
  const observedAt = new Date(context.now * 1000);
  const waiting = waitingRows(jobs, observedAt, context.cluster);
  return {
    facts: [
      { table: 'allocation', batch: 'open', mode: 'replace', ...open },
      { table: 'waiting', batch: 'waiting', mode: 'replace', rows: waiting.rows },
    ],
    skipped: waiting.skipped,
  };
}

/**
 * Lives that ended, each in the batch of the day it ended on. They say when they ended, not when they were read: read again, they are
 * the same rows.
 */
export function endedFacts(
  jobs: readonly SlurmJob[],
  cursor: SlurmCursor,
  context: JobContext,
): JobFacts & {
  readonly lives: ReadonlySet<string>;
} {
  const days = new Map<string, Batch>();
  const skipped = skipCounter();
  const lives = new Set<string>();
  for (const job of jobs.toSorted((a, b) => (a.start ?? 0) - (b.start ?? 0))) {
    if (job.end === undefined) continue;
    if (job.start === undefined) {
      skipped.add(NEVER_STARTED, job.jobId);
      continue;
    }
    if (job.end < job.start) {
      skipped.add('jobs that end before they begin', job.jobId);
      continue;
    }
    const key = lifeKey(job);
    lives.add(key);
    const day = new Date(job.end * 1000).toISOString().slice(0, 10);
    const batch = days.get(day) ?? { rows: [], hints: [] };
    days.set(day, batch);
    addRows(batch, job, context, cursor, new Date(job.end * 1000));
    const seen = cursor.running[key];
    if (seen !== undefined) seen.hasEnded = true;
    if (job.state !== undefined && mayLiveAgain(job.state)) rememberLife(cursor, job);
    if (job.allocated?.shards !== undefined && (job.allocated.gpus ?? 0) === 0 && !batch.rows.at(-1)?.['share_units']) {
      skipped.add('shards of GPUs whose size is not known: the job is kept, its share is not', job.jobId);
    }
  }
  return {
    facts: [...days].map(([day, batch]) => ({
      table: 'allocation',
      batch: `ended/${day}`,
      mode: 'extend',
      ...batch,
    })),
    skipped: skipped.list(),
    lives,
  };
}

/** A row of a machine that is read, or of none in particular. */
export function isOfReadNode(row: FactRow, { isRead }: JobContext): boolean {
  const node = row['node_id'];
  return isRead === undefined || typeof node !== 'string' || isRead(node);
}

function addRows(batch: Batch, job: SlurmJob, context: JobContext, cursor: SlurmCursor, observedAt: Date): void {
  const seen = cursor.running[lifeKey(job)];
  const perNode = seen === undefined ? undefined : perNodeOf(seen.places);
  const holding: HoldingContext = {
    attempt: attemptOf(cursor, job),
    observedAt,
    pollS: context.pollS,
    gpusOn: context.gpusOn,
    shardsPerGpuOn: context.shardsPerGpuOn,
    ...(context.cluster !== undefined && { cluster: context.cluster }),
    ...(perNode !== undefined && { perNode }),
  };
  const { rows, hints } = holdingRows(job, holding);
  for (const [index, row] of rows.entries()) {
    if (!isOfReadNode(row, context)) continue;
    batch.rows.push(row);
    batch.hints.push(hints[index]);
  }
}
