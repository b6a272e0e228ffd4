import { availableParallelism } from 'node:os';
import { OperationError } from '../../facts/operation-error.ts';
import { askerOf } from '../../lake/ask.ts';
import type { Asker } from '../../lake/ask.ts';
import { openEnginePool } from '../../lake/engine.ts';
import type { Engine } from '../../lake/engine.ts';
import { STAGES } from '../../ledger/stages.ts';
import { oneAtATime } from '../collect/collect.ts';
import type { Config } from '../config/source-config.ts';
import { clockOf } from '../demo/demo-mark.ts';
import type { Now } from '../now.ts';
import { NO_RULES } from '../rules/rule.ts';
import { ruleViews } from '../rules/views.ts';
import type { ReadSpace } from '../workspace.ts';
import { askerPool } from './asker-pool.ts';
import { keptAnswers } from './kept-answers.ts';
import type { TouchedPart } from './kept-answers.ts';
import { steppedMoment } from './stepped-moment.ts';
import type { Standing, StandingKeeper } from './standing.ts';
import type { Asker as AskedBy } from './turns.ts';

/** What a question has in hand when it is answered. */
export interface AtDesk {
  readonly space: ReadSpace;
  readonly config: Config | undefined;
  readonly now: Now;
  readonly clock: Date;
}

export interface DeskQuestion<Value extends Sized> extends AskedBy {
  /** The kind of question: those of a kind take about as long as each other. */
  readonly name: string;
  /** All that was asked, and what the asker may see: two questions with one key have one answer. */
  readonly key: string;
  readonly asOf: Date | undefined;
  /** False where the answer is made of more than the data folder: then only those who ask at once share it. */
  readonly isKept?: boolean;
  readonly answer: (at: AtDesk) => Promise<Value>;
}

export interface Sized {
  readonly bytes: number;
}

/** An answer and the state it is of. */
export interface DeskAnswer<Value> {
  readonly value: Value;
  readonly generation: number;
  readonly now: Now;
  /** Under which it is kept, and by which two answers are the same. */
  readonly key: string;
  readonly from: 'kept' | 'asked';
}

export interface DeskState {
  readonly waiting: number;
  readonly running: number;
  readonly keptBytes: number;
}

/** Answers questions for as long as a server runs. */
export interface Desk<Value extends Sized> {
  ask(question: DeskQuestion<Value>): Promise<DeskAnswer<Value>>;
  /** Looks at the ledger when it is its turn, for somebody who is about to change something: nothing of it is kept or shared. */
  look<Result>(name: string, work: (at: AtDesk) => Promise<Result>): Promise<Result>;
  state(): DeskState;
  close(): Promise<void>;
}

export interface DeskOptions {
  readonly standing: StandingKeeper;
  readonly memoryMb: number;
  readonly keptBytesMax: number;
  readonly runMsMax: number;
  readonly waitMsMax?: number;
  /** Questions at once; one more than the cores where nothing is said. */
  readonly size?: number;
  /** Where sorts beyond the memory go. */
  readonly tempDir?: string;
  /** Rows of one statement's answer; longer ones are refused. */
  readonly rowsMax?: number;
}

const WAIT_MS_MAX = 10_000;
/** Twice the longest page. A million rows took half a minute in which nobody else was answered, and 1 GB. */
const ROWS_MAX = 200_000;
const SIZE_MIN = 3;
const SIZE_MAX = 8;

/** What is not kept need not wait for a step: how a source is, is asked by the clock as it is. */
function clockFor({ isKept }: { readonly isKept?: boolean }, standing: Standing, stepped: Date): Date {
  return isKept === false ? clockOf(standing) : stepped;
}

/**
 * Opens the one reader of a server: a pool of askers over one engine, and the answers it has given.
 *
 * An answer is kept under the generation and the configuration it is of, so that nothing has to be thrown away when they change. Of what
 * stands beside the lake (findings, sources, statements) it is noted which parts an answer looked at. Nothing is derived here: a server
 * has a writer for that.
 */
export async function openDesk<Value extends Sized>(options: DeskOptions): Promise<Desk<Value>> {
  const cores = availableParallelism();
  const size = options.size ?? Math.min(SIZE_MAX, Math.max(SIZE_MIN, cores + 1));
  const engines = await openEnginePool({
    threads: Math.min(cores, SIZE_MAX),
    memoryLimitMb: options.memoryMb,
    rowsMax: options.rowsMax ?? ROWS_MAX,
    ...(options.tempDir !== undefined && { tempDir: options.tempDir }),
  });
  const { runMsMax, waitMsMax = WAIT_MS_MAX } = options;
  const pool = askerPool({ engines, size, waitMsMax, runMsMax });
  const kept = keptAnswers<Value>(options.keptBytesMax);
  const asking = new Map<string, Shared<Value>>();
  const refused = new Map<string, OperationError>();

  const ask = async (question: DeskQuestion<Value>): Promise<DeskAnswer<Value>> => {
    const standing = await options.standing.current();
    const { now, clock } = steppedMoment(standing.scope?.horizon, clockOf(standing), question.asOf);
    const { generation } = standing.snapshot;
    const moment = `${now.at.getTime()} ${now.by} ${clock.getTime()}`;
    const key = [generation, standing.configStamp, moment, question.name, question.key].join('\n');
    const found = kept.get(key, standing.stamp);
    if (found !== undefined) return { value: found, generation, now, key, from: 'kept' };
    const refusal = refused.get(key);
    if (refusal !== undefined) throw refusal;
    // Whoever asks after a finding was accepted does not join a question from before.
    const askingKey = `${key}\n${JSON.stringify(standing.stamp)}`;
    const forget = (own: Shared<Value>): void => {
      if (asking.get(askingKey) === own) asking.delete(askingKey);
    };
    const begin = (): Shared<Value> => {
      const stop = new AbortController();
      const work = async (engine: Engine): Promise<Value> => {
        const touched = new Set<TouchedPart>();
        let isPassing = false;
        const space = spaceOf(engine, standing, touched, () => (isPassing = true));
        const value = await answered(standing, () =>
          question.answer({ space, config: standing.config, now, clock: clockFor(question, standing, clock) }),
        ).catch((failure: unknown) => {
          keepRefusal(refused, key, failure);
          throw failure;
        });
        if (question.isKept !== false && !isPassing)
          kept.keep(key, { value, stamp: standing.stamp, touched, bytes: value.bytes });
        return value;
      };
      const { name, who = '' } = question;
      const answer = pool.run(name, work, { who, signal: stop.signal }).finally(() => forget(own));
      const own: Shared<Value> = { answer, stop, askers: 0 };
      asking.set(askingKey, own);
      return own;
    };
    const value = await joined(asking.get(askingKey) ?? begin(), question.signal, forget);
    return { value, generation, now, key, from: 'asked' };
  };

  return {
    ask,
    async look(name, work) {
      const standing = await options.standing.current();
      const { now, clock } = steppedMoment(standing.scope?.horizon, clockOf(standing), undefined);
      return pool.run(name, async (engine) => {
        const space = spaceOf(engine, standing, new Set());
        return answered(standing, async () => work({ space, config: standing.config, now, clock }));
      });
    },
    state: () => ({ waiting: pool.waiting(), running: pool.running(), keptBytes: kept.bytes() }),
    async close() {
      await pool.close();
      engines.close();
    },
  };
}

const REFUSALS_MAX = 200;

/** What has too many rows has them until the ledger changes: to count them again for everybody who asks would leave no time for others. */
function keepRefusal(refused: Map<string, OperationError>, key: string, failure: unknown): void {
  if (!(failure instanceof OperationError) || failure.code !== 'too-many-rows') return;
  refused.set(key, failure);
  const [oldest] = refused.keys();
  if (refused.size > REFUSALS_MAX && oldest !== undefined) refused.delete(oldest);
}

/** A question that is being answered, for all who asked it. */
interface Shared<Value> {
  readonly answer: Promise<Value>;
  readonly stop: AbortController;
  askers: number;
}

/** Waits with the others for an answer. When the last of them has gone, the question is withdrawn. */
async function joined<Value>(
  shared: Shared<Value>,
  signal: AbortSignal | undefined,
  forget: (shared: Shared<Value>) => void,
): Promise<Value> {
  shared.askers += 1;
  const leave = (): void => {
    shared.askers -= 1;
    if (shared.askers > 0) return;
    forget(shared);
    shared.stop.abort();
  };
  if (signal?.aborted === true) leave();
  else signal?.addEventListener('abort', leave);
  try {
    return await shared.answer;
  } finally {
    signal?.removeEventListener('abort', leave);
  }
}

/** A ledger that another version of Bursar derived may lack what a question reads, until it is derived anew. */
async function answered<Value>({ staleRows }: Standing, answer: () => Promise<Value>): Promise<Value> {
  try {
    return await answer();
  } catch (failure) {
    if (staleRows === 0 || failure instanceof OperationError) throw failure;
    throw new OperationError('stale-ledger', 'the ledger is being brought up to date, and cannot answer this yet', {
      hint: 'Ask again in a minute; bursar derive says how far it is.',
      cause: failure,
    });
  }
}

/** The space of one question. Questions within it take turns: an asker has one set of views. */
function spaceOf(
  engine: Engine,
  standing: Standing,
  touched: Set<TouchedPart>,
  onPassing: () => void = () => undefined,
): ReadSpace {
  const { dataDir, snapshot, scope, stores, config } = standing;
  const rules = config?.rules ?? NO_RULES;
  const asker = inTurn(askerOf(engine, dataDir, snapshot, STAGES, ruleViews(rules)));
  return {
    ...asker,
    dataDir,
    rules,
    snapshot,
    scope,
    staleRows: standing.staleRows,
    onPassing,
    get sources() {
      touched.add('sources');
      return stores.sources.records();
    },
    get statements() {
      touched.add('statements');
      return stores.statements;
    },
    get findings() {
      touched.add('findings');
      return stores.findings;
    },
  };
}

function inTurn(asker: Asker): Asker {
  const turn = oneAtATime();
  return {
    ask: async <Row>(question: Parameters<Asker['ask']>[0]) => turn(async () => asker.ask<Row>(question)),
    keep: async (wish) => turn(async () => asker.keep(wish)),
    forgetParts: async () => turn(async () => asker.forgetParts()),
    save: async (path, question) => turn(async () => asker.save(path, question)),
    load: async (table, columns) => turn(async () => asker.load(table, columns)),
    make: async (table, question) => turn(async () => asker.make(table, question)),
  };
}
