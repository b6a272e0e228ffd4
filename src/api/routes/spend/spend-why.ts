import { z } from 'zod';
import { why } from '../../../app/breakdown/why.ts';
import { moneyWindow } from '../../../app/window.ts';
import { whyJson } from '../../../report/breakdown/why-json.ts';
import { csvLine } from '../../../report/safe-text.ts';
import { shellWord } from '../../../report/shell-word.ts';
import { microsOf } from '../../plain-json.ts';
import { route } from '../../route.ts';
import { AsOf, Filter, Micros, NoParams, Span, Sum, Team, Window } from '../question.ts';
import { filtersOf, scopeFlags } from '../scope.ts';

const RatedSum = Sum.extend({
  usdMicrosPerGpuHour: Micros.nullable().meta({ description: 'The mean of the time that has a price' }),
});
const Text = z.string().nullable();

const Why = z.object({
  window: Span,
  filter: z.string(),
  figure: RatedSum,
  rows: z.array(
    RatedSum.extend({
      subject: z.string(),
      name: Text,
      team: Text,
      user: Text,
      jobId: Text,
      nodeId: Text,
      deviceId: Text,
      nodes: z.number().int(),
      devices: z.number().int(),
      model: Text,
      firstDay: z.string(),
      lastDay: z.string(),
      days: z.number().int(),
    }),
  ),
  others: RatedSum.extend({ subjects: z.number().int() }).nullable(),
  sharedUsdMicros: Micros.meta({ description: 'What it has of shared pools, whose rows are with their pool' }),
  differenceUsdMicros: Micros.meta({ description: 'Figure less rows, others and shared; 0 where all is well' }),
  rules: z.array(RatedSum.extend({ rule: Text })),
  categories: z.array(RatedSum.extend({ category: z.string(), reason: Text })),
  rates: z.array(RatedSum.extend({ model: Text, purchase: Text, basis: Text, bill: Text })),
});
export type WhyReply = z.infer<typeof Why>;

export const spendWhyRoute = route({
  path: '/api/v1/spend/why',
  name: 'getWhy',
  summary: 'Why this much? The rows that add up to a figure, the rules that decided and the rate',
  page: 'spend',
  access: { role: 'viewer', sees: 'team' },
  query: z.object({ window: Window, asOf: AsOf, filter: Filter, team: Team }),
  params: NoParams,
  reply: Why,
  command: ({ window, ...scope }) => `bursar ledger explain --window ${shellWord(window)}${scopeFlags(scope)}`,
  answer: async ({ space, now, clock, query }) => {
    const answer = await why(space, {
      window: moneyWindow(query.window, now, clock, space.scope),
      filters: filtersOf(query),
    });
    return whyJson(answer) as WhyReply;
  },
  csv: ({ rows, others }) => {
    const names = ['subject', 'name', 'team', 'user', 'model', 'usdMicros', 'gpuSeconds', 'usdMicrosPerGpuHour'];
    const rest = others === null ? [] : [{ ...others, subject: `${others.subjects} others` }];
    const lines = [...rows, ...rest].map((row) => {
      const of = 'name' in row ? [row.name, row.team, row.user, row.model] : [null, null, null, null];
      return csvLine([row.subject, ...of, microsOf(row.usdMicros), row.gpuSeconds, microsOf(row.usdMicrosPerGpuHour)]);
    });
    return [csvLine(names), ...lines].join('');
  },
});
