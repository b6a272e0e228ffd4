import { setTimeout as delay } from 'node:timers/promises';
import { OperationError } from '../facts/operation-error.ts';
import type { Source, SourceHealth } from '../facts/source.ts';

/** How long a source may take to say how it is. */
const CHECK_MS = 10_000;
/** A source that does not stop when told to is not waited for. */
const GRACE_MS = 500;

export interface CheckedSource {
  readonly source: Source;
  readonly health: SourceHealth;
  readonly tookMs: number;
}

/** How each source is, asked side by side, none for longer than ten seconds. */
export async function checkSources(
  sources: readonly Source[],
  signal: AbortSignal,
  limitMs = CHECK_MS,
): Promise<CheckedSource[]> {
  return Promise.all(
    sources.map(async (source) => {
      const begun = performance.now();
      const health = await checkOne(source, signal, limitMs);
      return { source, health, tookMs: Math.round(performance.now() - begun) };
    }),
  );
}

async function checkOne(source: Source, signal: AbortSignal, limitMs: number): Promise<SourceHealth> {
  const over = new AbortController();
  const limit = AbortSignal.timeout(limitMs);
  const silent = delay(limitMs + GRACE_MS, noAnswer(limitMs), { signal: over.signal });
  // The wait is given up once the answer is there, which is no failure.
  silent.catch(() => undefined);
  try {
    const health = await Promise.race([source.check(AbortSignal.any([signal, limit])), silent]);
    return limit.aborted && health.state === 'down' ? noAnswer(limitMs) : health;
  } catch (failure) {
    if (limit.aborted) return noAnswer(limitMs);
    if (!(failure instanceof OperationError)) throw failure;
    const todo = failure.hint === undefined ? {} : { todo: failure.hint };
    return { state: 'down', says: failure.message, ...todo, advice: [] };
  } finally {
    over.abort();
  }
}

function noAnswer(limitMs: number): SourceHealth {
  return {
    state: 'down',
    says: `no answer within ${Math.round(limitMs / 1000)} s`,
    todo: 'Check that it can be reached from this machine: an address, a VPN, a firewall.',
    advice: [],
  };
}
