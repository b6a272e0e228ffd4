import { createHash } from 'node:crypto';
import { OperationError } from '../../facts/operation-error.ts';
import type { IssuedStatement, StatementAdjustment, StatementClosing } from '../../facts/statement-record.ts';
import { isoTime } from '../../report/figures.ts';
import type { ClosingPreview, StatementList } from '../../report/statement-closing.ts';
import type { StatementAnswer } from '../../report/statement-answer.ts';
import type { ReadSpace, WriteSpace } from '../workspace.ts';
import { answerText } from './answer-text.ts';
import { billDigests, pendingAdjustments } from './month-adjustments.ts';
import { monthDetails, monthFacts, statementTeams } from './month-facts.ts';
import type { MonthFacts } from './month-facts.ts';
import { ledgerMonths, monthPlus, monthStart } from './month.ts';
import { checkClosable, checkReopenable, compareTeams, inForce, nextNumbers } from './settle-statements.ts';
import { overviewOf } from './statement.ts';
import type { StatementRequest } from './statement.ts';
import { statementOf } from './statement-of.ts';

export interface CloseOptions extends StatementRequest {
  /** Statements begin with this month. */
  readonly isFirst: boolean;
}

/** What would be frozen, and what speaks against it; `issue` does exactly that. */
export interface ClosingPlan {
  readonly preview: ClosingPreview;
  readonly generation: number;
  readonly ledgerHash: string;
  readonly bills: Readonly<Record<string, string>>;
  /** What had been issued when it was planned. */
  readonly closings: string;
  readonly statements: readonly IssuedStatement[];
}

/** Question: which statements would closing a month issue? Refuses what cannot be closed; writes nothing. */
export async function planClosing(space: ReadSpace, options: CloseOptions): Promise<ClosingPlan> {
  const { month, clock, isFirst } = options;
  const closings = space.statements.closings();
  checkClosable({ month, clock, ledgerMonths: ledgerMonths(space.scope), closings, isFirst });
  if (space.staleRows > 0) {
    throw new OperationError('stale-ledger', `${space.staleRows} rows of facts are not in the ledger yet`, {
      hint: 'Run bursar derive first: a statement is of everything that is known.',
    });
  }
  const facts = await monthFacts(space, month, clock);
  const details = await monthDetails(space, facts);
  const teams = [...statementTeams(facts)].toSorted(compareTeams);
  const numbers = nextNumbers(month, teams.length, closings);
  const issuedAt = isoTime(clock);
  const answers = teams.map((team, index): StatementAnswer => ({
    ...statementOf(facts, details, options, team),
    status: 'closed',
    number: numbers[index] ?? null,
    issuedAt,
  }));
  return {
    preview: {
      overview: overviewOf(facts, options),
      numbers,
      warnings: warningsOf(facts),
      adjustments: facts.adjustments,
    },
    generation: space.snapshot.generation,
    ledgerHash: ledgerHashOf(answers),
    bills: billDigests(space.snapshot),
    closings: closingsDigest(closings),
    statements: answers.map(issuedOf),
  };
}

/** Issues what was planned: all of it, or nothing. Refused where the ledger has moved meanwhile. */
export function issue(space: WriteSpace, { month, clock }: CloseOptions, plan: ClosingPlan): void {
  if (space.manifest.snapshot().generation !== plan.generation) {
    throw new OperationError('ledger-changed', 'the ledger changed while the statements were made', {
      hint: 'Nothing was issued: repeat the command.',
    });
  }
  // Numbers and adjustments follow from what was issued before: another command may have closed or reopened a month meanwhile.
  if (closingsDigest(space.statements.closings()) !== plan.closings) {
    throw new OperationError('closed-meanwhile', `another command closed or reopened a month meanwhile`, {
      hint: 'Nothing was issued: bursar statement list shows what is closed.',
    });
  }
  const { generation, ledgerHash, bills, statements } = plan;
  space.statements.close({ month, closedAt: isoTime(clock), generation, ledgerHash, bills }, statements);
}

/** Which months were closed and reopened, in order. */
function closingsDigest(closings: readonly StatementClosing[]): string {
  return closings.map(({ month, closedAt, withdrawnAt }) => `${month} ${closedAt} ${withdrawnAt ?? ''}`).join('\n');
}

/** Which statements would be withdrawn; refuses all but those of the newest closed month. */
export function planReopening(space: Pick<ReadSpace, 'statements'>, month: string): readonly string[] {
  const closings = space.statements.closings();
  checkReopenable(month, closings);
  return inForce(closings)
    .filter((closing) => closing.month === month)
    .flatMap(({ statements }) => statements.map(({ number }) => number));
}

/** Withdraws the statements of the newest closed month; they are kept, and their numbers are never used again. */
export function withdraw(space: WriteSpace, month: string, clock: Date): void {
  planReopening(space, month);
  space.statements.withdraw(month, isoTime(clock));
}

/** Question: what was issued so far, and what of it is no longer what the ledger says? */
export async function statementList(space: ReadSpace): Promise<StatementList> {
  return { closings: space.statements.closings(), pending: await pendingAdjustments(space) };
}

function issuedOf(answer: StatementAnswer): IssuedStatement {
  return {
    number: answer.number ?? '',
    team: answer.team,
    kind: answer.kind,
    costCentre: answer.costCentre,
    accountCode: answer.accountCode,
    usdMicros: answer.total.usdMicros ?? 0n,
    adjustments: answer.adjustments.map(({ month, usdMicros, reason }): StatementAdjustment => ({
      month,
      usdMicros,
      reason,
    })),
    lines: answer.lines,
    answerJson: answerText(answer),
  };
}

/** The sums of the month that went into statements, as one hash: whether the ledger still says so can be told by it. */
function ledgerHashOf(answers: readonly StatementAnswer[]): string {
  const hash = createHash('sha256');
  for (const { team, lines } of answers) {
    for (const line of lines) {
      hash.update(
        JSON.stringify([team, ...Object.values(line).map((value) => (value === null ? null : String(value)))]),
      );
      hash.update('\n');
    }
  }
  return hash.digest('hex');
}

/** What may still change: better known before than after. */
function warningsOf({ at, rows, coverage }: MonthFacts): string[] {
  const end = isoTime(monthStart(monthPlus(at.month, 1)));
  const early = coverage.filter(({ coveredUntil }) => coveredUntil === null || coveredUntil < end);
  const of = (isMeant: (row: MonthFacts['rows'][number]) => boolean): bigint =>
    rows.filter(isMeant).reduce((sum, { usdMicros }) => sum + (usdMicros ?? 0n), 0n);
  const [total, estimated, nobodys] = [
    of(() => true),
    of(({ basis }) => basis === 'estimated'),
    of(({ team }) => team === null),
  ];
  const unpriced = rows.reduce((sum, { unpricedUnits }) => sum + unpricedUnits, 0n);
  const percent = (part: bigint): string => (total <= 0n ? '' : ` (${Number((part * 1000n) / total) / 10} %)`);
  return [
    ...early.map(({ bill, coveredUntil }) =>
      coveredUntil === null
        ? `the bill ${bill} does not say how far it reaches`
        : `the bill ${bill} is not final: it speaks until ${coveredUntil.slice(0, 16).replace('T', ' ')} UTC`,
    ),
    ...(estimated === 0n ? [] : [`some of it is estimated, not billed${percent(estimated)}`]),
    ...(nobodys === 0n ? [] : [`some of it belongs to nobody${percent(nobodys)}: bursar rules suggest`]),
    ...(unpriced === 0n ? [] : ['some GPU-hours have no price and are in no statement']),
  ];
}
