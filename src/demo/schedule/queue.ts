import type { Job, Progress } from '../organisation.ts';
import type { Seconds } from '../timeline.ts';
import type { Seats } from './machine.ts';
import type { PoolFloor } from './pool-floor.ts';
import { WaitingLines } from './waiting-lines.ts';

const HOUR_S = 3600;

/** Who has waited longest, and so long, has machines kept for it, or smaller jobs would pass it for ever. */
const RESERVES_AFTER_S = 4 * HOUR_S;

/** Nobody keeps machines empty for what cannot start within a day. */
const RESERVES_WITHIN_S = 24 * HOUR_S;

/** Ends are seldom near enough; looking again at every one of them would cost more than it finds. */
const LOOKS_AGAIN_AFTER_S = HOUR_S;

/** A job that asks for devices: for the first time, or for another life. */
export interface Ask {
  readonly job: Job;
  readonly number: number;
  readonly progress: Progress;
  readonly since: Seconds;
}

type Begin = (ask: Ask, seats: Seats) => void;

/** Who waits for machines of one pool, and who starts when some are free? */
export class PoolQueue {
  readonly floor: PoolFloor;
  /** Replicas and machines of one's own go before what can wait. */
  readonly #standing = new WaitingLines<Ask>();
  readonly #jobs = new WaitingLines<Ask>();
  #awaited: Ask | undefined;
  #lookedAt: Seconds = -Infinity;

  constructor(floor: PoolFloor) {
    this.floor = floor;
  }

  join(ask: Ask): void {
    const { habit, gpus } = ask.job;
    (habit.kind === 'serving' || habit.kind === 'box' ? this.#standing : this.#jobs).join(gpus, ask);
  }

  /** Who waits: what has to stand before what can wait, and of each who asked first. */
  waiting(): readonly Ask[] {
    return [...this.#standing.all(), ...this.#jobs.all()];
  }

  /** Starts everything that fits now: first come, first served, and who does not fit is passed by who does. */
  startWhatFits(now: Seconds, begin: Begin): void {
    this.#startFrom(this.#standing, begin);
    this.#startAwaited(begin);
    this.#startFrom(this.#jobs, begin);
    this.#reserveForFirst(now);
  }

  #startFrom(lines: WaitingLines<Ask>, begin: Begin): void {
    // Where one does not fit, nobody who needs as much or more does.
    let tooMany = Infinity;
    for (let ask = lines.first(); ask !== undefined; ask = lines.first(tooMany)) {
      const seats = this.floor.find(ask.job.gpus);
      if (seats === undefined) {
        tooMany = ask.job.gpus;
        continue;
      }
      lines.takeFirst(tooMany);
      if (ask === this.#awaited) this.#keepNothing();
      begin(ask, seats);
    }
  }

  #startAwaited(begin: Begin): void {
    if (this.#awaited === undefined) return;
    const ask = this.#awaited;
    const seats = this.floor.findReserved(ask.job.gpus);
    if (seats !== undefined) {
      this.#jobs.takeFirst();
      begin(ask, seats);
    }
    if (seats !== undefined || !this.floor.hasReserved) this.#keepNothing();
  }

  #reserveForFirst(now: Seconds): void {
    const first = this.#jobs.first();
    // Whoever needs one device gets the next that is free anyway.
    if (first === undefined || first.job.gpus === 1 || this.#awaited !== undefined) return;
    if (now - first.since < RESERVES_AFTER_S || now - this.#lookedAt < LOOKS_AGAIN_AFTER_S) return;
    this.#lookedAt = now;
    this.floor.reserve(first.job.gpus, now, now + RESERVES_WITHIN_S);
    if (this.floor.hasReserved) this.#awaited = first;
  }

  #keepNothing(): void {
    this.floor.unreserve();
    this.#awaited = undefined;
  }
}
