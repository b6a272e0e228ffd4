import { z } from 'zod';
import { ledgerMonths, parseMonth, usualMonth } from '../../../app/statement/month.ts';
import { statementOverview } from '../../../app/statement/statement.ts';
import { csvLine } from '../../../report/safe-text.ts';
import { shellWord } from '../../../report/shell-word.ts';
import { overviewJson } from '../../../report/statement-data.ts';
import { microsOf, plainJson } from '../../plain-json.ts';
import { route } from '../../route.ts';
import { Instant, Micros, NoParams, Team } from '../question.ts';
import { Amount, BasisMicros, Cents, MissingDays, Month, Status } from './statement-shape.ts';

const Query = z.object({
  month: z.string().optional().meta({ description: 'Which month: 2026-10; the last that is over where not said' }),
  team: Team,
});

const Row = Amount.extend({
  team: z.string().nullable().meta({ description: 'Null is what nobody owns' }),
  number: z.string().nullable(),
  costCentre: z.string().nullable(),
  accountCode: z.string().nullable(),
  amountCents: Cents,
  adjustmentCents: Cents,
  beforeUsdMicros: Micros.nullable(),
  computeSharePermille: z.number().nullable(),
});

const Teams = z.object({
  month: Month,
  status: Status,
  kind: z.enum(['showback', 'chargeback']),
  window: z.object({ from: Instant, until: Instant }),
  missingDays: MissingDays,
  asOf: Instant,
  rows: z.array(Row),
  otherRows: z
    .number()
    .int()
    .meta({ description: 'Rows that are in the total and not shown, since another team was asked for' }),
  total: Amount,
  amountCents: Cents,
  beforeMonth: Month.nullable(),
  basisUsdMicros: BasisMicros,
  months: z.array(Month).meta({ description: 'Months of which the ledger has a day, oldest first' }),
});
export type TeamsReply = z.infer<typeof Teams>;

/** Every team's month in one table. */
export const teamsRoute = route({
  path: '/api/v1/teams',
  name: 'listTeams',
  summary: 'What every team paid for in a month, and what nobody owns',
  page: 'teams',
  access: { role: 'viewer', sees: 'team' },
  query: Query,
  params: NoParams,
  reply: Teams,
  // A team's row is its statement; the table has no row of one team alone.
  command: ({ month, team }) =>
    [
      'bursar statement',
      ...(team === undefined ? [] : [`--team ${shellWord(team)}`]),
      ...(month === undefined ? [] : [`--month ${shellWord(month)}`]),
    ].join(' '),
  answer: async ({ space, clock, query, config }) => {
    const { team } = query;
    const month = query.month === undefined ? usualMonth(space.scope, clock) : parseMonth(query.month);
    const overview = await statementOverview(space, { month, clock, config: config?.statements });
    const rows = team === undefined ? overview.rows : overview.rows.filter((row) => row.team === team);
    return plainJson<TeamsReply>({
      ...(overviewJson({ ...overview, rows }) as object),
      otherRows: overview.rows.length - rows.length,
      months: ledgerMonths(space.scope),
    });
  },
  csv: teamsCsv,
});

function teamsCsv({ month, rows }: TeamsReply): string {
  const columns = ['month', 'statement', 'team', 'costCentre', 'accountCode', 'usdMicros', 'amountCents'];
  const more = ['adjustmentCents', 'gpuSeconds', 'unpricedSeconds', 'beforeUsdMicros', 'computeSharePermille'];
  return [
    csvLine([...columns, ...more]),
    ...rows.map((row) =>
      csvLine([
        month,
        row.number,
        row.team,
        row.costCentre,
        row.accountCode,
        microsOf(row.usdMicros),
        microsOf(row.amountCents),
        microsOf(row.adjustmentCents),
        row.gpuSeconds,
        row.unpricedSeconds,
        microsOf(row.beforeUsdMicros),
        row.computeSharePermille,
      ]),
    ),
  ].join('');
}
