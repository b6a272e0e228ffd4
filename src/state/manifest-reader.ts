import { statSync } from 'node:fs';
import { OperationError } from '../facts/operation-error.ts';
import type { Database, DatabaseOptions, OpenDatabase } from './database.ts';
import { isOutOfRoom, lacksSharedMemory } from './storage-failure.ts';

/** Reads one consistent state at a time, also beside a writer. */
export interface StateReader {
  read<Result>(work: (database: Database) => Result): Result;
  close(): void;
}

const READER: DatabaseOptions = { mode: 'read', busyTimeoutMs: 5000 };
const IMMUTABLE_ATTEMPTS_MAX = 3;

/**
 * Opens the state for reading.
 *
 * A reader in WAL mode needs two small files beside the database. Where the folder is read-only, or its disk full, and no
 * writer has left them, the database is read as immutable, anew for each question, because a writer with more rights may come at any
 * time: what changed under the reader's hands is read again.
 */
export function openReader(open: OpenDatabase, path: string): StateReader {
  let live: Database | undefined;
  return {
    read(work) {
      for (let attempt = 0; attempt < IMMUTABLE_ATTEMPTS_MAX; attempt += 1) {
        live ??= connectLive(open, path);
        if (live !== undefined) return readOnce(live, work);
        const before = fileStamp(path);
        const result = readImmutable(open, path, work);
        if (fileStamp(path) === before) return result;
      }
      throw new OperationError('busy', `${path} changes while it is read`, { hint: 'Try again in a moment.' });
    },
    close() {
      live?.close();
      live = undefined;
    },
  };
}

function readOnce<Result>(database: Database, work: (database: Database) => Result): Result {
  return database.transaction('deferred', () => work(database));
}

/** Undefined where only an immutable read can work. */
function connectLive(open: OpenDatabase, path: string): Database | undefined {
  const database = open(path, READER);
  try {
    // SQLite opens lazily: only a read shows whether it can.
    database.all('SELECT count(*) FROM sqlite_schema');
    return database;
  } catch (failure) {
    database.close();
    if (!lacksSharedMemory(failure)) throw failure;
    if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) === 0) return undefined;
    if (isOutOfRoom(failure)) throw failure;
    throw new OperationError('read-only', `${path} has changes in its log that cannot be read in a read-only folder`, {
      hint: 'Run a bursar command once with permission to write there, or name a copy of the folder with --data.',
      cause: failure,
    });
  }
}

function readImmutable<Result>(open: OpenDatabase, path: string, work: (database: Database) => Result): Result {
  const database = open(path, { ...READER, mode: 'immutable' });
  try {
    return readOnce(database, work);
  } finally {
    database.close();
  }
}

function fileStamp(path: string): string {
  const { mtimeNs, size, ino } = statSync(path, { bigint: true });
  const logSize = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  return `${ino} ${size} ${mtimeNs} ${logSize}`;
}
