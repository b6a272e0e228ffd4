import { createHash } from 'node:crypto';
import type { Database } from './database.ts';

/**
 * What state the folder is in, part by part: whoever keeps answers keeps them as long as the parts they were made of are the same.
 *
 * The lake has its generation. Findings, sources and statements change without one, because they change nothing in the lake.
 */
export interface StateStamp {
  readonly generation: number;
  readonly findings: string;
  readonly sources: string;
  readonly statements: string;
}

export function readStamp(database: Database, generation: number): StateStamp {
  const names = new Set(database.all('SELECT name FROM sqlite_schema').map((row) => String(row['name'])));
  const stampOf = (table: string, sql: string): string => {
    if (!names.has(table)) return '-';
    return Object.values(database.all(sql)[0] ?? {}).join(' ');
  };
  return {
    generation,
    findings: stampOf(
      'finding_change',
      `SELECT (SELECT max(change_no) FROM finding_change) AS changes, count(*) AS findings, max(last_seen_at) AS seen
       FROM finding`,
    ),
    statements: stampOf(
      'statement_closing',
      'SELECT max(closing_no) AS newest, count(withdrawn_at) AS withdrawn FROM statement_closing',
    ),
    sources: names.has('source') ? sourcesDigest(database) : '-',
  };
}

function sourcesDigest(database: Database): string {
  const hash = createHash('sha256');
  for (const row of database.all('SELECT name, record_json FROM source ORDER BY name')) {
    hash.update(JSON.stringify([row['name'], row['record_json']]));
  }
  return hash.digest('hex').slice(0, 16);
}
