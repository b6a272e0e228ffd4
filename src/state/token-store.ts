import { accessSync, constants, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { NewToken, TokenRecord, TokenStore, TokenWriter } from '../facts/token-record.ts';
import type { Role } from '../facts/viewer.ts';
import type { Database, SqlRow } from './database.ts';
import { loadSqlite } from './database.ts';
import { createSchema } from './manifest-schema.ts';
import { storageFailure } from './storage-failure.ts';

const TOKEN_TABLE = `
  CREATE TABLE IF NOT EXISTS token (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL CHECK (role IN ('viewer', 'operator', 'admin')),
    team TEXT,
    created_at TEXT NOT NULL,
    expires_at TEXT,
    revoked_at TEXT
  ) STRICT`;

const COLUMNS = 'number, name, role, team, created_at, expires_at, revoked_at';
const BUSY_TIMEOUT_MS = 5000;

/** `within` runs work on a reader's connection. */
export function tokenStore(within: <Result>(work: (database: Database) => Result) => Result): TokenStore {
  return {
    records: () => within((database) => (hasTable(database) ? recordsOf(database) : [])),
    byHash: (hash) =>
      within((database) => {
        if (!hasTable(database)) return undefined;
        return database.all(`SELECT ${COLUMNS} FROM token WHERE hash = ?`, hash).map(recordOf)[0];
      }),
  };
}

/**
 * Opens the tokens for writing. Like findings they need no writer lock: a token is made and revoked beside a server that collects. The
 * folder may be new: whoever starts a server for others has a token before there are data.
 */
export async function openTokenWriter(dataDir: string, now: Date): Promise<TokenWriter> {
  const open = await loadSqlite();
  const clearly = <Result>(work: () => Result): Result => {
    try {
      return work();
    } catch (failure) {
      throw storageFailure(failure, dataDir);
    }
  };
  const database = clearly(() => {
    mkdirSync(dataDir, { recursive: true });
    const path = join(dataDir, 'state.sqlite');
    // SQLite opens what it may only read without a word and fails at the first change.
    if (existsSync(path)) accessSync(path, constants.W_OK);
    accessSync(dataDir, constants.W_OK);
    return open(path, { mode: 'write', busyTimeoutMs: BUSY_TIMEOUT_MS });
  });
  try {
    clearly(() => {
      database.exec('PRAGMA journal_mode = WAL');
      createSchema(database, dataDir, now);
      database.exec(TOKEN_TABLE);
    });
  } catch (failure) {
    database.close();
    throw failure;
  }
  const change = <Result>(work: () => Result): Result => clearly(() => database.transaction('immediate', work));
  return {
    ...tokenStore((work) => clearly(() => work(database))),
    create: (token) => change(() => create(database, token)),
    revoke: (number, at) => change(() => revoke(database, number, at)),
    close: () => database.close(),
  };
}

function create(database: Database, token: NewToken): TokenRecord | undefined {
  const isTaken = recordsOf(database).some(
    ({ name, revokedAt, expiresAt }) =>
      name === token.name && revokedAt === null && (expiresAt === null || expiresAt > token.createdAt),
  );
  if (isTaken) return undefined;
  database.run(
    'INSERT INTO token (name, hash, role, team, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)',
    token.name,
    token.hash,
    token.role,
    token.team,
    token.createdAt,
    token.expiresAt,
  );
  return database.all(`SELECT ${COLUMNS} FROM token WHERE hash = ?`, token.hash).map(recordOf)[0];
}

function revoke(database: Database, number: number, at: string): TokenRecord | undefined {
  return database
    .all(`UPDATE token SET revoked_at = ? WHERE number = ? AND revoked_at IS NULL RETURNING ${COLUMNS}`, at, number)
    .map(recordOf)[0];
}

function hasTable(database: Database): boolean {
  return database.all("SELECT 1 AS found FROM sqlite_schema WHERE name = 'token'").length > 0;
}

function recordsOf(database: Database): TokenRecord[] {
  return database.all(`SELECT ${COLUMNS} FROM token ORDER BY number`).map(recordOf);
}

function recordOf(row: SqlRow): TokenRecord {
  const textOf = (name: string): string | null => (row[name] === null ? null : String(row[name]));
  return {
    number: Number(row['number']),
    name: String(row['name']),
    role: String(row['role']) as Role,
    team: textOf('team'),
    createdAt: String(row['created_at']),
    expiresAt: textOf('expires_at'),
    revokedAt: textOf('revoked_at'),
  };
}
