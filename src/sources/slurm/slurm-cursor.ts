import { z } from 'zod';
import type { NodeGpus, SlurmJob } from './parse/slurm-job.ts';

/** GPUs on one machine: name, then type (empty if none), count and places of each kind. */
const Places = z.tuple([z.string(), z.array(z.tuple([z.string(), z.number(), z.array(z.number())]))]);

/** A job that was seen running: what Slurm forgets when it ends. */
const Running = z.object({
  attempt: z.number().int(),
  seenAt: z.number(),
  /** Its end has been told; kept a while, because it may be told again. */
  hasEnded: z.boolean(),
  places: z.array(Places),
});

/** What the next pull begins with. Times are seconds since 1970. */
const Cursor = z.object({
  version: z.literal(1),
  /** Time whose ended jobs have not been read yet, oldest first. */
  todo: z.array(z.tuple([z.number(), z.number()])),
  /** First and last moment that was ever asked for. */
  readFrom: z.number(),
  readUntil: z.number(),
  /** By `job@start`. */
  running: z.record(z.string(), Running),
  /** Starts of jobs that may live again, by job. */
  lives: z.record(z.string(), z.array(z.number())),
  nodes: z.object({
    readAt: z.number(),
    /** What the last rows said; the same again is not written again. */
    mark: z.string(),
    /** Machines that were there: GPUs, model, and since when if they came while we looked. */
    present: z.record(z.string(), z.tuple([z.number(), z.string(), z.number().nullable()])),
    /** Since when machines that are out of service were seen so: state and second. */
    since: z.record(z.string(), z.tuple([z.string(), z.number()])),
  }),
});

export type SlurmCursor = z.infer<typeof Cursor>;
export type RunningJob = z.infer<typeof Running>;

/** Undefined on first contact, and for a cursor of another version: what was read then is read again and changes nothing. */
export function readCursor(cursor: unknown): SlurmCursor | undefined {
  const read = Cursor.safeParse(cursor);
  return read.success ? read.data : undefined;
}

/** A cursor that has seen nothing yet. */
export function firstCursor(readFrom: number): SlurmCursor {
  return {
    version: 1,
    todo: [],
    readFrom,
    readUntil: readFrom,
    running: {},
    lives: {},
    nodes: { readAt: 0, mark: '', present: {}, since: {} },
  };
}

export function lifeKey(job: Pick<SlurmJob, 'jobId' | 'start'>): string {
  return `${job.jobId}@${job.start ?? 0}`;
}

export function placesOf(perNode: readonly NodeGpus[] | undefined): RunningJob['places'] {
  return (perNode ?? []).map(({ node, items }) => [
    node,
    items.map(({ type, count, indices }) => [type ?? '', count, [...(indices ?? [])]]),
  ]);
}

export function perNodeOf(places: RunningJob['places']): readonly NodeGpus[] | undefined {
  if (places.length === 0) return undefined;
  return places.map(([node, items]) => ({
    node,
    items: items.map(([type, count, indices]) => ({
      count,
      ...(type !== '' && { type }),
      ...(indices.length > 0 && { indices }),
    })),
  }));
}

const LIVES_MAX = 50_000;

/** Remembers a life that may be followed by another; the oldest are forgotten first. */
export function rememberLife(cursor: SlurmCursor, job: SlurmJob): void {
  if (job.start === undefined) return;
  const starts = cursor.lives[job.jobId] ?? [];
  if (starts.includes(job.start)) return;
  cursor.lives[job.jobId] = [...starts, job.start].toSorted((a, b) => a - b);
}

export function forgetOldLives(cursor: SlurmCursor, before: number): void {
  const entries = Object.entries(cursor.lives).filter(([, starts]) => (starts.at(-1) ?? 0) >= before);
  const kept = entries.toSorted(([, a], [, b]) => (b.at(-1) ?? 0) - (a.at(-1) ?? 0)).slice(0, LIVES_MAX);
  cursor.lives = Object.fromEntries(kept);
}

/** Which life of its job this is: as Slurm counts, as it was seen running, or by the order of starts. */
export function attemptOf(cursor: SlurmCursor, job: SlurmJob): number {
  if (job.restarts !== undefined) return job.restarts;
  const seen = cursor.running[lifeKey(job)];
  if (seen !== undefined) return seen.attempt;
  return (cursor.lives[job.jobId] ?? []).filter((start) => start < (job.start ?? 0)).length;
}
