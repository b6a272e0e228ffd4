import { z } from 'zod';
import { monthTrend } from '../../../app/statement/month-trend.ts';
import { ledgerMonths, parseMonth, usualMonth } from '../../../app/statement/month.ts';
import { statement } from '../../../app/statement/statement.ts';
import { OperationError } from '../../../facts/operation-error.ts';
import { csvLine } from '../../../report/safe-text.ts';
import { shellWord } from '../../../report/shell-word.ts';
import { statementJson } from '../../../report/statement-data.ts';
import { microsOf, plainJson } from '../../plain-json.ts';
import { route } from '../../route.ts';
import type { Asked } from '../../route.ts';
import { Micros, NoParams, Team } from '../question.ts';
import { Month, StatementShape, Status } from './statement-shape.ts';

const Query = z.object({
  month: z.string().optional().meta({ description: 'Which month: 2026-10; the last that is over where not said' }),
  team: Team,
});
const Params = z.object({ team: z.string().meta({ description: 'Whose statement' }) });

const Statement = StatementShape.extend({
  revision: z
    .number()
    .int()
    .nullable()
    .meta({ description: 'How often the month was closed for this team; null while it is not' }),
  months: z.array(Month).meta({ description: 'Months of which the ledger has a day, oldest first' }),
  trend: z.array(
    z.object({
      month: Month,
      status: Status,
      usdMicros: Micros.nullable(),
      computeSharePermille: z.number().nullable(),
    }),
  ),
});
export type StatementReply = z.infer<typeof Statement>;

type Question = Pick<Asked<z.output<typeof Query>, unknown>, 'space' | 'clock' | 'query' | 'config'>;

async function statementReply({ space, clock, query, config }: Question, team: string | null): Promise<StatementReply> {
  const month = query.month === undefined ? usualMonth(space.scope, clock) : parseMonth(query.month);
  const answer = await statement(space, { month, clock, config: config?.statements, team });
  const closings = space.statements
    .closings()
    .filter((each) => each.month === month && each.statements.some((stated) => stated.team === team));
  return plainJson<StatementReply>({
    ...(statementJson(answer) as object),
    revision: answer.status === 'closed' ? closings.length : null,
    months: ledgerMonths(space.scope),
    trend: await monthTrend(space, team, clock),
  });
}

/** Which other teams there are is nobody's business who sees one. */
function withoutOthers(failure: unknown): unknown {
  if (!(failure instanceof OperationError) || failure.code !== 'unknown-team') return failure;
  const hint = 'Try another month; whoever sees the whole fleet can say how the team is called there.';
  return new OperationError(failure.code, failure.message, { hint });
}

const monthFlag = (month: string | undefined): string => (month === undefined ? '' : ` --month ${shellWord(month)}`);

export const statementRoute = route({
  path: '/api/v1/teams/{team}/statement',
  name: 'getStatement',
  summary: 'What a team paid for in a month, how much of it computed, what changed and why',
  page: 'teams',
  access: { role: 'viewer', sees: 'team' },
  query: Query,
  params: Params,
  reply: Statement,
  command: ({ month }, { team }) => `bursar statement --team ${shellWord(team)}${monthFlag(month)}`,
  answer: async ({ space, clock, query, params, config, viewer }) => {
    if (query.team !== undefined && query.team !== params.team) {
      throw new OperationError('forbidden', `you may see ${query.team}, not ${params.team}`, {
        hint: 'Ask for a token of that team, or of the whole fleet.',
      });
    }
    try {
      return await statementReply({ space, clock, query, config }, params.team);
    } catch (failure) {
      throw viewer.team === undefined ? failure : withoutOthers(failure);
    }
  },
  csv: statementLinesCsv,
});

export const unattributedStatementRoute = route({
  path: '/api/v1/unattributed/statement',
  name: 'getUnattributedStatement',
  summary: 'What nobody owns in a month, as a statement',
  page: 'teams',
  access: { role: 'viewer', sees: 'fleet' },
  query: Query.omit({ team: true }),
  params: NoParams,
  reply: Statement,
  command: ({ month }) => `bursar statement --unattributed${monthFlag(month)}`,
  answer: async ({ space, clock, query, config }) =>
    statementReply({ space, clock, config, query: { ...query, team: undefined } }, null),
  csv: statementLinesCsv,
});

function statementLinesCsv(reply: StatementReply): string {
  const head = [reply.number, reply.month, reply.team, reply.costCentre, reply.accountCode];
  const columns = ['statement', 'month', 'team', 'costCentre', 'accountCode', 'item', 'about', 'class', 'project'];
  return [
    csvLine([...columns, 'component', 'category', 'basis', 'usdMicros', 'gpuSeconds', 'reason']),
    ...reply.lines.map((line) =>
      csvLine([
        ...head,
        'line',
        reply.month,
        line.class,
        line.project,
        line.component,
        line.category,
        line.basis,
        microsOf(line.usdMicros),
        line.gpuSeconds,
        null,
      ]),
    ),
    ...reply.adjustments.map(({ month, usdMicros, reason }) =>
      csvLine([...head, 'adjustment', month, null, null, null, null, null, microsOf(usdMicros), null, reason]),
    ),
  ].join('');
}
