import type { WriterState } from '../../app/serve/keep-ledger.ts';
import type { StandingKeeper } from '../../app/serve/standing.ts';
import { OperationError } from '../../facts/operation-error.ts';

export interface HealthParts {
  readonly standing: StandingKeeper;
  /** Undefined where nothing writes. */
  readonly writer: () => WriterState | undefined;
  readonly now: () => Date;
}

/** Facts that are not in the ledger after this long are a sign that nobody derives them. */
const BEHIND_MS_MAX = 900_000;

export interface Readiness {
  readonly status: 'ready';
  readonly generation: number;
  readonly horizon: string | null;
  readonly staleRows: number;
  readonly writer: WriterState['does'] | null;
}

/** What anybody is told: the words of a failure may name folders, files and what stands in bursar.yaml. */
const WORDS: Readonly<Record<string, string>> = {
  'bad-config': 'bursar.yaml cannot be read, and the last good one is in force',
  'writer-trouble': 'facts are not written',
  'stale-ledger': 'the ledger is behind its facts',
};

/** The same for whoever may ask without a token: what is wrong by its code, and nothing more. */
export async function openReadiness(parts: HealthParts): Promise<Readiness> {
  try {
    return await readiness(parts);
  } catch (failure) {
    if (!(failure instanceof OperationError)) throw failure;
    throw new OperationError(failure.code, WORDS[failure.code] ?? 'the ledger cannot be read', {
      hint: 'The log of the server says more, and so does bursar doctor.',
      cause: failure,
    });
  }
}

/** Question: can this server be asked, and are its figures those of now? Refused with the reason where not. */
export async function readiness({ standing, writer, now }: HealthParts): Promise<Readiness> {
  const { snapshot, scope, staleRows } = await standing.current();
  const trouble = writer()?.trouble;
  if (trouble !== undefined && trouble.code !== 'locked') {
    throw new OperationError('writer-trouble', `facts are not written: ${trouble.message}`, {
      ...(trouble.hint !== undefined && { hint: trouble.hint }),
      cause: trouble,
    });
  }
  const config = standing.configTrouble();
  if (config !== undefined) {
    // Whatever is wrong with it, also that it is gone, is one thing to whoever waits for the server to be ready.
    throw new OperationError('bad-config', config.message, {
      ...(config.hint !== undefined && { hint: config.hint }),
      cause: config,
    });
  }
  const since = standing.behindSince();
  if (since !== undefined && now().getTime() - since.getTime() > BEHIND_MS_MAX) {
    throw new OperationError('stale-ledger', `the ledger is behind its facts since ${since.toISOString()}`, {
      hint: 'Run bursar derive and read what it says.',
    });
  }
  return {
    status: 'ready',
    generation: snapshot.generation,
    horizon: scope?.horizon.toISOString() ?? null,
    staleRows,
    writer: writer()?.does ?? null,
  };
}
