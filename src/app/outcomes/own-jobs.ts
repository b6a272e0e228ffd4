import type { ReadSpace } from '../workspace.ts';
import type { LedgerWindow } from '../window.ts';
import { daysOf } from '../window.ts';
import { subjectRows } from '../waste/subject-rows.ts';
import { kindSql } from './finished-runs.ts';
import type { Achieved } from './meet-work.ts';
import { addTokens } from './meet-work.ts';
import type { OutcomeBy } from './outcome-rows.ts';
import { heldTimeSql, PAID_SQL, SUBJECT_SQL } from './paid-holdings.ts';
import type { Paid } from './paid-holdings.ts';
import { millionths } from './work-done.ts';

/** What a counter says of who did its work, where it does not name a job that was held. */
const LOOSE = `
  SELECT c.* FROM counted c LEFT JOIN (
    SELECT DISTINCT allocation_id AS name FROM held_job UNION SELECT DISTINCT source || '/' || allocation_id FROM held_job
  ) h ON c.allocation_id = h.name WHERE h.name IS NULL`;

/** What was held for work of others too, or for serving, whose replicas share their traffic; and counters of pods, of which the longest counts. */
const SHARED = `
  SELECT allocation_id FROM held_job GROUP BY allocation_id HAVING count(DISTINCT source) > 1
  UNION SELECT allocation_id FROM counted WHERE allocation_id IS NOT NULL AND pod IS NOT NULL
  UNION SELECT h.allocation_id FROM held_job h JOIN counted c ON c.allocation_id = h.source || '/' || h.allocation_id
  UNION SELECT h.allocation_id FROM held_job h JOIN loose l ON h.workload_name = l.run
  UNION SELECT h.allocation_id FROM held_job h JOIN loose l ON h.run_label = l.run
  UNION SELECT h.allocation_id FROM held_job h JOIN loose l ON h.namespace = l.namespace WHERE l.pod IS NOT NULL
  UNION SELECT h.allocation_id FROM held_job h JOIN loose l ON h.allocation_id = l.namespace || '/' || l.pod
  UNION SELECT h.allocation_id FROM held_job h JOIN loose l ON h.node_id = l.node_id WHERE l.pod IS NULL
  UNION SELECT h.allocation_id FROM held_job h JOIN ownership o ON h.subject = o.subject WHERE o.class = 'inference'`;

/**
 * Question: which jobs count their own work and nobody else's, so that their money is that of their work and of no other? Left with the
 * engine as `own_job`, by the names under which their work is told; what may have been held for other work is left as `met_life`.
 *
 * Jobs are hundreds of thousands in a month of ten thousand GPUs, and nearly all are such: they are added up where they are, and only the
 * rest meets its work one by one.
 *
 * Reads: holding, ownership, waterfall or its sums by day, and what `countWork` left.
 */
export async function findOwnJobs(space: ReadSpace, window: LedgerWindow, by: OutcomeBy): Promise<void> {
  if (window.days.length === 0) {
    await space.make('own_job', { tables: [], sql: 'SELECT CAST(NULL AS VARCHAR) AS allocation_id WHERE FALSE' });
    return;
  }
  const days = daysOf(window);
  const rows = subjectRows(window);
  await space.make('held_job', {
    tables: [{ table: 'holding', ...days }],
    sql: `SELECT DISTINCT source, allocation_id, ${SUBJECT_SQL} AS subject, node_id, namespace, workload_name, labels['run'] AS run_label
          FROM holding`,
  });
  await space.make('loose', { tables: [], sql: LOOSE });
  await space.make('shared_job', { tables: [{ table: 'ownership', ...days }], sql: SHARED });
  await space.make('own_job', {
    tables: [{ table: 'ownership', ...days }, ...rows.tables],
    params: rows.params,
    sql: `
      WITH named AS (
        SELECT allocation_id, max(model_name) AS model_name, max(run) AS run FROM counted WHERE allocation_id IS NOT NULL
        GROUP BY allocation_id
        HAVING count(DISTINCT COALESCE(model_name, '')) = 1 AND count(DISTINCT COALESCE(run, '')) = 1
      ), unit AS (
        SELECT allocation_id, unit || CASE WHEN sum(quantity) = 0 THEN '=0' ELSE '' END AS unit, CAST(sum(seconds) AS BIGINT) AS seconds
        FROM counted GROUP BY allocation_id, unit
      ), counter AS (
        SELECT allocation_id, array_join(array_agg(unit ORDER BY unit), ' ') AS units, max(seconds) AS seconds FROM unit GROUP BY allocation_id
      ), paid AS (
        SELECT DISTINCT subject FROM (${rows.sql}) w
      ), life AS (
        SELECT DISTINCT h.allocation_id, h.subject FROM held_job h JOIN paid p ON h.subject = p.subject
        WHERE h.allocation_id NOT IN (SELECT allocation_id FROM shared_job)
      ), owner AS (
        SELECT l.allocation_id, max(o.team) AS team FROM life l LEFT JOIN ownership o ON o.subject = l.subject
        GROUP BY l.allocation_id HAVING count(DISTINCT COALESCE(o.team, '')) = 1
      )
      SELECT l.allocation_id, l.subject, n.model_name, ${by === 'run' ? 'n.run' : kindSql('n.run')} AS run,
             o.team, c.units, CASE WHEN l.subject = min(l.subject) OVER (PARTITION BY l.allocation_id) THEN c.seconds ELSE 0 END AS counted_s
      FROM life l JOIN named n ON l.allocation_id = n.allocation_id JOIN counter c ON l.allocation_id = c.allocation_id
      JOIN owner o ON l.allocation_id = o.allocation_id`,
  });
  await space.make('met_life', {
    tables: [{ table: 'ownership', ...days }, ...rows.tables],
    params: rows.params,
    sql: `
      SELECT subject FROM held_job WHERE (allocation_id IN (SELECT allocation_id FROM shared_job)
          OR allocation_id IN (SELECT allocation_id FROM counted WHERE allocation_id IS NOT NULL))
        AND allocation_id NOT IN (SELECT allocation_id FROM own_job)
      UNION SELECT subject FROM ownership WHERE class = 'inference'
      UNION SELECT w.subject FROM (${rows.sql}) w WHERE w.subject LIKE 'node %'
        AND w.node_id IN (SELECT node_id FROM loose WHERE pod IS NULL AND node_id IS NOT NULL)`,
  });
}

type Group = Pick<Achieved, 'modelName' | 'run' | 'team'> & { readonly units: string };

/** Question: what did those jobs achieve, and what did it cost? Alike ones are one. Reads what `findOwnJobs` left, and what it reads. */
export async function ownWork(space: ReadSpace, window: LedgerWindow, end: Date): Promise<Achieved[]> {
  if (window.days.length === 0) return [];
  const rows = subjectRows(window);
  const key = 'j.model_name, j.run, j.team, j.units';
  const named = 'j.model_name AS "modelName", j.run, j.team, j.units';
  const paid = await space.ask<Group & Paid>({
    tables: rows.tables,
    params: rows.params,
    sql: `SELECT ${named}, ${PAID_SQL} FROM (${rows.sql}) w JOIN own_job j ON w.subject = j.subject GROUP BY ${key} ORDER BY ${key}`,
  });
  const times = await space.ask<Group & { readonly heldSeconds: bigint; readonly countedSeconds: bigint }>({
    tables: [{ table: 'holding', ...daysOf(window) }],
    params: { windowFrom: window.from, windowEnd: end },
    sql: `WITH ${heldTimeSql('own_job')}
          SELECT ${named}, CAST(sum(h.held_seconds) AS BIGINT) AS "heldSeconds", CAST(sum(j.counted_s) AS BIGINT) AS "countedSeconds"
          FROM own_job j JOIN held_time h ON j.subject = h.subject GROUP BY ${key}`,
  });
  const done = await space.ask<Group & { readonly unit: string; readonly quantity: string }>({
    tables: [],
    sql: `SELECT ${named}, c.unit, CAST(sum(c.quantity) AS VARCHAR) AS quantity
          FROM (SELECT DISTINCT allocation_id, model_name, run, team, units FROM own_job) j
          JOIN counted c ON j.allocation_id = c.allocation_id GROUP BY ${key}, c.unit`,
  });
  const keyOf = ({ modelName, run, team, units }: Group): string => JSON.stringify([modelName, run, team, units]);
  const timeOf = new Map(times.map((each) => [keyOf(each), each]));
  const unitsOf = new Map<string, Map<string, bigint>>();
  for (const each of done) {
    const units = unitsOf.get(keyOf(each)) ?? new Map<string, bigint>();
    unitsOf.set(keyOf(each), units.set(each.unit, millionths(each.quantity)));
  }
  return paid.map(({ modelName, run, team, units: told, ...money }) => {
    const group = keyOf({ modelName, run, team, units: told });
    const units = unitsOf.get(group) ?? new Map<string, bigint>();
    addTokens(units);
    return {
      modelName: modelName ?? undefined,
      run: run ?? undefined,
      team,
      units,
      paid: money,
      countedSeconds: timeOf.get(group)?.countedSeconds ?? 0n,
      heldSeconds: timeOf.get(group)?.heldSeconds ?? 0n,
      sharedBy: undefined,
    };
  });
}
