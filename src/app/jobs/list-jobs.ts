import { OperationError } from '../../facts/operation-error.ts';
import type { ListedJob } from '../../report/job-list.ts';
import type { Filter } from '../filter.ts';
import { filterSql } from '../filter.ts';
import { subjectRows } from '../waste/subject-rows.ts';
import { daysOf } from '../window.ts';
import type { LedgerWindow } from '../window.ts';
import type { ReadSpace } from '../workspace.ts';

export const JOB_SORTS = ['cost', 'waste', 'recent'] as const;
export type JobSort = (typeof JOB_SORTS)[number];

export interface JobsRequest {
  readonly window: LedgerWindow;
  /** Ends after it are not known yet. */
  readonly now: Date;
  readonly search: string | undefined;
  readonly team: string | undefined;
  readonly filters: readonly Filter[];
  readonly sort: JobSort;
  readonly limit: number;
  /** The last job of the page before, as `source/id`. */
  readonly after: string | undefined;
}

interface Totals {
  readonly jobs: bigint;
  readonly allUsdMicros: bigint | null;
  readonly allWasteUsdMicros: bigint | null;
  readonly allWasteUnpricedUnits: bigint;
  readonly allComputingUsdMicros: bigint | null;
  readonly allUnits: bigint;
  readonly allUnpricedUnits: bigint;
}

export interface JobList {
  readonly rows: readonly ListedJob[];
  readonly totals: Totals;
  /** The last job of this page where there are more, as `source/id`. */
  readonly lastKey: string | undefined;
}

const NOTHING: Totals = {
  jobs: 0n,
  allUsdMicros: 0n,
  allWasteUsdMicros: 0n,
  allWasteUnpricedUnits: 0n,
  allComputingUsdMicros: 0n,
  allUnits: 0n,
  allUnpricedUnits: 0n,
};

/** What a page is ordered by: the greatest first, then by name, so that pages neither skip nor repeat. */
const RANKS: Readonly<Record<JobSort, string>> = {
  cost: 'COALESCE(usd_micros, -1)',
  waste: 'COALESCE(waste_micros, -1)',
  recent: "date_diff('second', TIMESTAMP '1970-01-01 00:00:00', COALESCE(held_from, last_day))",
};

/**
 * Question: which jobs held GPUs in a window, what did each cost, and what came of it?
 *
 * Reads: subject_day, or waterfall for hours of a day; ownership; allocation.
 */
export async function listJobs(space: ReadSpace, request: JobsRequest): Promise<JobList> {
  const { window, search, team, filters, limit, after } = request;
  if (window.days.length === 0) return { rows: [], totals: NOTHING, lastKey: undefined };
  const money = subjectRows(window);
  const ofEntries = filters.filter(({ dimension }) => dimension.entryColumn.startsWith('w.'));
  const ofOwners = filters.filter(({ dimension }) => dimension.entryColumn.startsWith('o.'));
  const entry = filterSql(ofEntries, ({ entryColumn }) => `r.${entryColumn.slice(2)}`);
  const owner = filterSql(ofOwners, ({ entryColumn }) => entryColumn);
  const rows = await space.ask<ListedJob & Totals & { key: string }>({
    tables: [...money.tables, { table: 'ownership', ...daysOf(window) }, { table: 'allocation' }],
    params: {
      ...money.params,
      ...entry.params,
      ...renamed(owner.params),
      now: request.now,
      windowFrom: window.from,
      search: likeOf(search ?? ''),
      team: team ?? '',
      after: after ?? '',
    },
    sql: `
      WITH ${paidSql(money.sql, entry.sql)}, ${LIFE_SQL}, named AS (
        SELECT p.*, o.workload_name AS name, o.team, o.user_name, l.held_from, l.held_until, l.outcome, l.gpus
        FROM paid p
        LEFT JOIN ownership o ON o.day = p.last_day AND o.subject = p.last_subject
        LEFT JOIN life l ON l.source = p.source AND l.allocation_id = p.allocation_id
        WHERE ${owner.sql.replaceAll('$filter', '$owner')} AND ${team === undefined ? 'TRUE' : 'o.team = $team'}
      ), found AS (
        SELECT named.*, ${RANKS[request.sort]} AS rank_no, source || '/' || allocation_id AS job_key FROM named
        WHERE ${search === undefined || search.trim() === '' ? 'TRUE' : SEARCH_SQL}
      ), counted AS (
        SELECT found.*, count(*) OVER () AS jobs, CAST(sum(usd_micros) OVER () AS BIGINT) AS all_micros,
               CAST(sum(waste_micros) OVER () AS BIGINT) AS all_waste, CAST(sum(waste_unpriced) OVER () AS BIGINT) AS all_waste_unpriced,
               CAST(sum(computing_micros) OVER () AS BIGINT) AS all_computing,
               CAST(sum(gpu_units) OVER () AS BIGINT) AS all_units, CAST(sum(unpriced_units) OVER () AS BIGINT) AS all_unpriced
        FROM found
      )
      SELECT source, allocation_id AS "allocationId", name, team, user_name AS "user", cluster, model, nodes, node, gpus,
             held_from AS "heldFrom", held_until AS "heldUntil", outcome, usd_micros AS "usdMicros", waste_micros AS "wasteUsdMicros",
             waste_unpriced AS "wasteUnpricedUnits", all_waste_unpriced AS "allWasteUnpricedUnits",
             gpu_units AS "gpuUnits", computing_units AS "computingUnits", unknown_units AS "unknownUnits",
             unpriced_units AS "unpricedUnits", jobs, all_micros AS "allUsdMicros", all_waste AS "allWasteUsdMicros",
             all_computing AS "allComputingUsdMicros", all_units AS "allUnits", all_unpriced AS "allUnpricedUnits",
             job_key AS key
      FROM counted
      WHERE ${after === undefined ? 'TRUE' : FROM_CURSOR_SQL}
      ORDER BY rank_no DESC, job_key LIMIT ${limit + 2}`,
  });
  // Figures move while somebody reads: a page goes on after the job it ended with, wherever that stands now.
  if (after !== undefined && rows[0]?.key !== after) throw rowGone();
  const begin = after === undefined ? 0 : 1;
  const shown = rows.slice(begin, begin + limit);
  return {
    rows: shown,
    totals: rows[0] ?? NOTHING,
    lastKey: rows.length > begin + limit ? shown.at(-1)?.key : undefined,
  };
}

const WASTED = "'idle', 'starved', 'lost'";
const FROM_CURSOR_SQL = `EXISTS (SELECT 1 FROM found f WHERE f.job_key = $after
        AND (counted.rank_no < f.rank_no OR (counted.rank_no = f.rank_no AND counted.job_key >= f.job_key)))`;

/** Money and GPU time of each job; what it ran on last stands for where it ran. */
function paidSql(money: string, filter: string): string {
  const sum = (column: string, categories: string): string =>
    `CAST(COALESCE(sum(r.${column}) FILTER (WHERE r.category IN (${categories})), 0) AS BIGINT)`;
  // Nothing of it is 0; something of it without any price is not known.
  const moneyOf = (categories: string): string =>
    `CASE WHEN ${sum('unpriced_units', categories)} > 0 AND ${sum('usd_micros', categories)} = 0 THEN NULL
                    ELSE ${sum('usd_micros', categories)} END`;
  return `paid AS (
        SELECT r.source, r.allocation_id, max(r.day) AS last_day, max_by(r.subject, r.day) AS last_subject, min(r.cluster) AS cluster,
               min(r.model) AS model, count(DISTINCT r.node_id) AS nodes, min(r.node_id) AS node,
               array_join(array_agg(DISTINCT r.node_id), ' ') AS node_names, array_join(array_agg(DISTINCT r.model), ' ') AS model_names,
               CAST(sum(r.usd_micros) AS BIGINT) AS usd_micros, ${moneyOf(WASTED)} AS waste_micros,
               ${sum('unpriced_units', WASTED)} AS waste_unpriced, ${moneyOf("'computing'")} AS computing_micros, CAST(sum(r.gpu_units) AS BIGINT) AS gpu_units,
               ${sum('gpu_units', "'computing'")} AS computing_units, ${sum('gpu_units', "'unknown'")} AS unknown_units,
               CAST(sum(r.unpriced_units) AS BIGINT) AS unpriced_units
        FROM (${money}) r WHERE r.allocation_id IS NOT NULL AND ${filter} GROUP BY r.source, r.allocation_id)`;
}

const SECONDS = (time: string): string => `date_diff('second', TIMESTAMP '1970-01-01 00:00:00', ${time})`;

/**
 * When a job had its first and last GPU, what became of its last life, and how many GPUs a life held at one time: those that come later
 * count with those that are still held, one that replaces another does not.
 */
const LIFE_SQL = `lived AS (
        SELECT source, allocation_id, attempt, held_from, held_until, outcome, gpu_count, ${SECONDS('held_from')} AS from_s,
               ${SECONDS('CASE WHEN held_until <= $now THEN held_until ELSE $now END')} AS until_s,
               max(held_from) OVER (PARTITION BY source, allocation_id) AS last_from
        FROM allocation WHERE held_from < $now AND (held_until IS NULL OR held_until > $windowFrom)
      ), change AS (
        SELECT source, allocation_id, attempt, from_s AS at_s, gpu_count AS gpus FROM lived
        UNION ALL
        SELECT source, allocation_id, attempt, CASE WHEN until_s > from_s THEN until_s ELSE from_s + 1 END, -gpu_count FROM lived
      ), peak AS (
        SELECT source, allocation_id, CAST(max(gpus) AS BIGINT) AS gpus FROM (
          SELECT source, allocation_id, sum(gpus) OVER (PARTITION BY source, allocation_id, attempt ORDER BY at_s, gpus
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS gpus FROM change
        ) held GROUP BY source, allocation_id
      ), life AS (
        SELECT a.source, a.allocation_id, min(a.held_from) AS held_from,
               CASE WHEN count(CASE WHEN a.held_until <= $now THEN 1 END) = count(*) THEN max(a.held_until) END AS held_until,
               CASE WHEN count(CASE WHEN a.held_until <= $now THEN 1 END) = count(*) THEN min(CASE WHEN a.held_from = a.last_from THEN a.outcome END) END AS outcome,
               max(p.gpus) AS gpus
        FROM lived a JOIN peak p ON a.source = p.source AND a.allocation_id = p.allocation_id
        GROUP BY a.source, a.allocation_id)`;

const SEARCH_SQL = [
  'allocation_id',
  "source || '/' || allocation_id",
  'name',
  'user_name',
  'team',
  'node_names',
  'model_names',
  'cluster',
]
  .map((column) => `lower(${column}) LIKE $search ESCAPE '!'`)
  .join(' OR ')
  .replace(/^(.*)$/s, '($1)');

/** What people type is text to be found, no pattern. */
function likeOf(text: string): string {
  return `%${text.trim().toLowerCase().replaceAll(/[!%_]/g, '!$&')}%`;
}

/** Both kinds of filter count theirs from 0. */
function renamed<Value>(params: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name.replace('filter', 'owner'), value]));
}

function rowGone(): OperationError {
  return new OperationError('cursor-gone', 'the list has changed, and the row of this cursor is gone', {
    hint: 'Begin anew without cursor.',
  });
}
