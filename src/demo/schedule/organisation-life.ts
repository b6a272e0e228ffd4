import { chanceOf } from '../chance.ts';
import { planFleet } from '../fleet/plan-fleet.ts';
import {
  type Attempt,
  type Course,
  type CourseRequest,
  type Job,
  NO_PROGRESS,
  type Node,
  type Scope,
  type Waiting,
} from '../organisation.ts';
import type { Seconds } from '../timeline.ts';
import type { Habit } from '../world/habit-schema.ts';
import type { World } from '../world/world-schema.ts';
import { type Arrivals, arrivalsOf, type Asking } from './arrivals.ts';
import { attemptOf } from './attempt.ts';
import { EventQueue } from './event-queue.ts';
import { JobNames } from './job-names.ts';
import type { Machine, Seats, Tenancy } from './machine.ts';
import { type Arrival, MachinePark, type Place } from './machine-park.ts';
import { peopleOf } from './people.ts';
import { PoolFloor } from './pool-floor.ts';
import { type Ask, PoolQueue } from './queue.ts';
import { standingJobs } from './standing-jobs.ts';

const DAY_S = 86_400;

/** Services and machines of one's own are there before the window begins. */
const SERVICES_WARM_UP_S = 4 * DAY_S;

/** Sessions live for weeks, and nothing else lives longer. */
const WARM_UP_S_MAX = 21 * DAY_S;
const WARM_UP_S_MIN = 2 * DAY_S;

/** What jobs do once they have GPUs. */
export interface Courses {
  readonly courseOf: (request: CourseRequest) => Course;
  readonly asksFirstAt: (world: World, scope: Scope, job: Job) => Seconds;
  readonly meanGpuHours: (world: World, habit: Habit) => number;
}

/** A machine breaks, is repaired, drained or taken away: the next of its states begins, or there is none left. */
interface Turn {
  readonly kind: 'turn';
  readonly queue: PoolQueue;
  readonly machine: Machine;
  readonly arrival: Arrival;
  readonly next: number;
  readonly place: Place;
}

type Event =
  | { readonly kind: 'end'; readonly queue: PoolQueue; readonly tenancy: Tenancy; readonly again?: Ask }
  | { readonly kind: 'appear'; readonly queue: PoolQueue; readonly place: Place }
  | Turn
  | { readonly kind: 'ask'; readonly queue: PoolQueue; readonly ask: Ask }
  | { readonly kind: 'submit'; readonly queue: PoolQueue; readonly arrivals: Arrivals };

/** At one second jobs end, then machines turn, then people ask; only then is anything handed out. */
const RANK = { end: 0, appear: 1, turn: 1, ask: 2, submit: 2 } as const;

/** The organisation as it lives on: machines come and go, people ask, jobs start where they fit, and end. */
export class OrganisationLife {
  readonly #world: World;
  readonly #scope: Scope;
  /** What courses are told: from before the window, so that services are there when it begins. */
  readonly #courseScope: Scope;
  readonly #courses: Courses;
  readonly #events = new EventQueue<Event>();
  readonly #park: MachinePark;
  readonly #queues: PoolQueue[] = [];
  #begun: Attempt[] = [];
  #appeared: Node[] = [];

  constructor(world: World, scope: Scope, courses: Courses) {
    this.#world = world;
    this.#scope = scope;
    this.#courseScope = { ...scope, from: scope.from - SERVICES_WARM_UP_S };
    this.#courses = courses;
    this.#park = new MachinePark(world, scope);
    this.#found();
  }

  /** Lives until just before the moment. */
  liveUntil(moment: Seconds): void {
    const changed = new Set<PoolQueue>();
    while (this.#events.nextAt() < moment) {
      const now = this.#events.nextAt();
      while (this.#events.nextAt() === now) {
        const event = this.#events.take();
        changed.add(event.queue);
        this.#happen(event, now);
      }
      for (const queue of changed) queue.startWhatFits(now, (ask, seats) => this.#begin(queue, ask, seats, now));
      changed.clear();
    }
  }

  /** Attempts that have begun since this was last asked, as far as the window sees them. */
  takeBegun(): readonly Attempt[] {
    const begun = this.#begun;
    this.#begun = [];
    return begun;
  }

  /** Machines that have appeared since this was last asked and are there in the window. */
  takeAppeared(): readonly Node[] {
    const appeared = this.#appeared;
    this.#appeared = [];
    return appeared;
  }

  /** Who has asked and has no GPUs at the moment lived until, pool by pool. */
  waiting(): readonly Waiting[] {
    return this.#queues.flatMap((queue) => queue.waiting()).map(({ job, since }) => ({ job, askedAt: since }));
  }

  /** Sets up machines, services and people. */
  #found(): void {
    const [world, scope] = [this.#world, this.#scope];
    const people = peopleOf(world, scope.gpus);
    const names = new JobNames(scope.seed);
    const begins = scope.from - WARM_UP_S_MAX;
    const pools = new Map(
      planFleet(world, scope.gpus).map((plan) => {
        const queue = new PoolQueue(new PoolFloor(plan.pool, chanceOf(scope.seed, 'placement', plan.pool.name)));
        this.#queues.push(queue);
        for (let number = 1; number <= plan.nodes; number += 1)
          this.#put(begins, { kind: 'appear', queue, place: this.#park.placeOf(plan.pool, number) });
        return [plan.pool.name, { plan, queue }];
      }),
    );
    for (const habit of world.habits) {
      const { plan, queue } = known(pools.get(habit.pool), `pool ${habit.pool}`);
      const team = known(
        world.teams.find(({ name }) => name === habit.team),
        `team ${habit.team}`,
      );
      const shared = { world, plan, team, names, people: people.get(team.name)! };
      if (habit.kind === 'serving' || habit.kind === 'box') {
        const { asksFirstAt } = this.#courses;
        for (const job of standingJobs({ ...shared, scope: this.#courseScope, asksFirstAt }, habit))
          this.#ask(queue, { job, number: 0, progress: NO_PROGRESS, since: job.submittedAt });
      } else {
        const from = scope.from - warmUpS(habit);
        const { meanGpuHours } = this.#courses;
        const arrivals = arrivalsOf({ ...shared, scope, from, meanGpuHours }, habit);
        if (arrivals !== undefined) this.#awaitNext(queue, arrivals);
      }
    }
  }

  #happen(event: Event, now: Seconds): void {
    switch (event.kind) {
      case 'end':
        event.queue.floor.giveBack(event.tenancy);
        if (event.again !== undefined) this.#ask(event.queue, event.again);
        break;
      case 'appear':
        this.#appear(event.queue, event.place, now);
        break;
      case 'turn':
        this.#turn(event, now);
        break;
      case 'ask':
        event.queue.join(event.ask);
        break;
      case 'submit':
        for (const job of event.arrivals.jobsAt(now))
          event.queue.join({ job, number: 0, progress: NO_PROGRESS, since: now });
        this.#awaitNext(event.queue, event.arrivals);
        break;
    }
  }

  #appear(queue: PoolQueue, place: Place, now: Seconds): void {
    const arrival = this.#park.arrive(place, now);
    if (arrival.until > this.#scope.from) this.#appeared.push(arrival.node);
    const machine = queue.floor.appear(arrival.node, arrival.losses);
    this.#turn({ kind: 'turn', queue, machine, arrival, next: 0, place }, now);
  }

  #turn(event: Turn, now: Seconds): void {
    const { queue, machine, arrival, next, place } = event;
    const stretch = arrival.states[next];
    if (stretch?.state !== 'up' && stretch?.state !== 'drained' && machine.tenants.size > 0)
      throw new Error(`a job outlives its machine ${machine.node.id}`);
    if (stretch !== undefined) {
      queue.floor.turn(machine, stretch.state === 'up');
      this.#put(stretch.until, { ...event, next: next + 1 });
    } else {
      queue.floor.leave(machine);
      this.#put(now + this.#park.gapS(place), { kind: 'appear', queue, place });
    }
  }

  /** A job gets its devices, and with them everything that will happen in this life of it. */
  #begin(queue: PoolQueue, { job, number, progress, since }: Ask, seats: Seats, now: Seconds): void {
    const devices = seats.map(({ slot }) => slot.device);
    const course = this.#courses.courseOf({
      world: this.#world,
      scope: this.#courseScope,
      job,
      number,
      progress,
      from: now,
      devices,
      machineLost: firstLoss(seats, now),
    });
    if (course.until <= now) throw new Error(`job ${job.name} ends before it begins`);
    const attempt = attemptOf({ job, number, progress, since }, now, devices, course, this.#scope.from);
    if (attempt !== undefined) this.#begun.push(attempt);
    const askedAt = course.asksAgainAt === undefined ? Infinity : Math.max(course.asksAgainAt, course.until);
    const again = { job, number: number + 1, progress: course.progress, since: askedAt };
    const tenancy = queue.floor.take(seats, course.until);
    this.#put(course.until, { kind: 'end', queue, tenancy, ...(askedAt < this.#scope.until ? { again } : {}) });
  }

  #ask(queue: PoolQueue, ask: Ask): void {
    this.#put(ask.since, { kind: 'ask', queue, ask });
  }

  #awaitNext(queue: PoolQueue, arrivals: Arrivals): void {
    const at = arrivals.nextAt();
    if (at !== undefined) this.#put(at, { kind: 'submit', queue, arrivals });
  }

  /** What happens after the window is nobody's concern. */
  #put(at: Seconds, event: Event): void {
    if (at < this.#scope.until) this.#events.put(at, RANK[event.kind], event);
  }
}

/** The window begins in the middle of life: jobs have come for as long as the longest of them takes. */
function warmUpS(habit: Asking): number {
  if (habit.kind === 'notebook') return WARM_UP_S_MAX;
  return Math.min(WARM_UP_S_MAX, Math.max(WARM_UP_S_MIN, Math.ceil(habit.hours.p100) * 3600));
}

function firstLoss(seats: Seats, now: Seconds): CourseRequest['machineLost'] {
  let first: CourseRequest['machineLost'] = { at: Infinity, by: 'node-fail' };
  for (const { machine } of seats) {
    const loss = machine.losses.find(({ at }) => at > now);
    if (loss !== undefined && loss.at < first.at) first = loss;
  }
  return first;
}

function known<Thing>(thing: Thing | undefined, what: string): Thing {
  if (thing === undefined) throw new Error(`the world names a ${what} it does not have`);
  return thing;
}
