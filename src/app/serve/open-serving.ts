import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { findConfig } from '../config/config-file.ts';
import type { Desk, Sized } from './desk.ts';
import { openDesk } from './desk.ts';
import { keepLedger } from './keep-ledger.ts';
import type { KeepRequest, LedgerKeeper } from './keep-ledger.ts';
import type { StandingKeeper, StandingOptions } from './standing.ts';
import { keepStanding } from './standing.ts';

export type ServingRequest = Omit<StandingOptions, 'onTrouble'> &
  Pick<KeepRequest, 'onTurn' | 'onTrouble' | 'progress' | 'collect' | 'onDerived' | 'pollMs'>;

/** What stands behind a server: the reader, the writer, and what they both look at. */
export interface Serving<Value extends Sized> {
  readonly standing: StandingKeeper;
  readonly desk: Desk<Value>;
  readonly keeper: LedgerKeeper;
  /** Breaks off the questions, lets the writer end well, and closes every file. */
  close(): Promise<void>;
}

/** Together with Node itself, the answers that are kept and the lists of files, below 1.5 GB. */
const READER_MEMORY_MB = 450;
const WRITER_MEMORY_MB = 500;
const KEPT_BYTES_MAX = 64 * 2 ** 20;
/** A question of a page; whoever has a longer one asks on the command line. */
const QUESTION_MS_MAX = 60_000;

/** Opens all of it. The writer begins at once. */
export async function openServing<Value extends Sized>(request: ServingRequest): Promise<Serving<Value>> {
  const config = await findConfig(request.configPath);
  const tempDir = await mkdtemp(join(tmpdir(), 'bursar-serve-'));
  const standing = keepStanding(request);
  const desk = await openDesk<Value>({
    standing,
    memoryMb: READER_MEMORY_MB,
    keptBytesMax: KEPT_BYTES_MAX,
    runMsMax: QUESTION_MS_MAX,
    tempDir,
  });
  const stop = new AbortController();
  const keeper = keepLedger({
    ...request,
    standing,
    config,
    signal: stop.signal,
    limits: { memoryMb: WRITER_MEMORY_MB, threads: Math.max(1, Math.ceil(availableParallelism() / 2)) },
  });
  return {
    standing,
    desk,
    keeper,
    async close() {
      stop.abort();
      await desk.close();
      await Promise.allSettled([keeper.ended]);
      standing.close();
      await rm(tempDir, { recursive: true, force: true });
    },
  };
}
