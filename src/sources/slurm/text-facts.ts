import type { FactRow, FactRows, HolderHint } from '../../facts/source.ts';
import { isWaiting } from './parse/job-state.ts';
import type { SlurmJob } from './parse/slurm-job.ts';
import { heldSeconds, NEVER_STARTED } from './parse/slurm-job.ts';
import type { SlurmNode } from './parse/slurm-node.ts';
import { holdingRows } from './rows/holding-rows.ts';
import { nodeRows } from './rows/node-rows.ts';
import { waitingRows } from './rows/waiting-rows.ts';
import type { SkipCounter } from './slurm-reader.ts';

export interface TextOptions {
  /** Where the clocks stood that wrote times without a zone. */
  readonly zone?: string;
  /** When the text was written, in seconds since 1970; what runs is known to run until then. */
  readonly writtenAt?: number;
  readonly cluster?: string;
}

/** Machines of a text as rows. A state of which nobody says when it began is left unknown. */
export function machineFacts(
  nodes: readonly SlurmNode[],
  counter: SkipCounter,
  { writtenAt, cluster }: TextOptions,
): readonly FactRows[] {
  const now = writtenAt ?? 0;
  const { rows, skipped } = nodeRows(nodes, [], {
    now,
    ...(cluster !== undefined && { cluster }),
    seenSince: () => now,
    presentSince: () => undefined,
  });
  for (const { reason, example, count } of skipped) counter.add(reason, example, count);
  const taken = writtenAt === undefined ? oneForEach(rows) : rows;
  return taken.length === 0 ? [] : [{ table: 'node', batch: 'nodes', mode: 'replace', rows: taken }];
}

function oneForEach(rows: readonly FactRow[]): readonly FactRow[] {
  const byNode = new Map(
    rows.map((row) => {
      const { state: _state, present_from: _from, present_until: _until, ...others } = row;
      return [row['node_id'], others] as const;
    }),
  );
  return [...byNode.values()];
}

/** Jobs of a text as holdings and as waiting rows; those that are neither are counted. */
export function jobTextFacts(
  jobs: readonly SlurmJob[],
  counter: SkipCounter,
  { writtenAt, cluster }: TextOptions,
): readonly FactRows[] {
  const rows: FactRow[] = [];
  const hints: (HolderHint | undefined)[] = [];
  const lives = new Map<string, number>();
  // What runs ran at least until the newest moment the text speaks of.
  const newest = jobs.reduce((latest, { start = 0, submit = 0, end = 0 }) => Math.max(latest, start, submit, end), 0);
  const isInQueue = (job: SlurmJob): boolean =>
    job.state !== undefined && isWaiting(job.state) && job.end === undefined;
  for (const job of jobs.toSorted((a, b) => (a.start ?? 0) - (b.start ?? 0))) {
    if (isInQueue(job)) continue;
    if (job.start === undefined) {
      counter.add(NEVER_STARTED, job.jobId);
      continue;
    }
    if (job.end !== undefined && job.end < job.start) {
      counter.add('jobs that end before they begin', job.jobId);
      continue;
    }
    const attempt = lives.get(job.jobId) ?? 0;
    lives.set(job.jobId, attempt + 1);
    const heldS = heldSeconds(job);
    const known = job.end ?? writtenAt ?? (heldS === undefined ? newest : job.start + heldS);
    const told = holdingRows(job, {
      attempt: job.restarts ?? attempt,
      ...(cluster !== undefined && { cluster }),
      observedAt: new Date(known * 1000),
    });
    for (const row of told.rows) rows.push(row);
    for (const hint of told.hints) hints.push(hint);
  }
  const queue = jobs.filter((job) => isInQueue(job));
  const waiting = waitingRows(queue, new Date((writtenAt ?? newest) * 1000), cluster);
  for (const { reason, example, count } of waiting.skipped) counter.add(reason, example, count);
  return [
    ...(rows.length === 0 ? [] : [{ table: 'allocation', batch: 'jobs', mode: 'replace', rows, hints } as const]),
    ...(waiting.rows.length === 0
      ? []
      : [{ table: 'waiting', batch: 'waiting', mode: 'replace', rows: waiting.rows } as const]),
  ];
}
