import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import type {
  FindingChange,
  FindingLook,
  FindingRecord,
  FindingStore,
  FindingWish,
  FindingWished,
  FindingWriter,
} from '../facts/finding-record.ts';
import type { FindingState } from '../facts/finding.ts';
import type { Database, SqlRow, SqlValue } from './database.ts';
import { loadSqlite } from './database.ts';
import type { FindingStep } from './finding-life.ts';
import { afterLook, afterWish } from './finding-life.ts';
import { isOutOfRoom, storageFailure } from './storage-failure.ts';

const FINDING_TABLES = `
  CREATE TABLE IF NOT EXISTS finding (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL UNIQUE,
    what TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('open', 'accepted', 'exempt', 'dismissed', 'fixed', 'back')),
    until_day TEXT,
    reason TEXT,
    said_by TEXT,
    assigned_to TEXT,
    first_seen_at TEXT NOT NULL,
    last_seen_at TEXT NOT NULL,
    subjects_json TEXT NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS finding_change (
    change_no INTEGER PRIMARY KEY AUTOINCREMENT,
    number INTEGER NOT NULL REFERENCES finding (number),
    at TEXT NOT NULL,
    said_by TEXT,
    change TEXT NOT NULL,
    detail TEXT
  ) STRICT`;

const FORGET = `
  DELETE FROM finding_change;
  DELETE FROM finding;
  DELETE FROM sqlite_sequence WHERE name IN ('finding', 'finding_change')`;

const BUSY_TIMEOUT_MS = 5000;

/** `within` runs work on a reader's connection. */
export function findingStore(within: <Result>(work: (database: Database) => Result) => Result): FindingStore {
  return {
    records: () => within((database) => (hasTables(database) ? recordsOf(database) : [])),
    history: (number) => within((database) => (hasTables(database) ? historyOf(database, number) : [])),
  };
}

/**
 * Opens the numbers of findings for writing. It needs no writer lock, which is for the lake: what it writes are rows of its own, in one
 * short transaction each, so that two people who look at once get the same numbers and a collector goes on meanwhile.
 */
export async function openFindingWriter(dataDir: string): Promise<FindingWriter> {
  const open = await loadSqlite();
  const clearly = <Result>(work: () => Result): Result => {
    try {
      return work();
    } catch (failure) {
      throw storageFailure(failure, dataDir);
    }
  };
  const database = clearly(() => {
    const path = join(dataDir, 'state.sqlite');
    // SQLite opens what it may only read without a word and fails at the first change.
    accessSync(path, constants.W_OK);
    accessSync(dataDir, constants.W_OK);
    return open(path, { mode: 'write', busyTimeoutMs: BUSY_TIMEOUT_MS });
  });
  const change = <Result>(work: () => Result): Result =>
    clearly(() =>
      database.transaction('immediate', () => {
        database.exec(FINDING_TABLES);
        return work();
      }),
    );
  return {
    ...findingStore((work) => clearly(() => work(database))),
    look: (look) => change(() => keepLook(database, look)),
    change: (number, wish) => change(() => keepWish(database, number, wish)),
    forget: () => change(() => database.exec(FORGET)),
    close: () => clearly(() => closeWriter(database)),
  };
}

function closeWriter(database: Database): void {
  try {
    // Leaves everything in the one file where no reader is in the way: a copy or a read-only folder then has it too.
    database.exec('PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)');
  } catch (failure) {
    // What was committed is safe in the log.
    if (!isOutOfRoom(failure)) throw failure;
  } finally {
    database.close();
  }
}

function keepLook(database: Database, look: FindingLook): readonly FindingRecord[] {
  const known = recordsOf(database);
  const claimed = new Map(look.claimed.map((each) => [each.key, each]));
  for (const record of known) {
    // Somebody has looked at newer facts: this look says nothing new.
    if (look.at < record.lastSeenAt) continue;
    const step = afterLook(record, claimed.get(record.key), look);
    if (step.record !== record) keepStep(database, step);
  }
  const keys = new Set(known.map(({ key }) => key));
  for (const { key, what, subjects } of look.claimed.filter((each) => each.isTold && !keys.has(each.key))) {
    database.run(
      `INSERT INTO finding (key, what, state, first_seen_at, last_seen_at, subjects_json) VALUES (?, ?, 'open', ?, ?, ?)`,
      key,
      what,
      look.at,
      look.at,
      JSON.stringify(subjects),
    );
    const [row] = database.all('SELECT number FROM finding WHERE key = ?', key);
    keepChange(database, Number(row?.['number']), { at: look.at, by: null, change: 'found', detail: null });
  }
  return recordsOf(database);
}

function keepWish(database: Database, number: number, wish: FindingWish): FindingWished | undefined {
  const record = recordsOf(database).find((each) => each.number === number);
  if (record === undefined) return undefined;
  if (!isAsSeen(record, wish)) return { isKept: false, record };
  const step = afterWish(record, wish);
  if (step.record !== record) keepStep(database, step);
  return { isKept: true, record: step.record };
}

/** A look that writes nothing shows what is kept as fixed as back, where it is claimed again. */
function isAsSeen({ state, assignedTo }: FindingRecord, { seen, seenAssignedTo }: FindingWish): boolean {
  if (seenAssignedTo !== undefined && seenAssignedTo !== assignedTo) return false;
  return seen === undefined || seen === state || (seen === 'back' && state === 'fixed');
}

function keepStep(database: Database, { record, change }: FindingStep): void {
  database.run(
    `UPDATE finding SET what = ?, state = ?, until_day = ?, reason = ?, said_by = ?, assigned_to = ?, last_seen_at = ?,
       subjects_json = ? WHERE number = ?`,
    record.what,
    record.state,
    record.until,
    record.reason,
    record.by,
    record.assignedTo,
    record.lastSeenAt,
    JSON.stringify(record.subjects),
    record.number,
  );
  if (change !== undefined) keepChange(database, record.number, change);
}

function keepChange(database: Database, number: number, { at, by, change, detail }: FindingChange): void {
  database.run(
    'INSERT INTO finding_change (number, at, said_by, change, detail) VALUES (?, ?, ?, ?, ?)',
    number,
    at,
    by,
    change,
    detail,
  );
}

function hasTables(database: Database): boolean {
  return database.all("SELECT 1 AS found FROM sqlite_schema WHERE name = 'finding_change'").length > 0;
}

function recordsOf(database: Database): FindingRecord[] {
  return database.all('SELECT * FROM finding ORDER BY number').map(recordOf);
}

function recordOf(row: SqlRow): FindingRecord {
  return {
    number: Number(row['number']),
    key: String(row['key']),
    what: String(row['what']),
    state: String(row['state']) as FindingState,
    until: textOf(row['until_day']),
    reason: textOf(row['reason']),
    by: textOf(row['said_by']),
    assignedTo: textOf(row['assigned_to']),
    firstSeenAt: String(row['first_seen_at']),
    lastSeenAt: String(row['last_seen_at']),
    subjects: JSON.parse(String(row['subjects_json'])) as string[],
  };
}

function historyOf(database: Database, number: number): FindingChange[] {
  return database
    .all('SELECT at, said_by, change, detail FROM finding_change WHERE number = ? ORDER BY change_no', number)
    .map((row) => ({
      at: String(row['at']),
      by: textOf(row['said_by']),
      change: String(row['change']) as FindingChange['change'],
      detail: textOf(row['detail']),
    }));
}

function textOf(value: SqlValue | undefined): string | null {
  return value === null || value === undefined ? null : String(value);
}
