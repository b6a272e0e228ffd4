import type { CategorySum } from '../look-screen.ts';
import type { WasteRow } from '../waste/waste-answer.ts';

/** A figure taken apart: what it is of, by which rules, at which rate. */
export interface WhyAnswer {
  readonly window: { readonly from: Date; readonly until: Date };
  readonly filter: string;
  readonly figure: CategorySum;
  /** What money is posted to, the dearest first. */
  readonly rows: readonly WasteRow[];
  /** The rest of them together; undefined where all are told. */
  readonly others: { readonly subjects: number; readonly sum: CategorySum } | undefined;
  /** What the figure has of shared pools, whose rows are with their pool; 0 without pools. */
  readonly sharedUsdMicros: bigint;
  /** Figure less rows, others and shared. */
  readonly differenceUsdMicros: bigint;
  /** What decided whose it is. */
  readonly rules: readonly { readonly rule: string | null; readonly sum: CategorySum }[];
  readonly categories: readonly {
    readonly category: string;
    readonly reason: string | null;
    readonly sum: CategorySum;
  }[];
  /** Where its price is from: of each model, purchase, basis and bill. */
  readonly rates: readonly {
    readonly model: string | null;
    readonly purchase: string | null;
    readonly basis: string | null;
    readonly bill: string | null;
    readonly sum: CategorySum;
  }[];
}
