import { OperationError } from '../../facts/operation-error.ts';
import type { PullRequest } from '../../facts/source.ts';
import type { SlurmJob } from './parse/slurm-job.ts';
import type { Read, SlurmReader } from './slurm-reader.ts';
import { NO_ACCOUNTING } from './slurm-reader.ts';
import type { Span } from './spans.ts';

const HOUR_S = 3600;
const MONTH_S = 30 * 86_400;
const EMPTY_MONTHS = 2;
const MONTHS_MAX = 240;

/**
 * How far back slurmdbd remembers. The first outage or registration it knows is a good guess; before that it is asked month by month
 * until two months are empty.
 */
export async function oldestJob(
  reader: SlurmReader,
  now: number,
  signal: AbortSignal,
  progress: PullRequest['progress'],
): Promise<number> {
  try {
    const events = await reader.events(now - MONTHS_MAX * MONTH_S, signal);
    let from = Math.min(now - 1, ...events.items.map((event) => event.from));
    let empty = 0;
    let first = from;
    for (let month = 0; month < MONTHS_MAX && empty < EMPTY_MONTHS; month += 1) {
      progress(`Slurm: looking for the oldest job, before ${new Date(from * 1000).toISOString().slice(0, 10)}`);
      const has = await reader.hasJobs(from - MONTH_S, from, signal);
      empty = has ? 0 : empty + 1;
      from -= MONTH_S;
      if (has) first = from;
    }
    return first;
  } catch (failure) {
    if (isWithoutAccounts(failure)) return now - 1;
    throw failure;
  }
}

/** Lives that touch a span; one that is too much for one answer is asked for in halves. */
export async function accountedIn(reader: SlurmReader, span: Span, signal: AbortSignal): Promise<Read<SlurmJob>> {
  const [from, until] = span;
  try {
    return await reader.accounted(from, until, signal);
  } catch (failure) {
    const isTooMuch = failure instanceof OperationError && ['too-large', 'timeout'].includes(failure.code);
    if (!isTooMuch || until - from <= HOUR_S || signal.aborted) throw failure;
    const middle = Math.floor((from + until) / 2);
    const first = await accountedIn(reader, [from, middle], signal);
    const second = await accountedIn(reader, [middle, until], signal);
    return {
      // A job that touches both halves is in both answers; it ended in one of them.
      items: [
        ...first.items.filter(({ end }) => end !== undefined && end < middle),
        ...second.items.filter(({ end }) => end === undefined || end >= middle),
      ],
      skipped: [...first.skipped, ...second.skipped],
    };
  }
}

export function isWithoutAccounts(failure: unknown): boolean {
  return failure instanceof OperationError && failure.code === NO_ACCOUNTING;
}
