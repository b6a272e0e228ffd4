/** What a fact may hold on its way from a source to the lake; undefined and null are unknown, never 0. */
export type FactValue = string | number | bigint | boolean | Date | Readonly<Record<string, string>> | null | undefined;

/** One row in the columns of docs/FACTS.md. Times are Dates, labels are objects, units are those of the column. */
export type FactRow = Readonly<Record<string, FactValue>>;

/** The tables a source may speak of. */
export type CollectedTable = 'node' | 'device' | 'gpu_sample' | 'allocation' | 'waiting' | 'work' | 'price' | 'rate';

/**
 * Facts of one table under one name.
 *
 * The collector puts the source's name before `batch`; the same name replaces what was there (`replace`), or is added to it
 * (`extend`: rows of the same key are replaced, the others stay), so that a haul that is repeated changes nothing.
 */
export interface FactRows {
  readonly table: CollectedTable;
  readonly batch: string;
  readonly mode: 'replace' | 'extend';
  readonly rows: readonly FactRow[];
  /** For `allocation`: what would tell which devices each row holds, in the order of `rows`; the collector looks them up. */
  readonly hints?: readonly (HolderHint | undefined)[];
}

/** What a scheduler knows of the devices of a holding: their places in the machine, or the pod an exporter may name. */
export interface HolderHint {
  readonly gpuIndices?: readonly number[];
  readonly pod?: { readonly namespace: string; readonly name: string };
}

/** Means "no value" in a column of a `SampleBlock`. */
export const NO_SAMPLE = -2_147_483_648;

/**
 * Samples in columns, for sources that bring millions: row i is device `devices[deviceIndex[i]]` at `tsSeconds[i]`.
 * Values are in the units of the lake (permille, MiB, W), NO_SAMPLE where the source said nothing or sent a blank.
 */
export interface SampleBlock {
  readonly batch: string;
  /** `extend` adds to what the batch holds; rows of one device and time merge column by column. */
  readonly mode: 'replace' | 'extend';
  readonly devices: readonly string[];
  readonly rows: number;
  readonly deviceIndex: Uint32Array;
  readonly tsSeconds: Uint32Array;
  /** How far apart the source takes samples; undefined where the lake shall take the median. */
  readonly stepS?: number;
  /** By column of `gpu_sample`: `engine_permille`, `fb_used_mib`, … */
  readonly metrics: ReadonlyMap<string, Int32Array>;
}

/** What telemetry knows of a device that schedulers do not: its place in the machine, and the pod that has it. */
export interface DeviceBinding {
  readonly deviceId: string;
  readonly nodeId: string;
  /** The number the driver gives it on its machine. */
  readonly gpuIndex?: number;
  readonly pod?: { readonly namespace: string; readonly name: string };
  /** First and last moment this was seen to be so. */
  readonly from: Date;
  readonly until: Date;
}

/** Something a source had to leave out, with one example. Nothing is lost without such a line. */
export interface Skipped {
  readonly reason: string;
  readonly count: number;
  readonly example: string;
}

/**
 * What one step of a pull brings. The collector writes its facts, then keeps the cursor: a crash in between repeats this
 * haul, which replaces itself.
 */
export interface Haul {
  readonly facts: readonly FactRows[];
  readonly samples?: readonly SampleBlock[];
  readonly bindings?: readonly DeviceBinding[];
  readonly skipped?: readonly Skipped[];
  /** Time the source has no word about within what was asked: unknown, never idle. */
  readonly gaps?: readonly { readonly from: Date; readonly until: Date; readonly reason: string }[];
  /** What the next pull begins with; plain JSON, no secrets. */
  readonly cursor: unknown;
  /** The source has told everything up to here. */
  readonly coveredUntil: Date;
  /** Of a scheduler: it has told everything since here; from the first contact on, where it does not say. */
  readonly coveredFrom?: Date;
  /** GPUs the source has, and how many of them were left unread because a sample was asked for. */
  readonly gpus?: { readonly seen: number; readonly notRead: number };
}

export interface PullRequest {
  readonly now: Date;
  /** On first contact: how far back to read. Undefined: everything the source still has. */
  readonly since?: Date;
  /** Read at most this many GPUs, chosen evenly; the haul says how many were not read. */
  readonly gpusMax?: number;
  /** For a first look: thin out to this distance, newest first. Undefined: every true sample, oldest first. */
  readonly lookStepS?: number;
  readonly signal: AbortSignal;
  /** Progress for people: one line, overwritten by the next. */
  readonly progress: (line: string) => void;
}

/** One thing that would make answers better, and exactly what to do about it. */
export interface Advice {
  /** `DCGM_FI_PROF_SM_ACTIVE is not exported`. */
  readonly missing: string;
  /** `tells input starvation from computing`. */
  readonly sharpens: string;
  /** A command or a line of configuration to paste. */
  readonly todo: string;
}

/** How a source is. `down` says why in `says` and what to do in `todo`. */
export interface SourceHealth {
  readonly state: 'ok' | 'partial' | 'down';
  /** One line: `Prometheus 2.42.0, 250 GPUs, DCGM every 30 s, since 2026-11-01`. */
  readonly says: string;
  readonly todo?: string;
  readonly gpus?: number;
  readonly advice: readonly Advice[];
}

export type SourceKind = 'prometheus' | 'scrape' | 'local' | 'kubernetes' | 'slurm' | 'aws' | 'gcp' | 'azure';

/**
 * Something the user already runs that knows about GPUs. It only reads.
 *
 * `check` never throws for what the outside world does wrong. `pull` throws an OperationError then; hauls it gave before stay.
 * Both stop soon after their signal, and neither ever waits on the outside world without a time limit.
 */
export interface Source {
  /** From bursar.yaml; part of every batch's name. */
  readonly name: string;
  readonly kind: SourceKind;
  /** One line for people: what will be read, from where. No secrets. */
  readonly reads: string;
  /** Between batches that speak of the same thing the higher one is believed. */
  readonly priority: number;
  /** How often `collect --follow` asks. */
  readonly pollS: number;
  /** How far back to read on first contact, where the user said so; else everything the source still has. */
  readonly backfillS?: number;
  check(signal: AbortSignal): Promise<SourceHealth>;
  pull(cursor: unknown, request: PullRequest): AsyncIterable<Haul>;
}

/** Runs a program that only reads and gives what it printed; the collector's way to reach Slurm and nvidia-smi. */
export type RunCommand = (
  argv: readonly string[],
  options: {
    readonly signal: AbortSignal;
    readonly timeoutMs: number;
    readonly outputBytesMax: number;
    readonly env?: Readonly<Record<string, string>>;
  },
) => Promise<{ readonly exitCode: number; readonly stdout: string; readonly stderr: string }>;

/** A slice of a GPU goes by its parent and its GPU instance, since exporters do not give the slice's own UUID. */
export function migDeviceId(parentDeviceId: string, gpuInstance: string | number): string {
  return `${parentDeviceId}/${gpuInstance}`;
}

/** A value of a row as text; '' where it is unknown or no single value. */
export function textOf(row: FactRow, column: string): string {
  const value = row[column];
  if (value instanceof Date) return value.toISOString();
  return value === undefined || value === null || typeof value === 'object' ? '' : String(value);
}
