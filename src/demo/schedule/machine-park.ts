import { type Chance, chanceOf } from '../chance.ts';
import { spotGapS, spotLifeS, statesOf, statesSince } from '../fleet/fate.ts';
import { machineOf } from '../fleet/machines.ts';
import type { Node, Scope } from '../organisation.ts';
import type { Seconds } from '../timeline.ts';
import type { Pool, World } from '../world/world-schema.ts';
import type { Machine } from './machine.ts';

/** How long past the window a machine is there that stays. */
const STAYS_S = 7 * 86_400;

/** Where a machine of a pool stands; on spot one after the other. */
export interface Place {
  readonly pool: Pool;
  readonly chance: Chance;
  readonly number: number;
  generation: number;
}

/** A machine with its true life, of which the window sees a part. */
export interface Arrival {
  readonly node: Node;
  readonly states: Node['states'];
  readonly losses: Machine['losses'];
  readonly until: Seconds;
}

/** Draws machines with their fates, each from its own stream, and numbers them as they appear in their pool. */
export class MachinePark {
  readonly #world: World;
  readonly #scope: Scope;
  readonly #numbers = new Map<Pool, number>();

  constructor(world: World, scope: Scope) {
    this.#world = world;
    this.#scope = scope;
  }

  placeOf(pool: Pool, number: number): Place {
    return { pool, number, generation: 0, chance: chanceOf(this.#scope.seed, 'place', pool.name, number) };
  }

  /** The machine that takes a place now. */
  arrive(place: Place, from: Seconds): Arrival {
    const { pool } = place;
    const { seed, from: windowFrom, until: windowUntil } = this.#scope;
    const stays = windowUntil + STAYS_S;
    const until = Math.min(stays, pool.purchase === 'spot' ? from + spotLifeS(pool, place.chance) : stays);
    place.generation += 1;
    const fate = chanceOf(seed, 'fate', pool.name, place.number, place.generation);
    const states = statesOf(pool, fate, from, until);
    const number = (this.#numbers.get(pool) ?? 0) + 1;
    this.#numbers.set(pool, number);
    // Who is gone before the window is seen by nobody, and keeps its own dates.
    const seen = until > windowFrom ? Math.max(from, windowFrom) : from;
    const node = machineOf(this.#world, {
      seed,
      pool,
      number,
      presentFrom: seen,
      presentUntil: until,
      states: statesSince(states, seen),
    });
    return { node, states, losses: lossesOf(states, until < stays ? until : Infinity), until };
  }

  /** How long a place stays empty once its machine is taken away. */
  gapS({ pool, chance }: Place): number {
    return spotGapS(pool, chance);
  }
}

function lossesOf(states: Node['states'], takenAt: Seconds): Machine['losses'] {
  const broken = states
    .filter(({ state }) => state === 'down')
    .map(({ from }) => ({ at: from, by: 'node-fail' as const }));
  return takenAt === Infinity ? broken : [...broken, { at: takenAt, by: 'preempted' as const }];
}
