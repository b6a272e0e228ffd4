import { setTimeout as delay } from 'node:timers/promises';
import { OperationError } from '../../facts/operation-error.ts';
import type { Source } from '../../facts/source.ts';
import type { DeriveReport } from '../../lake/derive.ts';
import { deriveLedger } from '../workspace.ts';
import {
  asCollector,
  collectOnce,
  collectSource,
  INVENTORIES,
  INVENTORY_HEAD_START_MS,
  oneAtATime,
} from './collect.ts';
import type { CollectReport, CollectRequest, OneAtATime, SourceOutcome } from './collect.ts';
import { nameWaitingHolders } from './waiting-holders.ts';

export interface FollowRequest extends CollectRequest {
  /** Told after each source's turn. */
  readonly onTurn: (outcome: SourceOutcome) => void;
  /** Told of what kept a turn from being written: a full disk, somebody else's lock. It is tried again. */
  readonly onTrouble: (failure: OperationError) => void;
  readonly onDerived?: (report: DeriveReport, seconds: number) => void;
}

const BACKOFF_MAX_MS = 600_000;
/** Deriving takes at most a tenth of the time: a large fleet's day costs half a minute each time. */
const DERIVE_DUTY = 10;
const DERIVE_EVERY_MS = 60_000;
const FIRST_DERIVE_MS = 10_000;

/** Collects once, brings the ledger up to date, and says what came. */
export async function collectAndDerive(request: CollectRequest): Promise<CollectReport> {
  const report = await collectOnce(request);
  if (report.sources.some(({ hauls }) => hauls > 0)) {
    request.progress('deriving the ledger');
    await asCollector(request, (space) => deriveLedger(space));
  }
  return report;
}

/**
 * Keeps the lake up to date until the signal: each source in its own rhythm, a failing one ever more rarely, and none waits for another. A
 * full disk or somebody else's lock is trouble that passes; a mistake of ours ends all of it, so that nobody takes a dead process for
 * one that collects.
 */
export async function follow(request: FollowRequest): Promise<void> {
  const mistake = new AbortController();
  const all: FollowRequest = { ...request, signal: AbortSignal.any([request.signal, mistake.signal]) };
  const writing = oneAtATime();
  const heard = request.sources.filter(({ kind }) => INVENTORIES.has(kind)).map(() => openPromise());
  const listed = Promise.race([
    Promise.all(heard.map(({ promise }) => promise)),
    waited(INVENTORY_HEAD_START_MS, all.signal),
  ]);
  const inventories = heard.values();
  const loops = request.sources.map((source) => {
    if (!INVENTORIES.has(source.kind)) return listed.then(() => followSource(all, source, writing, () => undefined));
    const told = inventories.next().value?.resolve;
    return followSource(all, source, writing, () => told?.());
  });
  try {
    await Promise.all([...loops, keepDeriving(all, writing)]);
  } catch (failure) {
    mistake.abort();
    throw failure;
  }
}

async function followSource(
  request: FollowRequest,
  source: Source,
  writing: OneAtATime,
  onFirst: () => void,
): Promise<void> {
  let failures = 0;
  let pauseMs = 0;
  while (await waited(pauseMs, request.signal)) {
    const outcome = await passing(request, async () => {
      const turn = await collectSource(request, source, writing);
      await writing(() => asCollector(request, (space) => nameWaitingHolders(space, request.now())));
      request.onTurn(turn);
      return turn;
    });
    onFirst();
    failures = outcome === undefined || outcome.state === 'failed' ? failures + 1 : 0;
    pauseMs = Math.min(source.pollS * 1000 * 2 ** failures, BACKOFF_MAX_MS);
  }
}

async function keepDeriving(request: FollowRequest, writing: OneAtATime): Promise<void> {
  let pauseMs = FIRST_DERIVE_MS;
  while (await waited(pauseMs, request.signal)) {
    const begun = performance.now();
    await passing(request, async () => {
      const report = await writing(() =>
        asCollector(request, (space) => deriveLedger(space, { onProgress: endedBy(request.signal) })),
      );
      request.onDerived?.(report, (performance.now() - begun) / 1000);
    });
    pauseMs = Math.max(DERIVE_EVERY_MS, (performance.now() - begun) * DERIVE_DUTY);
  }
}

/** A large fleet's day takes a while: whoever stops is not kept waiting for more than one piece of it. */
export function endedBy(signal: AbortSignal): () => void {
  return () => {
    if (signal.aborted) throw new OperationError('interrupted', 'deriving was interrupted; nothing of it is kept');
  };
}

/** What the outside world does wrong is said and tried again; undefined then. */
async function passing<Result>(request: FollowRequest, work: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await work();
  } catch (failure) {
    if (!(failure instanceof OperationError)) throw failure;
    if (!request.signal.aborted) request.onTrouble(failure);
    return undefined;
  }
}

function openPromise(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** False when the signal came first. */
async function waited(ms: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return false;
  try {
    await delay(ms, undefined, { signal });
    return true;
  } catch (failure) {
    if (signal.aborted) return false;
    throw new OperationError('interrupted', 'collecting was interrupted', { cause: failure });
  }
}
