import type { TeamWait } from '../../report/queue-page.ts';
import type { StatementAnswer } from '../../report/statement-answer.ts';
import { isoTime } from '../../report/figures.ts';
import { parseTime } from '../../lake/calendar.ts';
import { teamWaits } from '../queue/queue.ts';
import type { LedgerWindow } from '../window.ts';
import type { ReadSpace } from '../workspace.ts';
import { pendingAdjustments } from './month-adjustments.ts';
import type { ReasonedAdjustment } from './month-adjustments.ts';
import { monthPlus, monthStart, monthWindow, windowBefore } from './month.ts';
import type { MonthWindow } from './month.ts';
import { isUnderived } from '../ledger-days.ts';
import { monthCube, otherKinds, workloads } from './month-cube.ts';
import type { CubeRow, NamedSum } from './month-cube.ts';
import { centsByTeam, inForce } from './settle-statements.ts';
import type { TeamSums } from './settle-statements.ts';
import { amountOf } from './statement-parts.ts';

/** A month as all its statements see it: asked for once, from sums by day. */
export interface MonthFacts {
  readonly at: MonthWindow;
  readonly before: LedgerWindow;
  readonly rows: readonly CubeRow[];
  /** None of its days is in the ledger yet: there are no rows, and the sum is not 0. */
  readonly isUnderived: boolean;
  /** Undefined where the ledger has nothing of the month before. */
  readonly rowsBefore: readonly CubeRow[] | undefined;
  /** Of all teams they add up to the month. */
  readonly cents: TeamSums;
  /** What would stand on the statements of this month if it were closed now. */
  readonly adjustments: readonly ReasonedAdjustment[];
  readonly coverage: StatementAnswer['coverage'];
}

/** What only single entries and the scheduler's list know: the dearer question. */
export interface MonthDetails {
  readonly kinds: readonly NamedSum[];
  readonly kindsBefore: readonly NamedSum[];
  readonly workloads: readonly NamedSum[];
  readonly waits: readonly TeamWait[];
  readonly waitsBefore: readonly TeamWait[];
}

/** Question: what do the statements of a month rest on? */
export async function monthFacts(space: ReadSpace, month: string, clock: Date): Promise<MonthFacts> {
  const at = monthWindow(month, clock, space.scope);
  const before = windowBefore(at, space.scope);
  const rows = await monthCube(space, at.window);
  const sums = new Map([...teamsOf(rows)].map((team) => [team, amountOf(ofTeam(rows, team)).usdMicros ?? 0n]));
  const newest = inForce(space.statements.closings()).at(-1);
  const comesNext = newest !== undefined && month > newest.month;
  return {
    at,
    before,
    rows,
    isUnderived: isUnderived(space, at.window),
    // A month that no fact has reached has nothing to compare: what is not known has not fallen.
    rowsBefore: before.days.length === 0 || at.asOf <= monthStart(month) ? undefined : await monthCube(space, before),
    cents: centsByTeam(sums),
    adjustments: comesNext ? await pendingAdjustments(space) : [],
    coverage: coverageOf(space, month),
  };
}

/** Question: what did the month's work wait for, what was it called, and which charges are tax, credit or support? */
export async function monthDetails(space: ReadSpace, { at, before }: MonthFacts): Promise<MonthDetails> {
  const waits = async (window: LedgerWindow): Promise<readonly TeamWait[]> =>
    window.days.length === 0 ? [] : teamWaits(space, window, at.asOf);
  return {
    kinds: await otherKinds(space, at.window),
    kindsBefore: await otherKinds(space, before),
    workloads: await workloads(space, at.window),
    waits: await waits(at.window),
    waitsBefore: await waits(before),
  };
}

/** Who gets a statement: everybody with money or time in the month, or with something left over from a closed one. */
export function statementTeams(facts: MonthFacts): ReadonlySet<string | null> {
  return new Set([...teamsOf(facts.rows), ...facts.adjustments.map(({ team }) => team)]);
}

export function ofTeam<Row extends { readonly team: string | null }>(rows: readonly Row[], team: string | null): Row[] {
  return rows.filter((row) => row.team === team);
}

function teamsOf(rows: readonly CubeRow[]): ReadonlySet<string | null> {
  return new Set(rows.map(({ team }) => team));
}

/** Bills with a day in the month, and how far each speaks. */
function coverageOf({ scope }: ReadSpace, month: string): StatementAnswer['coverage'] {
  const [first, after] = [`${month}-01`, `${monthPlus(month, 1)}-01`];
  return (scope?.bills ?? [])
    .filter(({ firstDay, lastDay, periodStart, periodEnd }) => {
      const isCharged = firstDay < after && lastDay >= first;
      return isCharged || (periodStart.slice(0, 10) < after && periodEnd.slice(0, 10) > first);
    })
    .map(({ billId, coveredUntil }) => ({
      bill: billId,
      coveredUntil: coveredUntil === null ? null : isoTime(parseTime(coveredUntil)),
    }))
    .toSorted((a, b) => (a.bill < b.bill ? -1 : 1));
}
