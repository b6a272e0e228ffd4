import { setTimeout as delay } from 'node:timers/promises';
import { OperationError } from '../../facts/operation-error.ts';
import type { RunCommand } from '../../facts/source.ts';
import type { HolderStay, SeenHolder } from '../../sources/gpu-metrics/holder-stays.ts';
import { localSource, lookAtMachine } from '../../sources/smi/local-source.ts';
import { collectOnce } from '../collect/collect.ts';
import { restateRates } from '../first-look/first-look.ts';
import type { RateConfig } from '../config/source-config.ts';
import { withReader } from '../workspace.ts';
import { watchPast } from './watch-history.ts';
import { WatchMemory } from './watch-state.ts';
import type { WatchState } from './watch-state.ts';

export interface WatchRequest {
  readonly dataDir: string;
  readonly run: RunCommand;
  readonly prefix?: readonly string[];
  /** The name the machine goes by. */
  readonly hostname: string;
  readonly rates: readonly RateConfig[];
  readonly everyMs: number;
  /** One look, kept, and no more. */
  readonly once: boolean;
  readonly now: () => Date;
  readonly signal: AbortSignal;
  /** Told after each look; `trouble` is what keeps it from being kept. */
  readonly onState: (state: WatchState, trouble: OperationError | undefined) => void;
  /** A look that failed after the first; the next may do better. */
  readonly onTrouble: (trouble: OperationError) => void;
}

/** The screen may be drawn every second; what is kept does not have to be that fine, and writing costs more than looking. */
const KEEP_EVERY_MS = 30_000;

/**
 * Shows what the GPUs of one machine do, over and over, and keeps it.
 *
 * Looking and keeping are apart: a folder somebody else is writing to, or a full disk, does not stop the screen. The first
 * look must succeed; later ones may fail, as a machine reached by ssh sometimes does.
 */
export async function watch(request: WatchRequest): Promise<void> {
  const { hostname, run, prefix, dataDir, now, signal } = request;
  const machine = {
    name: prefix === undefined ? 'local' : `local-${hostname}`,
    run,
    hostname,
    pollS: KEEP_EVERY_MS / 1e3,
    ...(prefix !== undefined && { prefix }),
  };
  const memory = new WatchMemory(request.rates);
  const keeper = new Keeper(async () => {
    const sources = [localSource(machine)];
    const report = await collectOnce({ dataDir, sources, now, signal, progress: () => undefined });
    const error = report.sources[0]?.record.error;
    if (error !== undefined) throw new OperationError(error.code, error.message);
  });
  let stays: readonly HolderStay[] = [];
  let isFirst = true;
  while (!signal.aborted) {
    const at = now();
    try {
      const look = await lookAtMachine(machine, stays, at, signal);
      stays = look.holders.map((holder) => stayOf(holder, at));
      if (isFirst) {
        if (request.rates.length > 0) await keeper.attempt(() => restateRates(dataDir, request.rates));
        await keeper.keep(at);
        await keeper.attempt(() =>
          learnPast(
            memory,
            dataDir,
            look.readings.map(({ deviceId }) => deviceId),
            at,
          ),
        );
      } else if (keeper.isDue(at)) void keeper.keep(at);
      request.onState(memory.stateOf(look, hostname, at), keeper.trouble);
      isFirst = false;
    } catch (failure) {
      if (signal.aborted) break;
      if (isFirst || !(failure instanceof OperationError)) throw failure;
      request.onTrouble(failure);
    }
    if (request.once || !(await waited(request.everyMs, signal))) break;
  }
  await keeper.settle();
}

async function learnPast(memory: WatchMemory, dataDir: string, deviceIds: readonly string[], at: Date): Promise<void> {
  await withReader(dataDir, async (space) => memory.learn(await watchPast(space, deviceIds, at)));
}

/** Keeps looks one at a time, beside the screen. */
class Keeper {
  readonly #work: () => Promise<void>;
  #running: Promise<void> | undefined;
  #lastAt: Date | undefined;
  trouble: OperationError | undefined;

  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  isDue(at: Date): boolean {
    const isLate = this.#lastAt === undefined || at.getTime() - this.#lastAt.getTime() >= KEEP_EVERY_MS;
    return this.#running === undefined && isLate;
  }

  async keep(at: Date): Promise<void> {
    this.#lastAt = at;
    this.trouble = undefined;
    this.#running = this.attempt(this.#work).finally(() => {
      this.#running = undefined;
    });
    await this.#running;
  }

  /** What the outside world does to the folder is trouble to show; anything else is a mistake of ours. */
  async attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (failure) {
      if (!(failure instanceof OperationError)) throw failure;
      this.trouble = failure;
    }
  }

  async settle(): Promise<void> {
    await this.#running;
  }
}

function stayOf(holder: SeenHolder, at: Date): HolderStay {
  const { id, deviceId, gpuCount = 1, nodeId, from, columns } = holder;
  const seenAt = at.toISOString();
  return {
    id,
    gpuCount,
    slot: 0,
    nodeId,
    from: from?.toISOString() ?? seenAt,
    last: seenAt,
    columns: { ...columns },
    ...(deviceId !== undefined && { deviceId }),
  };
}

async function waited(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await delay(ms, undefined, { signal });
    return true;
  } catch (failure) {
    if (signal.aborted) return false;
    throw failure;
  }
}
