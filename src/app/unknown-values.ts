import { nearestName } from '../facts/nearest-name.ts';
import type { UnknownValue } from '../report/unknown-value.ts';
import type { Dimension, Filter } from './filter.ts';
import { daysOf } from './window.ts';
import type { LedgerWindow } from './window.ts';
import type { ReadSpace } from './workspace.ts';

/** Times are not misspelt, and categories are checked before anything is read. */
const WITHOUT_NEAREST: ReadonlySet<string> = new Set(['day', 'hour', 'category']);

/**
 * Question: which values of the filters does the window not have at all, and which did the person mean?
 *
 * Asked only where the answer is empty. Reads: owned_spend_day, or waterfall for what only entries know.
 */
export async function unknownValues(
  space: ReadSpace,
  window: LedgerWindow,
  filters: readonly Filter[],
): Promise<UnknownValue[]> {
  if (window.days.length === 0) return [];
  const unknown: UnknownValue[] = [];
  for (const { dimension, values } of filters.filter((filter) => !WITHOUT_NEAREST.has(filter.dimension.name))) {
    const known = await knownValues(space, window, dimension);
    for (const value of values) {
      if (value === null || known.includes(value)) continue;
      unknown.push({ dimension: dimension.name, value, nearest: nearestName(value, known) });
    }
  }
  return unknown;
}

async function knownValues(
  space: ReadSpace,
  window: LedgerWindow,
  { spendDayColumn, entryColumn }: Dimension,
): Promise<string[]> {
  const [table, column] =
    spendDayColumn === undefined ? ['waterfall', entryColumn] : ['owned_spend_day', spendDayColumn];
  const rows = await space.ask<{ value: string }>({
    tables: [{ table, ...daysOf(window) }],
    sql: `SELECT DISTINCT ${column} AS value FROM ${table} w WHERE ${column} IS NOT NULL ORDER BY value`,
  });
  return rows.map(({ value }) => value);
}
