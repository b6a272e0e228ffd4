import type { Reason } from './world/world-schema.ts';

/** Whole seconds since 1970, UTC. */
export type Seconds = number;

/** What the instruments of a GPU would show, in permille of what it can do. */
export interface Levels {
  readonly engine: number;
  readonly sm: number;
  readonly tensor: number;
  readonly dram: number;
  readonly util: number;
  /** Above rest, of what lies between rest and full. */
  readonly power: number;
  readonly memory: number;
  readonly pcie: number;
  readonly nvlink: number;
}

/** A reason and its part of the time: what alternates many times a second cannot be told apart by the clock. */
export interface Part {
  readonly reason: Reason;
  readonly permille: number;
}

/** Something that comes back: the last `forS` of every `everyS` seconds counted from the span's `from`. */
export interface Pause {
  readonly everyS: number;
  readonly forS: number;
  readonly reason: Reason;
  readonly levels: Levels;
}

/** Traffic of a replica: what a sensor sees depends on the requests that happen to be in flight. */
export interface Traffic {
  /** Requests an hour that reach this replica. */
  readonly perHour: number;
  /** Seconds of work of one request, at the batch sizes of this hour. */
  readonly busyS: number;
  /** Spread of a minute's traffic around the hour's, as in the world file. */
  readonly burst: {
    readonly p0: number;
    readonly p10: number;
    readonly p50: number;
    readonly p90: number;
    readonly p99: number;
    readonly p100: number;
  };
}

/**
 * One thing a GPU did from then to then. Truth, samples and money all read it, so that none of them can say something
 * the others do not know.
 */
export interface Span {
  readonly from: Seconds;
  readonly until: Seconds;
  /** They add up to 1000; what a pause takes is taken before them. */
  readonly parts: readonly Part[];
  readonly levels: Levels;
  readonly pause?: Pause;
  readonly traffic?: Traffic;
}

export const NOTHING: Levels = {
  engine: 0,
  sm: 0,
  tensor: 0,
  dram: 0,
  util: 0,
  power: 0,
  memory: 0,
  pcie: 0,
  nvlink: 0,
};

/** Seconds of a span's pauses that fall into [from, until), which lies in the span. */
export function pausedSeconds({ from: start, pause }: Span, from: Seconds, until: Seconds): number {
  if (pause === undefined) return 0;
  const before = (seconds: number): number => {
    const rounds = Math.floor(seconds / pause.everyS);
    return rounds * pause.forS + Math.max(0, (seconds % pause.everyS) - (pause.everyS - pause.forS));
  };
  return before(until - start) - before(from - start);
}

/** Whether a moment of the span lies in one of its pauses. */
export function isPaused({ from, pause }: Span, moment: Seconds): boolean {
  return pause !== undefined && (moment - from) % pause.everyS >= pause.everyS - pause.forS;
}

/** A span that is all one reason. */
export function spanOf(from: Seconds, until: Seconds, reason: Reason, levels: Levels): Span {
  return { from, until, parts: [{ reason, permille: 1000 }], levels };
}
