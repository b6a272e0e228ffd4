import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Manifest, ManifestChange, Snapshot } from '../facts/manifest.ts';
import { OperationError } from '../facts/operation-error.ts';
import type { Database, OpenDatabase } from './database.ts';
import { loadSqlite } from './database.ts';
import { findingStore } from './finding-store.ts';
import { openReader } from './manifest-reader.ts';
import {
  deleteBatch,
  deleteDerived,
  insertBatch,
  insertDerived,
  isListed,
  readBatches,
  readDerived,
} from './manifest-rows.ts';
import type { Meta } from './manifest-schema.ts';
import { createSchema, readMeta } from './manifest-schema.ts';
import { createSourceTables, sourceStore } from './source-store.ts';
import type { FindingStore } from '../facts/finding-record.ts';
import type { SourceStore } from '../facts/source-record.ts';
import type { StatementStore } from '../facts/statement-record.ts';
import { createStatementTables, statementStore } from './statement-store.ts';
import type { TokenStore } from '../facts/token-record.ts';
import type { StateStamp } from './state-stamp.ts';
import { readStamp } from './state-stamp.ts';
import { isOutOfRoom, storageFailure } from './storage-failure.ts';
import { tokenStore } from './token-store.ts';

/** A manifest and the file handle under it. */
export interface OpenManifest extends Manifest {
  /** Every path a reader may have in hand: listed now, or listed once and not yet taken by `takeDeadFiles`. */
  keptFiles(): ReadonlySet<string>;
  /** Where the sources left off. */
  readonly sources: SourceStore;
  readonly statements: StatementStore;
  readonly findings: FindingStore;
  readonly tokens: TokenStore;
  /** What has changed since the last time it was asked for; costs a tenth of a millisecond, where a snapshot costs many. */
  stamp(): StateStamp;
  close(): void;
}

export interface ManifestOptions {
  /** Readers work beside a writer and in folders they may not write to. */
  readonly readOnly: boolean;
  readonly now: () => Date;
  /** Called at the points where a killed process would leave the most interesting state. */
  readonly onStep?: (step: string) => void;
}

/**
 * Opens the list of files that make up the lake, `state.sqlite` in the data folder. A writer makes the folder; it must
 * hold the writer lock. A reader of a folder without data is told how to get some.
 */
export async function openManifest(dataDir: string, options: ManifestOptions): Promise<OpenManifest> {
  const open = await loadSqlite();
  try {
    const path = join(dataDir, 'state.sqlite');
    return options.readOnly ? readManifest(open, dataDir, path) : writeManifest(open, dataDir, path, options);
  } catch (failure) {
    throw storageFailure(failure, dataDir);
  }
}

function readManifest(open: OpenDatabase, dataDir: string, path: string): OpenManifest {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) throw noData(dataDir);
  const reader = openReader(open, path);
  const refuse = (): never => {
    throw new Error('a manifest that was opened for reading cannot be written');
  };
  try {
    reader.read((database) => metaOf(database, dataDir));
  } catch (failure) {
    reader.close();
    throw failure;
  }
  return {
    snapshot: () => withClearFailure(dataDir, () => reader.read((database) => readSnapshot(database, dataDir))),
    commit: refuse,
    takeDeadFiles: refuse,
    keptFiles: refuse,
    sources: sourceStore((work) => withClearFailure(dataDir, () => reader.read(work))),
    statements: statementStore((work) => withClearFailure(dataDir, () => reader.read(work))),
    findings: findingStore((work) => withClearFailure(dataDir, () => reader.read(work))),
    tokens: tokenStore((work) => withClearFailure(dataDir, () => reader.read(work))),
    stamp: () => withClearFailure(dataDir, () => reader.read((database) => stampOf(database, dataDir))),
    close: () => reader.close(),
  };
}

function writeManifest(open: OpenDatabase, dataDir: string, path: string, options: ManifestOptions): OpenManifest {
  mkdirSync(dataDir, { recursive: true });
  // SQLite opens what it may only read without a word and fails at the first change, at the end of a long import.
  if (existsSync(path)) accessSync(path, constants.W_OK);
  const database = open(path, { mode: 'write', busyTimeoutMs: 5000 });
  try {
    database.exec('PRAGMA journal_mode = WAL');
    database.exec('PRAGMA synchronous = FULL');
    createSchema(database, dataDir, options.now());
    createSourceTables(database);
    createStatementTables(database);
  } catch (failure) {
    database.close();
    throw failure;
  }
  return {
    snapshot: () =>
      withClearFailure(dataDir, () => database.transaction('deferred', () => readSnapshot(database, dataDir))),
    commit: (change) => withClearFailure(dataDir, () => commit(database, dataDir, change, options)),
    takeDeadFiles: (seconds) => withClearFailure(dataDir, () => takeDeadFiles(database, seconds, options.now())),
    keptFiles: () => withClearFailure(dataDir, () => keptFiles(database)),
    sources: sourceStore((work) => withClearFailure(dataDir, () => work(database))),
    statements: statementStore((work) => withClearFailure(dataDir, () => work(database))),
    findings: findingStore((work) => withClearFailure(dataDir, () => work(database))),
    tokens: tokenStore((work) => withClearFailure(dataDir, () => work(database))),
    stamp: () => withClearFailure(dataDir, () => database.transaction('deferred', () => stampOf(database, dataDir))),
    close: () => withClearFailure(dataDir, () => closeWriter(database)),
  };
}

function readSnapshot(database: Database, dataDir: string): Snapshot {
  return { ...metaOf(database, dataDir), batches: readBatches(database), derived: readDerived(database) };
}

function stampOf(database: Database, dataDir: string): StateStamp {
  return readStamp(database, metaOf(database, dataDir).generation);
}

function metaOf(database: Database, dataDir: string): Meta {
  const meta = readMeta(database, dataDir);
  if (meta === undefined) throw noData(dataDir);
  return meta;
}

function commit(database: Database, dataDir: string, change: ManifestChange, options: ManifestOptions): number {
  options.onStep?.('manifest: before begin');
  const generation = database.transaction('immediate', () => {
    const next = metaOf(database, dataDir).generation + 1;
    const now = options.now();
    const released = applyChange(database, change);
    for (const path of released) buryUnlessListed(database, path, now);
    database.run('UPDATE meta SET generation = ?, committed_at = ?', next, now.toISOString());
    options.onStep?.('manifest: before commit');
    return next;
  });
  options.onStep?.('manifest: after commit');
  return generation;
}

/** Drops first, adds second, so that one change can replace; returns the paths that lost an owner. */
function applyChange(database: Database, change: ManifestChange): Set<string> {
  const released = new Set<string>();
  const release = (paths: readonly string[]): void => paths.forEach((path) => released.add(path));
  for (const { table, name } of change.dropBatches ?? []) release(deleteBatch(database, table, name));
  for (const { table, unit } of change.dropDerived ?? []) release(deleteDerived(database, table, unit));
  for (const batch of change.addBatches ?? []) {
    release(deleteBatch(database, batch.table, batch.name));
    insertBatch(database, batch);
  }
  for (const derived of change.setDerived ?? []) {
    release(deleteDerived(database, derived.table, derived.unit));
    insertDerived(database, derived);
  }
  return released;
}

function buryUnlessListed(database: Database, path: string, now: Date): void {
  if (!isListed(database, path)) database.run('INSERT INTO dead_file VALUES (?, ?)', path, now.getTime());
}

function takeDeadFiles(database: Database, seconds: number, now: Date): readonly string[] {
  const diedUntilMs = now.getTime() - seconds * 1000;
  return database.transaction('immediate', () => {
    const rows = database.all('SELECT path FROM dead_file WHERE died_at_ms <= ? ORDER BY path', diedUntilMs);
    database.run('DELETE FROM dead_file WHERE died_at_ms <= ?', diedUntilMs);
    return rows.map((row) => String(row['path']));
  });
}

function keptFiles(database: Database): ReadonlySet<string> {
  const rows = database.all('SELECT path FROM file UNION SELECT path FROM dead_file');
  return new Set(rows.map((row) => String(row['path'])));
}

function closeWriter(database: Database): void {
  try {
    // Leaves everything in the one file, which can then be read from a read-only folder or copied. A reader that is
    // just reading must not hold up the end of a command, so there is no waiting for one.
    database.exec('PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)');
  } catch (failure) {
    // What was committed is safe in the log, and a command that did its work must not end with an error.
    if (!isOutOfRoom(failure)) throw failure;
  } finally {
    database.close();
  }
}

function withClearFailure<Result>(dataDir: string, work: () => Result): Result {
  try {
    return work();
  } catch (failure) {
    throw storageFailure(failure, dataDir);
  }
}

function noData(dataDir: string): OperationError {
  return new OperationError('no-data', `there is no data in ${dataDir} yet`, {
    hint: 'Bring some in with `bursar import`, or try `bursar demo`.',
  });
}
