import type { StatementLine } from '../../facts/statement-record.ts';
import { CATEGORIES } from '../../ledger/waterfall.ts';
import type { Category } from '../../ledger/waterfall.ts';
import { divideRounded } from '../../money/usd.ts';
import type { Amount, StatementPart } from '../../report/statement-answer.ts';
import type { CubeRow } from './month-cube.ts';

/** What rows add up to; money is null where there is something and none of it has a price. */
export function amountOf(rows: readonly Amount[]): Amount {
  return {
    usdMicros:
      rows.length === 0
        ? 0n
        : rows.reduce<bigint | null>(
            (total, { usdMicros }) => (usdMicros === null ? total : (total ?? 0n) + usdMicros),
            null,
          ),
    gpuUnits: rows.reduce((total, { gpuUnits }) => total + gpuUnits, 0n),
    unpricedUnits: rows.reduce((total, { unpricedUnits }) => total + unpricedUnits, 0n),
  };
}

type CategoryRow = Amount & Pick<CubeRow, 'category'>;

export function categoriesOf(rows: readonly CategoryRow[]): Readonly<Record<Category, Amount>> {
  return Object.fromEntries(
    CATEGORIES.map((category) => [category, amountOf(rows.filter((row) => row.category === category))]),
  ) as Record<Category, Amount>;
}

/** Computing ÷ (paid − beside − unknown), in money and in GPU-hours; null where there is nothing to divide by. */
export function computeShares(rows: readonly CategoryRow[]): {
  readonly money: number | null;
  readonly hours: number | null;
} {
  const { computing, beside, unknown } = categoriesOf(rows);
  const paid = amountOf(rows);
  const known = (paid.usdMicros ?? 0n) - (beside.usdMicros ?? 0n) - (unknown.usdMicros ?? 0n);
  return {
    money: permille(computing.usdMicros ?? 0n, known),
    hours: permille(computing.gpuUnits, paid.gpuUnits - beside.gpuUnits - unknown.gpuUnits),
  };
}

/** Rows by what `nameOf` says, the dearest first and what nobody said last, beside the month before. */
export function partsBy(
  rows: readonly CubeRow[],
  before: readonly CubeRow[] | undefined,
  nameOf: (row: CubeRow) => string | null,
): StatementPart[] {
  const names = [...new Set([...rows, ...(before ?? [])].map(nameOf))];
  return names
    .map((name): StatementPart => {
      const own = rows.filter((row) => nameOf(row) === name);
      return {
        name,
        ...amountOf(own),
        beforeUsdMicros: before === undefined ? null : amountOf(before.filter((row) => nameOf(row) === name)).usdMicros,
        // What is only stranded or beside the GPUs could not compute.
        computeSharePermille: own.every(({ category }) => ['stranded', 'beside'].includes(category))
          ? null
          : computeShares(own).money,
      };
    })
    .filter((part) => part.usdMicros !== 0n || part.gpuUnits !== 0n || (part.beforeUsdMicros ?? 0n) !== 0n)
    .toSorted(compareParts);
}

/** The dearest first; what has no name last. */
export function compareParts(
  a: { readonly name: string | null; readonly usdMicros: bigint | null },
  b: { readonly name: string | null; readonly usdMicros: bigint | null },
): number {
  if ((a.name === null) !== (b.name === null)) return a.name === null ? 1 : -1;
  const [costA, costB] = [a.usdMicros ?? 0n, b.usdMicros ?? 0n];
  if (costA !== costB) return costA > costB ? -1 : 1;
  return (a.name ?? '') < (b.name ?? '') ? -1 : 1;
}

/** The lines a statement is kept as: what models and rules tell apart beyond them is added up. */
export function linesOf(rows: readonly CubeRow[]): StatementLine[] {
  const lines = new Map<string, StatementLine>();
  for (const { project, class: klass, component, category, basis, usdMicros, gpuUnits } of rows) {
    const key = JSON.stringify([klass, project, component, category, basis]);
    const line = lines.get(key);
    lines.set(key, {
      project,
      class: klass,
      component,
      category,
      basis,
      usdMicros: line === undefined || line.usdMicros === null ? usdMicros : line.usdMicros + (usdMicros ?? 0n),
      gpuUnits: (line?.gpuUnits ?? 0n) + gpuUnits,
    });
  }
  return [...lines].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, line]) => line);
}

function permille(part: bigint, whole: bigint): number | null {
  return whole <= 0n ? null : Number(divideRounded(part * 1000n, whole));
}
