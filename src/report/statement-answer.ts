import type { StatementAdjustment, StatementKind, StatementLine } from '../facts/statement-record.ts';
import type { Category } from '../ledger/waterfall.ts';

/** Money and time of something; money is null where none of it has a price. */
export interface Amount {
  readonly usdMicros: bigint | null;
  readonly gpuUnits: bigint;
  readonly unpricedUnits: bigint;
}

/** A part of a statement, beside what the same was in the month before. */
export interface StatementPart extends Amount {
  /** Null is what nobody said. */
  readonly name: string | null;
  /** Null where the month before is not in the ledger. */
  readonly beforeUsdMicros: bigint | null;
  /** Computing ÷ (paid − beside − unknown), in money; null where nothing is known. */
  readonly computeSharePermille: number | null;
}

/** What moved from one month to the next, and what of it is more hours and what a dearer hour. */
export interface Mover {
  readonly project: string | null;
  readonly class: string | null;
  /** The GPU's model, or the component where it is not GPU time. */
  readonly what: string | null;
  readonly changeUsdMicros: bigint;
  /** The change of GPU-hours at the old rate; null where there is no time to count. */
  readonly volumeUsdMicros: bigint | null;
  /** The change of the rate over the new hours. */
  readonly priceUsdMicros: bigint | null;
}

export interface MonthBefore {
  readonly month: string;
  readonly from: string;
  readonly until: string;
  /** Days of it that the ledger does not have: then less is compared with more. */
  readonly missingDays: number;
  readonly usdMicros: bigint | null;
  readonly computeSharePermille: number | null;
}

/** How long jobs waited that began in the month. */
export interface StatementWait {
  readonly jobs: number;
  readonly medianSeconds: number;
  readonly p90Seconds: number;
}

/**
 * Everything a statement of one team and month shows. Times are text, so that it can be kept and read back: a closed month is printed
 * from what was kept.
 */
export interface StatementAnswer {
  readonly team: string | null;
  readonly month: string;
  readonly kind: StatementKind;
  readonly status: 'running' | 'open' | 'closed';
  readonly number: string | null;
  readonly issuedAt: string | null;
  readonly issuer: string | null;
  readonly costCentre: string | null;
  readonly accountCode: string | null;
  readonly lead: string | null;
  readonly from: string;
  readonly until: string;
  readonly asOf: string;
  /** Days from `from` to `until` of which the ledger has nothing; undefined on statements issued before it was counted. */
  readonly missingDays?: number;
  readonly total: Amount;
  /** The month's amount in whole cents: of all teams they add up to the month's. */
  readonly amountCents: bigint;
  readonly adjustments: readonly (StatementAdjustment & { readonly amountCents: bigint })[];
  /** The month before, or as much of it as has gone by of a running one; null where the ledger has nothing of it. */
  readonly before: MonthBefore | null;
  readonly components: readonly StatementPart[];
  readonly classes: readonly StatementPart[];
  readonly projects: readonly StatementPart[];
  /** The dearest only; they do not add up to the total. */
  readonly workloads: readonly StatementPart[];
  /** Its part of what teams share, by the rule and its key; within the total. */
  readonly shared: readonly { readonly name: string; readonly usdMicros: bigint }[];
  readonly categories: Readonly<Record<Category, Amount>>;
  readonly computeSharePermille: number | null;
  readonly computeShareHoursPermille: number | null;
  /** The same over all teams. */
  readonly everyoneSharePermille: number | null;
  readonly movers: readonly Mover[];
  /** What moved beside the movers listed. */
  readonly otherChangeUsdMicros: bigint;
  /** Null where nothing tells when jobs were submitted. */
  readonly wait: StatementWait | null;
  readonly waitBefore: StatementWait | null;
  readonly basisUsdMicros: { readonly billed: bigint; readonly rate: bigint; readonly estimated: bigint };
  /** Bills that touch the month, and up to when each speaks. */
  readonly coverage: readonly { readonly bill: string; readonly coveredUntil: string | null }[];
  readonly lines: readonly StatementLine[];
}

/** All teams of a month in one table. */
export interface StatementOverview {
  readonly month: string;
  readonly status: 'running' | 'open' | 'closed';
  readonly from: string;
  readonly until: string;
  readonly asOf: string;
  readonly missingDays?: number;
  readonly kind: StatementKind;
  readonly rows: readonly OverviewRow[];
  readonly amountCents: bigint;
  readonly usdMicros: bigint | null;
  readonly gpuUnits: bigint;
  readonly unpricedUnits: bigint;
  readonly beforeMonth: string | null;
  readonly basisUsdMicros: { readonly billed: bigint; readonly rate: bigint; readonly estimated: bigint };
}

export interface OverviewRow extends Amount {
  readonly team: string | null;
  readonly number: string | null;
  readonly costCentre: string | null;
  readonly accountCode: string | null;
  readonly amountCents: bigint;
  readonly adjustmentCents: bigint;
  readonly beforeUsdMicros: bigint | null;
  readonly computeSharePermille: number | null;
}
