import { z } from 'zod';
import { runaway } from '../../../app/runaway.ts';
import { ledgerWindow } from '../../../app/window.ts';
import { runawayJson } from '../../../report/runaway-list.ts';
import { shellWord } from '../../../report/shell-word.ts';
import { plainJson } from '../../plain-json.ts';
import { route } from '../../route.ts';
import { AsOf, Instant, Micros, NoParams, Window } from '../question.ts';

const Runaways = z.object({
  asOf: Instant,
  window: z.object({ asked: z.string(), from: Instant, days: z.number().int() }),
  liveJobs: z.number().int(),
  comparedJobs: z.number().int(),
  finishedJobs: z.number().int(),
  runaways: z.array(
    z.looseObject({
      allocationId: z.string(),
      name: z.string().nullable(),
      team: z.string().nullable(),
      usdMicrosPerHour: Micros.nullable(),
    }),
  ),
});
export type RunawayReply = z.infer<typeof Runaways>;

export const runawayRoute = route({
  path: '/api/v1/runaway',
  name: 'listRunaways',
  summary: 'What spends far above its own kind right now',
  page: 'overview',
  access: { role: 'viewer', sees: 'fleet' },
  query: z.object({ window: Window.default('90d'), asOf: AsOf }),
  params: NoParams,
  reply: Runaways,
  command: ({ window, asOf }) =>
    `bursar runaway --window ${shellWord(window)}${asOf === undefined ? '' : ` --as-of ${shellWord(asOf)}`}`,
  answer: async ({ space, now, query }) =>
    plainJson<RunawayReply>(runawayJson(await runaway(space, now, ledgerWindow(query.window, now.at, space.scope)))),
});
