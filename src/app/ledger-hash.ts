import { createHash } from 'node:crypto';
import { STAGES } from '../ledger/stages.ts';
import { dayChunks } from './ledger-days.ts';
import type { ReadSpace } from './workspace.ts';

const HASHED = ['ledger_entry', 'waterfall', 'subject'] as const;
const CHUNK_ROWS_MAX = 1_500_000;

export interface LedgerHash {
  /** SHA-256 in hex. */
  readonly hash: string;
  /** One hash a day, to find where two ledgers part. */
  readonly days: readonly { readonly day: string; readonly hash: string }[];
}

/**
 * Question: is this the same ledger?
 *
 * Covers the rows of the entries, their categories and what is known of their subjects, every column as text, sorted: not files, batches, state
 * the order in which anything came, or the rules that say whose it is. Rows are hashed in the engine, days here.
 *
 * Reads: ledger_entry, waterfall, subject.
 */
export async function ledgerHash(space: ReadSpace): Promise<LedgerHash> {
  const digests = new Map<string, string[]>();
  for (const chunk of dayChunks(space.snapshot, HASHED, CHUNK_ROWS_MAX)) {
    for (const table of HASHED) {
      const rows = await space.ask<{ day: string; digest: string }>({
        tables: [{ table, ...chunk }],
        sql: `
          SELECT CAST(day AS VARCHAR) AS day, md5(string_agg(row_digest, '' ORDER BY row_digest)) AS digest
          FROM (SELECT day, md5(${rowText(table)}) AS row_digest FROM ${table}) r GROUP BY day`,
      });
      for (const { day, digest } of rows) digests.set(day, [...(digests.get(day) ?? []), `${table} ${digest}`]);
    }
  }
  const days = [...digests]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([day, lines]) => ({ day, hash: sha256(`${day}\n${lines.join('\n')}\n`) }));
  return { hash: sha256(days.map(({ day, hash }) => `${day} ${hash}\n`).join('')), days };
}

/** A row as text in which no two rows look alike: an absent value is not an empty one. */
function rowText(table: string): string {
  const stage = STAGES.find(({ name }) => name === table);
  if (stage === undefined) throw new Error(`no stage ${table}`);
  return stage.writes
    .map(([column]) => `COALESCE('=' || replace(CAST(${column} AS VARCHAR), chr(31), chr(31) || chr(31)), '-')`)
    .join(' || chr(31) || ');
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
