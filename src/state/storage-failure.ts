import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import { OperationError } from '../facts/operation-error.ts';

/** Primary result codes of SQLite; the extended ones carry these in their low byte. */
const SQLITE = { PERM: 3, BUSY: 5, LOCKED: 6, READONLY: 8, IOERR: 10, CORRUPT: 11, FULL: 13, CANTOPEN: 14, NOTADB: 26 };

type Translate = (failure: unknown, dataDir: string) => OperationError;

const BY_SQLITE_CODE: ReadonlyMap<number, Translate> = new Map([
  [SQLITE.FULL, diskFull],
  [SQLITE.READONLY, denied],
  [SQLITE.PERM, denied],
  [SQLITE.CANTOPEN, denied],
  [SQLITE.BUSY, busy],
  [SQLITE.LOCKED, busy],
  [SQLITE.NOTADB, notSqlite],
  [SQLITE.CORRUPT, damaged],
  [SQLITE.IOERR, diskError],
]);

const BY_ERRNO_CODE: ReadonlyMap<string, Translate> = new Map([
  ['ENOSPC', diskFull],
  ['EDQUOT', diskFull],
  ['EACCES', denied],
  ['EPERM', denied],
  ['EROFS', denied],
  ['EEXIST', notAFolder],
  ['ENOTDIR', notAFolder],
  ['EIO', diskError],
]);

/** What SQLite asks of the disk beside the file itself. */
const SHARED_PAGES_BYTES = 64 * 1024;

/**
 * What a failure of SQLite or of the file system in the data folder means to a person; a programmer's mistake comes
 * back as it is, so that it crashes with its stack.
 */
export function storageFailure(failure: unknown, dataDir: string): unknown {
  if (failure instanceof OperationError) return failure;
  const translate = BY_SQLITE_CODE.get(sqliteCode(failure) ?? -1) ?? BY_ERRNO_CODE.get(errnoCode(failure) ?? '');
  return translate === undefined ? failure : translate(failure, dataDir);
}

/** SQLite's primary code of a failure, undefined if SQLite did not fail. Both drivers name it `errcode`. */
export function sqliteCode(failure: unknown): number | undefined {
  if (!(failure instanceof Error) || !('errcode' in failure) || typeof failure.errcode !== 'number') return undefined;
  return failure.errcode & 0xff;
}

/** True where SQLite could not make the files that reading beside a writer needs: it may not, or there is no room. */
export function lacksSharedMemory(failure: unknown): boolean {
  const code = sqliteCode(failure);
  return code === SQLITE.CANTOPEN || code === SQLITE.READONLY || isOutOfRoom(failure);
}

/** True where a full disk may be the reason; a broken one says the same. */
export function isOutOfRoom(failure: unknown): boolean {
  const code = sqliteCode(failure);
  return code === SQLITE.FULL || code === SQLITE.IOERR;
}

export function isBusy(failure: unknown): boolean {
  return sqliteCode(failure) === SQLITE.BUSY;
}

function busy(failure: unknown, dataDir: string): OperationError {
  return new OperationError('busy', `${dataDir} is in use by another process`, {
    hint: 'Try again in a moment.',
    cause: failure,
  });
}

function notSqlite(failure: unknown, dataDir: string): OperationError {
  return new OperationError('not-a-data-folder', `${dataDir} holds a state.sqlite that is not a SQLite file`, {
    hint: 'Choose another folder with --data.',
    cause: failure,
  });
}

function notAFolder(failure: unknown, dataDir: string): OperationError {
  return new OperationError('not-a-data-folder', `${dataDir} is not a folder`, {
    hint: 'Choose another folder with --data.',
    cause: failure,
  });
}

function damaged(failure: unknown, dataDir: string): OperationError {
  return new OperationError('damaged', `the state of ${dataDir} is damaged: ${messageOf(failure)}`, {
    hint: 'Restore the folder from a backup, or import into a new one with --data.',
    cause: failure,
  });
}

function diskError(failure: unknown, dataDir: string): OperationError {
  // What SQLite says where there is no room for the few pages it shares with other processes.
  if (hasNoRoom(dataDir)) return diskFull(failure, dataDir);
  return new OperationError('disk-error', `the disk under ${dataDir} failed: ${messageOf(failure)}`, {
    hint: 'Look for free space and for messages of the disk or the network share.',
    cause: failure,
  });
}

function hasNoRoom(dataDir: string): boolean {
  const { bavail, bsize } = statfsSync(dataDir);
  return bavail * bsize < SHARED_PAGES_BYTES;
}

function diskFull(failure: unknown, dataDir: string): OperationError {
  return new OperationError('disk-full', `no space left on the disk of ${dataDir}`, {
    hint: 'What was there before is unharmed. Free some space, or use another disk with --data, and repeat.',
    cause: failure,
  });
}

function denied(failure: unknown, dataDir: string): OperationError {
  if (existsSync(dataDir) && !mayAccess(dataDir, constants.R_OK | constants.X_OK)) {
    return new OperationError('unreadable', `${dataDir} may not be read by this user`, {
      hint: 'Ask its owner for permission, or choose another folder with --data.',
      cause: failure,
    });
  }
  return new OperationError('read-only', `${dataDir} cannot be written: ${messageOf(failure)}`, {
    hint: 'Reading works; to write, get permission for the folder or choose another one with --data.',
    cause: failure,
  });
}

function mayAccess(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

function errnoCode(failure: unknown): string | undefined {
  if (!(failure instanceof Error) || !('code' in failure) || typeof failure.code !== 'string') return undefined;
  return failure.code;
}

function messageOf(failure: unknown): string {
  return failure instanceof Error ? failure.message : String(failure);
}
