import { IS_OUTCOME_SQL } from '../facts/work.ts';
import { dayOf } from '../lake/calendar.ts';
import { quote } from '../lake/engine.ts';
import { parseDecimal } from '../money/usd.ts';
import type { JobAnswer } from '../report/job-page.ts';
import type { Receipt } from '../report/receipt-page.ts';
import { job } from './job.ts';
import type { JobRequest } from './job.ts';
import { alikeRuns, median } from './outcomes/finished-runs.ts';
import type { FinishedRun } from './outcomes/finished-runs.ts';
import { QUANTITY_DIGITS } from './outcomes/work-done.ts';
import type { ReadSpace } from './workspace.ts';

const DAY_MS = 86_400_000;
/** Runs of one kind are looked for this far back, and need so many others before their middle says something. */
const KIND_DAYS = 90;
const OTHERS_MIN = 3;

interface PartRow {
  readonly component: string;
  readonly category: string;
  readonly basis: string;
  readonly usdMicros: bigint | null;
}

/**
 * Question: what does a researcher see when a job ends?
 *
 * Its kind are finished jobs of the same name but for its numbers, of the same user (else the same team), with as many GPUs of the same
 * model, in the 90 days before its end. Reads: what `job` reads, waterfall by component, work, and what `alikeRuns` reads.
 */
export async function receipt(space: ReadSpace, request: JobRequest): Promise<Receipt> {
  const answer = await job(space, request);
  const until = answer.attempts.reduce<Date>((last, { heldUntil }) => {
    const end = heldUntil ?? answer.asOf;
    return end > last ? end : last;
  }, new Date(0));
  const from = answer.attempts.map(({ heldFrom }) => heldFrom).reduce((a, b) => (a < b ? a : b));
  const parts = await partsOf(space, answer, from, until);
  const sum = (rows: readonly PartRow[]): bigint | null =>
    rows.reduce<bigint | null>(
      (total, { usdMicros }) => (usdMicros === null ? total : (total ?? 0n) + usdMicros),
      null,
    );
  const components = [...new Set(parts.map(({ component }) => component))].map((component) => ({
    component,
    usdMicros: sum(parts.filter((part) => part.component === component)),
  }));
  const bases = [...new Set(parts.map(({ basis }) => basis))].filter((basis) => basis !== 'unpriced');
  return {
    job: answer,
    from,
    until,
    isRunning: answer.attempts.some(({ heldUntil }) => heldUntil === null),
    usdMicros: sum(parts),
    components: components.toSorted((a, b) => Number((b.usdMicros ?? 0n) - (a.usdMicros ?? 0n))),
    basisUsdMicros: Object.fromEntries(
      bases.map((basis) => [basis, sum(parts.filter((part) => part.basis === basis)) ?? 0n]),
    ),
    idleUsdMicros: sum(parts.filter(({ category }) => category === 'idle')),
    starvedUsdMicros: sum(parts.filter(({ category }) => category === 'starved')),
    lostUsdMicros: sum(parts.filter(({ category }) => category === 'lost')),
    kind: await kindOf(space, answer, until, request.team),
    work: await workOf(space, answer),
  };
}

async function partsOf(space: ReadSpace, answer: JobAnswer, from: Date, until: Date): Promise<PartRow[]> {
  const subjects = answer.attempts.map(({ attempt }) =>
    quote(`job ${answer.source}/${answer.allocationId}/${attempt}`),
  );
  return space.ask<PartRow>({
    tables: [{ table: 'waterfall', first: dayOf(from), last: dayOf(until) }],
    params: { now: answer.asOf },
    sql: `SELECT component, category, basis, CAST(sum(usd_micros) AS BIGINT) AS "usdMicros"
          FROM waterfall WHERE subject IN (${subjects.join(', ')}) AND hour_start < $now
          GROUP BY component, category, basis ORDER BY component, category, basis`,
  });
}

/** Undefined where there are too few others to say what is usual. */
async function kindOf(
  space: ReadSpace,
  answer: JobAnswer,
  until: Date,
  team: string | undefined,
): Promise<Receipt['kind']> {
  const { name } = answer;
  if (name === null) return undefined;
  const models = [...new Set(answer.devices.map(({ model }) => model))];
  const gpus = BigInt(answer.attempts.at(-1)?.gpus ?? 0);
  const isAlike = (other: FinishedRun): boolean =>
    !(other.source === answer.source && other.allocationId === answer.allocationId) &&
    (answer.user !== null || other.team === answer.team) &&
    (team === undefined || other.team === team) &&
    models.includes(other.model) &&
    other.unpricedUnits === 0n;
  const runs = await alikeRuns(space, new Date(until.getTime() - KIND_DAYS * DAY_MS), until, {
    name,
    user: answer.user,
    gpus,
  });
  const costs = runs.filter(isAlike).flatMap(({ usdMicros }) => usdMicros ?? []);
  const middle = costs.length < OTHERS_MIN ? undefined : median(costs);
  return middle === undefined ? undefined : { others: costs.length, medianUsdMicros: middle };
}

/** A row of `work` was done while a row of `held` was: a moment is the end of what it tells of. */
const WHILE_HELD = `h.held_from < COALESCE(w.window_until, w.window_from)
  AND (w.window_from < h.held_until OR (w.window_until IS NULL AND w.window_from = h.held_until))`;

/**
 * Units that the job itself is known to have done. Work that names a run only is its own where it alone held anything under that name
 * meanwhile: of two jobs, or of two sources with one id, nobody can say whose it is, and it may be another team's.
 */
async function workOf(space: ReadSpace, { source, allocationId, name, asOf }: JobAnswer): Promise<Receipt['work']> {
  const rows = await space.ask<{ unit: string; quantity: string }>({
    tables: [{ table: 'work' }, { table: 'allocation' }],
    params: { source, id: allocationId, full: `${source}/${allocationId}`, run: name ?? '', now: asOf },
    sql: `WITH held AS (
            SELECT source = $source AND allocation_id = $id AS is_own, allocation_id = $id AS is_namesake, held_from,
                   COALESCE(held_until, $now) AS held_until
            FROM allocation WHERE held_from < $now AND (allocation_id = $id OR workload_name = $run)
          )
          SELECT unit, CAST(CAST(sum(quantity) AS DECIMAL(38, 6)) AS VARCHAR) AS quantity FROM work w
          WHERE window_from < $now AND ${IS_OUTCOME_SQL}
            AND (allocation_id = $full
              OR (allocation_id = $id AND NOT EXISTS (SELECT 1 FROM held h WHERE h.is_namesake AND NOT h.is_own))
              OR (allocation_id IS NULL AND pod IS NULL AND run = $run AND run <> ''
                AND EXISTS (SELECT 1 FROM held h WHERE h.is_own AND ${WHILE_HELD})
                AND NOT EXISTS (SELECT 1 FROM held h WHERE NOT h.is_own AND ${WHILE_HELD})))
          GROUP BY unit ORDER BY unit`,
  });
  return rows.map(({ unit, quantity }) => ({
    unit,
    quantityMillionths: parseDecimal(quantity, QUANTITY_DIGITS) ?? 0n,
  }));
}
