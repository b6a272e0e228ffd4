import { dayOf, parseTime } from '../../lake/calendar.ts';
import type { Params } from '../../lake/engine.ts';
import { isoTime } from '../../report/figures.ts';
import type { FinishedRuns } from '../../report/outcomes-answer.ts';
import { nearestRank } from '../../waste/nearest-rank.ts';
import { lastSaid } from '../rules/last-said.ts';
import { subjectRows } from '../waste/subject-rows.ts';
import { daysOf, ledgerWindow } from '../window.ts';
import type { ReadSpace } from '../workspace.ts';
import type { OutcomeBy } from './outcome-rows.ts';
import { PAID_SQL } from './paid-holdings.ts';
import type { Paid } from './paid-holdings.ts';

/** A job that came to its end in a window, with what it cost from its first life on. */
export interface FinishedRun {
  readonly source: string;
  readonly allocationId: string;
  readonly team: string | null;
  readonly model: string | null;
  readonly usdMicros: bigint | null;
  readonly unpricedUnits: bigint;
}

/** Finished runs that go by one name. */
export interface RunGroup {
  readonly name: string | null;
  /** Somebody says that they are training or batch. */
  readonly isClassed: boolean;
  readonly together: FinishedRuns;
}

/** Which runs are meant: of one kind and size, and of one user where he is known. */
export interface AlikeRuns {
  readonly name: string;
  readonly user: string | null;
  readonly gpus: bigint;
}

/** Classes whose finished jobs are runs. */
const RUN_CLASSES = `('training', 'batch')`;

/** `train-7b-sft` of `train-7b-sft-0012`, nearly: runs of one kind differ in their numbers. */
export function kindOfName(name: string): string {
  return name.replaceAll(/\d+/g, '#');
}

/** The same in SQL. */
export const kindSql = (name: string): string => `regexp_replace(${name}, '[0-9]+', '#', 'g')`;

/** What was paid for several together, in SQL: sums of sums. */
const PAID_SUMS = [
  'usdMicros',
  'activeUsdMicros',
  'unknownUsdMicros',
  'gpuUnits',
  'computingUnits',
  'unknownUnits',
  'unpricedUnits',
]
  .map((name) => `CAST(sum("${name}") AS BIGINT) AS "${name}"`)
  .join(', ');

/** The lives of jobs of which one was completed in the window, one row each. Reads: allocation. */
const LIVES = `
  WITH finished AS (
    SELECT DISTINCT source, allocation_id FROM allocation
    WHERE outcome = 'completed' AND gpu_count > 0 AND held_until > $windowFrom AND held_until <= $windowEnd
  )
  SELECT a.source, a.allocation_id, a.attempt,
         'job ' || a.source || '/' || a.allocation_id || '/' || CAST(a.attempt AS VARCHAR) AS subject,
         min(a.workload_name) AS workload_name, min(a.user_name) AS user_name, CAST(sum(a.gpu_count) AS BIGINT) AS gpus,
         min(a.submitted_at) AS submitted_at, min(a.held_from) AS held_from, max(a.held_until) AS held_until
  FROM allocation a JOIN finished f ON a.source = f.source AND a.allocation_id = f.allocation_id
  WHERE a.held_from < $windowEnd AND a.gpu_count > 0 GROUP BY a.source, a.allocation_id, a.attempt`;

/** The jobs behind those lives that are meant. */
const meantSql = (where: string): string => `
  WITH run AS (
    SELECT source, allocation_id, max(attempt) AS last_attempt, max_by(workload_name, attempt) AS name,
           max_by(user_name, attempt) AS user_name, max_by(gpus, attempt) AS gpus, min(submitted_at) AS submitted_at,
           min(held_from) AS held_from, max(held_until) AS held_until
    FROM finished_life GROUP BY source, allocation_id
  )
  SELECT * FROM run WHERE ${where}`;

/**
 * Asks about the jobs that finished in a window, and what each cost from its first life to its end, as `finished_run`.
 *
 * Finished is an outcome of `completed`: what failed, was cancelled or goes on is in no such figure, but the failed lives of a job that
 * finished later are in its cost. Each life is added up, then each job of its lives: rows of the ledger are many, lives are few.
 * Reads: allocation, and the waterfall or its sums by day and ownership of the days of their lives.
 */
async function askRuns<Row>(
  space: ReadSpace,
  { from, end }: { readonly from: Date; readonly end: Date },
  { select, where = 'TRUE', params = {} }: { select: string; where?: string; params?: Params },
): Promise<Row[]> {
  const span = { windowFrom: from, windowEnd: end };
  await space.make('finished_life', { tables: [{ table: 'allocation' }], params: span, sql: LIVES });
  await space.make('meant', { tables: [], params, sql: meantSql(where) });
  const [first] = await space.ask<{ heldFrom: string | null }>({
    tables: [],
    sql: 'SELECT min(held_from) AS "heldFrom" FROM meant',
  });
  if (first === undefined || first.heldFrom === null) return [];
  const lives = `${dayOf(parseTime(first.heldFrom))}T00:00:00Z/${isoTime(end)}`;
  const window = ledgerWindow(lives, end, space.scope);
  if (window.days.length === 0) return [];
  const rows = subjectRows(window);
  return space.ask<Row>({
    tables: [{ table: 'ownership', ...daysOf(window) }, ...rows.tables],
    params: rows.params,
    sql: `
      WITH life AS (
        SELECT r.source, r.allocation_id, r.name, r.submitted_at, r.held_from, r.held_until, l.subject, l.attempt < r.last_attempt AS is_earlier
        FROM meant r JOIN finished_life l ON r.source = l.source AND r.allocation_id = l.allocation_id
      ), paid AS (
        SELECT w.subject, min(w.model) AS model, ${PAID_SQL}
        FROM (${rows.sql}) w WHERE w.subject IN (SELECT subject FROM life) GROUP BY w.subject
      ), owner AS (
        SELECT subject, max(day) AS last_day, ${lastSaid('team', 'day')} AS team, ${lastSaid('class', 'day')} AS class
        FROM ownership WHERE subject IN (SELECT subject FROM life) GROUP BY subject
      ), finished_run AS (
        SELECT l.source, l.allocation_id, any_value(l.name) AS name, any_value(l.submitted_at) AS submitted_at,
               any_value(l.held_from) AS held_from, any_value(l.held_until) AS held_until,
               ${lastSaid('o.team', 'o.last_day')} AS team, ${lastSaid('o.class', 'o.last_day')} AS class, min(p.model) AS model,
               CAST(sum(p."usdMicros") FILTER (WHERE l.is_earlier) AS BIGINT) AS earlier_usd_micros, ${PAID_SUMS}
        FROM life l JOIN paid p ON l.subject = p.subject LEFT JOIN owner o ON l.subject = o.subject
        GROUP BY l.source, l.allocation_id
      )
      ${select}`,
  });
}

/** Question: which runs like this one finished in a window, and what did each cost? */
export async function alikeRuns(
  space: ReadSpace,
  from: Date,
  end: Date,
  { name, user, gpus }: AlikeRuns,
): Promise<FinishedRun[]> {
  return askRuns<FinishedRun>(
    space,
    { from, end },
    {
      where: `${kindSql('name')} = $kind AND gpus = $gpus${user === null ? '' : ' AND user_name = $user'}`,
      params: { kind: kindOfName(name), gpus, ...(user !== null && { user }) },
      select: `SELECT source, allocation_id AS "allocationId", team, model, "usdMicros", "unpricedUnits" FROM finished_run
               ORDER BY source, allocation_id`,
    },
  );
}

type GroupRow = Paid &
  Omit<FinishedRuns, 'runs' | 'paid' | 'medianWaitSeconds' | 'medianRunSeconds'> &
  Pick<RunGroup, 'name' | 'isClassed'> & {
    readonly runs: bigint;
    readonly medianWaitSeconds: bigint | null;
    readonly medianRunSeconds: bigint;
  };

/**
 * Question: how many runs finished in a window under each name, and what did they cost? Only jobs of which somebody says that they are training or batch, or
 * says nothing. Added up where they are: in a month of ten thousand GPUs there are hundreds of thousands.
 */
export async function runGroups(space: ReadSpace, from: Date, end: Date, by: OutcomeBy): Promise<RunGroup[]> {
  const name = by === 'unit' ? 'class' : by === 'run' ? kindSql('name') : 'team';
  const rows = await askRuns<GroupRow>(
    space,
    { from, end },
    {
      select: `
        , told AS (
          SELECT f.*, ${name} AS told_name, class IS NOT NULL AS is_classed,
                 date_diff('second', held_from, held_until) AS run_s,
                 CASE WHEN submitted_at IS NOT NULL THEN greatest(0, date_diff('second', submitted_at, held_from)) END AS wait_s
          FROM finished_run f WHERE class IS NULL OR class IN ${RUN_CLASSES}
        )
        SELECT told_name AS name, is_classed AS "isClassed", count(*) AS runs,
               ${PAID_SUMS},
               CAST(sum(earlier_usd_micros) AS BIGINT) AS "earlierUsdMicros",
               ${nearestRank('"usdMicros"', 50, '"usdMicros" IS NOT NULL')} AS "medianUsdMicros",
               ${nearestRank('wait_s', 50, 'wait_s IS NOT NULL')} AS "medianWaitSeconds", ${nearestRank('run_s', 50)} AS "medianRunSeconds"
        FROM told GROUP BY told_name, is_classed ORDER BY told_name, is_classed`,
    },
  );
  return rows.map(
    ({
      name: toldName,
      isClassed,
      runs,
      earlierUsdMicros,
      medianUsdMicros,
      medianWaitSeconds,
      medianRunSeconds,
      ...paid
    }) => ({
      name: toldName,
      isClassed,
      together: {
        runs: Number(runs),
        paid,
        medianUsdMicros,
        earlierUsdMicros,
        medianWaitSeconds: medianWaitSeconds === null ? null : Number(medianWaitSeconds),
        medianRunSeconds: Number(medianRunSeconds),
      },
    }),
  );
}

/** The middle one; of an even number the lower of the two, so that it is one that was there. */
export function median(values: readonly bigint[]): bigint | undefined {
  return values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))[Math.floor((values.length - 1) / 2)];
}
