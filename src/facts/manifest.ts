/** One Parquet file of the lake. Files never change: a new content is a new file. */
export interface LakeFile {
  /** Below the data folder, with forward slashes. */
  readonly path: string;
  readonly table: string;
  /** `2026-11-01` for a day, `2026-11` for a bill's month. */
  readonly partition: string;
  readonly rows: number;
  readonly bytes: number;
  /** SHA-256 of the bytes: what `derive` compares. */
  readonly contentHash: string;
  /** Least and greatest device and time of a file of samples: batches that cannot share a key are not merged. */
  readonly range?: {
    readonly keyMin: string;
    readonly keyMax: string;
    readonly timeMin: string;
    readonly timeMax: string;
  };
}

/** What a bill is, beside its rows. */
export interface BillFacts {
  readonly billId: string;
  readonly provider: string;
  readonly billingAccount: string;
  readonly currency: string;
  readonly periodStart: string;
  readonly periodEnd: string;
  /** The greatest end of its usage rows of at most a day, or what the user said. */
  readonly coveredUntil: string | null;
  /** Days its charges touch, first and last, as `2026-11-01`. */
  readonly firstDay: string;
  readonly lastDay: string;
}

/** One time a bill came in: a provider re-issues a month until it is closed. Amounts are exact decimals of its currency. */
export interface BillIssue {
  /** From 1. */
  readonly number: number;
  readonly importedAt: string;
  readonly importedFrom: string;
  readonly rows: number;
  /** Null of issues that came in before these were kept. */
  readonly billed: string | null;
  readonly effective: string | null;
  /** Of the file in the lake: the same bill once more is not another issue. */
  readonly contentHash: string;
}

/** What was imported under one name: it is replaced whole, or stays whole. */
export interface Batch {
  readonly table: string;
  /** `--batch`, else the file's name; for charges the bill id. */
  readonly name: string;
  /** For charges the name of the import, so that repeating it replaces all its bills; else equal to `name`. */
  readonly origin: string;
  /** Where it came from, for people. */
  readonly importedFrom: string;
  /** Between batches that share a key: the higher source priority, then the newer `observedAt`, then the greater name. */
  readonly priority: number;
  readonly observedAt: string;
  /** Least and newest time of its facts, for the horizon; null where it has none. */
  readonly firstAt: string | null;
  readonly newestAt: string | null;
  /** Clusters its allocations name; null stands for "does not say". */
  readonly clusters?: readonly (string | null)[];
  /** Of a scheduler that is collected: it has told everything about these clusters in this span, and nothing beyond it. */
  readonly spoken?: { readonly from: string; readonly until: string };
  readonly bill?: BillFacts;
  /** Of a bill: each time it came in, the present one last. */
  readonly issues?: readonly BillIssue[];
  readonly files: readonly LakeFile[];
}

/** One derived file and the hash of everything it was computed from. */
export interface DerivedUnit {
  readonly table: string;
  /** A day, or a bill id. */
  readonly unit: string;
  readonly inputHash: string;
  /** Null when the unit is empty: no file is kept for it. */
  readonly file: LakeFile | null;
  /** For units that are bills: a hash of the rows of each day, so that only the days that moved are derived again. */
  readonly dayHashes?: Readonly<Record<string, string>>;
}

/** What one commit changes; all of it or nothing. */
export interface ManifestChange {
  readonly addBatches?: readonly Batch[];
  /** Batches to drop, by table and name. */
  readonly dropBatches?: readonly { readonly table: string; readonly name: string }[];
  readonly setDerived?: readonly DerivedUnit[];
  readonly dropDerived?: readonly { readonly table: string; readonly unit: string }[];
}

/** One state of the lake: what a reader reads, whole. */
export interface Snapshot {
  readonly generation: number;
  readonly committedAt: string;
  readonly batches: readonly Batch[];
  readonly derived: readonly DerivedUnit[];
}

/** The list of files that make up the lake. Not a glob: what it does not list does not exist. */
export interface Manifest {
  snapshot(): Snapshot;
  /** Applies a change in one transaction and returns the new generation. */
  commit(change: ManifestChange): number;
  /** Files that no snapshot has listed for `seconds`; they may be deleted, and are forgotten by this call. */
  takeDeadFiles(seconds: number): readonly string[];
}
