import { createHash } from 'node:crypto';
import type { Snapshot } from '../facts/manifest.ts';
import type { DayChunk } from './ledger-days.ts';

/** Years of days, or of chunks of small ones; what is kept of each are a few sums. */
const KEPT_MAX = 2000;

export interface KeptDays<Result> {
  /** True where nothing has to be worked out. */
  knows(snapshot: Snapshot, chunk: DayChunk): boolean;
  of(snapshot: Snapshot, chunk: DayChunk): Promise<Result>;
}

/**
 * Promise: what was worked out of derived days is not worked out again by the same process while their content is the same.
 *
 * A server is asked the same of a long history again and again, and only its last days change. What a question had worked out when it was broken
 * off for its time stays too, so that the next one goes on from there.
 */
export function keptDays<Result extends object>(
  tables: readonly string[],
  work: (chunk: DayChunk) => Promise<Result>,
  kept: Map<string, Result>,
): KeptDays<Result> {
  return {
    knows: (snapshot, chunk) => kept.has(contentOf(snapshot, tables, chunk)),
    async of(snapshot, chunk) {
      const key = contentOf(snapshot, tables, chunk);
      const known = kept.get(key);
      const result = known ?? (await work(chunk));
      kept.delete(key);
      kept.set(key, result);
      const [oldest] = kept.keys();
      if (kept.size > KEPT_MAX && oldest !== undefined) kept.delete(oldest);
      return result;
    },
  };
}

function contentOf(snapshot: Snapshot, tables: readonly string[], { first, last }: DayChunk): string {
  const hash = createHash('sha256');
  const units = snapshot.derived.filter(({ table, unit }) => tables.includes(table) && unit >= first && unit <= last);
  for (const { table, unit, file } of units.toSorted((a, b) => (a.table + a.unit < b.table + b.unit ? -1 : 1)))
    hash.update(`${table} ${unit} ${file?.contentHash ?? ''}\n`);
  return hash.digest('hex');
}
