import { nearestName } from '../../facts/nearest-name.ts';
import { OperationError } from '../../facts/operation-error.ts';
import type { StatementAnswer, StatementOverview } from '../../report/statement-answer.ts';
import type { ReadSpace } from '../workspace.ts';
import { answerOf } from './answer-text.ts';
import { monthDetails, monthFacts, ofTeam, statementTeams } from './month-facts.ts';
import type { MonthFacts } from './month-facts.ts';
import { monthPlus } from './month.ts';
import { compareTeams, inForce } from './settle-statements.ts';
import { accountOf, basisOf, headOf, statementOf } from './statement-of.ts';
import type { MadeOut } from './statement-of.ts';
import { amountOf, computeShares } from './statement-parts.ts';

export interface StatementRequest extends MadeOut {
  readonly month: string;
  readonly clock: Date;
}

/**
 * Question: what did a team pay for in a month, how much of it computed, what changed and why?
 *
 * A closed month is answered from what was kept when it was closed, whatever the ledger says now. Reads: what `spend` reads, and
 * allocation for the waits.
 */
export async function statement(
  space: ReadSpace,
  request: StatementRequest & { readonly team: string | null },
): Promise<StatementAnswer> {
  const { month, clock, team } = request;
  const kept = keptStatement(space, month, team);
  if (kept !== undefined) return kept;
  const facts = await monthFacts(space, month, clock);
  checkTeam(facts, request, team);
  return statementOf(facts, await monthDetails(space, facts), request, team);
}

/** Question: what did every team pay for in a month? Adds up to the month, with what nobody owns. */
export async function statementOverview(space: ReadSpace, request: StatementRequest): Promise<StatementOverview> {
  const closing = inForce(space.statements.closings()).find(({ month }) => month === request.month);
  if (closing !== undefined) {
    return overviewOfIssued(
      closing.statements.flatMap(({ number }) => {
        const issued = space.statements.statement(number);
        return issued === undefined ? [] : [answerOf(issued.answerJson)];
      }),
    );
  }
  return overviewOf(await monthFacts(space, request.month, request.clock), request);
}

/** The table of a month that is open. */
export function overviewOf(facts: MonthFacts, madeOut: MadeOut): StatementOverview {
  const { at, rowsBefore } = facts;
  return {
    month: at.month,
    ...headOf(at, madeOut),
    rows: [...statementTeams(facts)].toSorted(compareTeams).map((team) => {
      const rows = ofTeam(facts.rows, team);
      const { costCentre, accountCode } = accountOf(madeOut, team);
      return {
        team,
        number: null,
        costCentre,
        accountCode,
        ...amountOf(rows),
        amountCents: facts.cents.get(team) ?? 0n,
        adjustmentCents: ofTeam(facts.adjustments, team).reduce((sum, { amountCents }) => sum + amountCents, 0n),
        beforeUsdMicros: rowsBefore === undefined ? null : amountOf(ofTeam(rowsBefore, team)).usdMicros,
        computeSharePermille: computeShares(rows).money,
      };
    }),
    ...amountOf(facts.rows),
    ...(facts.isUnderived && { usdMicros: null }),
    amountCents: [...facts.cents.values()].reduce((sum, cents) => sum + cents, 0n),
    beforeMonth: rowsBefore === undefined ? null : monthPlus(at.month, -1),
    basisUsdMicros: basisOf(facts.rows),
  };
}

/** The same table from statements that were issued. */
function overviewOfIssued(answers: readonly StatementAnswer[]): StatementOverview {
  const [first] = answers;
  if (first === undefined) throw new Error('a closed month has at least one statement');
  const basis = (name: 'billed' | 'rate' | 'estimated'): bigint =>
    answers.reduce((sum, { basisUsdMicros }) => sum + basisUsdMicros[name], 0n);
  const { month, status, from, until, asOf, kind } = first;
  return {
    month,
    status,
    from,
    until,
    asOf,
    kind,
    rows: answers.map((answer) => ({
      team: answer.team,
      number: answer.number,
      costCentre: answer.costCentre,
      accountCode: answer.accountCode,
      ...answer.total,
      amountCents: answer.amountCents,
      adjustmentCents: answer.adjustments.reduce((sum, { amountCents }) => sum + amountCents, 0n),
      beforeUsdMicros: answer.before?.usdMicros ?? null,
      computeSharePermille: answer.computeSharePermille,
    })),
    ...amountOf(answers.map(({ total }) => total)),
    amountCents: answers.reduce((sum, { amountCents }) => sum + amountCents, 0n),
    beforeMonth: first.before === null ? null : first.before.month,
    basisUsdMicros: { billed: basis('billed'), rate: basis('rate'), estimated: basis('estimated') },
  };
}

function keptStatement(space: ReadSpace, month: string, team: string | null): StatementAnswer | undefined {
  const closing = inForce(space.statements.closings()).find((each) => each.month === month);
  if (closing === undefined) return undefined;
  const found = closing.statements.find((each) => each.team === team);
  const issued = found === undefined ? undefined : space.statements.statement(found.number);
  if (issued !== undefined) return answerOf(issued.answerJson);
  const names = closing.statements.flatMap((each) => each.team ?? []);
  throw unknownTeam(team, names, `${month} is closed and has no statement for`);
}

function checkTeam(facts: MonthFacts, { config }: MadeOut, team: string | null): void {
  if (statementTeams(facts).has(team) || (team !== null && config?.teams.has(team) === true)) return;
  if (facts.rowsBefore?.some((row) => row.team === team) === true) return;
  const names = [...statementTeams(facts)].flatMap((name) => name ?? []);
  throw unknownTeam(team, names, `nothing in ${facts.at.month} belongs to`);
}

function unknownTeam(team: string | null, names: readonly string[], why: string): OperationError {
  const near = team === null ? undefined : nearestName(team, names);
  const some = names.toSorted().slice(0, 8).join(', ');
  return new OperationError('unknown-team', `${why} ${team === null ? 'nobody' : `the team "${team}"`}`, {
    hint: near === undefined ? `Teams of the month: ${some === '' ? 'none' : some}.` : `Did you mean ${near}?`,
  });
}
