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
  keyFilter: string | undefined,
): string {
  const none = readFiles(dataDir, [], columns);
  if (files.length === 0) return none;
  const paths = files.map((file) => quote(resolve(dataDir, file.path))).join(', ');
  const where = keyFilter === undefined ? '' : ` WHERE ${keyFilter}`;
  const found = `SELECT * FROM read_parquet([${paths}], hive_partitioning = false, union_by_name = true)${where}`;
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
export function factRelation(
  dataDir: string,
  table: FactTable,
  members: readonly BatchFile[],
  /** SQL over key columns: which rows are wanted. Said here it is answered by the files' statistics, before anything is merged. */
  keyFilter?: string,
): string {
  const columns = storedColumns(table).map((column) => [column.name, column.type] as const);
  const names = columns.map(([name]) => name);
  const plain = (files: readonly LakeFile[]): string => readFacts(dataDir, files, columns, keyFilter);
  if (table.merge === 'bill' || new Set(members.map(({ batch }) => batch.name)).size <= 1) {
    return plain(members.map(({ file }) => file));
  }
  if (table.merge === 'row' && table.name !== 'allocation') {
    const { alone, crowded } = byPartition(members);
    if (alone.length > 0 && crowded.length > 0) {
      return `${plain(alone.map(({ file }) => file))} UNION ALL ${factRelation(dataDir, table, crowded, keyFilter)}`;
    }
    if (crowded.length === 0) return plain(alone.map(({ file }) => file));
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
    const believed = table.name === 'allocation' ? oneSourceForEachLife(union, ordered) : union;
    return `SELECT ${names.join(', ')} FROM (
      SELECT u.*, row_number() OVER (PARTITION BY ${keys.join(', ')}
        ORDER BY batch_priority DESC, observed_at DESC, batch_place DESC) AS winner_place FROM (${believed}) u
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

/**
 * Of sources that tell of the same life of a job only the one with the highest priority speaks: they may tell it in other rows,
 * by device the one, by count the other, and the GPUs would be held twice.
 */
function oneSourceForEachLife(union: string, members: readonly BatchFile[]): string {
  if (new Set(members.map(({ batch }) => batch.priority)).size <= 1) return union;
  return `SELECT * FROM (SELECT u.*, max(batch_priority) OVER (PARTITION BY source, allocation_id, attempt) AS life_priority
    FROM (${union}) u) p WHERE batch_priority = life_priority`;
}

/**
 * The time that names a folder is part of the key, so that rows of two folders never meet: only folders with files of several
 * batches have anything to decide. Years of prices are a hundred folders, and each file decided costs the planner.
 */
function byPartition(members: readonly BatchFile[]): { alone: BatchFile[]; crowded: BatchFile[] } {
  const batches = new Map<string, Set<string>>();
  for (const { batch, file } of members) {
    batches.set(file.partition, (batches.get(file.partition) ?? new Set()).add(batch.name));
  }
  const isAlone = ({ file }: BatchFile): boolean => batches.get(file.partition)?.size === 1;
  return { alone: members.filter(isAlone), crowded: members.filter((member) => !isAlone(member)) };
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
