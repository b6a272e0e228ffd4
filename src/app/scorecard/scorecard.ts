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
    hours: current.hours,
    earlier: then?.scores,
    ownedUsdMicros: current.ownedUsdMicros,
    unknownSessions: current.unknownSessions,
    shutdownHours: SHUTDOWN_HOURS,
    unpricedUnits: current.unpricedUnits,
    categoryUsdMicros: current.categoryUsdMicros,
  };
}

type Scores = Pick<
  ScorecardAnswer,
  'hours' | 'ownedUsdMicros' | 'unknownSessions' | 'unpricedUnits' | 'categoryUsdMicros'
> & {
  readonly scores: ScorecardAnswer['now'];
};

async function scoresIn(space: ReadSpace, window: LedgerWindow, end: Date): Promise<Scores> {
  const { rows, unpricedUnits } = await spend(space, { by: parseDimensions(DIMENSIONS), window, filters: [] });
  const sessions = await endedSessions(space, window, end, SHUTDOWN_HOURS);
  return {
    hours: shareScores(rows, ({ heldUnits }) => heldUnits),
    ownedUsdMicros: sumOf(rows, paidFor, (row) => isGpu(row) && valueOf(row, PURCHASE) === 'owned'),
    unknownSessions: sessions.unknown,
    unpricedUnits,
    categoryUsdMicros: new Map(
      CATEGORIES.filter((category) => rows.some((row) => isIn(row, category))).map((category) => [
        category,
        sumOf(rows, paidFor, (row) => isIn(row, category)),
      ]),
    ),
    scores: {
      ...shareScores(rows, paidFor),
      'auto-shutdown': shareOf(BigInt(sessions.stopped), BigInt(sessions.ended)),
    },
  };
}

const valueOf = ({ values }: SpendRow, place: number): string | null => values[place] ?? null;
const isIn = (row: SpendRow, ...categories: readonly string[]): boolean =>
  categories.includes(valueOf(row, CATEGORY) ?? '');
const isGpu = (row: SpendRow): boolean => !isIn(row, 'beside');

/** What a share is of: money, or GPU time where money does not say all. */
type Measure = (row: SpendRow) => bigint | null;
const paidFor: Measure = ({ costUsdMicros }) => costUsdMicros;

function sumOf(rows: readonly SpendRow[], measure: Measure, keeps: (row: SpendRow) => boolean): bigint {
  return rows.filter(keeps).reduce((sum, row) => sum + (measure(row) ?? 0n), 0n);
}

/** The shares of money over money, or of GPU time over GPU time, of rows by team, class, purchase and category. */
export function shareScores(rows: readonly SpendRow[], measure: Measure): ScorecardAnswer['hours'] {
  const amount = (keeps: (row: SpendRow) => boolean): bigint => sumOf(rows, measure, keeps);
  const purchaseIs = (row: SpendRow, purchase: string): boolean => isGpu(row) && valueOf(row, PURCHASE) === purchase;
  const isKnown = (row: SpendRow): boolean => isIn(row, 'computing', ...WASTE_CATEGORIES);
  const isBatch = (row: SpendRow): boolean =>
    BATCH_CLASSES.includes(valueOf(row, CLASS)) && isGpu(row) && !isIn(row, 'stranded', 'unallocated');
  const isCommitted = (row: SpendRow): boolean => purchaseIs(row, 'committed');
  const isInUse = (row: SpendRow): boolean => isCommitted(row) && !isIn(row, 'stranded');
  const score = (part: bigint, whole: bigint): Score => shareOf(part, whole);
  return {
    'compute-share': score(
      amount((row) => isIn(row, 'computing')),
      amount(isKnown),
    ),
    known: score(amount(isKnown), amount(isGpu)),
    tagging: score(
      amount((row) => valueOf(row, TEAM) !== null),
      amount(() => true),
    ),
    spot: score(
      amount((row) => isBatch(row) && valueOf(row, PURCHASE) === 'spot'),
      amount(isBatch),
    ),
    // What strands covers nothing, and no commitment can cover what is owned or on spot.
    'commitment-coverage': score(
      amount(isInUse),
      amount((row) => isInUse(row) || purchaseIs(row, 'on-demand')),
    ),
    'commitment-utilisation': score(amount(isInUse), amount(isCommitted)),
  };
}
