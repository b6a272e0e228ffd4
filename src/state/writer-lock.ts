import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OperationError } from '../facts/operation-error.ts';
import type { Database } from './database.ts';
import { loadSqlite } from './database.ts';
import { isBusy, storageFailure } from './storage-failure.ts';

/** Who is writing, as it stands in the message to the second one. */
export interface WriterIdentity {
  /** The command as the user typed it, without the program: `import samples`. */
  readonly command: string;
  readonly pid: number;
  readonly now: () => Date;
}

export interface WriterLock {
  /** The writer before this one was killed, or said that it leaves a mess: what it wrote has to be looked through. */
  readonly followsMess: boolean;
  /** With `leavesMess`, the next writer is told. */
  release(options?: { readonly leavesMess: boolean }): void;
}

interface Holder {
  readonly pid: number;
  readonly command: string;
  readonly since: string;
}

/**
 * Makes this process the only writer of a data folder, or says who is.
 *
 * The lock is a transaction on a SQLite file of its own: the system frees it with the process, also after kill -9, so a
 * stale lock cannot exist. Nothing else in this process may open `writer.lock`, not even to copy it: POSIX drops all of
 * a process's locks on a file when it closes any handle of it. What people read about the holder is beside it, in
 * `writer.json`.
 */
export async function acquireWriterLock(dataDir: string, writer: WriterIdentity): Promise<WriterLock> {
  const open = await loadSqlite();
  let lock: Database | undefined;
  let followsMess: boolean;
  try {
    mkdirSync(dataDir, { recursive: true });
    // No waiting: the second of two imports should say so at once, not after the first one's hour.
    lock = open(join(dataDir, 'writer.lock'), { mode: 'write', busyTimeoutMs: 0 });
    lock.exec('PRAGMA journal_mode = MEMORY');
    lock.exec('BEGIN EXCLUSIVE');
    // Whoever ends in good order takes its name away.
    followsMess = existsSync(holderPath(dataDir));
    writeHolder(dataDir, { pid: writer.pid, command: writer.command, since: writer.now().toISOString() });
  } catch (failure) {
    lock?.close();
    throw isBusy(failure) ? locked(dataDir, writer.now()) : storageFailure(failure, dataDir);
  }
  return releaseOnce(dataDir, lock, followsMess);
}

function releaseOnce(dataDir: string, lock: Database, followsMess: boolean): WriterLock {
  let held = true;
  return {
    followsMess,
    release({ leavesMess } = { leavesMess: false }) {
      if (!held) return;
      held = false;
      try {
        // Before the lock goes: afterwards it could be the next writer's.
        if (!leavesMess) rmSync(holderPath(dataDir), { force: true });
      } finally {
        lock.close();
      }
    },
  };
}

function locked(dataDir: string, now: Date): OperationError {
  const holder = readHolder(dataDir);
  const who =
    holder === undefined ? '' : ` (pid ${holder.pid}, \`${holder.command}\`, since ${clock(holder, now)} UTC)`;
  return new OperationError('locked', `another bursar is writing to ${dataDir}${who}`, {
    hint: 'Wait until it has finished, or use another folder with --data. Reading works meanwhile.',
  });
}

function clock({ since }: Holder, now: Date): string {
  const [day = '', time = ''] = since.split('T');
  const seconds = time.slice(0, 8);
  return now.toISOString().startsWith(day) ? seconds : `${day} ${seconds}`;
}

function holderPath(dataDir: string): string {
  return join(dataDir, 'writer.json');
}

function writeHolder(dataDir: string, holder: Holder): void {
  // Renamed into place, so that whoever is refused never reads half of it.
  const aside = `${holderPath(dataDir)}.new`;
  try {
    writeFileSync(aside, `${JSON.stringify(holder)}\n`);
    renameSync(aside, holderPath(dataDir));
  } catch (failure) {
    rmSync(aside, { force: true });
    throw failure;
  }
}

/** Undefined in the moment in which the lock is taken and its holder has not yet signed. */
function readHolder(dataDir: string): Holder | undefined {
  try {
    const holder: Holder = JSON.parse(readFileSync(holderPath(dataDir), 'utf8'));
    return holder;
  } catch {
    return undefined;
  }
}
