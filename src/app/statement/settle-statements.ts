import { OperationError } from '../../facts/operation-error.ts';
import type { StatementClosing } from '../../facts/statement-record.ts';
import { roundLargestRemainder } from '../../money/split.ts';
import { monthPlus, monthsBetween, monthStart } from './month.ts';

/** Money by team; null is what nobody owns. */
export type TeamSums = ReadonlyMap<string | null, bigint>;
/** The same by month. */
export type MonthSums = ReadonlyMap<string, TeamSums>;

const MICROS_PER_CENT = 10_000n;

/** What the ledger says of a closed month beyond what was stated for it. */
export interface DueAdjustment {
  readonly month: string;
  readonly team: string | null;
  readonly usdMicros: bigint;
}

/** The closings that count, oldest month first. */
export function inForce(closings: readonly StatementClosing[]): StatementClosing[] {
  return closings
    .filter(({ withdrawnAt }) => withdrawnAt === null)
    .toSorted((a, b) => (a.month < b.month ? -1 : a.month > b.month ? 1 : 0));
}

/**
 * The months that statements answer for: from the first closed to the newest, without a gap. A month between them that had no
 * money when it was passed over still gets its adjustments.
 */
export function statedMonths(closings: readonly StatementClosing[]): string[] {
  const months = inForce(closings).map(({ month }) => month);
  const [first, last] = [months[0], months.at(-1)];
  return first === undefined || last === undefined ? [] : monthsBetween(first, last);
}

/** What all statements in force say of each month: its own lines, and what later statements adjusted. */
export function statedSums(closings: readonly StatementClosing[]): MonthSums {
  const sums = new Map<string, Map<string | null, bigint>>();
  const add = (month: string, team: string | null, micros: bigint): void => {
    const teams = sums.get(month) ?? new Map<string | null, bigint>();
    teams.set(team, (teams.get(team) ?? 0n) + micros);
    sums.set(month, teams);
  };
  for (const { month, statements } of inForce(closings)) {
    for (const { team, usdMicros, adjustments } of statements) {
      add(month, team, usdMicros);
      for (const adjustment of adjustments) add(adjustment.month, team, adjustment.usdMicros);
    }
  }
  return sums;
}

/**
 * What the next statements have to say of months that are closed: the ledger now, less what was stated so far, for each team that
 * is on either side. Added to the statements in force it gives the ledger's total of the stated months, always.
 */
export function dueAdjustments(ledger: MonthSums, closings: readonly StatementClosing[]): DueAdjustment[] {
  const stated = statedSums(closings);
  return statedMonths(closings).flatMap((month) => {
    const [now, then] = [ledger.get(month), stated.get(month)];
    const teams = [...new Set([...(now?.keys() ?? []), ...(then?.keys() ?? [])])].toSorted(compareTeams);
    return teams
      .map((team) => ({ month, team, usdMicros: (now?.get(team) ?? 0n) - (then?.get(team) ?? 0n) }))
      .filter(({ usdMicros }) => usdMicros !== 0n);
  });
}

/** Teams by name, what nobody owns last. */
export function compareTeams(a: string | null, b: string | null): number {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? 1 : -1;
  return a < b ? -1 : 1;
}

/** The next numbers of a month, in order: a number is never used again, also where its statement was withdrawn. */
export function nextNumbers(month: string, count: number, closings: readonly StatementClosing[]): string[] {
  const used = closings
    .filter((closing) => closing.month === month)
    .flatMap(({ statements }) => statements.map(({ number }) => Number(number.slice(month.length + 1))));
  const first = Math.max(0, ...used) + 1;
  return Array.from({ length: count }, (_, index) => `${month}-${String(first + index).padStart(3, '0')}`);
}

/** Amounts in whole cents that add up to the rounded total of the month: what a chargeback asks for. */
export function centsByTeam(sums: TeamSums): TeamSums {
  const teams = [...sums.keys()];
  const shown = roundLargestRemainder(
    teams.map((team) => sums.get(team) ?? 0n),
    MICROS_PER_CENT,
  );
  return new Map(teams.map((team, index) => [team, (shown[index] ?? 0n) / MICROS_PER_CENT]));
}

export interface CloseRequest {
  readonly month: string;
  readonly clock: Date;
  /** Months of which the ledger has a day. */
  readonly ledgerMonths: readonly string[];
  readonly closings: readonly StatementClosing[];
  /** Statements begin with this month; those before it stay without. */
  readonly isFirst: boolean;
}

/** Refuses a month that cannot be closed, and says what to do instead. */
export function checkClosable({ month, clock, ledgerMonths, closings, isFirst }: CloseRequest): void {
  const closed = inForce(closings).map((closing) => closing.month);
  const newest = closed.at(-1);
  if (closed.includes(month)) {
    throw new OperationError('already-closed', `${month} is closed already`, {
      hint: `bursar statement --month ${month} prints it; bursar statement reopen ${month} withdraws it.`,
    });
  }
  if (monthStart(monthPlus(month, 1)) > clock) {
    throw new OperationError('month-not-over', `${month} is not over yet`, {
      hint: `It can be closed from ${monthPlus(month, 1)}-01 on; bursar statement --month ${month} shows it as it stands.`,
    });
  }
  if (newest !== undefined && month < newest) {
    throw new OperationError('out-of-order', `${month} lies before ${newest}, which is closed`, {
      hint: `Months are closed in order: bursar statement reopen ${newest}, then close ${month} first.`,
    });
  }
  const open = ledgerMonths.filter((each) => each < month && (newest === undefined || each > newest));
  const [earliest] = open;
  if (earliest !== undefined && (newest !== undefined || !isFirst)) {
    const begin = newest === undefined ? `, or begin with this month: add --first` : '';
    throw new OperationError('earlier-month-open', `${earliest} lies before ${month} and is not closed`, {
      hint: `bursar statement close ${earliest} comes first${begin}.`,
    });
  }
  if (!ledgerMonths.includes(month)) {
    const last = ledgerMonths.at(-1);
    throw new OperationError('no-data-in-month', `there is nothing in ${month}`, {
      hint: last === undefined ? 'Bring data in with bursar import.' : `The ledger has ${ledgerMonths[0]} to ${last}.`,
    });
  }
}

/** Refuses to withdraw anything but the newest closed month: later statements rest on the earlier ones. */
export function checkReopenable(month: string, closings: readonly StatementClosing[]): void {
  const closed = inForce(closings).map((closing) => closing.month);
  const newest = closed.at(-1);
  if (newest === month) return;
  if (!closed.includes(month)) {
    throw new OperationError('not-closed', `${month} is not closed`, {
      hint: newest === undefined ? 'No month is.' : `The newest closed month is ${newest}.`,
    });
  }
  throw new OperationError('not-the-newest', `${month} is not the newest closed month: ${newest ?? ''} is`, {
    hint: `What changes in ${month} stands on the next statement as an adjustment; only ${newest ?? ''} can be reopened.`,
  });
}
