import type { Skipped } from '../../facts/source.ts';
import type { NodeEvent, SlurmNode } from './parse/slurm-node.ts';
import type { LeftOut, SlurmJob } from './parse/slurm-job.ts';

/** What was read, and what of it could not be used. */
export interface Read<Item> {
  readonly items: readonly Item[];
  readonly skipped: readonly Skipped[];
}

/** A way to ask a Slurm cluster: its commands, or slurmrestd. Times are seconds since 1970. */
export interface SlurmReader {
  /** What Slurm calls itself; undefined where it does not say. */
  cluster(signal: AbortSignal): Promise<string | undefined>;
  /** Jobs slurmctld knows now, waiting ones and those just ended included. */
  queue(signal: AbortSignal): Promise<Read<SlurmJob>>;
  nodes(signal: AbortSignal): Promise<Read<SlurmNode>>;
  /** Outages since a time, as far as this way can tell them. */
  events(since: number, signal: AbortSignal): Promise<Read<NodeEvent>>;
  /** Every life of a job that touches the time, from the accounting database. */
  accounted(from: number, until: number, signal: AbortSignal): Promise<Read<SlurmJob>>;
  /** Whether the database has any job in the time; the smallest question it can be asked. */
  hasJobs(from: number, until: number, signal: AbortSignal): Promise<boolean>;
}

/** Code of the error when Slurm keeps no accounts: what runs now can still be read. */
export const NO_ACCOUNTING = 'no-accounting';

export interface SkipCounter {
  add(reason: string, example: string, count?: number): void;
  list(): readonly Skipped[];
}

/** Counts what is left out by reason, with the first example of each. */
export function skipCounter(): SkipCounter {
  const found = new Map<string, { count: number; example: string }>();
  return {
    add(reason, example, count = 1) {
      const before = found.get(reason);
      found.set(reason, { count: (before?.count ?? 0) + count, example: before?.example ?? example.slice(0, 120) });
    },
    list: () => [...found].map(([reason, { count, example }]) => ({ reason, count, example })),
  };
}

/** Keeps what is one, counts what is not. */
export function sorted<Item extends object>(
  found: Iterable<{ readonly item: Item | LeftOut; readonly example: string }>,
): Read<Item> {
  const items: Item[] = [];
  const skipped = skipCounter();
  for (const { item, example } of found) {
    if ('leftOut' in item) skipped.add(item.leftOut, example);
    else items.push(item);
  }
  return { items, skipped: skipped.list() };
}
