import { CATEGORIES } from '../../ledger/waterfall.ts';
import { WASTE_CATEGORIES } from '../../report/category-words.ts';
import type { Score, ScorecardAnswer } from '../../report/scorecard-page.ts';
import type { SpendRow } from '../../report/spend-table.ts';
import { parseDimensions } from '../filter.ts';
import type { Now } from '../now.ts';
import { spend } from '../spend.ts';
import { shareOf } from '../waste/category-sum.ts';
import { windowBefore } from '../window.ts';
import type { LedgerWindow } from '../window.ts';
import type { ReadSpace } from '../workspace.ts';
import { endedSessions } from './ended-sessions.ts';

export interface ScorecardRequest {
  readonly window: LedgerWindow;
  readonly now: Now;
}

/** Work of these classes runs to an end and can begin again: it can do without a promise. */
const BATCH_CLASSES: readonly (string | null)[] = ['training', 'batch'];
/** After as long an idle session that goes on is a finding; shutdown by default should have come first. */
const SHUTDOWN_HOURS = 2;
const DIMENSIONS = 'team,class,purchase,category';
const [TEAM, CLASS, PURCHASE, CATEGORY] = [0, 1, 2, 3];

/**
 * Question: how well is the fleet run, against what is published and against its own time before?
 *
 * Every share is money over money but one: how many interactive sessions ended soon after their last kernel. Reads: what `spend`
 * reads, and life_day.
 */
export async function scorecard(space: ReadSpace, { window, now }: ScorecardRequest): Promise<ScorecardAnswer> {
  const earlier = windowBefore(window, now.at, space.scope);
  const current = await scoresIn(space, window, now.at);
  const then = earlier.isKnown ? await scoresIn(space, earlier.window, window.from) : undefined;
  return {
    asOf: now.at,
    asOfBy: now.by,
    window: { asked: window.asked, from: window.from, until: window.until, ledgerDays: window.days.length },
    before: { from: earlier.window.from, until: window.from, isKnown: earlier.isKnown },
    now: current.scores,
    earlier: then?.scores,
    ownedUsdMicros: current.ownedUsdMicros,
    unknownSessions: current.unknownSessions,
    shutdownHours: SHUTDOWN_HOURS,
    unpricedUnits: current.unpricedUnits,
    categoryUsdMicros: current.categoryUsdMicros,
  };
}

type Scores = Pick<ScorecardAnswer, 'ownedUsdMicros' | 'unknownSessions' | 'unpricedUnits' | 'categoryUsdMicros'> & {
  readonly scores: ScorecardAnswer['now'];
};

async function scoresIn(space: ReadSpace, window: LedgerWindow, end: Date): Promise<Scores> {
  const { rows, unpricedUnits } = await spend(space, { by: parseDimensions(DIMENSIONS), window, filters: [] });
  const sessions = await endedSessions(space, window, end, SHUTDOWN_HOURS);
  return {
    ownedUsdMicros: sumOf(rows, (row) => isGpu(row) && valueOf(row, PURCHASE) === 'owned'),
    unknownSessions: sessions.unknown,
    unpricedUnits,
    categoryUsdMicros: new Map(
      CATEGORIES.filter((category) => rows.some((row) => isIn(row, category))).map((category) => [
        category,
        sumOf(rows, (row) => isIn(row, category)),
      ]),
    ),
    scores: { ...moneyScores(rows), 'auto-shutdown': shareOf(BigInt(sessions.stopped), BigInt(sessions.ended)) },
  };
}

const valueOf = ({ values }: SpendRow, place: number): string | null => values[place] ?? null;
const isIn = (row: SpendRow, ...categories: readonly string[]): boolean =>
  categories.includes(valueOf(row, CATEGORY) ?? '');
const isGpu = (row: SpendRow): boolean => !isIn(row, 'beside');

function sumOf(rows: readonly SpendRow[], keeps: (row: SpendRow) => boolean): bigint {
  return rows.filter(keeps).reduce((sum, { costUsdMicros }) => sum + (costUsdMicros ?? 0n), 0n);
}

/** The shares of money over money, of rows by team, class, purchase and category. */
export function moneyScores(rows: readonly SpendRow[]): Omit<ScorecardAnswer['now'], 'auto-shutdown'> {
  const money = (keeps: (row: SpendRow) => boolean): bigint => sumOf(rows, keeps);
  const purchaseIs = (row: SpendRow, purchase: string): boolean => isGpu(row) && valueOf(row, PURCHASE) === purchase;
  const isKnown = (row: SpendRow): boolean => isIn(row, 'computing', ...WASTE_CATEGORIES);
  const isBatch = (row: SpendRow): boolean =>
    BATCH_CLASSES.includes(valueOf(row, CLASS)) && isGpu(row) && !isIn(row, 'stranded', 'unallocated');
  const isCommitted = (row: SpendRow): boolean => purchaseIs(row, 'committed');
  const isInUse = (row: SpendRow): boolean => isCommitted(row) && !isIn(row, 'stranded');
  const score = (part: bigint, whole: bigint): Score => shareOf(part, whole);
  return {
    'compute-share': score(
      money((row) => isIn(row, 'computing')),
      money(isKnown),
    ),
    known: score(money(isKnown), money(isGpu)),
    tagging: score(
      money((row) => valueOf(row, TEAM) !== null),
      money(() => true),
    ),
    spot: score(
      money((row) => isBatch(row) && valueOf(row, PURCHASE) === 'spot'),
      money(isBatch),
    ),
    // What strands covers nothing, and no commitment can cover what is owned or on spot.
    'commitment-coverage': score(
      money(isInUse),
      money((row) => isInUse(row) || purchaseIs(row, 'on-demand')),
    ),
    'commitment-utilisation': score(money(isInUse), money(isCommitted)),
  };
}
