import type { Chance } from '../chance.ts';
import { fits, type Machine } from './machine.ts';

/**
 * Machines that may be handed out, by how much of them is free: the fullest or the emptiest that fits is found without
 * looking at the others. Each machine knows its place, so that moving it costs the same in a pool of any size.
 */
export class FreeMachines {
  readonly #byFree: Machine[][];

  constructor(unitsPerNode: number) {
    this.#byFree = Array.from({ length: unitsPerNode + 1 }, () => []);
  }

  add(machine: Machine): void {
    const shelf = this.#byFree[machine.free]!;
    machine.place = shelf.length;
    shelf.push(machine);
  }

  /** Must be called before its `free` changes. */
  remove(machine: Machine): void {
    const shelf = this.#byFree[machine.free]!;
    const last = shelf.pop()!;
    if (last !== machine) {
      shelf[machine.place] = last;
      last.place = machine.place;
    }
    machine.place = -1;
  }

  /** One machine with so many devices to hand out; of those equally full any, by chance. */
  find(devices: number, placement: 'pack' | 'spread', chance: Chance): Machine | undefined {
    const most = this.#byFree.length - 1;
    for (let step = 0; step <= most - devices; step += 1) {
      const shelf = this.#byFree[placement === 'pack' ? devices + step : most - step]!;
      if (shelf.length === 0) continue;
      const start = chance.whole(shelf.length);
      for (let index = 0; index < shelf.length; index += 1) {
        const machine = shelf[(start + index) % shelf.length]!;
        if (fits(machine, devices)) return machine;
      }
    }
    return undefined;
  }

  /** So many machines nobody is on. */
  findEmpty(count: number, chance: Chance): readonly Machine[] | undefined {
    const shelf = this.#byFree.at(-1)!;
    if (shelf.length < count) return undefined;
    const start = chance.whole(shelf.length);
    return Array.from({ length: count }, (_, index) => shelf[(start + index) % shelf.length]!);
  }
}
