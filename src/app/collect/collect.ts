import { setTimeout as delay } from 'node:timers/promises';
import { OperationError } from '../../facts/operation-error.ts';
import type { Source, SourceKind } from '../../facts/source.ts';
import type { SourceRecord } from '../../facts/source-record.ts';
import type { OnStep } from '../../lake/durable-file.ts';
import { openManifest } from '../../state/manifest.ts';
import { withWriter } from '../workspace.ts';
import type { WriterLimits, WriteSpace } from '../workspace.ts';
import { freshRecord, withFailure, withHaul } from './record.ts';
import { takeHaul } from './take-haul.ts';
import { nameWaitingHolders } from './waiting-holders.ts';

export interface CollectRequest {
  readonly dataDir: string;
  readonly sources: readonly Source[];
  readonly now: () => Date;
  /** On first contact: how far back to read; undefined is everything a source still has. */
  readonly since?: Date;
  readonly gpusMax?: number;
  readonly lookStepS?: number;
  readonly signal: AbortSignal;
  /** Stops reading after this long, and keeps what was read. */
  readonly deadlineMs?: number;
  readonly progress: (line: string) => void;
  readonly onStep?: OnStep;
  /** Where others live in the same process. */
  readonly limits?: WriterLimits;
}

/** How one source went. `cut`: the deadline came first; what was read until then is kept. */
export interface SourceOutcome {
  readonly name: string;
  readonly kind: SourceKind;
  readonly state: 'ok' | 'failed' | 'cut';
  readonly hauls: number;
  readonly record: SourceRecord;
}

export interface CollectReport {
  readonly sources: readonly SourceOutcome[];
}

/** Inventories first: telemetry is then written under the names they give the machines. */
export const INVENTORIES: ReadonlySet<SourceKind> = new Set(['kubernetes', 'slurm', 'aws', 'gcp', 'azure']);
/** An inventory that hangs does not hold up telemetry for longer than this. */
export const INVENTORY_HEAD_START_MS = 30_000;

/**
 * Brings the lake up to date with its sources, each from where it left off. They are read side by side, one's trouble never holds up
 * another, and what each haul brought is kept before the next is asked for.
 */
export async function collectOnce(request: CollectRequest): Promise<CollectReport> {
  const deadline = request.deadlineMs === undefined ? [] : [AbortSignal.timeout(request.deadlineMs)];
  const signal = AbortSignal.any([request.signal, ...deadline]);
  const writing = oneAtATime();
  const collect = (source: Source): Promise<SourceOutcome> => collectSource({ ...request, signal }, source, writing);
  const first = request.sources.filter(({ kind }) => INVENTORIES.has(kind)).map(collect);
  const headStart = new AbortController();
  await Promise.race([
    Promise.all(first),
    delay(INVENTORY_HEAD_START_MS, undefined, { signal: headStart.signal, ref: false }).catch(() => undefined),
  ]);
  headStart.abort();
  const second = request.sources.filter(({ kind }) => !INVENTORIES.has(kind)).map(collect);
  const outcomes = await Promise.all([...first, ...second]);
  await writing(() => asCollector(request, (space) => nameWaitingHolders(space, request.now())));
  return { sources: request.sources.flatMap(({ name }) => outcomes.find((outcome) => outcome.name === name) ?? []) };
}

/** Runs one piece of work after the other, whoever asks. */
export type OneAtATime = <Result>(work: () => Promise<Result>) => Promise<Result>;

export function oneAtATime(): OneAtATime {
  let last: Promise<unknown> = Promise.resolve();
  return async (work) => {
    const turn = last.then(work, work);
    // Whoever asked hears of a failure; the next in line only waits for the end.
    last = turn.catch(() => undefined);
    return turn;
  };
}

/** Clocks of servers differ by minutes. */
const AHEAD_MS = 900_000;

const LOCK_WAIT_MS = 120_000;
const LOCK_POLL_MS = 500;

type Writing = Pick<CollectRequest, 'dataDir' | 'onStep' | 'limits'> &
  Partial<Pick<CollectRequest, 'signal' | 'progress'>>;

/** Writes as the one writer of the folder; waits for another for a while, because an import is done soon. */
export async function asCollector<Result>(
  { dataDir, onStep, limits, signal, progress }: Writing,
  work: (space: WriteSpace) => Promise<Result>,
): Promise<Result> {
  const begun = performance.now();
  for (;;) {
    try {
      return await withWriter(dataDir, 'collect', work, onStep, limits);
    } catch (failure) {
      const isLocked = failure instanceof OperationError && failure.code === 'locked';
      const isOver = performance.now() - begun >= LOCK_WAIT_MS || signal?.aborted === true;
      if (!isLocked || isOver) throw failure;
      progress?.(`waiting: ${failure.message}`);
      await delay(LOCK_POLL_MS);
    }
  }
}

export async function collectSource(
  request: CollectRequest,
  source: Source,
  writing: OneAtATime,
): Promise<SourceOutcome> {
  const { signal } = request;
  const begun = request.now();
  let hauls = 0;
  let record = await startOf(request, source, begun, writing);
  const outcome = (state: SourceOutcome['state']): SourceOutcome => {
    return { name: source.name, kind: source.kind, state, hauls, record };
  };
  try {
    const cursor = isAhead(record, begun) ? undefined : await cursorOf(request, source);
    const pull = source.pull(cursor, {
      now: begun,
      signal,
      progress: (line) => request.progress(`${source.name}: ${line}`),
      ...sinceOf(request, source, begun),
      ...(request.gpusMax !== undefined && { gpusMax: request.gpusMax }),
      ...(request.lookStepS !== undefined && { lookStepS: request.lookStepS }),
    });
    for await (const haul of pull) {
      record = await writing(() =>
        asCollector(request, async (space) => {
          const taken = await takeHaul(space, source, haul, { ...request, firstTriedAt: record.firstTriedAt });
          const after = withHaul(record, haul, taken.report, request.now());
          space.sources.save({ record: after, cursor: { value: haul.cursor }, ...taken.learnt });
          return after;
        }),
      );
      hauls += 1;
    }
    return outcome(signal.aborted ? 'cut' : 'ok');
  } catch (failure) {
    if (signal.aborted && isAbort(failure)) return outcome('cut');
    const told = asTold(failure);
    record = withFailure(record, told, request.now());
    await writing(() => asCollector(request, async (space) => space.sources.save({ record })));
    return outcome('failed');
  }
}

/** A source that was read into the future was read by a clock gone wrong: what it skipped is read anew. */
function isAhead({ coveredUntil }: SourceRecord, now: Date): boolean {
  return coveredUntil !== undefined && coveredUntil.getTime() - now.getTime() > AHEAD_MS;
}

function sinceOf({ since }: CollectRequest, { backfillS }: Source, now: Date): { since?: Date } {
  if (since !== undefined) return { since };
  return backfillS === undefined ? {} : { since: new Date(now.getTime() - backfillS * 1000) };
}

function isAbort(failure: unknown): boolean {
  if (!(failure instanceof Error)) return false;
  return failure.name === 'AbortError' || failure.name === 'TimeoutError' || isAbort(failure.cause);
}

/** What the outside world did wrong is told and the others go on; a mistake of ours is one, and ends the run. */
function asTold(failure: unknown): OperationError {
  if (failure instanceof OperationError) return failure;
  throw failure;
}

async function startOf(
  request: CollectRequest,
  source: Source,
  begun: Date,
  writing: OneAtATime,
): Promise<SourceRecord> {
  return writing(() =>
    asCollector(request, async (space) => {
      const before = space.sources.records().find(({ name }) => name === source.name);
      const record = freshRecord(source, before, begun);
      space.sources.save({ record });
      return record;
    }),
  );
}

async function cursorOf({ dataDir, now }: CollectRequest, source: Source): Promise<unknown> {
  const manifest = await openManifest(dataDir, { readOnly: true, now });
  try {
    return manifest.sources.cursor(source.name) ?? undefined;
  } finally {
    manifest.close();
  }
}
