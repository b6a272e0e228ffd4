import type { Device, Node } from '../organisation.ts';
import type { Seconds } from '../timeline.ts';

/** A device and how many more may hold it. */
interface Slot {
  readonly device: Device;
  free: number;
}

/** A machine as its scheduler sees it. */
export interface Machine {
  readonly node: Node;
  /** When it breaks or is taken away, one after the other; known to the world, not to the scheduler. */
  readonly losses: readonly { readonly at: Seconds; readonly by: 'preempted' | 'node-fail' }[];
  readonly slots: readonly Slot[];
  readonly tenants: Set<Tenancy>;
  /** Sum of what is free of its slots. */
  free: number;
  isUp: boolean;
  isReserved: boolean;
  /** Where it stands among the free ones; −1 if it does not. */
  place: number;
}

/** What a job holds, and until when. */
export interface Tenancy {
  readonly seats: readonly { readonly machine: Machine; readonly slot: Slot }[];
  readonly until: Seconds;
}

export type Seats = Tenancy['seats'];

/** A job gets each device once, so that free slots on one device do not make up for another that is full. */
export function fits({ free, slots }: Machine, devices: number): boolean {
  if (free < devices) return false;
  return devices === 1 || slots.reduce((count, slot) => (slot.free > 0 ? count + 1 : count), 0) >= devices;
}

/** When so many devices of a machine are free, if nobody else comes. */
export function roomAt(machine: Machine, devices: number, now: Seconds): Seconds {
  if (fits(machine, devices)) return now;
  let room = machine.slots.filter(({ free }) => free > 0).length;
  const ends = [...machine.tenants].sort((a, b) => a.until - b.until);
  const opened = new Set<Slot>();
  for (const { seats, until } of ends) {
    for (const { machine: where, slot } of seats) {
      if (where !== machine || slot.free > 0 || opened.has(slot)) continue;
      opened.add(slot);
      room += 1;
    }
    if (room >= devices) return until;
  }
  return Infinity;
}
