import { z } from 'zod';
import { breakdown } from '../../../app/breakdown/breakdown.ts';
import { parseDimensions } from '../../../app/filter.ts';
import { parseStep } from '../../../app/spend.ts';
import { moneyWindow } from '../../../app/window.ts';
import { breakdownJson } from '../../../report/breakdown/breakdown-json.ts';
import { csvLine } from '../../../report/safe-text.ts';
import { shellWord } from '../../../report/shell-word.ts';
import { microsOf } from '../../plain-json.ts';
import { route } from '../../route.ts';
import { AsOf, Before, Filter, Instant, Micros, NoParams, Span, Sum, Team, Window } from '../question.ts';
import { filtersOf, scopeFlags } from '../scope.ts';

const Steps = z.object({
  usdMicros: z.array(Micros.nullable()),
  gpuSeconds: z.array(z.number().nullable()).meta({ description: 'Null where there are no facts' }),
});
const GroupSum = Sum.extend({
  beforeUsdMicros: Micros.nullable().meta({ description: 'In the window before; null where it is not known' }),
  computedPermille: z.number().nullable().meta({ description: 'Computing ÷ (paid − beside the GPU − unknown)' }),
  computedBeforePermille: z.number().nullable(),
  categories: z.record(z.string(), Sum),
  steps: Steps.meta({ description: 'One for each of `steps`' }),
});

type GroupSumReply = z.infer<typeof GroupSum>;

const Breakdown = z.object({
  by: z.array(z.string()),
  window: Span,
  before: Before,
  price: z.enum(['amortised', 'marginal']),
  filter: z.string(),
  stepSeconds: z.number().int(),
  steps: z.array(z.object({ from: Instant, isEstimated: z.boolean() })),
  stepsBefore: Steps.meta({ description: 'All of it, in the window before; empty where that is not known' }),
  rows: z.array(GroupSum.extend({ values: z.record(z.string(), z.string().nullable()) })),
  others: GroupSum.extend({ groups: z.number().int() }).nullable(),
  total: GroupSum,
});
export type BreakdownReply = z.infer<typeof Breakdown>;

export const spendBreakdownRoute = route({
  path: '/api/v1/spend/breakdown',
  name: 'getSpendBreakdown',
  summary: 'What each group was paid for: against before, where it went, and step by step',
  page: 'spend',
  access: { role: 'viewer', sees: 'team' },
  query: z.object({
    window: Window,
    asOf: AsOf,
    by: z.string().default('team').meta({ description: 'What to add up by, separated by commas' }),
    step: z.string().default('1d').meta({ description: 'The length of a step: 1h, 6h, 1d, 7d' }),
    filter: Filter,
    team: Team,
    price: z.enum(['amortised', 'marginal']).default('amortised'),
    top: z.coerce.number().int().min(1).max(500).default(40).meta({ description: 'So many groups each by itself' }),
  }),
  params: NoParams,
  reply: Breakdown,
  command: ({ window, by, price, ...scope }) =>
    `bursar spend --by ${shellWord(by)} --window ${shellWord(window)}` +
    `${price === 'amortised' ? '' : ' --price marginal'}${scopeFlags(scope)}`,
  answer: async ({ space, now, clock, query }) => {
    const { window, by, step, price, top } = query;
    const answer = await breakdown(space, {
      by: parseDimensions(by),
      window: moneyWindow(window, now, clock, space.scope),
      now,
      filters: filtersOf(query),
      stepSeconds: parseStep(step),
      price,
      groupsMax: top,
    });
    return breakdownJson(answer) as BreakdownReply;
  },
  csv: ({ by, rows, others }) => {
    const measures = ['usdMicros', 'beforeUsdMicros', 'computedPermille', 'gpuSeconds', 'unpricedSeconds', 'groups'];
    const lineOf = (names: readonly (string | null | undefined)[], sum: GroupSumReply, groups: number): string =>
      csvLine([
        ...names,
        microsOf(sum.usdMicros),
        microsOf(sum.beforeUsdMicros),
        sum.computedPermille,
        sum.gpuSeconds,
        sum.unpricedSeconds,
        groups,
      ]);
    return [
      csvLine([...by, ...measures]),
      ...rows.map(({ values, ...sum }) =>
        lineOf(
          by.map((name) => values[name]),
          sum,
          1,
        ),
      ),
      // With them the lines add up to the total; `groups` says how many they are.
      ...(others === null
        ? []
        : [
            lineOf(
              by.map(() => '(others)'),
              others,
              others.groups,
            ),
          ]),
    ].join('');
  },
});
