import type { Chance } from '../chance.ts';
import { handedOut, holdersPerDevice, unitsPerNode } from '../fleet/machines.ts';
import type { Node } from '../organisation.ts';
import type { Seconds } from '../timeline.ts';
import type { Pool } from '../world/world-schema.ts';
import { FreeMachines } from './free-machines.ts';
import { devicesPerNode } from './job-size.ts';
import { fits, type Machine, roomAt, type Seats, type Tenancy } from './machine.ts';

/** The machines of one pool: who is where, and where is room. */
export class PoolFloor {
  readonly pool: Pool;
  readonly #chance: Chance;
  readonly #perNode: number;
  readonly #free: FreeMachines;
  readonly #machines = new Set<Machine>();
  #reserved: readonly Machine[] = [];

  constructor(pool: Pool, chance: Chance) {
    this.pool = pool;
    this.#chance = chance;
    this.#perNode = devicesPerNode(pool);
    this.#free = new FreeMachines(unitsPerNode(pool));
  }

  appear(node: Node, losses: Machine['losses']): Machine {
    const slots = handedOut(node).map((device) => ({ device, free: holdersPerDevice(this.pool) }));
    const free = unitsPerNode(this.pool);
    const machine = {
      node,
      losses,
      slots,
      tenants: new Set<Tenancy>(),
      free,
      isUp: false,
      isReserved: false,
      place: -1,
    };
    this.#machines.add(machine);
    return machine;
  }

  /** From now on jobs may start on it, or none may; those that run are not touched. */
  turn(machine: Machine, isUp: boolean): void {
    if (machine.isReserved && !isUp) this.unreserve();
    machine.isUp = isUp;
    this.#shelve(machine);
  }

  leave(machine: Machine): void {
    this.turn(machine, false);
    this.#machines.delete(machine);
  }

  /** Where a job of so many devices would go now, past what is kept for another. */
  find(devices: number): Seats | undefined {
    if (devices <= this.#perNode) {
      const machine = this.#free.find(devices, this.pool.placement, this.#chance);
      return machine === undefined ? undefined : this.#seatsOn(machine, devices);
    }
    const machines = this.#free.findEmpty(devices / this.#perNode, this.#chance);
    return machines?.flatMap((machine) => this.#seatsOn(machine, this.#perNode));
  }

  /** The same for the job the reserved machines are kept for. */
  findReserved(devices: number): Seats | undefined {
    const each = Math.min(devices, this.#perNode);
    if (this.#reserved.length === 0 || !this.#reserved.every((machine) => fits(machine, each))) return undefined;
    return this.#reserved.flatMap((machine) => this.#seatsOn(machine, each));
  }

  /** Keeps the machines on which a job of so many devices can start soonest, if that is before `latest`. */
  reserve(devices: number, now: Seconds, latest: Seconds): void {
    const each = Math.min(devices, this.#perNode);
    const soon: { machine: Machine; at: Seconds }[] = [];
    for (const machine of this.#machines) {
      const at = machine.isUp ? roomAt(machine, each, now) : Infinity;
      if (at <= latest) soon.push({ machine, at });
    }
    const needed = devices / each;
    if (soon.length < needed) return;
    soon.sort((a, b) => a.at - b.at || (a.machine.node.id < b.machine.node.id ? -1 : 1));
    this.#reserved = soon.slice(0, needed).map(({ machine }) => machine);
    for (const machine of this.#reserved) {
      machine.isReserved = true;
      this.#shelve(machine);
    }
  }

  unreserve(): void {
    for (const machine of this.#reserved) {
      machine.isReserved = false;
      this.#shelve(machine);
    }
    this.#reserved = [];
  }

  get hasReserved(): boolean {
    return this.#reserved.length > 0;
  }

  take(seats: Seats, until: Seconds): Tenancy {
    const tenancy = { seats, until };
    this.#hand(tenancy, -1);
    return tenancy;
  }

  giveBack(tenancy: Tenancy): void {
    this.#hand(tenancy, 1);
  }

  /** Hands out or takes back. Seats of one machine stand together, so that it is moved once, not for each. */
  #hand(tenancy: Tenancy, units: 1 | -1): void {
    const { seats } = tenancy;
    for (let index = 0; index < seats.length;) {
      const { machine } = seats[index]!;
      if (machine.place >= 0) this.#free.remove(machine);
      for (; seats[index]?.machine === machine; index += 1) {
        seats[index]!.slot.free += units;
        machine.free += units;
      }
      if (units < 0) machine.tenants.add(tenancy);
      else machine.tenants.delete(tenancy);
      this.#shelve(machine);
    }
  }

  /** Devices of one machine: of shared ones the fullest or the emptiest first, as machines are chosen. */
  #seatsOn(machine: Machine, devices: number): Seats {
    const sign = this.pool.placement === 'pack' ? 1 : -1;
    return machine.slots
      .filter(({ free }) => free > 0)
      .sort((a, b) => sign * (a.free - b.free))
      .slice(0, devices)
      .map((slot) => ({ machine, slot }));
  }

  /** Puts a machine among the free ones, or takes it out, as it now may or may not be handed out. */
  #shelve(machine: Machine): void {
    const isOffered = machine.isUp && !machine.isReserved;
    if (isOffered && machine.place < 0) this.#free.add(machine);
    if (!isOffered && machine.place >= 0) this.#free.remove(machine);
  }
}
