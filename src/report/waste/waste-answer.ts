import type { Category } from '../../ledger/waterfall.ts';
import type { CategorySum } from '../look-screen.ts';
import type { UnknownValue } from '../unknown-value.ts';
import type { AskedWindow } from '../window-words.ts';

/** One category of the waterfall, with what is inside it and what it was before. */
export interface WasteCategory {
  readonly category: Category;
  readonly sum: CategorySum;
  /** The dearest first; of what stands beside the GPU its components. Null: the ledger gives no reason. */
  readonly reasons: readonly { readonly reason: string | null; readonly sum: CategorySum }[];
  /** In the window before; undefined where the facts do not reach back that far. */
  readonly before: CategorySum | undefined;
}

/** The waterfall of one value of what it was asked by. */
export interface WasteGroup {
  readonly values: readonly (string | null)[];
  readonly sum: CategorySum;
  readonly categories: ReadonlyMap<Category, CategorySum>;
}

/** Something money of a category is posted to. */
export interface WasteRow {
  readonly subject: string;
  readonly name: string | null;
  readonly team: string | null;
  readonly user: string | null;
  readonly jobId: string | null;
  readonly nodeId: string | null;
  readonly deviceId: string | null;
  readonly nodes: number;
  readonly devices: number;
  readonly model: string | null;
  readonly firstDay: string;
  readonly lastDay: string;
  readonly days: number;
  readonly sum: CategorySum;
}

/** A category opened: whose it is, of which class of work, and what it consists of. */
export interface OpenedCategory {
  readonly category: Category;
  readonly byTeam: readonly { readonly value: string | null; readonly sum: CategorySum }[];
  readonly byClass: readonly { readonly value: string | null; readonly sum: CategorySum }[];
  /** The dearest. */
  readonly rows: readonly WasteRow[];
  /** All there are. */
  readonly subjects: number;
  /** Whether money of pools is in the sums and in no row. */
  readonly hasPools: boolean;
}

/** A part of a whole, and both of them. */
export interface Share {
  readonly part: bigint;
  readonly whole: bigint;
  /** Null where there is nothing to divide by. */
  readonly permille: number | null;
}

/** Where the money of a scope and a window went. The categories add up to `sum`. */
export interface WasteAnswer {
  readonly asOf: Date;
  readonly asOfBy: 'asked' | 'newest fact' | 'clock';
  readonly window: AskedWindow;
  /** The window of equal elapsed length before. */
  readonly before: { readonly from: Date; readonly until: Date; readonly isKnown: boolean };
  /** What was left out, for people; '' for nothing. */
  readonly filter: string;
  readonly sum: CategorySum;
  readonly sumBefore: CategorySum | undefined;
  readonly categories: readonly WasteCategory[];
  /** Computing ÷ (paid − beside − unknown), in money and in unit-seconds. */
  readonly computeShare: { readonly money: Share; readonly hours: Share };
  readonly basisUsdMicros: ReadonlyMap<string, bigint>;
  readonly by: readonly string[];
  readonly groups: readonly WasteGroup[];
  readonly opened: OpenedCategory | undefined;
  readonly unknownValues: readonly UnknownValue[];
}
