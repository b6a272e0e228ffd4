import type { Batch, DerivedUnit, LakeFile } from '../facts/manifest.ts';
import type { Database, SqlRow } from './database.ts';

/** Who lists a file: a batch by its name, or a derived unit. */
interface Owner {
  readonly kind: 'batch' | 'derived';
  readonly table: string;
  readonly name: string;
}

/** Every batch of the manifest, in a fixed order. */
export function readBatches(database: Database): Batch[] {
  return parseValues<Batch>(database.all('SELECT value_json FROM batch ORDER BY table_name, name'));
}

/** Every derived unit of the manifest, in a fixed order. */
export function readDerived(database: Database): DerivedUnit[] {
  return parseValues<DerivedUnit>(database.all('SELECT value_json FROM derived ORDER BY table_name, unit'));
}

export function insertBatch(database: Database, batch: Batch): void {
  database.run('INSERT INTO batch VALUES (?, ?, ?)', batch.table, batch.name, JSON.stringify(batch));
  own(database, { kind: 'batch', table: batch.table, name: batch.name }, batch.files);
}

export function insertDerived(database: Database, derived: DerivedUnit): void {
  database.run('INSERT INTO derived VALUES (?, ?, ?)', derived.table, derived.unit, JSON.stringify(derived));
  const files = derived.file === null ? [] : [derived.file];
  own(database, { kind: 'derived', table: derived.table, name: derived.unit }, files);
}

/** Removes a batch and returns the paths it listed. */
export function deleteBatch(database: Database, table: string, name: string): string[] {
  database.run('DELETE FROM batch WHERE table_name = ? AND name = ?', table, name);
  return disown(database, { kind: 'batch', table, name });
}

/** Removes a derived unit and returns the path it listed, if it had one. */
export function deleteDerived(database: Database, table: string, unit: string): string[] {
  database.run('DELETE FROM derived WHERE table_name = ? AND unit = ?', table, unit);
  return disown(database, { kind: 'derived', table, name: unit });
}

export function isListed(database: Database, path: string): boolean {
  return database.all('SELECT 1 FROM file WHERE path = ? LIMIT 1', path).length > 0;
}

function own(database: Database, owner: Owner, files: readonly LakeFile[]): void {
  for (const { path } of files) {
    // A path that died and is listed again must not be swept away under its new owner.
    database.run('DELETE FROM dead_file WHERE path = ?', path);
    database.run('INSERT INTO file VALUES (?, ?, ?, ?)', path, owner.kind, owner.table, owner.name);
  }
}

function disown(database: Database, owner: Owner): string[] {
  const rows = database.all(
    'DELETE FROM file WHERE owner_kind = ? AND owner_table = ? AND owner_name = ? RETURNING path',
    owner.kind,
    owner.table,
    owner.name,
  );
  return rows.map((row) => String(row['path']));
}

/** Values come back as they were handed in: nobody else writes these columns, so their shape is known. */
function parseValues<Value>(rows: readonly SqlRow[]): Value[] {
  return JSON.parse(`[${rows.map((row) => String(row['value_json'])).join(',')}]`) as Value[];
}
