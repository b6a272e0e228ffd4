import { z } from 'zod';
import { findFindings } from '../../../app/findings/find-findings.ts';
import { ledgerWindow } from '../../../app/window.ts';
import { firstFindingsJson } from '../../../report/overview/first-findings.ts';
import { csvLine } from '../../../report/safe-text.ts';
import { shellWord } from '../../../report/shell-word.ts';
import { microsOf } from '../../plain-json.ts';
import { route } from '../../route.ts';
import { AsOf, Instant, Micros, MicrosRange, NoParams, SecondsRange, Span, Team, Window } from '../question.ts';

/** Cash and capacity are never added together. */
const Reachable = z.object({ cashUsdMicros: MicrosRange, capacityGpuSeconds: SecondsRange });

const First = z.object({
  window: Span.extend({ ledgerDays: z.number().int() }),
  count: z
    .number()
    .int()
    .meta({ description: 'As many as `bursar findings --all` lists; smaller ones are in the sums only' }),
  sum: Reachable,
  gentle: Reachable.meta({ description: 'Of the findings with a blast radius of at most 1' }),
  byCategory: z.record(z.string(), Reachable),
  first: z
    .array(
      z.looseObject({
        id: z.string().nullable(),
        key: z.string(),
        category: z.string(),
        team: z.string().nullable(),
        user: z.string().nullable(),
        what: z.string(),
        blastRadius: z.number().int(),
        effort: z.string(),
        kind: z.string(),
        usdMicros: Micros.nullable(),
        cashUsdMicros: MicrosRange,
        capacityGpuSeconds: SecondsRange,
        liveSince: Instant.nullable(),
      }),
    )
    .meta({ description: 'The first five as `bursar findings` orders them, each as it prints them' }),
});
export type FirstFindingsReply = z.infer<typeof First>;

export const overviewFindingsRoute = route({
  path: '/api/v1/overview/findings',
  name: 'getFirstFindings',
  summary: 'What to do first, safest first, and what all findings come to by category',
  page: 'overview',
  access: { role: 'viewer', sees: 'team' },
  query: z.object({ window: Window, asOf: AsOf, team: Team }),
  params: NoParams,
  reply: First,
  command: ({ window, team, asOf }) =>
    [
      `bursar findings --window ${shellWord(window)}`,
      ...(team === undefined ? [] : [`--team ${shellWord(team)}`]),
      ...(asOf === undefined ? [] : [`--as-of ${shellWord(asOf)}`]),
    ].join(' '),
  answer: async ({ space, now, query }) => {
    const { window, team } = query;
    const answer = await findFindings(space, {
      window: ledgerWindow(window, now.at, space.scope),
      now: now.at,
      nowBy: now.by,
      ...(team !== undefined && { team }),
    });
    return firstFindingsJson(answer) as FirstFindingsReply;
  },
  csv: ({ first }) => {
    const names = ['id', 'what', 'category', 'team', 'user', 'blastRadius', 'kind', 'usdMicros', 'cashUsdMicrosLow'];
    const lines = first.map(({ usdMicros, cashUsdMicros, capacityGpuSeconds, ...finding }) =>
      csvLine([
        finding.id,
        finding.what,
        finding.category,
        finding.team,
        finding.user,
        finding.blastRadius,
        finding.kind,
        microsOf(usdMicros),
        microsOf(cashUsdMicros.low),
        microsOf(cashUsdMicros.high),
        capacityGpuSeconds.high,
      ]),
    );
    return [csvLine([...names, 'cashUsdMicrosHigh', 'capacityGpuSecondsHigh']), ...lines].join('');
  },
});
