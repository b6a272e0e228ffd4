import { filterOn } from '../filter.ts';
import type { Dimension, Filter } from '../filter.ts';
import { spend } from '../spend.ts';
import type { LedgerWindow } from '../window.ts';
import type { ReadSpace } from '../workspace.ts';

/** Not for people's `--by`: what a dollar of the component `other` is. */
const DISPOSITION: Dimension = { name: 'disposition', entryColumn: 'w.disposition' };
const APART = ['tax', 'support', 'credit', 'rounding'] as const;
type Apart = (typeof APART)[number];

/**
 * Question: what of the component `other` did nobody choose to buy: tax, support, credits?
 *
 * Sums by day do not tell them apart, so that single entries are read: to be asked where there is money of that component.
 * Reads: what `spend` reads.
 */
export async function apartMoney(
  space: ReadSpace,
  window: LedgerWindow,
  filters: readonly Filter[],
): Promise<ReadonlyMap<Apart, bigint>> {
  const { rows } = await spend(space, {
    by: [DISPOSITION],
    window,
    filters: [...filters.filter(({ dimension }) => dimension.name !== 'component'), filterOn('component', 'other')],
  });
  return new Map(
    rows.flatMap(({ values, costUsdMicros }) => {
      const name = APART.find((apart) => apart === values[0]);
      return name === undefined || costUsdMicros === null ? [] : [[name, costUsdMicros] as const];
    }),
  );
}
