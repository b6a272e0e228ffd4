import { setTimeout as delay } from 'node:timers/promises';
import { OperationError } from '../../facts/operation-error.ts';
import { configuredSources, keepConfiguredRates } from '../collect/collect-config.ts';
import type { SourceOutcome } from '../collect/collect.ts';
import { endedBy, follow } from '../collect/follow.ts';
import type { Config } from '../config/source-config.ts';
import { deriveLedger, withWriter } from '../workspace.ts';
import type { WriterLimits } from '../workspace.ts';
import type { Standing, StandingKeeper } from './standing.ts';

export interface KeepRequest {
  readonly dataDir: string;
  readonly standing: StandingKeeper;
  /** False: facts come from others only, and are derived here. */
  readonly collect: boolean;
  /** The configuration at the start: a folder without data has one already. */
  readonly config: Config | undefined;
  readonly limits: WriterLimits;
  readonly now: () => Date;
  readonly signal: AbortSignal;
  readonly pollMs?: number;
  readonly onTurn: (outcome: SourceOutcome) => void;
  readonly onTrouble: (failure: OperationError) => void;
  readonly progress: (line: string) => void;
  readonly onDerived?: (seconds: number) => void;
}

/** How the writer of a server is. */
export interface WriterState {
  readonly does: 'collects' | 'derives';
  /** What kept it from writing the last time it tried. */
  readonly trouble: OperationError | undefined;
  readonly lastDerivedAt: Date | undefined;
  readonly lastDeriveSeconds: number | undefined;
}

export interface LedgerKeeper {
  state(): WriterState;
  /** Ends with the signal, or with a mistake of ours. */
  readonly ended: Promise<void>;
}

const POLL_MS = 1000;
/** Beside another writer, and where nothing can be written: not every second. */
const TROUBLE_POLLS = 5;
/** Deriving for facts that others bring in takes at most half of the time. */
const DERIVE_DUTY = 1;

/**
 * The one writer of a server: collects from the sources of bursar.yaml, or else derives what others bring in, until the signal. An edit of
 * bursar.yaml takes effect within a second.
 */
export function keepLedger(request: KeepRequest): LedgerKeeper {
  let trouble: OperationError | undefined;
  let lastDerivedAt: Date | undefined;
  let lastDeriveSeconds: number | undefined;
  let does: WriterState['does'] = 'derives';
  const watched: KeepRequest = {
    ...request,
    onTurn: (outcome) => {
      trouble = undefined;
      request.onTurn(outcome);
    },
    onTrouble: (failure) => {
      if (failure.message !== trouble?.message) request.onTrouble(failure);
      trouble = failure;
    },
    onDerived: (seconds) => {
      trouble = undefined;
      lastDerivedAt = request.now();
      lastDeriveSeconds = seconds;
      // Now, before the next haul is written: a minute of hauls may follow each other without a pause, and the ledger is whole only here.
      void quietly(() => request.standing.current());
      request.onDerived?.(seconds);
    },
  };
  const ended = keepOn(watched, (next) => {
    does = next;
  });
  return { state: () => ({ does, trouble, lastDerivedAt, lastDeriveSeconds }), ended };
}

async function keepOn(request: KeepRequest, onMode: (does: WriterState['does']) => void): Promise<void> {
  let { config } = request;
  while (!request.signal.aborted) {
    const collects = request.collect && (config?.sources.length ?? 0) > 0;
    onMode(collects ? 'collects' : 'derives');
    // One configuration's turn: it ends when another is written.
    const turn = new AbortController();
    const own = { ...request, signal: AbortSignal.any([request.signal, turn.signal]) };
    const work = collects && config !== undefined ? collectBy(own, config) : deriveForOthers(own);
    const edited = untilEdited(own, config).finally(() => turn.abort());
    await Promise.all([work.finally(() => turn.abort()), edited]);
    config = await edited;
  }
}

/** The configuration that follows this one, or this one at the end. */
async function untilEdited({ standing, signal, pollMs }: KeepRequest, config: Config | undefined) {
  while (await waited(pollMs ?? POLL_MS, signal)) {
    const next = await quietly(() => standing.current());
    if (next !== undefined && JSON.stringify(next.config) !== JSON.stringify(config)) return next.config;
  }
  return config;
}

async function collectBy(request: KeepRequest, config: Config): Promise<void> {
  const { dataDir, now, signal, progress, limits, onTurn, onTrouble, onDerived } = request;
  try {
    await keepConfiguredRates(config, dataDir);
  } catch (failure) {
    if (!(failure instanceof OperationError)) throw failure;
    onTrouble(failure);
  }
  const sources = await configuredSources(config, { env: process.env, baseDir: config.baseDir });
  await follow({
    dataDir,
    sources,
    now,
    signal,
    progress,
    limits,
    onTurn,
    onTrouble,
    onDerived: (_, seconds) => onDerived?.(seconds),
  });
}

/** Looks every second whether there are facts that are not in the ledger yet. */
async function deriveForOthers(request: KeepRequest): Promise<void> {
  const { dataDir, standing, signal, limits } = request;
  let pauseMs = 0;
  let failedAt: number | undefined;
  while (await waited(pauseMs, signal)) {
    pauseMs = request.pollMs ?? POLL_MS;
    const current = await quietly(() => standing.current());
    if (current === undefined || !isBehind(current, standing) || current.stamp.generation === failedAt) continue;
    const begun = performance.now();
    try {
      await withWriter(
        dataDir,
        'serve',
        async (space) => deriveLedger(space, { onProgress: endedBy(signal) }),
        undefined,
        limits,
      );
      request.onDerived?.((performance.now() - begun) / 1000);
      pauseMs = Math.max(pauseMs, (performance.now() - begun) * DERIVE_DUTY);
    } catch (failure) {
      if (!(failure instanceof OperationError)) throw failure;
      if (signal.aborted) return;
      request.onTrouble(failure);
      pauseMs *= TROUBLE_POLLS;
      // What cannot be written to is not tried again before something changes in it.
      failedAt = failure.code === 'read-only' ? current.stamp.generation : undefined;
    }
  }
}

function isBehind({ staleRows }: Standing, standing: StandingKeeper): boolean {
  return staleRows > 0 || standing.behindSince() !== undefined;
}

/** Undefined where there is no data yet, or the folder cannot be read: whoever asks is told. */
async function quietly<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await work();
  } catch (failure) {
    if (failure instanceof OperationError) return undefined;
    throw failure;
  }
}

/** False when the signal came first. */
async function waited(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await delay(ms, undefined, { signal });
    return true;
  } catch {
    return false;
  }
}
