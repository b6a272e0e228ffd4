import { OperationError } from '../facts/operation-error.ts';
import type { Database } from './database.ts';

/** The format of the whole data folder: raised when an older bursar could no longer read it right. */
export const FORMAT_VERSION = 1;

/** Tells our file from any other SQLite file: "Burs" in ASCII, kept in the file's header. */
const APPLICATION_ID = 0x42757273;

/**
 * `meta` keeps these columns in every format to come, so that every bursar can say what it cannot read.
 *
 * Batches and units are kept as the values they are: every command begins with reading them all, and 5,000 files cost
 * 8 ms of CPU this way, 25 to 100 from columns and a join. `file` says who lists which path, and so what has died.
 */
const SCHEMA = `
  CREATE TABLE meta (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    format_version INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    committed_at TEXT NOT NULL
  ) STRICT;
  CREATE TABLE batch (
    table_name TEXT NOT NULL,
    name TEXT NOT NULL,
    value_json TEXT NOT NULL,
    PRIMARY KEY (table_name, name)
  ) STRICT;
  CREATE TABLE derived (
    table_name TEXT NOT NULL,
    unit TEXT NOT NULL,
    value_json TEXT NOT NULL,
    PRIMARY KEY (table_name, unit)
  ) STRICT;
  CREATE TABLE file (
    path TEXT NOT NULL,
    owner_kind TEXT NOT NULL CHECK (owner_kind IN ('batch', 'derived')),
    owner_table TEXT NOT NULL,
    owner_name TEXT NOT NULL,
    PRIMARY KEY (path, owner_kind, owner_table, owner_name)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX file_by_owner ON file (owner_kind, owner_table, owner_name);
  CREATE TABLE dead_file (
    path TEXT PRIMARY KEY,
    died_at_ms INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
`;

export interface Meta {
  readonly generation: number;
  readonly committedAt: string;
}

/** Brings a new file to the format of this bursar; one that is already there is only checked. */
export function createSchema(database: Database, dataDir: string, now: Date): void {
  database.transaction('immediate', () => {
    if (readMeta(database, dataDir) !== undefined) return;
    database.exec(SCHEMA);
    database.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    database.run('INSERT INTO meta VALUES (1, ?, 0, ?)', FORMAT_VERSION, now.toISOString());
  });
}

/** The state the file is in; undefined while it is empty: its first writer has not got to the first commit. */
export function readMeta(database: Database, dataDir: string): Meta | undefined {
  const [header] = database.all('PRAGMA application_id');
  if (header?.['application_id'] !== APPLICATION_ID) {
    if (database.all('SELECT name FROM sqlite_schema LIMIT 1').length === 0) return undefined;
    throw new OperationError('not-a-data-folder', `${dataDir} holds a state.sqlite that is not bursar's`, {
      hint: 'Choose another folder with --data.',
    });
  }
  const [meta] = database.all('SELECT format_version, generation, committed_at FROM meta');
  const version = Number(meta?.['format_version']);
  if (version > FORMAT_VERSION) {
    throw new OperationError(
      'newer-format',
      `${dataDir} was written by a newer bursar: its format is ${version}, this one knows up to ${FORMAT_VERSION}`,
      { hint: 'Update bursar, or use another folder with --data.' },
    );
  }
  return { generation: Number(meta?.['generation']), committedAt: String(meta?.['committed_at']) };
}
