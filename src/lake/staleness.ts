import { createHash } from 'node:crypto';
import type { Snapshot } from '../facts/manifest.ts';
import type { Stage } from '../facts/stage.ts';

/** The unit under which `derive` notes which facts the ledger is of. */
export const LEDGER_MARK = { table: 'ledger', unit: 'all' } as const;

/** A hash of every fact file and of what the stages do with them. */
export function factsMark(
  snapshot: Snapshot,
  stages: readonly Stage[],
): { hash: string; files: Record<string, string> } {
  const hash = createHash('sha256');
  for (const stage of stages) hash.update(`${stage.name} ${stage.version} ${stage.sql}\n`);
  const files: Record<string, string> = {};
  for (const batch of snapshot.batches.toSorted((a, b) => (a.table + a.name < b.table + b.name ? -1 : 1))) {
    hash.update(`${batch.table} ${batch.name} ${batch.priority} ${batch.observedAt}\n`);
    for (const file of batch.files) {
      hash.update(`${file.path} ${file.contentHash}\n`);
      files[file.path] = String(file.rows);
    }
  }
  return { hash: hash.digest('hex'), files };
}

/** How many rows of facts came or changed since the ledger was derived; 0 when it is up to date. */
export function staleRows(snapshot: Snapshot, stages: readonly Stage[]): number {
  const mark = factsMark(snapshot, stages);
  const kept = snapshot.derived.find(({ table, unit }) => table === LEDGER_MARK.table && unit === LEDGER_MARK.unit);
  if (kept?.inputHash === mark.hash) return 0;
  const known = kept?.dayHashes ?? {};
  const fresh = Object.entries(mark.files).filter(([path]) => known[path] === undefined);
  return Math.max(
    1,
    fresh.reduce((total, [, rows]) => total + Number(rows), 0),
  );
}
