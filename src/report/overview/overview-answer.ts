import type { AskedWindow } from '../window-words.ts';
import type { Verdict } from './verdict.ts';

/** One step of the window: what was paid in it, and what of it computed. */
export interface OverviewStep {
  readonly from: Date;
  readonly paidUsdMicros: bigint | null;
  /** Computing ÷ (paid − beside − unknown). */
  readonly computedPermille: number | null;
  /** Something of it is estimated: its bill has not come yet. */
  readonly isEstimated: boolean;
}

/** What one window came to. */
export interface OverviewSum {
  readonly paidUsdMicros: bigint | null;
  readonly computedPermille: number | null;
  readonly unknownPermille: number | null;
  /** Undefined where one team is asked about. */
  readonly unattributedPermille: number | null | undefined;
  readonly gpuUnits: bigint;
  readonly unpricedUnits: bigint;
  readonly steps: readonly OverviewStep[];
}

export interface SourceFreshness {
  readonly name: string;
  readonly kind: string;
  readonly state: 'ok' | 'late' | 'failing' | 'never';
  readonly coveredUntil: Date | null;
}

/** Whether we are fine, and the figures that say so. */
export interface OverviewAnswer {
  readonly asOf: Date;
  readonly asOfBy: 'asked' | 'newest fact' | 'clock';
  readonly isDemo: boolean;
  readonly window: AskedWindow;
  readonly before: { readonly from: Date; readonly until: Date; readonly isKnown: boolean };
  readonly team: string | undefined;
  readonly stepSeconds: number;
  readonly now: OverviewSum;
  readonly earlier: OverviewSum | undefined;
  readonly basisUsdMicros: ReadonlyMap<string, bigint>;
  readonly books: {
    readonly bills: number;
    readonly differenceUsdMicros: bigint | null;
    readonly notPosted: number;
    readonly staleRows: number;
    readonly billedUntil: string | null;
  };
  readonly sources: readonly SourceFreshness[];
  readonly verdict: Verdict;
}
