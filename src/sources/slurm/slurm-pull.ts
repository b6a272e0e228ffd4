import { setTimeout as pause } from 'node:timers/promises';
import { OperationError } from '../../facts/operation-error.ts';
import type { Haul, PullRequest } from '../../facts/source.ts';
import type { JobContext } from './job-facts.ts';
import { endedFacts, isOfReadNode, nodeSizes, queueFacts } from './job-facts.ts';
import { nodeFacts } from './node-facts.ts';
import { isGoingOn } from './parse/job-state.ts';
import type { SlurmJob } from './parse/slurm-job.ts';
import type { SlurmNode } from './parse/slurm-node.ts';
import { accountedIn, isWithoutAccounts, oldestJob } from './slurm-accounts.ts';
import type { SlurmCursor } from './slurm-cursor.ts';
import { firstCursor, forgetOldLives, readCursor } from './slurm-cursor.ts';
import type { Read, SlurmReader } from './slurm-reader.ts';
import { skipCounter } from './slurm-reader.ts';
import type { Span } from './spans.ts';
import { chunksOf, withoutSpan, withSpan } from './spans.ts';

export interface PullOptions {
  readonly pollS: number;
  readonly cluster?: string;
}

const HOUR_S = 3600;
const DAY_S = 86_400;
/** Records reach slurmdbd late when it was busy: this much is asked for again. */
const OVERLAP_S = 900;
/** A job that vanished without an end is looked for this long. */
const VANISHED_S = 12 * HOUR_S;
/** What a job held is remembered this long after its end was told. */
const REMEMBERED_S = 2 * HOUR_S;
const LIVES_REMEMBERED_S = 60 * DAY_S;
/** Between two days slurmdbd is left alone for as long as the last one took it, at most this. */
const REST_MS_MAX = 5000;

/**
 * Reads a cluster: what it still remembers day by day on first contact, then what is new.
 *
 * Every pull ends with what holds and waits now, together with what has ended since, in one haul: a job is never told as running and
 * ended at once. A day that was read twice gives the same rows.
 */
export async function* pullSlurm(
  reader: SlurmReader,
  options: PullOptions,
  before: unknown,
  request: PullRequest,
): AsyncGenerator<Haul, void, undefined> {
  const { signal, progress } = request;
  const now = Math.floor(request.now.getTime() / 1000);
  const cluster = options.cluster ?? (await reader.cluster(signal));
  const cursor = await beginning(reader, readCursor(before), request, now);
  const nodes = await reader.nodes(signal);
  const { context, gpus } = contextOf(
    nodes.items,
    { ...options, ...(cluster !== undefined && { cluster }) },
    request,
    now,
  );
  const steps: Steps = { reader, request, cursor, nodes, context, gpus, now };

  const chunks = chunksOf(cursor.todo, DAY_S);
  const isLook = request.lookStepS !== undefined;
  const days = chunks.slice(0, -1);
  // First what runs now, before it ends and Slurm forgets which GPUs it had.
  if (isLook) yield await present(steps, chunks.at(-1), isLook);
  else if (days.length > 1) yield await present(steps, undefined, isLook);
  for (const [index, day] of (isLook ? days.toReversed() : days).entries()) {
    const text = new Date(day[0] * 1000).toISOString().slice(0, 10);
    progress(`Slurm: jobs that ended on ${text}, ${index + 1} of ${days.length}`);
    const begun = performance.now();
    const haul = await past(steps, day, isLook);
    const restUntil = performance.now() + Math.min(performance.now() - begun, REST_MS_MAX);
    yield haul;
    // What the writer took has been rest already.
    await pause(Math.max(0, restUntil - performance.now()), undefined, { signal }).catch((failure: unknown) => {
      throw stopped(failure);
    });
  }
  if (!isLook) yield await present(steps, chunks.at(-1), isLook);
}

interface Steps {
  readonly reader: SlurmReader;
  readonly request: PullRequest;
  /** Changed by every step; each haul takes a copy. */
  readonly cursor: SlurmCursor;
  readonly nodes: Read<SlurmNode>;
  readonly context: JobContext;
  readonly gpus: GpusRead;
  readonly now: number;
}

type GpusRead = NonNullable<Haul['gpus']>;

/** What the cursor of this pull begins with: the time that is still to be read. */
async function beginning(
  reader: SlurmReader,
  known: SlurmCursor | undefined,
  { since, signal, progress }: PullRequest,
  now: number,
): Promise<SlurmCursor> {
  const asked = since === undefined ? undefined : Math.floor(since.getTime() / 1000);
  if (known === undefined) {
    const from = asked ?? (await oldestJob(reader, now, signal, progress));
    const cursor = firstCursor(Math.min(from, now - 1));
    return { ...cursor, todo: [[cursor.readFrom, now]], readUntil: now };
  }
  const cursor = structuredClone(known);
  const vanished = Object.values(cursor.running)
    .filter(({ hasEnded, seenAt }) => !hasEnded && seenAt < cursor.readUntil && seenAt > now - VANISHED_S)
    .map(({ seenAt }) => seenAt);
  const again = Math.min(cursor.readUntil - OVERLAP_S, ...vanished);
  cursor.todo = withSpan(cursor.todo, [Math.max(cursor.readFrom, Math.min(again, now - 1)), now]);
  if (asked !== undefined && asked < cursor.readFrom) {
    cursor.todo = withSpan(cursor.todo, [asked, cursor.readFrom]);
    cursor.readFrom = asked;
  }
  cursor.readUntil = Math.max(now, cursor.readUntil);
  return cursor;
}

function contextOf(
  nodes: readonly SlurmNode[],
  options: PullOptions,
  { gpusMax }: PullRequest,
  now: number,
): { context: JobContext; gpus: GpusRead } {
  const withGpus = nodes.filter(({ gpus = 0 }) => gpus > 0).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const seen = withGpus.reduce((sum, { gpus = 0 }) => sum + gpus, 0);
  const base = { now, ...options, ...nodeSizes(nodes) };
  if (gpusMax === undefined || seen <= gpusMax) return { context: base, gpus: { seen, notRead: 0 } };
  const read = new Set<string>();
  let [passed, taken] = [0, 0];
  for (const { name, gpus = 0 } of withGpus) {
    passed += gpus;
    // Evenly over the list: as much of it as of the GPUs.
    if (taken + gpus <= (passed * gpusMax) / seen) {
      taken += gpus;
      read.add(name);
    }
  }
  const leftOut = new Set(withGpus.map(({ name }) => name).filter((name) => !read.has(name)));
  return { context: { ...base, isRead: (name) => !leftOut.has(name) }, gpus: { seen, notRead: seen - taken } };
}

/** A haul of one day that is over. */
async function past(steps: Steps, span: Span, isLook: boolean): Promise<Haul> {
  const { cursor, context } = steps;
  const read = await accountedIn(steps.reader, span, steps.request.signal).catch((failure: unknown) => {
    if (!isWithoutAccounts(failure)) throw failure;
    const [from, until] = span.map((seconds) => new Date(seconds * 1000).toISOString().slice(0, 10));
    return {
      items: [],
      skipped: [{ reason: 'days of a Slurm that keeps no accounts', count: 1, example: `${from} to ${until}` }],
    };
  });
  const ended = read.items.filter(({ end }) => end !== undefined && end >= span[0] && end < span[1]);
  const { facts, skipped } = endedFacts(ended, cursor, context);
  cursor.todo = withoutSpan(cursor.todo, span);
  return haulOf(steps, { facts, skipped: [...read.skipped, ...skipped] }, isLook);
}

/** A haul of what is now and, if a span is given, of what has ended in it. */
async function present(steps: Steps, span: Span | undefined, isLook: boolean): Promise<Haul> {
  const { reader, request, cursor, nodes, context, now } = steps;
  const queue = await reader.queue(request.signal);
  const read = span === undefined ? undefined : await recent(steps, span, queue.items);
  const ended = endedFacts(read?.items ?? [], cursor, context);
  const queued = queueFacts(queue.items, ended.lives, cursor, context);
  const machines = await nodeFacts(reader, nodes.items, cursor, {
    now,
    signal: request.signal,
    ...(context.cluster !== undefined && { cluster: context.cluster }),
  });
  if (span !== undefined) cursor.todo = withoutSpan(cursor.todo, span);
  tidy(cursor, now);
  const machineFacts = machines.facts.map((facts) => ({
    ...facts,
    rows: facts.rows.filter((row) => isOfReadNode(row, context)),
  }));
  return haulOf(
    steps,
    {
      facts: [...machineFacts, ...queued.facts, ...ended.facts],
      skipped: [queue, nodes, queued, machines, ended, ...(read === undefined ? [] : [read])].flatMap(
        (each) => each.skipped,
      ),
    },
    isLook,
  );
}

/** What has ended lately. Where Slurm keeps no accounts, it is what slurmctld still remembers. */
async function recent(steps: Steps, span: Span, queue: readonly SlurmJob[]): Promise<Read<SlurmJob>> {
  try {
    const read = await accountedIn(steps.reader, span, steps.request.signal);
    // What ended since the pull began is there already, and would be missing until the next one.
    return { ...read, items: read.items.filter(({ end }) => end !== undefined && end >= span[0]) };
  } catch (failure) {
    if (!isWithoutAccounts(failure)) throw failure;
    const over = queue.filter(({ state, start }) => state !== undefined && !isGoingOn(state) && start !== undefined);
    return { items: over.filter(({ end }) => end !== undefined), skipped: [] };
  }
}

function tidy(cursor: SlurmCursor, now: number): void {
  for (const [key, { seenAt, hasEnded }] of Object.entries(cursor.running)) {
    if (seenAt < now - (hasEnded ? REMEMBERED_S : VANISHED_S)) delete cursor.running[key];
  }
  forgetOldLives(cursor, now - LIVES_REMEMBERED_S);
}

function haulOf({ cursor, gpus, now }: Steps, told: Pick<Haul, 'facts' | 'skipped'>, isLook: boolean): Haul {
  const skipped = skipCounter();
  for (const { reason, example, count } of told.skipped ?? []) skipped.add(reason, example, count);
  const first = cursor.todo[0]?.[0];
  return {
    facts: told.facts,
    skipped: skipped.list(),
    cursor: structuredClone(cursor),
    // A look reads backwards: what is still to be read lies before what was.
    coveredFrom: new Date((isLook ? (cursor.todo.at(-1)?.[1] ?? cursor.readFrom) : cursor.readFrom) * 1000),
    coveredUntil: new Date((isLook ? now : (first ?? now)) * 1000),
    gpus,
  };
}

function stopped(cause: unknown): OperationError {
  return new OperationError('stopped', 'reading Slurm was stopped', {
    hint: 'Run it again: it goes on where it was.',
    cause,
  });
}
