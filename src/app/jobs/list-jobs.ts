import { OperationError } from '../../facts/operation-error.ts';
import type { JobTotals, ListedJob } from '../../report/job-list.ts';
import type { Filter } from '../filter.ts';
import { filterSql } from '../filter.ts';
import { subjectRows } from '../waste/subject-rows.ts';
import { daysOf } from '../window.ts';
import type { LedgerWindow } from '../window.ts';
import type { ReadSpace } from '../workspace.ts';

export const JOB_SORTS = ['cost', 'waste', 'recent'] as const;
/** So many where nobody says how many. */
export const JOBS_SHOWN = 50;
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
  /** The last job of the page before: its `lastKey`. */
  readonly after: string | undefined;
}

export interface JobList {
  readonly rows: readonly ListedJob[];
  readonly totals: JobTotals;
  /** The last job of this page where there are more: `source/id`, or the hash of a long one. */
  readonly lastKey: string | undefined;
}

const NOTHING: JobTotals = {
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
  const isSearched = search !== undefined && search.trim() !== '';
  const rows = await space.ask<ListedJob & JobTotals & { key: string }>({
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
      WITH ${paidSql(money.sql, entry.sql, isSearched)}, owned AS (
        SELECT p.*, ${OWNER_COLUMNS} FROM paid p LEFT JOIN ownership o ON o.day = p.last_day AND o.subject = p.last_subject
        WHERE ${owner.sql.replaceAll('$filter', '$owner')} AND ${team === undefined ? 'TRUE' : 'o.team = $team'}
      ), found AS (
        SELECT owned.*, ${RANKS[request.sort]} AS rank_no, owned.source || '/' || owned.allocation_id AS job_key
        FROM owned ${request.sort === 'recent' ? BEGUN_SQL : ''} WHERE ${isSearched ? SEARCH_SQL : 'TRUE'}
      ), totals AS (
        SELECT count(*) AS jobs, CAST(sum(usd_micros) AS BIGINT) AS all_micros, CAST(sum(waste_micros) AS BIGINT) AS all_waste,
               CAST(sum(waste_unpriced) AS BIGINT) AS all_waste_unpriced, CAST(sum(computing_micros) AS BIGINT) AS all_computing,
               CAST(sum(gpu_units) AS BIGINT) AS all_units, CAST(sum(unpriced_units) AS BIGINT) AS all_unpriced
        FROM found
      ), page AS (
        SELECT * FROM found WHERE ${after === undefined ? 'TRUE' : FROM_CURSOR_SQL} ORDER BY rank_no DESC, job_key LIMIT ${limit + 2}
      ), ${placedSql(money.sql, entry.sql)}, ${LIFE_SQL}
      SELECT p.source, p.allocation_id AS "allocationId", p.name, p.team, p.user_name AS "user", w.cluster, w.model, w.nodes, w.node, l.gpus,
             l.held_from AS "heldFrom", l.held_until AS "heldUntil", l.outcome, p.usd_micros AS "usdMicros", p.waste_micros AS "wasteUsdMicros",
             p.waste_unpriced AS "wasteUnpricedUnits", t.all_waste_unpriced AS "allWasteUnpricedUnits",
             p.gpu_units AS "gpuUnits", p.computing_units AS "computingUnits", p.unknown_units AS "unknownUnits",
             p.unpriced_units AS "unpricedUnits", t.jobs, t.all_micros AS "allUsdMicros", t.all_waste AS "allWasteUsdMicros",
             t.all_computing AS "allComputingUsdMicros", t.all_units AS "allUnits", t.all_unpriced AS "allUnpricedUnits",
             ${keySql('p.job_key')} AS key
      FROM page p CROSS JOIN totals t LEFT JOIN placed w ON w.source = p.source AND w.allocation_id = p.allocation_id
      LEFT JOIN life l ON l.source = p.source AND l.allocation_id = p.allocation_id
      ORDER BY p.rank_no DESC, p.job_key`,
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
const OWNER_COLUMNS = 'o.workload_name AS name, o.team, o.user_name';
/** Ids may be of any length, and a cursor may not: no hash has a slash, so that none is another's key. */
const keySql = (key: string): string => `CASE WHEN length(${key}) > 100 THEN sha256(${key}) ELSE ${key} END`;
const FROM_CURSOR_SQL = `EXISTS (SELECT 1 FROM found f WHERE ${keySql('f.job_key')} = $after
        AND (found.rank_no < f.rank_no OR (found.rank_no = f.rank_no AND found.job_key >= f.job_key)))`;

/** When each job had its first GPU: only who asks for the newest needs it of all of them. */
const BEGUN_SQL = `LEFT JOIN (
          SELECT source, allocation_id, min(held_from) AS held_from FROM allocation
          WHERE held_from < $now AND (held_until IS NULL OR held_until > $windowFrom) GROUP BY source, allocation_id
        ) begun ON begun.source = owned.source AND begun.allocation_id = owned.allocation_id`;

/** Money and GPU time of each job, and where somebody searches whether a machine or model of it is meant. */
function paidSql(money: string, filter: string, isSearched: boolean): string {
  const sum = (column: string, categories: string): string =>
    `CAST(COALESCE(sum(r.${column}) FILTER (WHERE r.category IN (${categories})), 0) AS BIGINT)`;
  // Nothing of it is 0; something of it without any price is not known.
  const moneyOf = (categories: string): string =>
    `CASE WHEN ${sum('unpriced_units', categories)} > 0 AND ${sum('usd_micros', categories)} = 0 THEN NULL
                    ELSE ${sum('usd_micros', categories)} END`;
  const placed = ['r.node_id', 'r.model', 'r.cluster'].map((column) => `lower(${column}) ${LIKE_SQL}`).join(' OR ');
  return `paid AS (
        SELECT r.source, r.allocation_id, max(r.day) AS last_day, max_by(r.subject, r.day) AS last_subject,
               ${isSearched ? `COALESCE(bool_or(${placed}), FALSE) AS is_placed,` : ''}
               CAST(sum(r.usd_micros) AS BIGINT) AS usd_micros, ${moneyOf(WASTED)} AS waste_micros,
               ${sum('unpriced_units', WASTED)} AS waste_unpriced, ${moneyOf("'computing'")} AS computing_micros, CAST(sum(r.gpu_units) AS BIGINT) AS gpu_units,
               ${sum('gpu_units', "'computing'")} AS computing_units, ${sum('gpu_units', "'unknown'")} AS unknown_units,
               CAST(sum(r.unpriced_units) AS BIGINT) AS unpriced_units
        FROM (${money}) r WHERE r.allocation_id IS NOT NULL AND ${filter} GROUP BY r.source, r.allocation_id)`;
}

/** Where the jobs of the page ran: of many thousand that were found only those are looked up. */
function placedSql(money: string, filter: string): string {
  return `placed AS (
        SELECT r.source, r.allocation_id, min(r.cluster) AS cluster, min(r.model) AS model, count(DISTINCT r.node_id) AS nodes, min(r.node_id) AS node
        FROM (${money}) r WHERE ${OF_PAGE('r')} AND ${filter} GROUP BY r.source, r.allocation_id)`;
}

const OF_PAGE = (rows: string): string =>
  `EXISTS (SELECT 1 FROM page p WHERE p.source = ${rows}.source AND p.allocation_id = ${rows}.allocation_id)`;

const SECONDS = (time: string): string => `date_diff('second', TIMESTAMP '1970-01-01 00:00:00', ${time})`;

/**
 * When a job had its first and last GPU, what became of its last life, and how many GPUs a life held at one time: those that come later
 * count with those that are still held, one that replaces another does not.
 */
const LIFE_SQL = `lived AS (
        SELECT source, allocation_id, attempt, held_from, held_until, outcome, gpu_count, ${SECONDS('held_from')} AS from_s,
               ${SECONDS('CASE WHEN held_until <= $now THEN held_until ELSE $now END')} AS until_s,
               max(held_from) OVER (PARTITION BY source, allocation_id) AS last_from
        FROM allocation a WHERE held_from < $now AND (held_until IS NULL OR held_until > $windowFrom) AND ${OF_PAGE('a')}
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

const LIKE_SQL = "LIKE $search ESCAPE '!'";
const SEARCH_SQL = `(is_placed OR ${[
  'owned.allocation_id',
  "owned.source || '/' || owned.allocation_id",
  'name',
  'user_name',
  'team',
]
  .map((column) => `lower(${column}) ${LIKE_SQL}`)
  .join(' OR ')})`;

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
