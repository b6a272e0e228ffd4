import { z } from 'zod';
import { outcomes } from '../../../app/outcomes/outcomes.ts';
import { ledgerWindow } from '../../../app/window.ts';
import { OperationError } from '../../../facts/operation-error.ts';
import { outcomesJson } from '../../../report/outcomes-json.ts';
import { shellWord } from '../../../report/shell-word.ts';
import { plainJson } from '../../plain-json.ts';
import { route } from '../../route.ts';
import { AsOf, Instant, Micros, Team, Window } from '../question.ts';

const Figures = z.looseObject({
  quantity: z.string(),
  costUsdMicros: Micros.nullable(),
  allocationUsdMicrosPer: Micros.nullable(),
  activeUsdMicrosPer: Micros.nullable(),
});
const Runs = z.looseObject({
  finished: z.number().int(),
  costUsdMicros: Micros.nullable(),
  medianUsdMicros: Micros.nullable(),
});

const Outcomes = z.object({
  window: z.object({ from: Instant, until: Instant }),
  rows: z.array(
    Figures.extend({
      unit: z.string(),
      per: z.string().meta({ description: 'A price is of so many units' }),
      before: Figures.nullable(),
      weeklyUsdMicrosPer: z.array(Micros.nullable()),
    }),
  ),
  runs: z.array(Runs.extend({ before: Runs.nullable() })),
});
export type TeamOutcomesReply = z.infer<typeof Outcomes>;

/** What a team achieved, and what a unit of it cost. */
export const teamOutcomesRoute = route({
  path: '/api/v1/teams/{team}/outcomes',
  name: 'getTeamOutcomes',
  summary: 'What a team achieved in a window, and what a unit of it cost',
  page: 'teams',
  access: { role: 'viewer', sees: 'team' },
  query: z.object({ window: Window, asOf: AsOf, team: Team }),
  params: z.object({ team: z.string().meta({ description: 'Whose work' }) }),
  reply: Outcomes,
  command: ({ window }) => `bursar outcomes --by team --window ${shellWord(window)}`,
  answer: async ({ space, now, query, params: { team } }) => {
    if (query.team !== undefined && query.team !== team) {
      throw new OperationError('forbidden', `you may see ${query.team}, not ${team}`, {
        hint: 'Ask for a token of that team, or of the whole fleet.',
      });
    }
    const window = ledgerWindow(query.window, now.at, space.scope);
    const answer = await outcomes(space, { window, now: now.at, by: 'team' });
    const own = {
      ...answer,
      rows: answer.rows.filter(({ name }) => name === team),
      runs: answer.runs.filter(({ name }) => name === team),
    };
    const { window: span, rows, runs } = outcomesJson(own) as Record<string, unknown>;
    return plainJson<TeamOutcomesReply>({ window: span, rows, runs });
  },
});
