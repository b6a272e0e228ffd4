import { divideRounded } from '../../money/usd.ts';
import type { CategorySum } from '../../report/look-screen.ts';
import type { SpendRow } from '../../report/spend-table.ts';
import type { Share } from '../../report/waste/waste-answer.ts';

const NOTHING: CategorySum = { usdMicros: 0n, gpuUnits: 0n, unpricedUnits: 0n };

/** Null where there is time and none of it has a price; nothing at all is 0. */
export function sumOf(rows: readonly SpendRow[]): CategorySum {
  if (rows.length === 0) return NOTHING;
  return {
    usdMicros: rows.reduce<bigint | null>(
      (total, { costUsdMicros }) => (costUsdMicros === null ? total : (total ?? 0n) + costUsdMicros),
      null,
    ),
    gpuUnits: rows.reduce((total, { heldUnits }) => total + heldUnits, 0n),
    unpricedUnits: rows.reduce((total, { unpricedUnits }) => total + unpricedUnits, 0n),
  };
}

/** What costs more first; of equals, what took longer. */
export function dearer(a: CategorySum, b: CategorySum): number {
  const [left, right] = [a.usdMicros ?? 0n, b.usdMicros ?? 0n];
  if (left !== right) return left > right ? -1 : 1;
  return a.gpuUnits === b.gpuUnits ? 0 : a.gpuUnits > b.gpuUnits ? -1 : 1;
}

/** Null where there is nothing to divide by. */
export function shareOf(part: bigint, whole: bigint): Share {
  return { part, whole, permille: whole <= 0n ? null : Number(divideRounded(part * 1000n, whole)) };
}
