import type { SharedPart } from './rules-page.ts';
import type { UnknownValue } from './unknown-value.ts';

/** How a figure came about. Times are `2026-11-01 10:00:00` in UTC, as the ledger writes them. */
export interface Explanation {
  readonly window: { readonly from: Date; readonly until: Date };
  /** What the figure is restricted to, for people; '' for nothing. */
  readonly filter: string;
  /** Where there is nothing: what of the filter is nowhere in the window. */
  readonly unknownValues: readonly UnknownValue[];
  /** `usdMicros` is null where nothing of it has a price. */
  readonly figure: {
    readonly usdMicros: bigint | null;
    /** Its part of what the bills would fall by. */
    readonly marginalUsdMicros: bigint | null;
    readonly units: bigint;
    readonly unpricedUnits: bigint;
  };
  readonly parts: readonly FigurePart[];
  /** The largest first. */
  readonly entries: readonly ExplainedEntry[];
  readonly chargeHours: readonly ChargeHourLine[];
  readonly charges: readonly ExplainedCharge[];
  readonly pools: readonly ExplainedPool[];
  readonly deviceHours: readonly DeviceHour[];
  readonly machines: readonly MachineParts[];
  readonly held: readonly HeldPiece[];
  readonly runs: readonly Run[];
  readonly samples: readonly Sample[];
  /** What the team of the filter has of each shared pool, beside the figure. */
  readonly shared: readonly SharedPart[];
  /** What is not told completely: entries, charges, samples … */
  readonly truncated: readonly string[];
}

/** The figure by category and basis. */
export interface FigurePart {
  readonly category: string;
  readonly basis: string;
  readonly usdMicros: bigint | null;
  readonly marginalUsdMicros: bigint | null;
  readonly units: bigint;
  readonly rows: bigint;
}

export type EntryValue = string | bigint | boolean | null;

export interface ExplainedEntry {
  /** Every column of `ledger_entry`, in camelCase. */
  readonly columns: Readonly<Record<string, EntryValue>>;
  /** What of it is in the figure. */
  readonly countedUsdMicros: bigint | null;
  readonly countedUnits: bigint;
  readonly categories: readonly {
    readonly category: string;
    readonly reason: string | null;
    readonly usdMicros: bigint | null;
    readonly units: bigint;
    /** Of the attempt's seconds in the hour, those whose work is lost: how computing time is divided once more. */
    readonly lostSeconds: bigint | null;
    readonly attemptSeconds: bigint | null;
  }[];
  readonly team: string | null;
  readonly project: string | null;
  readonly user: string | null;
  readonly environment: string | null;
  readonly class: string | null;
  readonly workloadName: string | null;
  /** What decided the owner. */
  readonly rule: string | null;
}

/** What a bill charges for one node, or one resource, in one hour. */
export interface ChargeHourLine {
  readonly billId: string;
  readonly hour: string;
  readonly kind: string;
  readonly nodeId: string | null;
  readonly resourceId: string | null;
  readonly usdMicros: bigint;
  readonly marginalUsdMicros: bigint;
}

/** `T·(before+weight)÷total − T·before÷total`, each truncating. */
export interface SplitNumbers {
  readonly before: bigint;
  readonly weight: bigint;
  readonly total: bigint;
}

/** A row of a bill, as it was posted. */
export interface PostedRow {
  readonly billId: string;
  readonly part: number;
  readonly ordinal: bigint;
  readonly kind: string;
  readonly nodeId: string | null;
  readonly resourceId: string | null;
  readonly chargeCategory: string;
  readonly description: string | null;
  readonly currency: string;
  readonly effective: string;
  readonly usd: string;
  /** Running sum of its bill's day up to and with it: its micros are the step the rounded sum makes. */
  readonly usdUpto: string;
  readonly usdMicros: bigint;
  readonly from: string;
  readonly until: string;
}

/** A row of a bill, and what of it lies in the hours in question. */
export interface ExplainedCharge extends PostedRow {
  /** The pool its node-hours are added to; null for what is not a node. */
  readonly pool: string | null;
  readonly hours: readonly (SplitNumbers & { readonly hour: string; readonly usdMicros: bigint })[];
}

/** Charges of one bill, SKU, region and hour, or blocks of one reservation, split over the nodes charged in it by the seconds they were there. */
export interface ExplainedPool {
  readonly billId: string;
  readonly hour: string;
  readonly pool: string;
  readonly usdMicros: bigint;
  readonly nodes: readonly (SplitNumbers & { readonly nodeId: string; readonly usdMicros: bigint })[];
}

export interface DeviceHour {
  readonly rootDeviceId: string;
  readonly hour: string;
  readonly nodeId: string | null;
  readonly model: string | null;
  readonly presentSeconds: bigint;
  readonly presence: string | null;
  readonly pricedBy: string | null;
  readonly usdNanosPerHour: bigint | null;
  /** Nano-dollars an hour by which its price is divided into the GPU and its host; null where all of it is the GPU's. */
  readonly gpuWeight: bigint | null;
  readonly hostWeight: bigint | null;
}

/** What a GPU machine is made of, and what each part costs by itself in the price lists. */
export interface MachineParts {
  readonly nodeId: string;
  readonly model: string;
  /** The GPU, its part of the processors and its part of the memory, of one of the machine's GPUs. */
  readonly parts: readonly {
    readonly part: 'gpu' | 'cpu' | 'memory';
    /** Of the whole machine: GPUs, vCPUs, MiB. */
    readonly quantity: bigint;
    readonly usdNanosPerHour: bigint;
  }[];
  readonly asOf: string;
  readonly source: string;
}

export interface HeldPiece {
  readonly rootDeviceId: string;
  readonly deviceId: string;
  readonly nodeId: string | null;
  readonly from: string;
  readonly until: string;
  readonly seconds: bigint;
  readonly shareUnits: bigint;
  readonly source: string | null;
  readonly allocationId: string | null;
  readonly attempt: bigint | null;
  readonly disposition: string;
  readonly reason: string | null;
  readonly conflict: boolean;
  readonly pooled: boolean;
}

export interface Run {
  readonly deviceId: string;
  readonly class: string;
  readonly signal: string;
  readonly from: string;
  readonly until: string;
}

export interface Sample {
  readonly deviceId: string;
  readonly ts: string;
  readonly stepSeconds: number;
  readonly enginePermille: number | null;
  readonly smPermille: number | null;
  readonly utilPermille: number | null;
  readonly powerW: number | null;
}
