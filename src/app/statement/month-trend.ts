import { parseDimensions } from '../filter.ts';
import { spend } from '../spend.ts';
import type { ReadSpace } from '../workspace.ts';
import { ledgerMonths, monthWindow } from './month.ts';
import { inForce } from './settle-statements.ts';
import { answerOf } from './answer-text.ts';
import { amountOf, computeShares } from './statement-parts.ts';

/** What a team paid in one month, and how much of what is known of it computed. */
export interface MonthPoint {
  readonly month: string;
  readonly status: 'running' | 'open' | 'closed';
  /** Null where none of it has a price. */
  readonly usdMicros: bigint | null;
  readonly computeSharePermille: number | null;
}

const MONTHS_MAX = 13;
const BY = parseDimensions('team,category');

/**
 * Question: what did a team (null: nobody) pay month by month, the oldest first?
 *
 * A closed month is what was stated for it, as on its statement; a running one is what it has come to so far.
 */
export async function monthTrend(space: ReadSpace, team: string | null, clock: Date): Promise<readonly MonthPoint[]> {
  const closings = inForce(space.statements.closings());
  const points: MonthPoint[] = [];
  for (const month of ledgerMonths(space.scope).slice(-MONTHS_MAX)) {
    const stated = closings.find((each) => each.month === month)?.statements.find((each) => each.team === team);
    const issued = stated === undefined ? undefined : space.statements.statement(stated.number);
    if (issued !== undefined) {
      const { total, computeSharePermille } = answerOf(issued.answerJson);
      points.push({ month, status: 'closed', usdMicros: total.usdMicros, computeSharePermille });
      continue;
    }
    const { window, isRunning } = monthWindow(month, clock, space.scope);
    const { rows } = await spend(space, { by: BY, window, filters: [] });
    const own = rows.filter(({ values }) => (values[0] ?? null) === team);
    const sums = own.map(({ values, costUsdMicros, heldUnits, unpricedUnits }) => ({
      category: values[1] ?? 'unknown',
      usdMicros: costUsdMicros,
      gpuUnits: heldUnits,
      unpricedUnits,
    }));
    points.push({
      month,
      status: isRunning ? 'running' : 'open',
      usdMicros: amountOf(sums).usdMicros,
      computeSharePermille: computeShares(sums).money,
    });
  }
  return points;
}
