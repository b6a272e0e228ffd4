import { rm } from 'node:fs/promises';
import { availableParallelism, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Manifest, Snapshot } from '../facts/manifest.ts';
import type { FindingStore } from '../facts/finding-record.ts';
import type { SourceRecord, SourceStore } from '../facts/source-record.ts';
import type { StatementStore } from '../facts/statement-record.ts';
import { OperationError } from '../facts/operation-error.ts';
import { STAGES } from '../ledger/stages.ts';
import { askerOf } from '../lake/ask.ts';
import type { Asker } from '../lake/ask.ts';
import { derive } from '../lake/derive.ts';
import type { DeriveReport } from '../lake/derive.ts';
import type { OnStep } from '../lake/durable-file.ts';
import { openEngine } from '../lake/engine.ts';
import type { Engine } from '../lake/engine.ts';
import { sweepLeftovers } from '../lake/leftovers.ts';
import { scopeOf } from '../lake/scope.ts';
import type { Scope } from '../lake/scope.ts';
import { staleRows } from '../lake/staleness.ts';
import { findConfig } from './config/config-file.ts';
import { NO_RULES } from './rules/rule.ts';
import type { RuleBook } from './rules/rule.ts';
import { ruleViews } from './rules/views.ts';
import { openManifest } from '../state/manifest.ts';
import type { OpenManifest } from '../state/manifest.ts';
import { storageFailure } from '../state/storage-failure.ts';
import { acquireWriterLock } from '../state/writer-lock.ts';
import type { WriterLock } from '../state/writer-lock.ts';

/** Bursar keeps itself below 2 GB; sorts beyond this spill to the data folder, which costs a fifth more CPU. */
const WRITER_MEMORY_MB = Math.min(1400, Math.round((totalmem() / 2 ** 20) * 0.4));
const READER_MEMORY_MB = 1000;
/** Facts up to this many rows are derived on the way to an answer; beyond it the user is told to. */
const CHEAP_ROWS_MAX = 3_000_000;
const DEAD_FILE_SECONDS = 600;

/** Who holds the lock while a question brings the ledger up to date for itself. */
const QUESTION = 'derive for a question';
const QUESTION_WAIT_MS = 60_000;
const QUESTION_POLL_MS = 100;

/** What a writer of the data folder has in hand, while nobody else may write. */
export interface WriteSpace {
  readonly dataDir: string;
  readonly engine: Engine;
  readonly manifest: Manifest;
  /** Where the sources left off. */
  readonly sources: SourceStore;
  readonly statements: StatementStore;
}

/** What a reader sees: one state of the lake, whole. */
export interface ReadSpace extends Asker {
  readonly dataDir: string;
  readonly snapshot: Snapshot;
  /** Undefined while nothing with a time has been imported. */
  readonly scope: Scope | undefined;
  /** Rows of facts that are in the folder but not yet in the ledger. */
  readonly staleRows: number;
  /** What is kept about the sources it was collected from; none where everything was imported. */
  readonly sources: readonly SourceRecord[];
  /** The rules by which `ownership` answers. */
  readonly rules: RuleBook;
  /** What was issued; only a writer may add to it. */
  readonly statements: Pick<StatementStore, 'closings' | 'statement'>;
  /** Numbers and lives of findings, as they were when it was opened; `openFindingWriter` changes them. */
  readonly findings: FindingStore;
  /** Told by whoever could not do all it should for a reason that passes: a server then answers the same question anew. */
  readonly onPassing?: () => void;
}

/** By which rules a reader is told whose money is whose; those of the bursar.yaml beside the user where not said. */
export interface ReaderOptions {
  readonly rules?: RuleBook;
}

function memoryMb(fallback: number): number {
  const asked = Number(process.env['BURSAR_MEMORY_MB']);
  return Number.isInteger(asked) && asked >= 100 ? asked : fallback;
}

/** What a writer may take of the machine; all that is good for it where nothing is said. */
export interface WriterLimits {
  readonly memoryMb: number;
  readonly threads: number;
}

/** Runs `work` as the one writer of the folder. Kept short by the caller: a second writer is refused meanwhile. */
export async function withWriter<Result>(
  dataDir: string,
  command: string,
  work: (space: WriteSpace) => Promise<Result>,
  onStep?: OnStep,
  limits?: WriterLimits,
): Promise<Result> {
  const now = () => new Date();
  const lock = await lockUnlessQuestion(dataDir, command, now);
  const tempDir = join(resolve(dataDir), 'tmp');
  let leavesMess = lock.followsMess;
  try {
    // A killed writer's spill may be what fills the disk.
    await rm(tempDir, { recursive: true, force: true });
    const manifest = await openManifest(dataDir, { readOnly: false, now, ...(onStep && { onStep }) });
    try {
      if (lock.followsMess) await sweepLeftovers(resolve(dataDir), manifest.keptFiles());
      leavesMess = true;
      // Before the work and not after it: what it needs may be the room these take.
      for (const path of manifest.takeDeadFiles(DEAD_FILE_SECONDS)) await rm(resolve(dataDir, path), { force: true });
      const result = await withEngine(tempDir, limits, (engine) =>
        work({
          dataDir: resolve(dataDir),
          engine,
          manifest,
          sources: manifest.sources,
          statements: manifest.statements,
        }),
      );
      leavesMess = false;
      return result;
    } catch (failure) {
      leavesMess = !(await couldSweep(dataDir, manifest));
      throw failure;
    } finally {
      manifest.close();
    }
  } catch (failure) {
    throw storageFailure(failure, dataDir);
  } finally {
    lock.release({ leavesMess });
  }
}

/** Cleans up after work that failed. What stops this is told by the failure itself; the next writer tries again. */
async function couldSweep(dataDir: string, manifest: OpenManifest): Promise<boolean> {
  try {
    await sweepLeftovers(resolve(dataDir), manifest.keptFiles());
    return true;
  } catch {
    return false;
  }
}

async function withEngine<Result>(
  tempDir: string,
  limits: WriterLimits | undefined,
  work: (engine: Engine) => Promise<Result>,
): Promise<Result> {
  const threads = limits?.threads ?? Math.min(availableParallelism(), 8);
  try {
    const memoryLimitMb = memoryMb(limits?.memoryMb ?? WRITER_MEMORY_MB);
    const engine = await openEngine({ threads, memoryLimitMb, tempDir });
    try {
      return await work(engine);
    } finally {
      engine.close();
    }
  } finally {
    await rm(tempDir, { recursive: true, force: true });
  }
}

/** A question that derives for itself is done soon; whoever wants to write waits for it. Other writers are not waited for. */
async function lockUnlessQuestion(dataDir: string, command: string, now: () => Date): Promise<WriterLock> {
  const lastTry = now().getTime() + (command === QUESTION ? 0 : QUESTION_WAIT_MS);
  for (;;) {
    try {
      return await acquireWriterLock(dataDir, { command, pid: process.pid, now });
    } catch (failure) {
      const byQuestion =
        failure instanceof OperationError && failure.code === 'locked' && failure.message.includes(QUESTION);
      if (!byQuestion || now().getTime() >= lastTry) throw failure;
      await delay(QUESTION_POLL_MS);
    }
  }
}

/** Brings the ledger up to date with the facts. */
export async function deriveLedger(
  space: WriteSpace,
  options: { onStep?: OnStep; onProgress?: (stage: string, unit: string) => void } = {},
): Promise<DeriveReport> {
  return derive({ ...space, stages: STAGES, ...options });
}

/** Runs `work` on the lake as it is now. Derives first where that is cheap and nobody else is writing. */
export async function withReader<Result>(
  dataDir: string,
  work: (space: ReadSpace) => Promise<Result>,
  options: ReaderOptions = {},
): Promise<Result> {
  const rules = options.rules ?? (await findConfig(undefined))?.rules ?? NO_RULES;
  const manifest = await openManifest(dataDir, { readOnly: true, now: () => new Date() });
  try {
    let snapshot = manifest.snapshot();
    const stale = staleRows(snapshot, STAGES);
    if (stale > 0 && stale <= CHEAP_ROWS_MAX && (await deriveIfFree(dataDir))) snapshot = manifest.snapshot();
    const threads = Math.min(availableParallelism(), 8);
    const engine = await openEngine({ threads, memoryLimitMb: memoryMb(READER_MEMORY_MB) });
    const asker = askerOf(engine, resolve(dataDir), snapshot, STAGES, ruleViews(rules));
    try {
      return await work({
        dataDir: resolve(dataDir),
        rules,
        snapshot,
        scope: scopeOf(snapshot),
        staleRows: staleRows(snapshot, STAGES),
        sources: manifest.sources.records(),
        ...asker,
        statements: manifest.statements,
        findings: manifest.findings,
      });
    } finally {
      engine.close();
    }
  } finally {
    manifest.close();
  }
}

/** A reader never fails because it could not write: beside a writer, or in a read-only folder, it answers as of before. */
async function deriveIfFree(dataDir: string): Promise<boolean> {
  try {
    await withWriter(dataDir, QUESTION, (space) => deriveLedger(space));
    return true;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (code === 'locked' || code === 'read-only' || code === 'disk-full') return false;
    throw error;
  }
}
