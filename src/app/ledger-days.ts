import type { Snapshot } from '../facts/manifest.ts';
import type { LedgerWindow } from './window.ts';
import type { ReadSpace } from './workspace.ts';

/** Days that lie next to each other in the ledger and are looked at in one question. */
export interface DayChunk {
  readonly first: string;
  readonly last: string;
  /** Of all the tables together. */
  readonly rows: number;
}

/**
 * Every derived day of some tables, in chunks of a bounded number of rows: questions about all entries of a long history
 * then need the memory of a few days, not of all.
 */
export function dayChunks(snapshot: Snapshot, tables: readonly string[], rowsMax: number): DayChunk[] {
  const rowsByDay = new Map<string, number>();
  for (const { table, unit, file } of snapshot.derived) {
    if (tables.includes(table) && file !== null) rowsByDay.set(unit, (rowsByDay.get(unit) ?? 0) + file.rows);
  }
  const chunks: DayChunk[] = [];
  for (const [day, rows] of [...rowsByDay].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const current = chunks.at(-1);
    if (current === undefined || current.rows + rows > rowsMax) chunks.push({ first: day, last: day, rows });
    else chunks[chunks.length - 1] = { ...current, last: day, rows: current.rows + rows };
  }
  return chunks;
}

/**
 * True where the facts have days in the window and the ledger none of them yet: what was paid is not known then, and not 0.
 * Where some of its days are there the figures are of these, and whoever tells them says how many rows wait.
 */
export function isUnderived(
  { snapshot, staleRows }: Pick<ReadSpace, 'snapshot' | 'staleRows'>,
  window: LedgerWindow,
): boolean {
  if (staleRows === 0 || window.days.length === 0) return false;
  return !snapshot.derived.some(({ table, unit }) => table === 'spend_day' && window.days.includes(unit));
}
