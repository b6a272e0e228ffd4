import { dayOf, parseTime } from '../../lake/calendar.ts';
import type { FinishedRuns } from '../../report/outcomes-answer.ts';
import type { ReadSpace } from '../workspace.ts';
import { PAID_SQL, paidTogether } from './paid-holdings.ts';
import type { Paid } from './paid-holdings.ts';

/** A job that came to its end in a window, with all it cost from its first life on. */
export interface FinishedRun extends Paid {
  readonly source: string;
  readonly allocationId: string;
  readonly name: string | null;
  readonly user: string | null;
  readonly team: string | null;
  readonly class: string | null;
  /** GPUs of its last life, and their model. */
  readonly gpus: bigint;
  readonly model: string | null;
  readonly submittedAt: string | null;
  readonly heldFrom: string;
  readonly heldUntil: string;
  /** What its lives before the last cost. */
  readonly earlierUsdMicros: bigint | null;
}

/**
 * Question: which jobs finished in a window, and what did each cost from its first life to its end?
 *
 * Finished is an outcome of `completed`: what failed, was cancelled or goes on is in no such figure, but the failed lives of a job that
 * finished later are in its cost. Reads: allocation, waterfall and ownership of the days of their lives.
 */
export async function finishedRuns(space: ReadSpace, from: Date, end: Date): Promise<FinishedRun[]> {
  const [first] = await space.ask<{ heldFrom: string | null }>({
    tables: [{ table: 'allocation' }],
    params: { windowFrom: from, windowEnd: end },
    sql: `WITH ${LIFE} SELECT min(held_from) AS "heldFrom" FROM life`,
  });
  if (first === undefined || first.heldFrom === null) return [];
  const days = { first: dayOf(parseTime(first.heldFrom)), last: dayOf(end) };
  return space.ask<FinishedRun>({
    tables: [{ table: 'allocation' }, { table: 'waterfall', ...days }, { table: 'ownership', ...days }],
    params: { windowFrom: from, windowEnd: end },
    sql: `
      WITH ${LIFE}, run AS (
        SELECT source, allocation_id, max(attempt) AS last_attempt, max_by(workload_name, attempt) AS name,
               max_by(user_name, attempt) AS user_name, max_by(gpus, attempt) AS gpus, min(submitted_at) AS submitted_at,
               min(held_from) AS held_from, max(held_until) AS held_until
        FROM life GROUP BY source, allocation_id
      )
      SELECT r.source, r.allocation_id AS "allocationId", any_value(r.name) AS name, any_value(r.user_name) AS "user",
             any_value(r.gpus) AS gpus, any_value(r.submitted_at) AS "submittedAt", any_value(r.held_from) AS "heldFrom",
             any_value(r.held_until) AS "heldUntil", max_by(o.team, w.day) AS team, max_by(o.class, w.day) AS class,
             min(w.model) AS model,
             CAST(sum(w.usd_micros) FILTER (WHERE l.attempt < r.last_attempt) AS BIGINT) AS "earlierUsdMicros", ${PAID_SQL}
      FROM run r JOIN life l ON r.source = l.source AND r.allocation_id = l.allocation_id
      JOIN waterfall w ON w.subject = l.subject AND w.hour_start < $windowEnd
      LEFT JOIN ownership o ON w.day = o.day AND w.subject = o.subject
      GROUP BY r.source, r.allocation_id ORDER BY r.source, r.allocation_id`,
  });
}

/** The lives of jobs of which one was completed in the window, one row each. */
const LIFE = `finished AS (
    SELECT DISTINCT source, allocation_id FROM allocation
    WHERE outcome = 'completed' AND gpu_count > 0 AND held_until > $windowFrom AND held_until <= $windowEnd
  ), life AS (
    SELECT a.source, a.allocation_id, a.attempt,
           'job ' || a.source || '/' || a.allocation_id || '/' || CAST(a.attempt AS VARCHAR) AS subject,
           min(a.workload_name) AS workload_name, min(a.user_name) AS user_name, CAST(sum(a.gpu_count) AS BIGINT) AS gpus,
           min(a.submitted_at) AS submitted_at, min(a.held_from) AS held_from, max(a.held_until) AS held_until
    FROM allocation a JOIN finished f ON a.source = f.source AND a.allocation_id = f.allocation_id
    WHERE a.held_from < $windowEnd AND a.gpu_count > 0 GROUP BY a.source, a.allocation_id, a.attempt
  )`;

/** Several finished runs as one figure. */
export function runsTogether(runs: readonly FinishedRun[]): FinishedRuns {
  const waits = runs.flatMap(({ submittedAt, heldFrom }) =>
    submittedAt === null ? [] : [Math.max(0, secondsBetween(submittedAt, heldFrom))],
  );
  const costs = runs.flatMap(({ usdMicros }) => usdMicros ?? []);
  return {
    runs: runs.length,
    paid: paidTogether(runs),
    medianUsdMicros: median(costs) ?? null,
    earlierUsdMicros: runs.reduce<bigint | null>(
      (sum, { earlierUsdMicros }) => (earlierUsdMicros === null ? sum : (sum ?? 0n) + earlierUsdMicros),
      null,
    ),
    medianWaitSeconds: waits.length === 0 ? null : Number(median(waits.map((wait) => BigInt(wait))) ?? 0n),
    medianRunSeconds: Number(
      median(runs.map(({ heldFrom, heldUntil }) => BigInt(secondsBetween(heldFrom, heldUntil)))) ?? 0n,
    ),
  };
}

function secondsBetween(from: string, until: string): number {
  return Math.floor((parseTime(until).getTime() - parseTime(from).getTime()) / 1000);
}

/** The middle one; of an even number the lower of the two, so that it is one that was there. */
export function median(values: readonly bigint[]): bigint | undefined {
  return values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))[Math.floor((values.length - 1) / 2)];
}

/** `train-7b-sft` of `train-7b-sft-0012`, nearly: runs of one kind differ in their numbers. */
export function kindOfName(name: string): string {
  return name.replaceAll(/\d+/g, '#');
}
