import { CATEGORIES } from '../../ledger/waterfall.ts';
import type { Category } from '../../ledger/waterfall.ts';
import { WASTE_CATEGORIES } from '../../report/category-words.ts';
import { isThere } from '../../report/look-screen.ts';
import type { CategorySum } from '../../report/look-screen.ts';
import type { SpendRow } from '../../report/spend-table.ts';
import type { WasteAnswer, WasteCategory, WasteGroup } from '../../report/waste/waste-answer.ts';
import { apartMoney } from '../beside/apart-money.ts';
import { parseDimensions } from '../filter.ts';
import type { Dimension, Filter } from '../filter.ts';
import type { Now } from '../now.ts';
import { spend } from '../spend.ts';
import { windowBefore } from '../window.ts';
import type { LedgerWindow } from '../window.ts';
import type { ReadSpace } from '../workspace.ts';
import { dearer, shareOf, sumOf } from './category-sum.ts';
import { openCategory } from './open-category.ts';

export interface WasteRequest {
  readonly window: LedgerWindow;
  readonly now: Now;
  readonly filters: readonly Filter[];
  /** What to show a waterfall for each value of; none for the whole alone. */
  readonly by: readonly Dimension[];
  /** The category to go down into. */
  readonly open?: Category;
}

/**
 * Question: where did the money of a scope and a window go, and what of that is different from the window before?
 *
 * The same figures as `spend --by category,reason`, so that rules and shared pools count. Reads: what `spend` reads, and what
 * `openCategory` reads where one is opened.
 */
export async function waste(space: ReadSpace, request: WasteRequest): Promise<WasteAnswer> {
  const { window, now, filters } = request;
  const whole = await spend(space, { by: parseDimensions('category,reason,component'), window, filters });
  const earlier = windowBefore(window, now.at, space.scope);
  const isKnown = earlier.isKnown;
  const before = isKnown
    ? await spend(space, { by: parseDimensions('category'), window: earlier.window, filters })
    : undefined;
  const isOther = (row: SpendRow): boolean => row.values[0] === 'beside' && thingOf(row) === 'other';
  const apart = whole.rows.some(isOther) ? await apartMoney(space, window, filters) : new Map<string, bigint>();
  const categories = CATEGORIES.map((category): WasteCategory => {
    const rows = whole.rows.filter(({ values }) => values[0] === category);
    return {
      category,
      sum: sumOf(rows),
      reasons: category === 'beside' ? besideParts(rows, apart) : reasonsOf(rows, ({ values }) => values[1] ?? null),
      before: before === undefined ? undefined : sumOf(before.rows.filter(({ values }) => values[0] === category)),
    };
  });
  return {
    asOf: now.at,
    asOfBy: now.by,
    window: { asked: window.asked, from: window.from, until: window.until, ledgerDays: window.days.length },
    before: { from: earlier.window.from, until: window.from, isKnown },
    filter: whole.filter,
    sum: { usdMicros: whole.totalUsdMicros, gpuUnits: whole.heldUnits, unpricedUnits: whole.unpricedUnits },
    sumBefore: before === undefined ? undefined : sumOf(before.rows),
    categories,
    computeShare: computeShare(categories),
    basisUsdMicros: whole.usdMicrosByBasis,
    by: request.by.map(({ name }) => name),
    groups: request.by.length === 0 ? [] : await groupsOf(space, request),
    opened: request.open === undefined ? undefined : await openCategory(space, { ...request, category: request.open }),
    unknownValues: whole.unknownValues,
  };
}

/** Beside the GPU it is what was bought, where the ledger gives no reason. */
const thingOf = ({ values }: SpendRow): string | null => values[1] ?? values[2] ?? null;

/** What stands beside the GPU, with lines of its own for what nobody chose to buy: under one name tax and credits hide each other. */
function besideParts(rows: readonly SpendRow[], apart: ReadonlyMap<string, bigint>): WasteCategory['reasons'] {
  const named = [...apart].map(([reason, usdMicros]) => ({
    reason,
    sum: { usdMicros, gpuUnits: 0n, unpricedUnits: 0n },
  }));
  const known = named.reduce((total, { sum }) => total + sum.usdMicros, 0n);
  const bought = reasonsOf(rows, thingOf).map((each) =>
    each.reason === 'other' ? { ...each, sum: { ...each.sum, usdMicros: (each.sum.usdMicros ?? 0n) - known } } : each,
  );
  return [...bought, ...named].filter(({ sum }) => isThere(sum)).toSorted((a, b) => dearer(a.sum, b.sum));
}

/** What a category consists of, the dearest first. */
function reasonsOf(
  rows: readonly SpendRow[],
  reasonOf: (row: SpendRow) => string | null,
): { readonly reason: string | null; readonly sum: CategorySum }[] {
  const groups = new Map<string | null, SpendRow[]>();
  for (const row of rows) {
    const reason = reasonOf(row);
    groups.set(reason, [...(groups.get(reason) ?? []), row]);
  }
  return [...groups].map(([reason, each]) => ({ reason, sum: sumOf(each) })).toSorted((a, b) => dearer(a.sum, b.sum));
}

/** Computing ÷ (paid − beside − unknown). */
function computeShare(categories: readonly WasteCategory[]): WasteAnswer['computeShare'] {
  const known = categories.filter(({ category }) => category === 'computing' || WASTE_CATEGORIES.includes(category));
  const computing = known.filter(({ category }) => category === 'computing');
  const micros = (some: readonly WasteCategory[]): bigint =>
    some.reduce((total, { sum }) => total + (sum.usdMicros ?? 0n), 0n);
  const units = (some: readonly WasteCategory[]): bigint => some.reduce((total, { sum }) => total + sum.gpuUnits, 0n);
  return { money: shareOf(micros(computing), micros(known)), hours: shareOf(units(computing), units(known)) };
}

async function groupsOf(space: ReadSpace, { by, window, filters }: WasteRequest): Promise<WasteGroup[]> {
  const dimensions = [...by.filter(({ name }) => name !== 'category'), ...parseDimensions('category')];
  const { rows } = await spend(space, { by: dimensions, window, filters });
  const groups = new Map<string, SpendRow[]>();
  for (const row of rows) {
    const key = JSON.stringify(row.values.slice(0, -1));
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return [...groups.values()]
    .map((each): WasteGroup => {
      const ofCategory = (category: Category): SpendRow[] => each.filter(({ values }) => values.at(-1) === category);
      return {
        values: each[0]?.values.slice(0, -1) ?? [],
        sum: sumOf(each),
        categories: new Map(CATEGORIES.map((category) => [category, sumOf(ofCategory(category))])),
      };
    })
    .toSorted((a, b) => dearer(a.sum, b.sum));
}
