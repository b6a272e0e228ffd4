import { dayOf, parseTime, printTime } from '../../lake/calendar.ts';
import { quote } from '../../lake/engine.ts';
import type { WaitingWork } from '../../report/queue-page.ts';
import { isDemo } from '../demo/demo-mark.ts';
import { MODEL_TABLES, WITH_MODEL } from '../held-model.ts';
import { lastKnownMoment } from '../now.ts';
import type { Now } from '../now.ts';
import { jobOwnersSql } from '../rules/job-owners.ts';
import type { ReadSpace } from '../workspace.ts';

interface WaitingRow {
  readonly source: string;
  readonly allocationId: string;
  readonly submittedAt: string;
  readonly gpus: bigint;
  readonly model: string | null;
  readonly heldBackBy: string | null;
  readonly cluster: string | null;
  readonly namespace: string | null;
  readonly team: string | null;
  readonly user: string | null;
  readonly kind: string | null;
  readonly name: string | null;
}

const JOB_COLUMNS = [
  'source',
  'allocation_id',
  'submitted_at',
  'gpu_count',
  'cluster',
  'namespace',
  'workload_kind',
  'workload_name',
];
const WAITING_COLUMNS = ['model', 'held_back_by', 'waited_until', 'observed_at'];
const HELD_COLUMNS = ['attempt', 'held_from', 'held_model'];

/** A scheduler that was not asked for this long may have started them all. */
const FRESH_MS = 3_600_000;

/**
 * Question: who waits for GPUs now, since when, for how many?
 *
 * What schedulers said was waiting when they were last asked; and of history what began later, for until then it waited. Pods of one
 * workload are one row: they wait together. Undefined where nobody says: a fleet whose schedulers are not read, or were not heard of
 * lately, has no queue of length 0.
 *
 * Reads: waiting, allocation, device, node.
 */
export async function waitingNow(space: ReadSpace, now: Now): Promise<WaitingWork[] | undefined> {
  const moment = (space.scope && lastKnownMoment(now.at, space.scope.horizon)) ?? now.at;
  const hasLater = space.snapshot.batches.some(
    ({ table, newestAt }) => table === 'allocation' && newestAt !== null && newestAt > printTime(moment),
  );
  if (!hasLater && !isTold(space, moment)) return undefined;
  const told = await toldToWait(space, moment);
  const known = new Set(told.map(keyOf));
  const begunLater = hasLater ? await waitedUntilLater(space, moment) : [];
  const rows = [...told, ...begunLater.filter((row) => !known.has(keyOf(row)))];
  return together(
    rows.toSorted((a, b) => compare(a.submittedAt, b.submittedAt) || compare(a.allocationId, b.allocationId)),
    moment,
  );
}

/** Whether somebody who knows has spoken lately, be it to say that nobody waits. */
function isTold({ snapshot, sources }: ReadSpace, moment: Date): boolean {
  const oldest = new Date(moment.getTime() - FRESH_MS);
  // The list of a demo is whole, and a list without rows is no batch.
  return (
    snapshot.batches.some(isDemo) ||
    snapshot.batches.some(({ table, observedAt }) => table === 'waiting' && observedAt >= printTime(oldest)) ||
    sources.some(({ rows, coveredUntil }) => rows.waiting !== undefined && (coveredUntil ?? 0) >= oldest)
  );
}

async function toldToWait(space: ReadSpace, moment: Date): Promise<WaitingRow[]> {
  const waiting = await space.ask<WaitingRow>({
    tables: [{ table: 'waiting' }],
    params: { moment, oldest: new Date(moment.getTime() - FRESH_MS) },
    sql: `
      SELECT source, allocation_id AS "allocationId", submitted_at AS "submittedAt", CAST(gpu_count AS BIGINT) AS gpus, model,
             held_back_by AS "heldBackBy", cluster, namespace, team, user_name AS "user", workload_kind AS kind,
             workload_name AS name
      FROM (${jobOwnersSql(space.rules, 'waiting', 'CAST(submitted_at AS DATE)', [...WAITING_COLUMNS, ...JOB_COLUMNS])}) w
      WHERE submitted_at <= $moment AND gpu_count > 0 AND (waited_until IS NULL OR waited_until > $moment)
        AND observed_at >= $oldest`,
  });
  if (waiting.length === 0) return [];
  // What has begun meanwhile waits no more, though its scheduler was not asked again. Holdings lie by the day they began on.
  const asked = waiting.map(({ submittedAt }) => submittedAt).reduce((a, b) => (a < b ? a : b));
  const begun = await space.ask<{ source: string; allocationId: string; heldFrom: string }>({
    tables: [{ table: 'allocation', first: dayOf(parseTime(asked)), last: dayOf(moment) }],
    params: { moment },
    sql: `
      SELECT source, allocation_id AS "allocationId", max(held_from) AS "heldFrom" FROM allocation
      WHERE held_from <= $moment AND allocation_id IN (${waiting.map((row) => quote(row.allocationId)).join(', ')})
      GROUP BY source, allocation_id`,
  });
  const lastBegun = new Map(begun.map((row) => [keyOf(row), row.heldFrom]));
  return waiting.filter((row) => (lastBegun.get(keyOf(row)) ?? '') < row.submittedAt);
}

function keyOf({ source, allocationId }: { readonly source: string; readonly allocationId: string }): string {
  return JSON.stringify([source, allocationId]);
}

/** Lives that had been asked for and began after the moment. What they were given says what they had asked for. */
async function waitedUntilLater(space: ReadSpace, moment: Date): Promise<WaitingRow[]> {
  return space.ask<WaitingRow>({
    tables: MODEL_TABLES,
    params: { moment },
    sql: `
      SELECT source, allocation_id AS "allocationId", min(submitted_at) AS "submittedAt", CAST(sum(gpu_count) AS BIGINT) AS gpus,
             min(held_model) AS model, CAST(NULL AS VARCHAR) AS "heldBackBy", min(cluster) AS cluster, min(namespace) AS namespace,
             min(team) AS team, min(user_name) AS "user", min(workload_kind) AS kind, min(workload_name) AS name
      FROM (${jobOwnersSql(space.rules, `${WITH_MODEL} a`, 'CAST(held_from AS DATE)', [...HELD_COLUMNS, ...JOB_COLUMNS])}) a
      GROUP BY source, allocation_id, attempt HAVING min(submitted_at) <= $moment AND min(held_from) > $moment`,
  });
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function together(rows: readonly WaitingRow[], moment: Date): WaitingWork[] {
  const groups = new Map<string, WaitingRow[]>();
  for (const row of rows) {
    const isPod = row.source === 'kubernetes' && row.name !== null;
    const key = isPod ? JSON.stringify([row.cluster, row.namespace, row.kind, row.name]) : keyOf(row);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return [...groups.values()].flatMap((group) => {
    const first = group[0];
    if (first === undefined) return [];
    const since = parseTime(first.submittedAt);
    return [
      {
        source: first.source,
        allocationId: first.allocationId,
        parts: group.length,
        gpus: Number(group.reduce((sum, { gpus }) => sum + gpus, 0n)),
        gpusOfOnePart: group.reduce((most, { gpus }) => Math.max(most, Number(gpus)), 0),
        model: first.model,
        heldBackBy: first.heldBackBy,
        cluster: first.cluster,
        team: first.team,
        user: first.user,
        name: first.name,
        since,
        waitedSeconds: Math.max(0, (moment.getTime() - since.getTime()) / 1000),
      },
    ];
  });
}
