import type { KeptStay } from './samples/device-presence.ts';
import type { KeptMachine } from './samples/machines.ts';

/** How far a Prometheus is read. Times are seconds of the epoch; plain JSON. */
export interface Cursor {
  readonly version: 1;
  /** Where the reading began: the first day is cut here each time it is read. */
  readonly beginS: number;
  /** Every hour before this one is read and will not be read again. */
  readonly settledS: number;
  /** Hours up to here were read when they were over; each is read once more when late samples have come. */
  readonly fullS: number;
  /** The hour that is not over yet was read up to here. */
  readonly openS: number;
  /** Pods and machines of every day before this are read. */
  readonly podsS: number;
  /** When pods of the day that is not over were last read, and how long the server took for it. */
  readonly podsAtS: number;
  readonly podsTookS: number;
  /** Machines that kube-state-metrics lists, and those it listed a day ago. */
  readonly machines: readonly KeptMachine[];
  readonly devices: readonly KeptStay[];
}

export function startCursor(beginS: number): Cursor {
  const dayS = Math.floor(beginS / 86_400) * 86_400;
  return {
    version: 1,
    beginS,
    settledS: beginS,
    fullS: beginS,
    openS: 0,
    podsS: dayS,
    podsAtS: 0,
    podsTookS: 0,
    machines: [],
    devices: [],
  };
}

/** The cursor of an earlier run; undefined where there is none that this version understands: then all is read anew. */
export function cursorOf(value: unknown): Cursor | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const given = value as Partial<Record<keyof Cursor | 'standing', unknown>>;
  const times = [given.beginS, given.settledS, given.fullS, given.openS, given.podsS, given.podsAtS, given.podsTookS];
  const isWhole =
    given.version === 1 &&
    times.every((time) => Number.isSafeInteger(time)) &&
    (Array.isArray(given.machines) || Array.isArray(given.standing)) &&
    Array.isArray(given.devices);
  if (!isWhole) return undefined;
  const cursor = value as Cursor & { readonly standing?: readonly string[] };
  if (given.machines !== undefined) return cursor;
  // Cursors of 0.1 hold only the names of machines that stand; since when and with how many GPUs the next reading of nodes tells.
  const { standing = [], ...others } = cursor;
  return { ...others, machines: standing.map((nodeId): KeptMachine => [nodeId, cursor.podsAtS, null, null]) };
}
