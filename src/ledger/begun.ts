import type { Stage } from '../facts/stage.ts';
import { mannerSql } from '../facts/workload-manner.ts';

/**
 * Question: which jobs begin a life on each day, or ask for one they have not got yet, and under which names?
 *
 * What continues an earlier life is among them: `fate` looks for it ahead, in files of a few rows instead of every holding of a month.
 * A life that still waits has no attempt number.
 *
 * Reads: holding, waiting.
 */
export const begun: Stage = {
  name: 'begun',
  version: 3,
  unit: 'day',
  reads: [
    { table: 'holding', days: [0] },
    { table: 'waiting', days: [0] },
  ],
  params: [],
  writes: [
    ['day', 'DATE'],
    ['source', 'VARCHAR'],
    ['allocation_id', 'VARCHAR'],
    ['attempt', 'BIGINT'],
    ['begun_at', 'TIMESTAMP'],
    ['cluster', 'VARCHAR'],
    ['namespace', 'VARCHAR'],
    ['workload_kind', 'VARCHAR'],
    ['workload_name', 'VARCHAR'],
    ['account', 'VARCHAR'],
    ['user_name', 'VARCHAR'],
    ['submitted_at', 'TIMESTAMP'],
  ],
  orderBy: 'source, allocation_id, attempt, begun_at',
  sql: `
    SELECT h.day, h.source, h.allocation_id, h.attempt, min(h.held_from) AS begun_at, min(h.cluster) AS cluster,
           min(h.namespace) AS namespace, min(h.workload_kind) AS workload_kind, min(h.workload_name) AS workload_name,
           min(h.account) AS account, min(h.user_name) AS user_name,
           min(h.submitted_at) AS submitted_at
    FROM holding h JOIN calendar_day d ON h.day = d.day
    GROUP BY h.day, d.day_start, h.source, h.allocation_id, h.attempt
    HAVING min(h.held_from) >= d.day_start AND min(${mannerSql('h')}) = 'job'
    UNION ALL
    SELECT d.day, w.source, w.allocation_id, NULL, w.submitted_at, w.cluster, w.namespace, w.workload_kind, w.workload_name,
           w.account, w.user_name, w.submitted_at
    FROM waiting w JOIN calendar_day d ON w.submitted_at >= d.day_start AND w.submitted_at < d.day_end
    WHERE w.waited_until IS NULL AND ${mannerSql('w')} = 'job'`,
};
