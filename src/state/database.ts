import { pathToFileURL } from 'node:url';
import { resolve } from 'node:path';
import type { DatabaseSyncInstance, StatementSyncInstance } from '@photostructure/sqlite';

export type SqlValue = string | number | bigint | null;
export type SqlRow = Readonly<Record<string, SqlValue>>;

/** One connection to a SQLite file. */
export interface Database {
  exec(sql: string): void;
  run(sql: string, ...params: readonly SqlValue[]): void;
  all(sql: string, ...params: readonly SqlValue[]): readonly SqlRow[];
  /** All of the work or nothing. `deferred` reads one consistent state, `immediate` may write. */
  transaction<Result>(kind: 'deferred' | 'immediate', work: () => Result): Result;
  close(): void;
}

export interface DatabaseOptions {
  /** `immutable`: read without locks and without a write-ahead log; only right while nobody writes. */
  readonly mode: 'write' | 'read' | 'immutable';
  readonly busyTimeoutMs: number;
}

export type OpenDatabase = (path: string, options: DatabaseOptions) => Database;

interface Driver {
  readonly DatabaseSync: new (location: string, options?: { readOnly?: boolean }) => DatabaseSyncInstance;
}

let loading: Promise<Driver> | undefined;

/**
 * SQLite, from Node itself where it has a complete one, else from `@photostructure/sqlite`, which has the same API.
 *
 * Both are never used in one process: POSIX locks belong to the process, and closing a file in one library would drop
 * the locks the other holds on it.
 */
export async function loadSqlite(): Promise<OpenDatabase> {
  loading ??= loadDriver();
  const driver = await loading;
  return (path, options) => openDatabase(driver, path, options);
}

async function loadDriver(): Promise<Driver> {
  return builtinDriver() ?? (await import('@photostructure/sqlite'));
}

function builtinDriver(): Driver | undefined {
  const builtin: unknown = withoutSqliteWarning(() => process.getBuiltinModule('node:sqlite'));
  if (!isDriver(builtin)) return undefined;
  // The first releases of it cannot tell whether a transaction is open, which a safe rollback has to know.
  const probe = new builtin.DatabaseSync(':memory:');
  try {
    return 'isTransaction' in probe ? builtin : undefined;
  } finally {
    probe.close();
  }
}

function isDriver(loaded: unknown): loaded is Driver {
  return typeof loaded === 'object' && loaded !== null && 'DatabaseSync' in loaded;
}

/**
 * Loads what says on every start that SQLite is experimental in this Node; users cannot act on that. Any other warning
 * goes its way, and after the call this one does too.
 */
export function withoutSqliteWarning<Result>(load: () => Result): Result {
  const emitWarning = process.emitWarning.bind(process);
  process.emitWarning = (warning: string | Error, ...rest: unknown[]): void => {
    const text = typeof warning === 'string' ? warning : warning.message;
    const kind = typeof warning === 'string' ? rest[0] : warning.name;
    if (kind === 'ExperimentalWarning' && text.startsWith('SQLite')) return;
    Reflect.apply(emitWarning, undefined, [warning, ...rest]);
  };
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
}

function openDatabase(driver: Driver, path: string, { mode, busyTimeoutMs }: DatabaseOptions): Database {
  // An absolute path, because one that begins with `file:` would be read as a URI.
  const absolute = resolve(path);
  const location = mode === 'immutable' ? `${pathToFileURL(absolute).href}?immutable=1` : absolute;
  const connection = new driver.DatabaseSync(location, { readOnly: mode !== 'write' });
  connection.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
  const statements = new Map<string, StatementSyncInstance>();
  const prepared = (sql: string): StatementSyncInstance => {
    const statement = statements.get(sql) ?? connection.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  return {
    exec: (sql) => connection.exec(sql),
    run: (sql, ...params) => void prepared(sql).run(...params),
    all: (sql, ...params) => prepared(sql).all(...params),
    transaction: (kind, work) => inTransaction(connection, kind, work),
    close: () => {
      statements.clear();
      connection.close();
    },
  };
}

function inTransaction<Result>(connection: DatabaseSyncInstance, kind: string, work: () => Result): Result {
  connection.exec(`BEGIN ${kind}`);
  try {
    const result = work();
    connection.exec('COMMIT');
    return result;
  } finally {
    // Still open means that something failed. After a full disk SQLite has already rolled back by itself.
    if (connection.isTransaction) connection.exec('ROLLBACK');
  }
}
