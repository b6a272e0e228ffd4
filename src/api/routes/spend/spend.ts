import { z } from 'zod';
import { parseDimensions } from '../../../app/filter.ts';
import { parseStep, spend } from '../../../app/spend.ts';
import { moneyWindow } from '../../../app/window.ts';
import { csvLine } from '../../../report/safe-text.ts';
import { shellWord } from '../../../report/shell-word.ts';
import { spendJson } from '../../../report/spend-table.ts';
import { pageOf, Paging, questionOf } from '../../cursor.ts';
import { microsOf } from '../../plain-json.ts';
import { route } from '../../route.ts';
import { AsOf, Filter, Instant, Micros, NoParams, Team, Window } from '../question.ts';
import { filtersOf, scopeFlags } from '../scope.ts';

const Query = z.object({
  window: Window,
  asOf: AsOf,
  by: z.string().default('team').meta({ description: 'What to add up by, separated by commas' }),
  step: z.string().optional().meta({ description: 'One row for each step of time: 1h, 6h, 1d, 7d' }),
  filter: Filter,
  team: Team,
  price: z.enum(['amortised', 'marginal']).default('amortised'),
  ...Paging,
});

/** One row of sums; beside the money it has one field for each dimension of `by`, null where nobody can say. */
const Row = z
  .object({
    step: Instant.optional(),
    costUsdMicros: Micros.nullable(),
    heldSeconds: z.number(),
    unpricedSeconds: z.number(),
  })
  .catchall(z.union([z.string(), z.number(), z.null()]));

const Spend = z.object({
  window: z.object({ from: Instant, until: Instant }),
  price: z.enum(['amortised', 'marginal']),
  rows: z.array(Row),
  totalUsdMicros: Micros.nullable().meta({ description: 'Of all rows, also those of other pages' }),
  nextCursor: z.string().optional().meta({ description: 'Where there are more rows: `cursor` of the next page' }),
});
export type SpendReply = z.infer<typeof Spend>;

export const spendRoute = route({
  path: '/api/v1/spend',
  name: 'getSpend',
  summary: 'What was paid in a window, by whom or for what',
  page: 'spend',
  access: { role: 'viewer', sees: 'team' },
  query: Query,
  params: NoParams,
  reply: Spend,
  command: ({ window, by, step, price, ...scope }) =>
    [
      `bursar spend --by ${shellWord(by)} --window ${shellWord(window)}`,
      ...(step === undefined ? [] : [`--step ${shellWord(step)}`]),
      ...(price === 'amortised' ? [] : ['--price marginal']),
    ].join(' ') + scopeFlags(scope),
  answer: async ({ space, now, clock, query }) => {
    const { by, step, price, window } = query;
    const parsed = parseDimensions(by);
    const answer = await spend(space, {
      by: parsed,
      filters: filtersOf(query),
      price,
      window: moneyWindow(window, now, clock, space.scope),
      ...(step !== undefined && { stepSeconds: parseStep(step) }),
    });
    const reply = spendJson(answer) as SpendReply;
    const keyOf = (row: SpendReply['rows'][number]): string =>
      JSON.stringify([row.step ?? null, ...parsed.map(({ name }) => row[name] ?? null)]);
    const { rows, nextCursor } = pageOf(reply.rows, {
      limit: query.limit,
      cursor: query.cursor,
      question: questionOf(query),
      keyOf,
    });
    return { ...reply, rows: [...rows], ...(nextCursor !== null && { nextCursor }) };
  },
  csv: ({ rows }) => {
    const names = Object.keys(rows[0] ?? { costUsdMicros: null, heldSeconds: null, unpricedSeconds: null });
    return [
      csvLine(names),
      ...rows.map((row) => csvLine(names.map((name) => (name === 'costUsdMicros' ? microsOf(row[name]) : row[name])))),
    ].join('');
  },
});
