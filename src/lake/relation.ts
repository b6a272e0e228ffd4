import { resolve } from 'node:path';
import type { FactTable } from '../facts/fact-table.ts';
import { storedColumns } from '../facts/incoming.ts';
import type { Batch, LakeFile } from '../facts/manifest.ts';
import type { Stage } from '../facts/stage.ts';
import { quote } from './engine.ts';

/** A file of a fact table together with the batch it came in. */
interface BatchFile {
  readonly batch: Batch;
  readonly file: LakeFile;
}

/** `read_parquet` over the files; with none, an empty relation of the right columns. */
export function readFiles(
  dataDir: string,
  files: readonly LakeFile[],
  columns: readonly (readonly [name: string, type: string])[],
): string {
  if (files.length === 0) {
    return `SELECT ${columns.map(([name, type]) => `CAST(NULL AS ${type}) AS ${name}`).join(', ')} WHERE FALSE`;
  }
  const paths = files.map((file) => quote(resolve(dataDir, file.path))).join(', ');
  return `SELECT ${columns.map(([name]) => name).join(', ')} FROM read_parquet([${paths}], hive_partitioning = false)`;
}

/** Facts may be older than a column: where a file lacks it, it is unknown. */
function readFacts(
  dataDir: string,
  files: readonly LakeFile[],
  columns: readonly (readonly [name: string, type: string])[],
): string {
  const none = readFiles(dataDir, [], columns);
  if (files.length === 0) return none;
  const paths = files.map((file) => quote(resolve(dataDir, file.path))).join(', ');
  const found = `SELECT * FROM read_parquet([${paths}], hive_partitioning = false, union_by_name = true)`;
  return `SELECT ${columns.map(([name]) => name).join(', ')} FROM (${found} UNION ALL BY NAME ${none}) f`;
}

/** The rows of a derived table in these files. */
export function derivedRelation(dataDir: string, stage: Stage, files: readonly LakeFile[]): string {
  return readFiles(dataDir, files, stage.writes);
}

/**
 * The rows of a fact table in some of its files, one per key: between batches that share a key the higher source priority
 * wins, then the newer `observed_at`, then the greater batch name; never the order of arrival. Samples merge column
 * by column, so that a file of memory readings does not erase a file of utilisation.
 */
export function factRelation(dataDir: string, table: FactTable, members: readonly BatchFile[]): string {
  const columns = storedColumns(table).map((column) => [column.name, column.type] as const);
  const names = columns.map(([name]) => name);
  const plain = (files: readonly LakeFile[]): string => readFacts(dataDir, files, columns);
  if (table.merge === 'bill' || new Set(members.map(({ batch }) => batch.name)).size <= 1) {
    return plain(members.map(({ file }) => file));
  }
  const ordered = members.toSorted((a, b) => compareBatches(a.batch, b.batch));
  const keys = table.columns.filter((column) => column.key).map((column) => column.name);
  if (table.merge === 'row') {
    const union = ordered
      .map(
        ({ batch, file }, place) =>
          `SELECT *, ${batch.priority} AS batch_priority, ${place} AS batch_place FROM (${plain([file])}) f`,
      )
      .join(' UNION ALL ');
    return `SELECT ${names.join(', ')} FROM (
      SELECT u.*, row_number() OVER (PARTITION BY ${keys.join(', ')}
        ORDER BY batch_priority DESC, observed_at DESC, batch_place DESC) AS winner_place FROM (${union}) u
    ) ranked WHERE winner_place = 1`;
  }
  const alone = ordered.filter((member) => !ordered.some((other) => other !== member && mayShareKey(member, other)));
  const together = ordered.filter((member) => !alone.includes(member));
  const parts = alone.length > 0 || together.length === 0 ? [plain(alone.map(({ file }) => file))] : [];
  if (together.length > 0) {
    const union = together
      .map(({ file }, place) => `SELECT *, ${place} AS batch_place FROM (${plain([file])}) f`)
      .join(' UNION ALL ');
    const values = names.map((name) =>
      keys.includes(name) ? name : `max_by(${name}, batch_place) FILTER (WHERE ${name} IS NOT NULL) AS ${name}`,
    );
    parts.push(`SELECT ${values.join(', ')} FROM (${union}) u GROUP BY ${keys.join(', ')}`);
  }
  return parts.join(' UNION ALL ');
}

function compareBatches(a: Batch, b: Batch): number {
  if (a.priority !== b.priority) return a.priority - b.priority;
  if (a.observedAt !== b.observedAt) return a.observedAt < b.observedAt ? -1 : 1;
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

/** Two files of samples can hold the same key only if their devices and their times overlap. */
function mayShareKey(a: BatchFile, b: BatchFile): boolean {
  if (a.batch.name === b.batch.name || a.file.partition !== b.file.partition) return false;
  const [left, right] = [a.file.range, b.file.range];
  if (left === undefined || right === undefined) return true;
  return (
    left.keyMin <= right.keyMax &&
    right.keyMin <= left.keyMax &&
    left.timeMin <= right.timeMax &&
    right.timeMin <= left.timeMax
  );
}
