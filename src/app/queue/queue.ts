import type { QueueAnswer, TeamWait, WaitedModel, WaitingWork } from '../../report/queue-page.ts';
import { idleTotal } from '../../report/idle-list.ts';
import { LIFE_GPUS, MODEL_TABLES, WITH_MODEL } from '../held-model.ts';
import { idleNow } from '../idle.ts';
import { decideNow } from '../now.ts';
import { subjectRows } from '../waste/subject-rows.ts';
import { ledgerWindow } from '../window.ts';
import type { LedgerWindow } from '../window.ts';
import type { ReadSpace } from '../workspace.ts';
import { freeGpus } from './free-gpus.ts';
import { isModel, placesFor } from './places.ts';
import { jobOwnersSql } from '../rules/job-owners.ts';
import type { RuleBook } from '../rules/rule.ts';
import { waitingNow } from './waiting-now.ts';

export interface QueueRequest {
  readonly asOf?: Date;
  readonly window: string;
  readonly clock: Date;
  /** Only who waits of this team, and no other's name; all where not said. */
  readonly team?: string;
}

/**
 * Question: who waits for GPUs, and which GPUs stand idle or empty meanwhile?
 *
 * Reads: held, presence, subject_day or waterfall, allocation, device, node, and what `waitingNow` and `idleNow` read.
 */
export async function queue(space: ReadSpace, request: QueueRequest): Promise<QueueAnswer> {
  const now = decideNow(request.asOf, space.scope?.horizon, request.clock);
  const window = ledgerWindow(request.window, now.at, space.scope);
  const waiting = await waitingNow(space, now);
  const idle = await idleNow(space, now, { soFar: false });
  const free = await freeGpus(space, now, idle);
  const places = placesFor(waiting ?? [], free);
  const answer: QueueAnswer = {
    asOf: now.at,
    asOfBy: now.by,
    window: { asked: window.asked, from: window.from, until: window.until, ledgerDays: window.days.length },
    waiting: waiting?.map((work, index) => ({ ...work, place: places[index] })),
    idleNow: idleTotal(idle.holdings),
    emptyGpus: free.reduce((sum, { empty }) => sum + empty, 0),
    models: await waitedModels(space, window, now.at, waiting ?? []),
    teams: await teamWaits(space, window, now.at),
    silentGpus: idle.silentGpus,
  };
  return request.team === undefined ? answer : ofTeam(answer, request.team);
}

/** What a team may see: its own who wait, and no other's name. */
function ofTeam(answer: QueueAnswer, team: string): QueueAnswer {
  return {
    ...answer,
    // Time and money of all that stood idle are the whole fleet's.
    models: null,
    teams: answer.teams.filter((each) => each.team === team),
    waiting: answer.waiting
      ?.filter((work) => work.team === team)
      .map((work) => ({
        ...work,
        place:
          work.place === undefined
            ? undefined
            : { ...work.place, nodes: [], holders: work.place.holders.filter((holder) => holder.team === team) },
      })),
  };
}

const LIFE_COLUMNS = [
  'source',
  'allocation_id',
  'attempt',
  'submitted_at',
  'held_from',
  'life_from',
  'gpu_count',
  'held_model',
];

/** Each life of a job that had begun by now, with what it asked for and when it got it. */
const lifeSql = (book: RuleBook): string => `
  SELECT min(submitted_at) AS submitted_at, min(held_from) AS held_from, ${LIFE_GPUS} AS gpus,
         min(held_model) AS model, min(team) AS team
  FROM (${jobOwnersSql(book, `${WITH_MODEL} a`, 'CAST(held_from AS DATE)', LIFE_COLUMNS)}) a GROUP BY source, allocation_id, attempt HAVING min(held_from) <= $now`;

/** GPU-hours waited for in the window beside those that stood idle or empty in it, by model. */
async function waitedModels(
  space: ReadSpace,
  window: LedgerWindow,
  now: Date,
  waiting: readonly WaitingWork[],
): Promise<WaitedModel[]> {
  if (window.days.length === 0) return [];
  const { from } = window;
  const until = window.until < now ? window.until : now;
  const waited = await space.ask<{ model: string | null; gpuSeconds: bigint }>({
    tables: MODEL_TABLES,
    params: { from, until, now },
    sql: `
      WITH life AS (${lifeSql(space.rules)}), cut AS (
        SELECT model, gpus, CASE WHEN submitted_at < $from THEN $from ELSE submitted_at END AS from_at,
               CASE WHEN held_from > $until THEN $until ELSE held_from END AS until_at
        FROM life WHERE submitted_at < $until AND held_from > $from
      )
      SELECT model, CAST(sum(gpus * date_diff('second', from_at, until_at)) AS BIGINT) AS "gpuSeconds"
      FROM cut WHERE until_at > from_at GROUP BY model ORDER BY model`,
  });
  const stood = await standing(space, window);
  const listed = [...waited, ...stood].flatMap(({ model }) => model ?? []);
  // Jobs ask for `h100`, devices are called `NVIDIA H100 80GB HBM3`: one line for both.
  const nameOf = ({ model }: WaitingWork): string | null =>
    model === null ? null : (listed.find((name) => isModel(name, model)) ?? model);
  const open = new Map<string | null, bigint>();
  for (const work of waiting) {
    const seconds = secondsIn(work.since, from, until);
    if (seconds > 0) open.set(nameOf(work), (open.get(nameOf(work)) ?? 0n) + BigInt(work.gpus) * BigInt(seconds));
  }
  const part = (model: string | null, category: string): { usdMicros: bigint | null; gpuUnits: bigint } => {
    const found = stood.find((row) => row.model === model && row.category === category);
    return { usdMicros: found === undefined ? 0n : found.usdMicros, gpuUnits: found?.gpuUnits ?? 0n };
  };
  return [...new Set([...waited.map(({ model }) => model), ...stood.map(({ model }) => model), ...open.keys()])]
    .map((model) => ({
      model,
      waitedGpuSeconds: (waited.find((row) => row.model === model)?.gpuSeconds ?? 0n) + (open.get(model) ?? 0n),
      idle: part(model, 'idle'),
      unallocated: part(model, 'unallocated'),
    }))
    .toSorted(
      (a, b) => Number(b.waitedGpuSeconds - a.waitedGpuSeconds) || (a.model ?? '').localeCompare(b.model ?? '', 'en'),
    );
}

interface Standing {
  readonly model: string | null;
  readonly category: string;
  readonly usdMicros: bigint | null;
  readonly gpuUnits: bigint;
}

async function standing(space: ReadSpace, window: LedgerWindow): Promise<Standing[]> {
  const money = subjectRows(window);
  return space.ask<Standing>({
    tables: money.tables,
    params: money.params,
    sql: `SELECT model, category, CAST(sum(usd_micros) AS BIGINT) AS "usdMicros", CAST(sum(gpu_units) AS BIGINT) AS "gpuUnits"
          FROM (${money.sql}) w
          WHERE category IN ('idle', 'unallocated') AND COALESCE(reason, '') <> 'between-requests' AND device_id IS NOT NULL
          GROUP BY model, category ORDER BY model, category`,
  });
}

function secondsIn(since: Date, from: Date, until: Date): number {
  return Math.round((until.getTime() - Math.max(since.getTime(), from.getTime())) / 1000);
}

/** One GPU, part of a machine, a machine, several. */
const SIZES = ['gpus = 1', 'gpus BETWEEN 2 AND 7', 'gpus = 8', 'gpus > 8'];

/** How long each team's jobs waited that began in the window, by how many GPUs they asked for: waits that somebody really had. */
export async function teamWaits(
  space: ReadSpace,
  { from, until }: Pick<LedgerWindow, 'from' | 'until'>,
  now: Date,
): Promise<TeamWait[]> {
  const rows = await space.ask<{
    team: string | null;
    jobs: bigint;
    median: bigint;
    p90: bigint;
    medians: readonly (bigint | null)[];
  }>({
    tables: MODEL_TABLES,
    params: { from, until, now },
    sql: `
      WITH life AS (${lifeSql(space.rules)}), wait AS (
        SELECT team, gpus, date_diff('second', submitted_at, held_from) AS seconds FROM life
        WHERE held_from >= $from AND held_from < $until AND submitted_at <= held_from
      )
      SELECT team, count(*) AS jobs, quantile_disc(seconds, 0.5) AS median, quantile_disc(seconds, 0.9) AS p90,
             [${SIZES.map((size) => `quantile_disc(seconds, 0.5) FILTER (WHERE ${size})`).join(', ')}] AS medians
      FROM wait GROUP BY team ORDER BY p90 DESC, jobs DESC, team`,
  });
  return rows.map(({ team, jobs, median, p90, medians }) => ({
    team,
    jobs: Number(jobs),
    medianSeconds: Number(median),
    p90Seconds: Number(p90),
    medianBySize: medians.map((seconds) => (seconds === null ? null : Number(seconds))),
  }));
}
