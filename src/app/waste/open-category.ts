import type { Category } from '../../ledger/waterfall.ts';
import type { OpenedCategory } from '../../report/waste/waste-answer.ts';
import { filterOn, parseDimensions } from '../filter.ts';
import type { Filter } from '../filter.ts';
import { spend } from '../spend.ts';
import type { LedgerWindow } from '../window.ts';
import type { ReadSpace } from '../workspace.ts';
import { dearer, sumOf } from './category-sum.ts';
import { dearestRows } from './dearest-rows.ts';

interface OpenRequest {
  readonly category: Category;
  readonly window: LedgerWindow;
  readonly filters: readonly Filter[];
}

const ROWS_SHOWN = 15;

/**
 * Question: whose is the money of a category, of which class of work, and what does it consist of?
 *
 * Reads: what `spend` reads; subject_day, and of days that are cut, or where a filter asks for more than it has, the waterfall; ownership of
 * the rows that are shown, of all where a filter asks for owners.
 */
export async function openCategory(space: ReadSpace, request: OpenRequest): Promise<OpenedCategory> {
  const { category, window } = request;
  const filters = [
    ...request.filters.filter(({ dimension }) => dimension.name !== 'category'),
    filterOn('category', category),
  ];
  const by = async (name: string): Promise<OpenedCategory['byTeam']> => {
    const { rows } = await spend(space, { by: parseDimensions(name), window, filters });
    return rows
      .map((row) => ({ value: row.values[0] ?? null, sum: sumOf([row]) }))
      .toSorted((a, b) => dearer(a.sum, b.sum));
  };
  const { rows, subjects } = await dearestRows(space, { window, filters, rowsMax: ROWS_SHOWN });
  return {
    category,
    byTeam: await by('team'),
    byClass: await by('class'),
    rows,
    subjects,
    hasPools: space.rules.shared.length > 0,
  };
}
