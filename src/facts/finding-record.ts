import type { FindingState } from './finding.ts';

/** What is kept of a finding: its number, and what people and the data have said of it. */
export interface FindingRecord {
  /** 12 of F-12; never used twice. */
  readonly number: number;
  readonly key: string;
  readonly what: string;
  readonly state: FindingState;
  /** The last day of an exemption. */
  readonly until: string | null;
  /** What somebody said of it last, and who; null where nobody has. That it is fixed or back, which the data say, takes nothing of it back. */
  readonly reason: string | null;
  readonly by: string | null;
  readonly assignedTo: string | null;
  readonly firstSeenAt: string;
  /** The newest fact when it was last claimed. */
  readonly lastSeenAt: string;
  /** Whose money it is about. */
  readonly subjects: readonly string[];
}

/** One change in a finding's life. */
export interface FindingChange {
  readonly at: string;
  /** Null where the data said so. */
  readonly by: string | null;
  readonly change:
    'found' | 'accept' | 'exempt' | 'dismiss' | 'assign' | 'reopen' | 'fixed' | 'back' | 'exemption over';
  readonly detail: string | null;
}

/** What was claimed at a look at everything. */
export interface FindingLook {
  /** The newest fact of the look. */
  readonly at: string;
  /** In order of rank. Those that are too small to be told keep their number, but get none. */
  readonly claimed: readonly {
    readonly key: string;
    readonly what: string;
    readonly subjects: readonly string[];
    readonly isTold: boolean;
  }[];
  /** Things whose sensors have fallen silent since: nobody can say that they are fixed. */
  readonly silentKeys: ReadonlySet<string>;
  /** Somebody looked for one team: what is new gets its number, and nothing is said to be fixed. */
  readonly isForOneTeam?: boolean;
}

/** A change people make. */
export interface FindingWish {
  readonly at: string;
  readonly by: string;
  readonly change: 'accept' | 'exempt' | 'dismiss' | 'assign' | 'reopen';
  /** Why; of `assign`, to whom. */
  readonly detail: string | null;
  /** The last day of an exemption. */
  readonly until: string | null;
  /** The state it had for the one who decides: where it has another by now, nothing is kept. */
  readonly seen?: FindingState;
  /** Who was to look after it then, null for nobody: an assignment leaves the state as it is. */
  readonly seenAssignedTo?: string | null;
}

/** What became of a wish: the finding after it, or as it is where somebody else was first. */
export interface FindingWished {
  readonly isKept: boolean;
  readonly record: FindingRecord;
}

export interface FindingStore {
  records(): readonly FindingRecord[];
  history(number: number): readonly FindingChange[];
}

/** The part of it that writes, in short transactions of its own, beside whoever holds the lake. */
export interface FindingWriter extends FindingStore {
  look(look: FindingLook): readonly FindingRecord[];
  /** Undefined where there is no such finding. */
  change(number: number, wish: FindingWish): FindingWished | undefined;
  /** Begins anew, with number 1: for a made-up organisation that is replaced by another. */
  forget(): void;
  close(): void;
}
