import type { OverviewAnswer, OverviewStep, OverviewSum } from '../../report/overview/overview-answer.ts';
import { verdictOf } from '../../report/overview/verdict.ts';
import { sourceState } from '../../report/collect-report.ts';
import type { Spend, SpendRow } from '../../report/spend-table.ts';
import { isDemo } from '../demo/demo-mark.ts';
import { filterOn, parseDimensions } from '../filter.ts';
import type { Now } from '../now.ts';
import { spend } from '../spend.ts';
import { shareOf, sumOf } from '../waste/category-sum.ts';
import { windowBefore } from '../window.ts';
import type { LedgerWindow } from '../window.ts';
import type { ReadSpace } from '../workspace.ts';
import { checkBooks } from './books.ts';
import { stepsOf } from '../breakdown/steps.ts';

export interface OverviewRequest {
  readonly window: LedgerWindow;
  readonly now: Now;
  readonly clock: Date;
  readonly team?: string;
}

const DAY_S = 86_400;
/** Beyond so many days a line through each of them is noise. */
const DAILY_MAX = 200;

/**
 * Question: are we fine?
 *
 * One sentence's worth of figures, day by day and against the window before, and the verdict of a published rule (docs/FINE.md).
 * Findings are not in it: they take longer, and have a question of their own. Reads: what `spend` and `checkBooks` read.
 */
export async function overview(space: ReadSpace, request: OverviewRequest): Promise<OverviewAnswer> {
  const { window, now, clock, team } = request;
  const earlier = windowBefore(window, now.at, space.scope);
  const stepSeconds = window.days.length > DAILY_MAX ? 7 * DAY_S : DAY_S;
  const sums = await sumsOf(space, window, team, stepSeconds);
  const before = earlier.isKnown ? await sumsOf(space, earlier.window, team, stepSeconds) : undefined;
  const books = await checkBooks(space, now.at);
  // A demo is history: its sources are as old as it is.
  const asked = now.by === 'clock' ? clock : now.at;
  const sources = space.sources.map((record) => ({
    name: record.name,
    kind: record.kind,
    state: sourceState(record, asked),
    coveredUntil: record.coveredUntil ?? null,
  }));
  return {
    asOf: now.at,
    asOfBy: now.by,
    isDemo: space.snapshot.batches.some(isDemo),
    window: { asked: window.asked, from: window.from, until: window.until, ledgerDays: window.days.length },
    before: { from: earlier.window.from, until: window.from, isKnown: earlier.isKnown },
    team,
    stepSeconds,
    now: sums.sum,
    earlier: before?.sum,
    basisUsdMicros: sums.byBasis,
    books,
    sources,
    verdict: verdictOf({
      computedPermille: sums.sum.computedPermille,
      computedBeforePermille: before?.sum.computedPermille ?? null,
      unknownPermille: sums.sum.unknownPermille,
      unattributedPermille: sums.sum.unattributedPermille,
      unpricedPermille: shareOf(sums.sum.unpricedUnits, sums.sum.gpuUnits).permille,
      books,
      sources: { all: sources.length, stale: sources.filter(({ state }) => state !== 'ok').length },
    }),
  };
}

async function sumsOf(
  space: ReadSpace,
  window: LedgerWindow,
  team: string | undefined,
  stepSeconds: number,
): Promise<{ readonly sum: OverviewSum; readonly byBasis: ReadonlyMap<string, bigint> }> {
  const filters = team === undefined ? [] : [filterOn('team', team)];
  const daily = await spend(space, { by: parseDimensions('category,basis,team'), window, filters, stepSeconds });
  const whole = sumOf(daily.rows);
  const paid = whole.usdMicros ?? 0n;
  return {
    byBasis: daily.usdMicrosByBasis,
    sum: {
      paidUsdMicros: daily.totalUsdMicros,
      computedPermille: computed(daily.rows),
      unknownPermille: shareOf(sumOf(inCategory(daily.rows, 'unknown')).usdMicros ?? 0n, paid).permille,
      unattributedPermille: team === undefined ? shareOf(nobodys(daily.rows), paid).permille : undefined,
      gpuUnits: whole.gpuUnits,
      unpricedUnits: whole.unpricedUnits,
      steps: steps(daily, window, stepSeconds),
    },
  };
}

function nobodys(rows: readonly SpendRow[]): bigint {
  return sumOf(rows.filter(({ values }) => (values[2] ?? null) === null)).usdMicros ?? 0n;
}

function steps(daily: Spend, window: LedgerWindow, stepSeconds: number): OverviewStep[] {
  const byStep = new Map<number, SpendRow[]>();
  for (const row of daily.rows) {
    const at = row.step?.getTime() ?? 0;
    byStep.set(at, [...(byStep.get(at) ?? []), row]);
  }
  return stepsOf(window, stepSeconds).map((from): OverviewStep => {
    const rows = byStep.get(from.getTime()) ?? [];
    return {
      from,
      paidUsdMicros: rows.length === 0 ? null : sumOf(rows).usdMicros,
      computedPermille: computed(rows),
      isEstimated: rows.some(({ values, costUsdMicros }) => values[1] === 'estimated' && (costUsdMicros ?? 0n) !== 0n),
    };
  });
}

function inCategory(rows: readonly SpendRow[], ...categories: readonly string[]): SpendRow[] {
  return rows.filter(({ values }) => categories.includes(values[0] ?? ''));
}

/** Computing ÷ (paid − beside − unknown); null where nothing is known. */
function computed(rows: readonly SpendRow[]): number | null {
  const micros = (some: readonly SpendRow[]): bigint => sumOf(some).usdMicros ?? 0n;
  const known = micros(rows) - micros(inCategory(rows, 'beside', 'unknown'));
  return shareOf(micros(inCategory(rows, 'computing')), known).permille;
}
