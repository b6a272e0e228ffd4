import { setTimeout as delay } from 'node:timers/promises';
import { OperationError } from '../../facts/operation-error.ts';
import type { Source } from '../../facts/source.ts';
import type { DeriveReport } from '../../lake/derive.ts';
import { deriveLedger } from '../workspace.ts';
import { asCollector, collectOnce, collectSource, oneAtATime } from './collect.ts';
import type { CollectReport, CollectRequest, OneAtATime, SourceOutcome } from './collect.ts';
import { nameWaitingHolders } from './waiting-holders.ts';

export interface FollowRequest extends CollectRequest {
  /** Told after each source's turn. */
  readonly onTurn: (outcome: SourceOutcome) => void;
  readonly onDerived?: (report: DeriveReport, seconds: number) => void;
}

const BACKOFF_MAX_MS = 600_000;
/** Deriving takes at most a tenth of the time: a large fleet's day costs half a minute each time. */
const DERIVE_DUTY = 10;
const DERIVE_EVERY_MS = 60_000;

/** Collects once, brings the ledger up to date, and says what came. */
export async function collectAndDerive(request: CollectRequest): Promise<CollectReport> {
  const report = await collectOnce(request);
  if (report.sources.some(({ hauls }) => hauls > 0)) {
    request.progress('deriving the ledger');
    await asCollector(request, (space) => deriveLedger(space));
  }
  return report;
}

/** Keeps the lake up to date until the signal: each source in its own rhythm, a failing one ever more rarely. */
export async function follow(request: FollowRequest): Promise<void> {
  const first = await collectOnce(request);
  for (const outcome of first.sources) request.onTurn(outcome);
  const writing = oneAtATime();
  const failed = (source: Source): boolean =>
    first.sources.find(({ name }) => name === source.name)?.state === 'failed';
  await Promise.all([
    ...request.sources.map((source) => followSource(request, source, failed(source) ? 1 : 0, writing)),
    keepDeriving(request, writing),
  ]);
}

async function followSource(
  request: FollowRequest,
  source: Source,
  failuresBefore: number,
  writing: OneAtATime,
): Promise<void> {
  let failures = failuresBefore;
  while (await waited(Math.min(source.pollS * 1000 * 2 ** failures, BACKOFF_MAX_MS), request.signal)) {
    const outcome = await collectSource(request, source, writing);
    await writing(() => asCollector(request, (space) => nameWaitingHolders(space, request.now())));
    failures = outcome.state === 'failed' ? failures + 1 : 0;
    request.onTurn(outcome);
  }
}

async function keepDeriving(request: FollowRequest, writing: OneAtATime): Promise<void> {
  let pauseMs = 0;
  while (await waited(pauseMs, request.signal)) {
    const begun = performance.now();
    const report = await writing(() => asCollector(request, (space) => deriveLedger(space)));
    const tookMs = performance.now() - begun;
    request.onDerived?.(report, tookMs / 1000);
    pauseMs = Math.max(DERIVE_EVERY_MS, tookMs * DERIVE_DUTY);
  }
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
