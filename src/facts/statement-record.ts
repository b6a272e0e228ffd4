/** The same numbers twice: told to a team, or charged to its cost centre. */
export type StatementKind = 'showback' | 'chargeback';

/** Money of a team in a month, by what it is of; the lines of a statement add up to it. */
export interface StatementLine {
  readonly project: string | null;
  readonly class: string | null;
  readonly component: string;
  readonly category: string;
  readonly basis: string;
  /** Null where none of it has a price. */
  readonly usdMicros: bigint | null;
  /** 63,000ths of a GPU × seconds. */
  readonly gpuUnits: bigint;
}

/** What a closed month turned out to cost beside what was stated for it; stands on a later statement. */
export interface StatementAdjustment {
  /** The closed month it is about. */
  readonly month: string;
  readonly usdMicros: bigint;
  /** As far as it is known. */
  readonly reason: string;
}

/** What the arithmetic of closings needs of a statement. */
export interface StatementTotal {
  /** `2026-10-001`; never used twice. */
  readonly number: string;
  /** Null is what nobody owns. */
  readonly team: string | null;
  /** Of its lines, without adjustments. */
  readonly usdMicros: bigint;
  readonly adjustments: readonly StatementAdjustment[];
}

/** One statement as it was issued. */
export interface IssuedStatement extends StatementTotal {
  readonly kind: StatementKind;
  readonly costCentre: string | null;
  readonly accountCode: string | null;
  readonly lines: readonly StatementLine[];
  /** Everything its pages show, as text that the application reads back: printed from this, it stays the same for ever. */
  readonly answerJson: string;
}

/** The statements of a month, issued together. */
export interface StatementClosing {
  readonly month: string;
  readonly closedAt: string;
  /** The generation of the ledger they were made from, and a hash of its sums in the month. */
  readonly generation: number;
  readonly ledgerHash: string;
  /** The content of every bill at that time, by bill id: what changed since is told from it. */
  readonly bills: Readonly<Record<string, string>>;
  /** When they were withdrawn; null while they are in force. */
  readonly withdrawnAt: string | null;
  readonly statements: readonly StatementTotal[];
}

/** Where statements are kept: all of a closing or nothing of it. */
export interface StatementStore {
  /** In the order in which they were closed, with those that were withdrawn. */
  closings(): readonly StatementClosing[];
  /** One statement whole; undefined if there is none of that number. */
  statement(number: string): IssuedStatement | undefined;
  close(closing: Omit<StatementClosing, 'withdrawnAt' | 'statements'>, statements: readonly IssuedStatement[]): void;
  /** Takes the statements of a month out of force. They stay, and so do their numbers. */
  withdraw(month: string, at: string): void;
}
