import type { CategorySum } from '../look-screen.ts';
import type { SpendPrice } from '../spend-table.ts';

/** What was paid in each step of a window. */
export interface StepSums {
  /** Null where nothing has a price, and where there are no facts. */
  readonly usdMicros: readonly (bigint | null)[];
  /** Null where there are no facts. */
  readonly gpuUnits: readonly (bigint | null)[];
}

/** What one group came to. */
export interface BreakdownSum {
  readonly sum: CategorySum;
  /** In the window before; null where the facts do not reach back that far. */
  readonly beforeUsdMicros: bigint | null;
  /** Computing ÷ (paid − beside − unknown). */
  readonly computedPermille: number | null;
  readonly computedBeforePermille: number | null;
  readonly categories: ReadonlyMap<string, CategorySum>;
  readonly steps: StepSums;
}

export interface BreakdownRow extends BreakdownSum {
  /** The values of `by`, in its order; null is what nobody can say. */
  readonly values: readonly (string | null)[];
}

/** Money by groups: how much, against before, where it went, step by step. Rows and others add up to the total. */
export interface Breakdown {
  readonly by: readonly string[];
  readonly window: { readonly from: Date; readonly until: Date };
  readonly before: { readonly from: Date; readonly until: Date; readonly isKnown: boolean };
  readonly price: SpendPrice;
  readonly filter: string;
  readonly stepSeconds: number;
  readonly steps: readonly Date[];
  /** Of each step, whether something of it is estimated. */
  readonly estimated: readonly boolean[];
  /** What was paid in each step of the window before; empty where it is not known. */
  readonly stepsBefore: StepSums;
  readonly rows: readonly BreakdownRow[];
  /** What is beyond the rows that are told; undefined where nothing is. */
  readonly others: (BreakdownSum & { readonly groups: number }) | undefined;
  readonly total: BreakdownSum;
}
