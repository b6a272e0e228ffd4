import { OperationError } from '../../facts/operation-error.ts';
import type { BreakableEngine, Engine, EnginePool } from '../../lake/engine.ts';
import { stopping, turnsOf, withdrawn } from './turns.ts';
import type { Asker, TurnOptions } from './turns.ts';

export interface PoolOptions extends TurnOptions {
  readonly engines: EnginePool;
  /** How long a question may take once it is its turn. */
  readonly runMsMax: number;
}

export interface AskerPool {
  /** Runs `work` with an engine of its own when it is its turn; `name` says of which kind it is. Broken off when its asker goes. */
  run<Result>(name: string, work: (engine: Engine) => Promise<Result>, asker?: Asker): Promise<Result>;
  waiting(): number;
  running(): number;
  /** Refuses what waits, breaks off what runs, and returns when all of it has ended. */
  close(): Promise<void>;
}

const INTERRUPT_MS = 100;

/** Askers over one engine: they share its memory and its threads, and each has its own connection while it asks. */
export function askerPool({ engines, size, waitMsMax, runMsMax }: PoolOptions): AskerPool {
  const turns = turnsOf({ size, waitMsMax });
  const running = new Map<(failure: OperationError) => void, Promise<unknown>>();

  const begin = <Result>(work: (engine: Engine) => Promise<Result>) => {
    let broken: OperationError | undefined;
    let engine: BreakableEngine | undefined;
    let again: NodeJS.Timeout | undefined;
    const breakOff = (failure: OperationError): void => {
      broken ??= failure;
      engine?.interrupt();
      // A statement that is just about to begin does not hear of it.
      again ??= setInterval(() => engine?.interrupt(), INTERRUPT_MS);
    };
    const carryOut = async (): Promise<Result> => {
      const timer = setTimeout(() => breakOff(tooSlow(runMsMax)), runMsMax);
      try {
        engine = await engines.connect();
        return await work(breakable(engine, () => broken));
      } catch (failure) {
        throw broken ?? failure;
      } finally {
        clearTimeout(timer);
        clearInterval(again);
        engine?.close();
      }
    };
    return { breakOff, answer: carryOut() };
  };

  return {
    async run(name, work, asker = {}) {
      const end = await turns.take(name, asker);
      const begun = performance.now();
      const { breakOff, answer } = begin(work);
      const goAway = (): void => breakOff(withdrawn());
      asker.signal?.addEventListener('abort', goAway);
      if (asker.signal?.aborted === true) goAway();
      running.set(breakOff, answer);
      try {
        return await answer;
      } finally {
        asker.signal?.removeEventListener('abort', goAway);
        running.delete(breakOff);
        end(performance.now() - begun);
      }
    },
    waiting: () => turns.waiting(),
    running: () => turns.running(),
    async close() {
      turns.close();
      const answers = [...running.values()];
      for (const breakOff of running.keys()) breakOff(stopping());
      await Promise.allSettled(answers);
    },
  };
}

/** An interrupt ends the statement that runs; those that would follow it are not begun. */
function breakable(engine: BreakableEngine, failure: () => OperationError | undefined): Engine {
  const check = (): void => {
    const broken = failure();
    if (broken !== undefined) throw broken;
  };
  return {
    async run(sql, params) {
      check();
      await engine.run(sql, params);
    },
    async rows<Row>(sql: string, params?: Parameters<Engine['rows']>[1]) {
      check();
      return engine.rows<Row>(sql, params);
    },
    async load(table, columns) {
      check();
      await engine.load(table, columns);
    },
    close: () => undefined,
  };
}

function tooSlow(ms: number): OperationError {
  return new OperationError('slow', `the question took longer than ${Math.round(ms / 1000)} s and was ended`, {
    hint: 'Ask about fewer days, or ask on the command line, which has no limit.',
  });
}
