import { z } from 'zod';
import { categoryNamed, parseDimensions } from '../../../app/filter.ts';
import { waste } from '../../../app/waste/waste.ts';
import { moneyWindow } from '../../../app/window.ts';
import { csvLine } from '../../../report/safe-text.ts';
import { shellWord } from '../../../report/shell-word.ts';
import { wasteJson } from '../../../report/waste/waste-data.ts';
import { microsOf, plainJson } from '../../plain-json.ts';
import { route } from '../../route.ts';
import { AsOf, Before, Filter, Instant, Micros, NoParams, Span, Sum, Team, Window } from '../question.ts';
import { filtersOf, scopeFlags } from '../scope.ts';

const Named = Sum.catchall(z.union([z.string(), z.number(), z.null()]));
const Waste = z.object({
  asOf: Instant,
  asOfBy: z.enum(['asked', 'newest fact', 'clock']),
  window: Span,
  before: Before,
  filter: z.string(),
  ...Sum.shape,
  computeShare: z.object({
    permille: z.number().nullable(),
    computingUsdMicros: Micros,
    knownUsdMicros: Micros,
    hours: z.object({ permille: z.number().nullable(), computingSeconds: z.number(), knownSeconds: z.number() }),
  }),
  basisUsdMicros: z.record(z.string(), Micros),
  categories: z
    .array(
      Sum.extend({
        category: z.string(),
        before: Sum.nullable(),
        reasons: z.array(Sum.extend({ reason: z.string().nullable() })),
      }),
    )
    .meta({
      description: 'One dollar, one place: they add up to the sum. Of unallocated, the reason spare is on purpose',
    }),
  by: z.array(z.string()),
  groups: z
    .array(z.looseObject({ ...Sum.shape, categories: z.record(z.string(), Sum) }))
    .meta({ description: 'One for each value of `by`, named by fields of its names' }),
  opened: z
    .object({
      category: z.string(),
      byTeam: z.array(Named),
      byClass: z.array(Named),
      subjects: z.number().int(),
      rows: z.array(Named),
    })
    .nullable(),
});
export type WasteReply = z.infer<typeof Waste>;

export const wasteRoute = route({
  path: '/api/v1/waste',
  name: 'getWaste',
  summary: 'Where each dollar of a scope went, and what of that is different from the window before',
  page: 'overview',
  access: { role: 'viewer', sees: 'team' },
  query: z.object({
    window: Window,
    asOf: AsOf,
    filter: Filter,
    team: Team,
    by: z.string().default('').meta({ description: 'A waterfall for each value of these, separated by commas' }),
    open: z.string().optional().meta({ description: 'Go down into one category' }),
  }),
  params: NoParams,
  reply: Waste,
  command: ({ window, by, open, ...scope }) =>
    [
      `bursar waste --window ${shellWord(window)}`,
      ...(by === '' ? [] : [`--by ${shellWord(by)}`]),
      ...(open === undefined ? [] : [`--open ${shellWord(open)}`]),
    ].join(' ') + scopeFlags(scope),
  answer: async ({ space, now, clock, query }) => {
    const { window, by, open } = query;
    const answer = await waste(space, {
      window: moneyWindow(window, now, clock, space.scope),
      now,
      filters: filtersOf(query),
      by: parseDimensions(by).filter(({ name }) => name !== 'category'),
      ...(open !== undefined && { open: categoryNamed(open) }),
    });
    return plainJson<WasteReply>(wasteJson(answer));
  },
  csv: ({ categories }) => {
    const rows = categories.flatMap(({ category, reasons }) =>
      reasons.map(({ reason, usdMicros, gpuSeconds, unpricedSeconds }) =>
        csvLine([category, reason, microsOf(usdMicros), gpuSeconds, unpricedSeconds]),
      ),
    );
    return [csvLine(['category', 'reason', 'usdMicros', 'gpuSeconds', 'unpricedSeconds']), ...rows].join('');
  },
});
