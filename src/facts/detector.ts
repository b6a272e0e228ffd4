import type { z } from 'zod';

/** The places of the waterfall a dollar can be claimed from. */
export type WasteCategory = 'stranded' | 'unallocated' | 'unknown' | 'idle' | 'starved' | 'lost' | 'computing';

/** Cost of an outcome = price × 1/utilisation × 1/efficiency; each factor has its own people. */
export type Factor = 'price' | 'utilisation' | 'efficiency';

/** What a figure rests on: sensors and bills, a model of them, or a stated assumption. */
export type Basis = 'measured' | 'modelled' | 'assumed';

/** A table of the lake a query reads: the days of the window, and so many before it. */
export interface QueryTable {
  readonly table: string;
  readonly daysBefore?: number;
}

/**
 * A question in portable SQL, and what its rows look like. `$from`, `$until` (the window) and `$now` are given; `params` adds to them.
 * Columns of the answer are named in camelCase in the SELECT list.
 */
export interface Query<Row = unknown> {
  readonly row: z.ZodType<Row>;
  readonly tables: readonly (string | QueryTable)[];
  readonly params?: Readonly<Record<string, string | number | bigint | boolean | null>>;
  readonly sql: string;
}

/** Money of the waterfall that a claim is about: rows of `subject_day` of these days (both included), wholly or in part. */
export interface Take {
  readonly subject: string;
  /** One device of the subject; all of it where left out. */
  readonly deviceId?: string;
  readonly firstDay: string;
  readonly lastDay: string;
  readonly category: WasteCategory;
  /** Only rows with this reason; all where left out. */
  readonly reason?: string;
  /** Which part of it; 1000 where left out. */
  readonly permille?: number;
}

/** What a detector says of one thing. It names money, it does not count it: `settle` says what is still unclaimed. */
export interface Claim {
  /** The thing, by the same words tomorrow: with the detector's name it is the finding's identity and keeps its number. */
  readonly about: string;
  /** Whose it is: the owner of this subject (as `ownership` names subjects); null where it is the platform's. */
  readonly ownerSubject: string | null;
  /** One line, without money and owner: `notebook idle since Fri 18:42, 1×H100`. */
  readonly what: string;
  /** Evidence, one sentence each: times, figures, and the fields they rest on. */
  readonly because: readonly string[];
  /** What to paste: commands, flags, changes of a manifest; a comment line begins with #. Empty where the fix is not a command. */
  readonly fix: readonly string[];
  /** What would change its mind. */
  readonly unless: string;
  /** Since when it goes on; undefined where it is over or comes and goes. Live things are told as "so far" and a rate. */
  readonly liveSince?: Date;
  /** Activity by equal steps up to now, for a small line: of the time paid for and known, the permille that was at work; null where unknown. */
  readonly spark?: readonly (number | null)[];
  readonly takes: readonly Take[];
  /** Which part of what is taken can be reached, where that is modelled; all of it where left out. */
  readonly reachable?: { readonly lowPermille: number; readonly highPermille: number };
  /**
   * Cash that would fall elsewhere, at least and at most, where the money taken is spent either way: what others pay meanwhile. Of rows no other
   * detector may claim, for it is counted as it stands.
   */
  readonly cashElsewhere?: { readonly lowUsdMicros: bigint; readonly highUsdMicros: bigint };
  /** It asks, and claims nothing: no sum counts it. */
  readonly isQuestion?: boolean;
  /** Where this one differs from what the detector says of all its claims. */
  readonly basis?: Basis;
  readonly blastRadius?: BlastRadius;
  readonly blast?: string;
  readonly effort?: string;
}

/** 0: nothing changes for anyone … 5: production or weeks of work are at stake. */
export type BlastRadius = 0 | 1 | 2 | 3 | 4 | 5;

export interface JudgeContext<Options> {
  readonly options: Options;
  /** The window, UTC, half-open. */
  readonly from: Date;
  readonly until: Date;
  readonly now: Date;
}

type RowsOf<Queries> = {
  readonly [Name in keyof Queries]: Queries[Name] extends Query<infer Row> ? readonly Row[] : never;
};

/** One question about waste: which rows it needs, and what it makes of them. Pure and synchronous. */
export interface Detector<
  Options = unknown,
  Queries extends Readonly<Record<string, Query>> = Readonly<Record<string, Query>>,
> {
  /** Its file's name: a plural noun. */
  readonly name: string;
  /** For lists of what is looked for: `notebooks and shells nobody uses`. */
  readonly title: string;
  readonly category: WasteCategory;
  readonly factor: Factor;
  readonly basis: Basis;
  readonly blastRadius: BlastRadius;
  /** What may happen to whom when the fix is applied. */
  readonly blast: string;
  /** `one command`, `a line of the job script`, `an afternoon`. */
  readonly effort: string;
  /** Every option has a default and says why it is that. */
  readonly options: z.ZodType<Options>;
  ask(options: Options): Queries;
  judge(rows: RowsOf<Queries>, context: JudgeContext<Options>): readonly Claim[];
}

/** Keeps the types of a detector's rows together; as a value it is what it was given. */
export function detector<Options, const Queries extends Readonly<Record<string, Query>>>(
  value: Detector<Options, Queries>,
): Detector<Options, Queries> {
  return value;
}
