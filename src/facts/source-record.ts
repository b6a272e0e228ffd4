import type { CollectedTable, DeviceBinding, FactRow, HolderHint, Skipped, SourceKind } from './source.ts';

/** A span of time without facts, and why. */
export interface Gap {
  readonly from: Date;
  readonly until: Date;
  readonly reason: string;
}

/** What is kept about a source beside its facts: how far it is read, how it went, what was left out. */
export interface SourceRecord {
  readonly name: string;
  readonly kind: SourceKind;
  /** What it reads, from where. */
  readonly reads: string;
  readonly pollS: number;
  readonly firstTriedAt: Date;
  readonly lastTriedAt: Date;
  readonly lastOkAt?: Date;
  /** The source has told everything up to here. */
  readonly coveredUntil?: Date;
  /** What went wrong the last time; gone once it goes well again. */
  readonly error?: { readonly at: Date; readonly code: string; readonly message: string; readonly hint?: string };
  /** Rows taken so far, by table. */
  readonly rows: Readonly<Partial<Record<CollectedTable, number>>>;
  readonly skipped: readonly Skipped[];
  readonly gaps: readonly Gap[];
  readonly gpus?: { readonly seen: number; readonly notRead: number };
}

/** A machine that an inventory lists: other names of it are brought to this one. */
export interface KnownNode {
  readonly nodeId: string;
  readonly resourceId?: string;
  /** The name it calls itself, where the inventory knows it. */
  readonly alias?: string;
  readonly priority: number;
  readonly source: string;
}

/** A holding whose devices telemetry had not named when it was written. */
export interface UnnamedHolder {
  readonly source: string;
  readonly batch: string;
  /** As JSON keeps it: times are text. */
  readonly row: FactRow;
  readonly hint: HolderHint;
  /** How many of its devices had a name when it was last written. */
  readonly named: number;
}

/** What a commit changes about a source. */
export interface SourceChange {
  readonly record: SourceRecord;
  readonly cursor?: { readonly value: unknown };
  readonly bindings?: readonly DeviceBinding[];
  readonly nodes?: readonly KnownNode[];
}

/** Where sources left off. Kept with the manifest, so that a copy of the folder goes on where it stands. */
export interface SourceStore {
  records(): readonly SourceRecord[];
  cursor(name: string): unknown;
  save(change: SourceChange): void;
  /** Devices at these places of machines, and of these pods, with the spans in which that was seen. */
  bindings(asked: {
    readonly nodeIds?: readonly string[];
    readonly pods?: readonly string[];
  }): readonly DeviceBinding[];
  knownNodes(): readonly KnownNode[];
  keepUnnamed(holders: readonly UnnamedHolder[]): void;
  unnamed(): readonly UnnamedHolder[];
  forgetUnnamed(holders: readonly UnnamedHolder[]): void;
}

/** How a pod is looked up. */
export function podKey(pod: { readonly namespace: string; readonly name: string }): string {
  return `${pod.namespace}/${pod.name}`;
}
