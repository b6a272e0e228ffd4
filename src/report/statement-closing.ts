import type { StatementClosing } from '../facts/statement-record.ts';
import type { StatementOverview } from './statement-answer.ts';

export interface PendingAdjustment {
  readonly month: string;
  readonly team: string | null;
  readonly usdMicros: bigint;
  readonly amountCents: bigint;
  readonly reason: string;
}

/** What closing a month would freeze. */
export interface ClosingPreview {
  readonly overview: StatementOverview;
  /** Of the rows of the overview, in its order. */
  readonly numbers: readonly string[];
  readonly warnings: readonly string[];
  readonly adjustments: readonly PendingAdjustment[];
}

export interface StatementList {
  readonly closings: readonly StatementClosing[];
  /** What the ledger says of closed months beyond what was stated. */
  readonly pending: readonly PendingAdjustment[];
}
