import { z } from 'zod';
import { parseFilters } from '../../../app/filter.ts';
import { JOB_SORTS, JOBS_SHOWN, listJobs } from '../../../app/jobs/list-jobs.ts';
import { moneyWindow } from '../../../app/window.ts';
import { isoTime } from '../../../report/figures.ts';
import { csvLine } from '../../../report/safe-text.ts';
import { shellWord } from '../../../report/shell-word.ts';
import { Paging, questionOf, readCursor, writeCursor } from '../../cursor.ts';
import { route } from '../../route.ts';
import { jobTotalJson, listedJobJson } from '../../../report/job-list.ts';
import { microsOf } from '../../plain-json.ts';
import { scopeFlags } from '../scope.ts';
import { AsOf, Filter, Instant, Micros, NoParams, Team, Window } from '../question.ts';

const Query = z.object({
  window: Window,
  asOf: AsOf,
  filter: Filter,
  team: Team,
  search: z
    .string()
    .max(200)
    .optional()
    .meta({ description: 'Part of an id, name, user, team, cluster, node or GPU model' }),
  sort: z.enum(JOB_SORTS).default('cost'),
  ...Paging,
  limit: Paging.limit.default(JOBS_SHOWN),
});

const Job = z.object({
  source: z.string(),
  allocationId: z.string(),
  job: z.string().nullable(),
  team: z.string().nullable(),
  user: z.string().nullable(),
  cluster: z.string().nullable(),
  model: z.string().nullable(),
  gpus: z.number().nullable().meta({ description: 'Held at once, at most' }),
  nodes: z.number(),
  node: z.string().nullable().meta({ description: 'The first of its machines' }),
  heldFrom: Instant.nullable(),
  heldUntil: Instant.nullable().meta({ description: 'Null while it holds anything' }),
  outcome: z.string().nullable(),
  costUsdMicros: Micros.nullable(),
  wasteUsdMicros: Micros.nullable().meta({ description: 'Idle, starved and lost; null where none of it has a price' }),
  wasteUnpricedSeconds: z.number(),
  gpuSeconds: z.number(),
  unpricedSeconds: z.number(),
  computedPermille: z.number().nullable().meta({ description: 'Of its GPU time that is known' }),
});

const Jobs = z.object({
  window: z.object({ from: Instant, until: Instant }),
  sort: z.enum(JOB_SORTS),
  total: z.object({
    jobs: z.number(),
    costUsdMicros: Micros.nullable(),
    computedUsdMicros: Micros.nullable(),
    wasteUsdMicros: Micros.nullable(),
    wasteUnpricedSeconds: z.number(),
    gpuSeconds: z.number(),
    unpricedSeconds: z.number(),
  }),
  rows: z.array(Job),
  nextCursor: z.string().optional().meta({ description: 'Where there are more rows: `cursor` of the next page' }),
});
export type JobsReply = z.infer<typeof Jobs>;

export const jobsRoute = route({
  path: '/api/v1/jobs',
  name: 'listJobs',
  summary: 'Which jobs held GPUs in a window, what each cost and what came of it',
  page: 'jobs',
  access: { role: 'viewer', sees: 'team' },
  query: Query,
  params: NoParams,
  reply: Jobs,
  command: (query) => {
    const { window, filter, team, search, sort, limit, cursor } = query;
    return [
      `bursar jobs --window ${shellWord(window)}${scopeFlags({ filter, team })}`,
      ...(search === undefined || search.trim() === '' ? [] : [`--search ${shellWord(search)}`]),
      ...(sort === 'cost' ? [] : [`--sort ${sort}`]),
      ...(limit === JOBS_SHOWN ? [] : [`--top ${limit}`]),
      ...(cursor === undefined ? [] : [`--after ${shellWord(readCursor(cursor, questionOf(query)).after)}`]),
    ].join(' ');
  },
  answer: async ({ space, now, clock, query }) => {
    const window = moneyWindow(query.window, now, clock, space.scope);
    const question = questionOf(query);
    const { rows, totals, lastKey } = await listJobs(space, {
      window,
      now: now.at,
      search: query.search,
      team: query.team,
      filters: parseFilters(query.filter === undefined ? [] : [query.filter]),
      sort: query.sort,
      limit: query.limit,
      after: query.cursor === undefined ? undefined : readCursor(query.cursor, question).after,
    });
    const nextCursor = lastKey === undefined ? undefined : writeCursor(question, lastKey);
    return {
      window: { from: isoTime(window.from), until: isoTime(window.until) },
      sort: query.sort,
      total: jobTotalJson(totals),
      rows: rows.map(listedJobJson),
      ...(nextCursor !== undefined && { nextCursor }),
    };
  },
  csv: ({ rows }) => {
    const lines = rows.map((row) =>
      csvLine(COLUMNS.map((column) => (column.endsWith('UsdMicros') ? microsOf(row[column]) : row[column]))),
    );
    return [csvLine(COLUMNS), ...lines].join('');
  },
});

const COLUMNS = [
  'source',
  'allocationId',
  'job',
  'team',
  'user',
  'cluster',
  'model',
  'gpus',
  'node',
  'heldFrom',
  'heldUntil',
  'outcome',
  'costUsdMicros',
  'wasteUsdMicros',
  'gpuSeconds',
  'unpricedSeconds',
  'computedPermille',
] as const;
