/**
 * What a GPU may draw while nothing runs on it.
 *
 * An empty GPU stays near the least it was seen to draw. One that holds memory keeps a context open and its clocks up: a T4 goes from 9 to
 * 27 W, an L4 from 12 to 30, an A10G from 25 to 60, an H100 from 66 to 114. So memory lifts the ceiling, by watts on large cards and by a
 * factor on small ones; but only where it is known what lies below and above: the device was also seen empty or at work. What it draws at
 * work is no rest, whatever was seen of it besides.
 */

/** Device memory in use from which somebody left something in it; a driver alone keeps less. */
export const PARKED_MIB_MIN = 500;
/** At or above this a device is at work, and what it draws is no rest. */
export const BUSY_PERMILLE_MIN = 500;

/** Tenths of the least power seen: above this an empty GPU does something. */
export const EMPTY_TENTHS = 13;
/** What a context may add, in tenths of the least power seen and in tenths of a watt: the smaller of the two. */
export const HELD_TENTHS = 35;
export const HELD_LIFT_DECIWATTS = 700;
/** Tenths of the mean power at work: what reaches it is work. */
export const WORK_TENTHS = 9;

/**
 * Above this nothing rests, in tenths of a watt: twice what an H100 draws with a context (114 W), less than what large cards draw at work. The least that was seen in two days
 * of work at which an engine reads 0 would else be its own rest.
 */
export const REST_DECIWATTS_MAX = 2500;

/** What samples showed of a device's power: the least, whether one was of an empty GPU, and the powers at work. */
export interface PowerSeen {
  readonly leastW: number;
  readonly wasEmpty: boolean;
  readonly busyCount: number;
  readonly busyW: number;
}

/** The most that is still rest, in tenths of a watt. `run` computes the same in SQL. */
export function restCeilingDeciwatts({ leastW, wasEmpty, busyCount, busyW }: PowerSeen, isParked: boolean): number {
  const empty = leastW * EMPTY_TENTHS;
  const held = Math.max(empty, Math.min(leastW * HELD_TENTHS, leastW * 10 + HELD_LIFT_DECIWATTS));
  const ceiling = isParked && (wasEmpty || busyCount > 0) ? held : empty;
  const work = busyCount === 0 ? REST_DECIWATTS_MAX : Math.trunc((busyW * WORK_TENTHS) / busyCount);
  return Math.min(ceiling, work, REST_DECIWATTS_MAX);
}
