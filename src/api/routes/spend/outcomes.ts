import { z } from 'zod';
import { outcomes } from '../../../app/outcomes/outcomes.ts';
import { ledgerWindow } from '../../../app/window.ts';
import { outcomesJson } from '../../../report/outcomes-json.ts';
import { csvLine } from '../../../report/safe-text.ts';
import { shellWord } from '../../../report/shell-word.ts';
import { microsOf, plainJson } from '../../plain-json.ts';
import { route } from '../../route.ts';
import { AsOf, Before, Instant, Micros, NoParams, Span, Window } from '../question.ts';

const Money = z.object({
  costUsdMicros: Micros.nullable(),
  activeUsdMicros: Micros.nullable(),
  unknownUsdMicros: Micros.nullable(),
  heldSeconds: z.number(),
  computingSeconds: z.number(),
  unknownSeconds: z.number(),
  unpricedSeconds: z.number(),
});
const Figures = Money.extend({
  quantity: z.string(),
  allocationUsdMicrosPer: Micros.nullable().meta({ description: 'All that was paid for it ÷ `per` units' }),
  activeUsdMicrosPer: Micros.nullable().meta({ description: 'Only the seconds that computed' }),
  countedPermille: z.number().nullable(),
});
const Runs = z.looseObject({
  ...Money.shape,
  finished: z.number().int(),
  medianUsdMicros: Micros.nullable(),
  earlierLivesUsdMicros: Micros.nullable(),
});
const Named = z.looseObject({ name: z.string().nullable() });

const Outcomes = z.object({
  asOf: Instant,
  by: z.enum(['model', 'team', 'run', 'unit']),
  window: Span,
  before: Before,
  alarms: z.array(Named.extend({ rule: z.string(), unit: z.string(), per: z.string(), now: Figures, before: Figures })),
  rows: z.array(
    Figures.extend({
      name: z.string().nullable(),
      unit: z.string(),
      per: z.string(),
      before: Figures.nullable(),
      sharedBy: z.unknown(),
      weeklyUsdMicrosPer: z.array(Micros.nullable()),
    }),
  ),
  runs: z.array(Runs.extend({ name: z.string().nullable(), before: Runs.nullable() })),
  unclassified: z.object({ runs: z.number().int(), costUsdMicros: Micros.nullable() }),
  uncounted: z.array(Named),
  unpaid: z.array(Named),
  teams: z.array(z.looseObject({ team: z.string().nullable(), costUsdMicros: Micros.nullable() })),
  basisUsdMicros: z.record(z.string(), Micros),
  unpricedSeconds: z.number(),
});
export type OutcomesReply = z.infer<typeof Outcomes>;

export const outcomesRoute = route({
  path: '/api/v1/outcomes',
  name: 'getOutcomes',
  summary: 'What a finished run, a thousand requests or a million tokens cost, with volume and the window before',
  page: 'overview',
  // Names of models and runs, whoever's they are.
  access: { role: 'viewer', sees: 'fleet' },
  query: z.object({
    window: Window,
    asOf: AsOf,
    by: z.enum(['model', 'team', 'run', 'unit']).default('model'),
    unit: z.string().optional().meta({ description: 'Only this unit: token, request, step; run is finished runs' }),
  }),
  params: NoParams,
  reply: Outcomes,
  command: ({ window, by, unit, asOf }) =>
    [
      `bursar outcomes --by ${by} --window ${shellWord(window)}`,
      ...(unit === undefined ? [] : [`--unit ${shellWord(unit)}`]),
      ...(asOf === undefined ? [] : [`--as-of ${shellWord(asOf)}`]),
    ].join(' '),
  answer: async ({ space, now, query: { window, by, unit } }) => {
    const answer = await outcomes(space, {
      window: ledgerWindow(window, now.at, space.scope),
      now: now.at,
      by,
      ...(unit !== undefined && { unit }),
    });
    return plainJson<OutcomesReply>(outcomesJson(answer));
  },
  csv: ({ rows, runs }) => {
    const names = ['name', 'unit', 'per', 'quantity', 'costUsdMicros', 'activeUsdMicros', 'heldSeconds'];
    const finished = runs.map((run) =>
      csvLine([
        run.name,
        'finished run',
        1,
        run.finished,
        microsOf(run.costUsdMicros),
        microsOf(run.activeUsdMicros),
        run.heldSeconds,
        // The middle one: what a run costs is not what their mean costs.
        microsOf(run.medianUsdMicros),
      ]),
    );
    const lines = rows.map((row) =>
      csvLine([
        row.name,
        row.unit,
        row.per,
        row.quantity,
        microsOf(row.costUsdMicros),
        microsOf(row.activeUsdMicros),
        row.heldSeconds,
        microsOf(row.allocationUsdMicrosPer),
      ]),
    );
    return [csvLine([...names, 'allocationUsdMicrosPer']), ...lines, ...finished].join('');
  },
});
