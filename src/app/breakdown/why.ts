import type { CategorySum } from '../../report/look-screen.ts';
import type { WhyAnswer } from '../../report/breakdown/why-answer.ts';
import type { SpendRow } from '../../report/spend-table.ts';
import { parseDimensions } from '../filter.ts';
import type { Filter } from '../filter.ts';
import { spend } from '../spend.ts';
import { dearer, sumOf } from '../waste/category-sum.ts';
import { dearestRows } from '../waste/dearest-rows.ts';
import type { LedgerWindow } from '../window.ts';
import type { ReadSpace } from '../workspace.ts';

const ROWS_TOLD = 6;
/** What a panel says of a figure beside its rows. */
const DECIDED = ['rule', 'category', 'reason', 'model', 'purchase', 'basis', 'bill'] as const;

/**
 * Question: which rows add up to a figure, whose rule and which rate decided?
 *
 * The figure is what `spend` says of the filters; the rows are added up from what money is posted to, a second path. What they differ by
 * is told: without shared pools it is 0, with them it is what the scope has of pools. `ledger explain` goes on from here, down to samples.
 *
 * Reads: what `spend` and `dearestRows` read.
 */
export async function why(
  space: ReadSpace,
  { window, filters }: { readonly window: LedgerWindow; readonly filters: readonly Filter[] },
): Promise<WhyAnswer> {
  // Asked once and added up by each: a question costs more than its rows do.
  const whole = await spend(space, { by: parseDimensions(DECIDED.join(',')), window, filters });
  const figure = sumOf(whole.rows);
  const { rows, subjects, sum } = await dearestRows(space, { window, filters, rowsMax: ROWS_TOLD });
  const rest = (figure.usdMicros ?? 0n) - (sum.usdMicros ?? 0n);
  const hasPools = space.rules.shared.length > 0;
  return {
    window,
    filter: whole.filter,
    figure,
    rows,
    others: subjects > rows.length ? { subjects: subjects - rows.length, sum: less(sum, rows) } : undefined,
    sharedUsdMicros: hasPools ? rest : 0n,
    differenceUsdMicros: hasPools ? 0n : rest,
    rules: addedBy(whole.rows, ['rule']).map(({ values: [rule = null], sum: each }) => ({ rule, sum: each })),
    categories: addedBy(whole.rows, ['category', 'reason']).map(({ values: [category, reason = null], sum: each }) => ({
      category: category ?? '',
      reason,
      sum: each,
    })),
    rates: addedBy(whole.rows, ['model', 'purchase', 'basis', 'bill']).map(({ values, sum: each }) => {
      const [model = null, purchase = null, basis = null, bill = null] = values;
      return { model, purchase, basis, bill, sum: each };
    }),
  };
}

/** Rows added up by some of what they were asked by, the dearest first. */
function addedBy(
  rows: readonly SpendRow[],
  names: readonly (typeof DECIDED)[number][],
): { readonly values: readonly (string | null)[]; readonly sum: CategorySum }[] {
  const groups = new Map<string, { values: readonly (string | null)[]; rows: SpendRow[] }>();
  for (const row of rows) {
    const values = names.map((name) => row.values[DECIDED.indexOf(name)] ?? null);
    const group = groups.get(JSON.stringify(values)) ?? { values, rows: [] };
    group.rows.push(row);
    groups.set(JSON.stringify(values), group);
  }
  return [...groups.values()]
    .map((group) => ({ values: group.values, sum: sumOf(group.rows) }))
    .toSorted((a, b) => dearer(a.sum, b.sum));
}

/** What is left of a sum without some of its rows. */
function less(sum: CategorySum, rows: readonly { readonly sum: CategorySum }[]): CategorySum {
  const told = rows.reduce(
    (all, each) => ({
      usdMicros: all.usdMicros + (each.sum.usdMicros ?? 0n),
      gpuUnits: all.gpuUnits + each.sum.gpuUnits,
      unpricedUnits: all.unpricedUnits + each.sum.unpricedUnits,
    }),
    { usdMicros: 0n, gpuUnits: 0n, unpricedUnits: 0n },
  );
  const gpuUnits = sum.gpuUnits - told.gpuUnits;
  const unpricedUnits = sum.unpricedUnits - told.unpricedUnits;
  const usdMicros = sum.usdMicros === null ? null : sum.usdMicros - told.usdMicros;
  // Nothing is left of the money, and time is: that has no price.
  const isUnpriced = usdMicros === 0n && gpuUnits > 0n && gpuUnits === unpricedUnits;
  return { usdMicros: isUnpriced ? null : usdMicros, gpuUnits, unpricedUnits };
}
