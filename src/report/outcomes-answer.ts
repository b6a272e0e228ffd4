import type { AskedWindow } from './window-words.ts';

/** What was paid for work, and what GPUs did for it. Null micros: nothing of it has a price. */
export interface OutcomeMoney {
  /** Allocation basis: all money of what was held for it. */
  readonly usdMicros: bigint | null;
  /** Active basis: only the money of seconds that computed. */
  readonly activeUsdMicros: bigint | null;
  /** Money of seconds nobody knows; not active. */
  readonly unknownUsdMicros: bigint | null;
  readonly gpuUnits: bigint;
  readonly computingUnits: bigint;
  readonly unknownUnits: bigint;
  readonly unpricedUnits: bigint;
}

/** One kind of outcome in one window. */
export interface OutcomeFigures {
  readonly quantityMillionths: bigint;
  readonly paid: OutcomeMoney;
  /** Share of the held time that counters cover; null where counters say no times. */
  readonly countedPermille: number | null;
}

export interface OutcomeRow {
  /** The model, run or team; null where nobody can say. */
  readonly name: string | null;
  readonly unit: string;
  /** A price is of so many units: a million tokens, a thousand requests. */
  readonly per: bigint;
  readonly now: OutcomeFigures;
  /** Null where nothing was counted in the window before. */
  readonly before: OutcomeFigures | null;
  /** It shares what was held with others, divided by this unit. */
  readonly sharedBy: string | null;
  /** What `per` units cost in each whole week of the window, oldest first, in micros; null where nothing is known. Empty for short windows. */
  readonly weeks: readonly (bigint | null)[];
}

/** Runs that finished in the window, with all their lives. */
export interface FinishedRuns {
  readonly runs: number;
  readonly paid: OutcomeMoney;
  readonly medianUsdMicros: bigint | null;
  /** What their lives before the last cost. */
  readonly earlierUsdMicros: bigint | null;
  /** From asking to the first GPU, and from there to the end; null where nobody noted when it was asked for. */
  readonly medianWaitSeconds: number | null;
  readonly medianRunSeconds: number;
}

export interface RunRow {
  readonly name: string | null;
  readonly now: FinishedRuns;
  readonly before: FinishedRuns | null;
}

/** Serving whose cost grew faster than its traffic. */
export interface CostGrowth {
  readonly name: string | null;
  readonly unit: string;
  readonly per: bigint;
  readonly now: OutcomeFigures;
  readonly before: OutcomeFigures;
}

export interface OutcomesAnswer {
  readonly asOf: Date;
  readonly by: 'model' | 'team' | 'run' | 'unit';
  readonly unit: string | undefined;
  readonly window: AskedWindow;
  readonly before: { readonly from: Date; readonly until: Date; readonly isKnown: boolean };
  readonly rows: readonly OutcomeRow[];
  readonly runs: readonly RunRow[];
  /** Finished jobs that nothing says are training or batch. */
  readonly unclassified: { readonly runs: number; readonly usdMicros: bigint | null };
  readonly alarms: readonly CostGrowth[];
  /** Serving that was paid for and that no counter speaks of. */
  readonly uncounted: readonly {
    readonly name: string;
    readonly team: string | null;
    readonly usdMicros: bigint | null;
    readonly gpuUnits: bigint;
  }[];
  /** Work that nothing which was held is known to have done. */
  readonly unpaid: readonly {
    readonly name: string | null;
    readonly unit: string;
    readonly quantityMillionths: bigint;
  }[];
  readonly teams: readonly {
    readonly team: string | null;
    readonly usdMicros: bigint | null;
    readonly gpuUnits: bigint;
    /** computing ÷ (paid − beside − unknown), in money; null where nothing is known. */
    readonly computePermille: number | null;
  }[];
  readonly basisUsdMicros: Readonly<Record<string, bigint>>;
  readonly unpricedUnits: bigint;
}

/** Below this an increase raises no alarm: a day of one small GPU. */
export const GROWTH_USD_MICROS_MIN = 100_000_000n;
/** A unit may become dearer by so much before somebody is woken. */
export const GROWTH_PERMILLE_MAX = 200n;
/** Both windows need counters for so much of the held time. */
export const COUNTED_PERMILLE_MIN = 900;

/** What `per` units cost, in micros; null without a price or without work. */
export function unitUsdMicros(usdMicros: bigint | null, quantityMillionths: bigint, per: bigint): bigint | null {
  if (usdMicros === null || quantityMillionths <= 0n) return null;
  return (usdMicros * per * 1_000_000n * 2n + quantityMillionths) / (2n * quantityMillionths);
}
