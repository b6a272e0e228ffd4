import type { Basis, BlastRadius, Factor, WasteCategory } from './detector.ts';

/** A finding's life. Only the data says fixed and back; people say the rest. */
export type FindingState = 'open' | 'accepted' | 'exempt' | 'dismissed' | 'fixed' | 'back';

/** Cash: the bill falls. Capacity: GPU-hours others can use. Price avoided: the same work at a lower rate. Never added together. */
export type MoneyKind = 'cash' | 'capacity' | 'price-avoided' | 'unknown' | 'question';

/** One thing to do, with its money, its owner and its fix. */
export interface Finding {
  /** 12 of F-12; null where the folder cannot be written to. */
  readonly number: number | null;
  /** Detector and what it is about: what keeps the number. */
  readonly key: string;
  readonly detector: string;
  readonly category: WasteCategory;
  readonly factor: Factor;
  readonly state: FindingState;
  /** Until when it is exempt. */
  readonly exemptUntil: string | null;
  readonly stateReason: string | null;
  readonly firstSeenAt: Date;
  /** Team null: the platform's. */
  readonly team: string | null;
  readonly user: string | null;
  readonly assignedTo: string | null;
  readonly ownerSubject: string | null;
  /** It holds money of several teams: the platform's to mend, and each of them sees its own part. */
  readonly isOfSeveralTeams?: boolean;
  readonly what: string;
  readonly because: readonly string[];
  readonly fix: readonly string[];
  readonly unless: string;
  readonly spark: readonly (number | null)[];
  readonly basis: Basis;
  readonly blastRadius: BlastRadius;
  readonly blast: string;
  readonly effort: string;
  readonly kind: MoneyKind;
  /** What it cost in the window and nobody else claims; null where it has no price. */
  readonly usdMicros: bigint | null;
  /** What the bill would have fallen by: at least, and if every machine it frees goes. */
  readonly cashUsdMicros: { readonly low: bigint; readonly high: bigint };
  /** Unit-seconds (63,000ths of a GPU × seconds) that are freed where no bill falls. */
  readonly capacityUnits: { readonly low: bigint; readonly high: bigint };
  /**
   * What stands on machines of which nobody says how they are bought: cash at most, if they are rented. It is counted as capacity, and in no
   * sum of cash.
   */
  readonly cashIfRentedUsdMicros: bigint;
  readonly gpuUnits: bigint;
  /** Since when it goes on, and what an hour of it costs; null where it is over. */
  readonly liveSince: Date | null;
  readonly usdMicrosPerHour: bigint | null;
  /** Whose time and money it speaks of, each once. */
  readonly subjects: readonly string[];
  /** Where one team looks: how many of them are not its own, and are neither named nor counted here. */
  readonly subjectsOfOthers?: number;
  /** The first day whose money it is about; null where it is about none. */
  readonly firstDay: string | null;
}
