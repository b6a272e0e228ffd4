import { z } from 'zod';
import { overview } from '../../../app/overview/overview.ts';
import { moneyWindow } from '../../../app/window.ts';
import { overviewJson } from '../../../report/overview/overview-json.ts';
import { csvLine } from '../../../report/safe-text.ts';
import { shellWord } from '../../../report/shell-word.ts';
import { microsOf } from '../../plain-json.ts';
import { route } from '../../route.ts';
import { AsOf, Before, Instant, Micros, NoParams, Span, Team, Window } from '../question.ts';
import { scopeFlags } from '../scope.ts';

const Permille = z.number().nullable();
const OverviewSum = z.object({
  paidUsdMicros: Micros.nullable(),
  computedPermille: Permille.meta({ description: 'Computing ÷ (paid − beside the GPU − unknown)' }),
  unknownPermille: Permille.meta({ description: 'Of what was paid' }),
  unattributedPermille: Permille.meta({ description: 'Of what was paid; null where one team is asked about' }),
  gpuSeconds: z.number(),
  unpricedSeconds: z.number(),
  steps: z.array(
    z.object({
      from: Instant,
      paidUsdMicros: Micros.nullable(),
      computedPermille: Permille,
      isEstimated: z.boolean().meta({ description: 'Something of it is estimated: its bill has not come yet' }),
    }),
  ),
});

const Overview = OverviewSum.extend({
  asOf: Instant,
  asOfBy: z.enum(['asked', 'newest fact', 'clock']),
  isDemo: z.boolean(),
  team: z.string().nullable(),
  window: Span.extend({ ledgerDays: z.number().int() }),
  before: Before.extend({ sum: OverviewSum.optional() }),
  stepSeconds: z.number().int(),
  basisUsdMicros: z.record(z.string(), Micros),
  books: z.object({
    bills: z.number().int(),
    differenceUsdMicros: Micros.nullable().meta({
      description: 'Ledger against bills; null where nothing could be compared',
    }),
    notPosted: z.number().int(),
    staleRows: z.number().int(),
    billedUntil: z.string().nullable(),
  }),
  sources: z.array(
    z.object({
      name: z.string(),
      kind: z.string(),
      state: z.enum(['ok', 'late', 'failing', 'never']),
      coveredUntil: Instant.nullable(),
    }),
  ),
  verdict: z
    .object({
      grade: z.enum(['fine', 'mostly-fine', 'not-fine', 'not-known']),
      inputs: z.array(
        z.object({
          name: z.enum(['computed', 'trend', 'unknown', 'unattributed', 'unpriced', 'books', 'sources']),
          state: z.enum(['good', 'warn', 'bad', 'none']),
          words: z.string(),
          rule: z.string(),
        }),
      ),
    })
    .meta({ description: 'By the rule of docs/FINE.md' }),
});
export type OverviewReply = z.infer<typeof Overview>;

export const overviewRoute = route({
  path: '/api/v1/overview',
  name: 'getOverview',
  summary: 'Are we fine? What was paid and what of it computed, against the window before',
  page: 'overview',
  access: { role: 'viewer', sees: 'team' },
  query: z.object({ window: Window, asOf: AsOf, team: Team }),
  params: NoParams,
  reply: Overview,
  command: ({ window, ...scope }) => `bursar waste --window ${shellWord(window)}${scopeFlags(scope)}`,
  answer: async ({ space, now, clock, query }) => {
    const answer = await overview(space, {
      window: moneyWindow(query.window, now, clock, space.scope),
      now,
      clock,
      ...(query.team !== undefined && { team: query.team }),
    });
    return overviewJson(answer) as OverviewReply;
  },
  csv: ({ steps }) => {
    const lines = steps.map(({ from, paidUsdMicros, computedPermille, isEstimated }) =>
      csvLine([from, microsOf(paidUsdMicros), computedPermille, isEstimated ? 'estimated' : '']),
    );
    return [csvLine(['from', 'paidUsdMicros', 'computedPermille', 'basis']), ...lines].join('');
  },
});
