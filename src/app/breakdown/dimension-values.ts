import type { Filter } from '../filter.ts';
import { parseDimensions } from '../filter.ts';
import { spend } from '../spend.ts';
import { ledgerWindow } from '../window.ts';
import type { ReadSpace } from '../workspace.ts';

export interface DimensionValue {
  /** Null is what nobody can say. */
  readonly value: string | null;
  readonly firstDay: string;
  /** In the whole ledger. */
  readonly usdMicros: bigint | null;
}

export interface DimensionValues {
  readonly dimension: string;
  /** False where there are as many as nodes, devices, hours or jobs: those are typed, not chosen. */
  readonly isListed: boolean;
  /** In the order in which they first cost something, of one day the dearest of that day first; what nobody can say last. */
  readonly values: readonly DimensionValue[];
  readonly isTruncated: boolean;
}

const VALUES_MAX = 500;

interface Seen {
  readonly value: string | null;
  readonly firstDay: string;
  readonly onFirstDay: bigint;
  readonly usdMicros: bigint | null;
}

/**
 * Question: which values does a dimension have in the whole ledger?
 *
 * The order is what colours are given by: it does not change as the ledger grows, whatever window is looked at. Reads: what `spend` reads.
 */
export async function dimensionValues(
  space: ReadSpace,
  request: { readonly dimension: string; readonly filters: readonly Filter[]; readonly now: Date },
): Promise<DimensionValues> {
  const [dimension] = parseDimensions(request.dimension);
  const nothing = { dimension: request.dimension, values: [], isTruncated: false };
  if (dimension?.spendDayColumn === undefined || dimension.name === 'day') return { ...nothing, isListed: false };
  const { rows } = await spend(space, {
    by: [dimension, ...parseDimensions('day')],
    filters: request.filters,
    window: ledgerWindow('all', request.now, space.scope),
  });
  const seen = new Map<string | null, Seen>();
  for (const { values, costUsdMicros } of rows) {
    const [value = null, day = null] = values;
    const known = seen.get(value);
    const total = add(known?.usdMicros ?? null, costUsdMicros);
    const isFirst = known === undefined || (day ?? '') < known.firstDay;
    seen.set(
      value,
      isFirst
        ? { value, firstDay: day ?? '', onFirstDay: costUsdMicros ?? 0n, usdMicros: total }
        : { ...known, usdMicros: total },
    );
  }
  const all = [...seen.values()].toSorted(compareSeen);
  return {
    dimension: dimension.name,
    isListed: true,
    values: all.slice(0, VALUES_MAX).map(({ value, firstDay, usdMicros }) => ({ value, firstDay, usdMicros })),
    isTruncated: all.length > VALUES_MAX,
  };
}

function compareSeen(a: Seen, b: Seen): number {
  if ((a.value === null) !== (b.value === null)) return a.value === null ? 1 : -1;
  if (a.firstDay !== b.firstDay) return a.firstDay < b.firstDay ? -1 : 1;
  if (a.onFirstDay !== b.onFirstDay) return a.onFirstDay > b.onFirstDay ? -1 : 1;
  return (a.value ?? '') < (b.value ?? '') ? -1 : 1;
}

function add(a: bigint | null, b: bigint | null): bigint | null {
  return a === null ? b : a + (b ?? 0n);
}
