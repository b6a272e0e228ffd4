import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OperationError } from '../facts/operation-error.ts';
import { loadSqlite, withoutSqliteWarning } from './database.ts';
import { storageFailure } from './storage-failure.ts';

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'bursar-database-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const WRITER = { mode: 'write', busyTimeoutMs: 0 } as const;

describe('a connection', () => {
  it('commits all of a transaction or nothing', async () => {
    const open = await loadSqlite();
    const database = open(join(dataDir, 'some.sqlite'), WRITER);
    database.exec('CREATE TABLE thing (name TEXT)');
    database.transaction('immediate', () => database.run('INSERT INTO thing VALUES (?)', 'kept'));
    const spoilt = () =>
      database.transaction('immediate', () => {
        database.run('INSERT INTO thing VALUES (?)', 'lost');
        throw new Error('half way');
      });
    expect(spoilt).toThrow('half way');
    expect(database.all('SELECT name FROM thing').map((row) => row['name'])).toEqual(['kept']);
    database.close();
  });

  it('takes a path that looks like a URI for a path', async () => {
    const open = await loadSqlite();
    const database = open(join(dataDir, 'file:odd?mode=memory#1.sqlite'), WRITER);
    database.exec('CREATE TABLE thing (name TEXT)');
    database.close();
    const reader = open(join(dataDir, 'file:odd?mode=memory#1.sqlite'), { mode: 'immutable', busyTimeoutMs: 0 });
    expect(reader.all('SELECT count(*) AS n FROM thing')[0]?.['n']).toBe(0);
    reader.close();
  });
});

describe('the warning that SQLite is experimental', () => {
  const passed: unknown[] = [];
  const listen = (load: () => void): unknown[] => {
    passed.length = 0;
    const emitWarning = process.emitWarning.bind(process);
    process.emitWarning = (...args: unknown[]) => void passed.push(args[0]);
    try {
      withoutSqliteWarning(load);
      process.emitWarning('SQLite is an experimental feature', 'ExperimentalWarning');
    } finally {
      process.emitWarning = emitWarning;
    }
    return passed;
  };

  it('is swallowed while SQLite loads, and others and later ones are not', () => {
    const seen = listen(() => {
      process.emitWarning('SQLite is an experimental feature', 'ExperimentalWarning');
      process.emitWarning('Fetch is an experimental feature', 'ExperimentalWarning');
      process.emitWarning('SQLite is old', 'DeprecationWarning');
    });
    expect(seen).toEqual(['Fetch is an experimental feature', 'SQLite is old', 'SQLite is an experimental feature']);
  });
});

describe('what a failure of the storage means', () => {
  const caught = (work: () => void): unknown => {
    try {
      work();
    } catch (failure) {
      return storageFailure(failure, dataDir);
    }
    throw new Error('it did not fail');
  };

  it('a full disk is called so, and the transaction is undone', async () => {
    const open = await loadSqlite();
    const database = open(join(dataDir, 'some.sqlite'), WRITER);
    database.exec('CREATE TABLE thing (name BLOB); PRAGMA max_page_count = 3');
    const failure = caught(() =>
      database.transaction('immediate', () => database.run('INSERT INTO thing VALUES (zeroblob(100000))')),
    );
    expect(failure).toBeInstanceOf(OperationError);
    expect(failure).toMatchObject({ code: 'disk-full', hint: expect.stringContaining('--data') });
    expect(database.all('SELECT count(*) AS n FROM thing')[0]?.['n']).toBe(0);
    database.close();
  });

  it('writing through a reader is called read-only', async () => {
    const open = await loadSqlite();
    open(join(dataDir, 'some.sqlite'), WRITER).close();
    const reader = open(join(dataDir, 'some.sqlite'), { mode: 'read', busyTimeoutMs: 0 });
    expect(caught(() => reader.exec('CREATE TABLE thing (name TEXT)'))).toMatchObject({ code: 'read-only' });
    reader.close();
  });

  it('a file that is not SQLite is called so', async () => {
    const open = await loadSqlite();
    writeFileSync(join(dataDir, 'state.sqlite'), 'gpu,cost\n');
    const database = open(join(dataDir, 'state.sqlite'), WRITER);
    expect(caught(() => database.exec('CREATE TABLE t (a)'))).toMatchObject({ code: 'not-a-data-folder' });
    database.close();
  });

  it('a mistake in our own SQL stays what it is', async () => {
    const open = await loadSqlite();
    const database = open(join(dataDir, 'some.sqlite'), WRITER);
    const failure = caught(() => database.exec('SELEKT 1'));
    expect(failure).toBeInstanceOf(Error);
    expect(failure).not.toBeInstanceOf(OperationError);
    database.close();
  });

  const errnoCases: Record<string, { code: string; want: string | undefined }> = {
    'no space for a file': { code: 'ENOSPC', want: 'disk-full' },
    'a quota used up': { code: 'EDQUOT', want: 'disk-full' },
    'a read-only file system': { code: 'EROFS', want: 'read-only' },
    'no permission': { code: 'EACCES', want: 'read-only' },
    'a file where the folder should be': { code: 'EEXIST', want: 'not-a-data-folder' },
    'anything else crashes': { code: 'EMFILE', want: undefined },
  };
  it.each(Object.entries(errnoCases))('%s', (_, { code, want }) => {
    const failure = storageFailure(Object.assign(new Error(code), { code }), dataDir);
    expect(failure instanceof OperationError ? failure.code : undefined).toBe(want);
  });
});
