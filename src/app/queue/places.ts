import { acceleratorNamed } from '../../facts/accelerators.ts';
import type { IdleHolding } from '../../report/idle-list.ts';
import type { FreeGpus, Place, WaitingWork } from '../../report/queue-page.ts';

interface Room {
  readonly empty: number;
  readonly idle: number;
}

/** What is left of a machine after those who waited longer. */
interface Left {
  readonly node: FreeGpus;
  empty: number;
  idle: number;
}

/** GPUs of one machine for one part of a work. */
interface Seat {
  readonly on: Left;
  readonly empty: number;
  readonly idle: number;
  readonly holders: readonly IdleHolding[];
}

/**
 * Question: where could each of those who wait start now?
 *
 * One after the other, the longest waiting first, and no GPU is offered twice. What fits a machine has to be on one; a larger job takes
 * whole machines of one region. Empty GPUs before idle ones: those only cost a word. Undefined where nothing it could use is free.
 */
export function placesFor(waiting: readonly WaitingWork[], free: readonly FreeGpus[]): (Place | undefined)[] {
  const kinds = kindsOf(free);
  const kindsFor = remembered((cluster, model) => kinds.filter((kind) => serves(kind, cluster, model)));
  return waiting.map((work) => {
    const fitting = kindsFor(work.cluster, work.model).flatMap(({ machines }) => machines.filter(hasRoom));
    if (fitting.length === 0) return undefined;
    const parts = partsOf(work, fitting);
    const isSpread = work.parts === 1 && parts.length > 1;
    const tries = (isSpread ? regionsOf(fitting) : [fitting]).map((machines) => seatsOn(machines, parts));
    const best = tries.reduce((a, b) => (isBetter(b, a) ? b : a));
    if (best.length < parts.length) return partPlace(fitting, best.length, parts.length);
    for (const { on, empty, idle } of best) [on.empty, on.idle] = [on.empty - empty, on.idle - idle];
    return wholePlace(work, best);
  });
}

/** Machines of one cluster with one model: a fleet has a handful of them, and a queue thousands of jobs. */
interface Kind {
  readonly cluster: string | null;
  readonly model: string | null;
  readonly machines: Left[];
}

function kindsOf(free: readonly FreeGpus[]): Kind[] {
  const kinds = new Map<string, Kind>();
  for (const node of free) {
    const key = JSON.stringify([node.cluster, node.model]);
    const kind = kinds.get(key) ?? { cluster: node.cluster, model: node.model, machines: [] };
    kind.machines.push({ node, empty: node.empty, idle: node.idle });
    kinds.set(key, kind);
  }
  return [...kinds.values()];
}

function serves(kind: Kind, cluster: string | null, model: string | null): boolean {
  return (cluster === null || kind.cluster === null || cluster === kind.cluster) && isModel(kind.model, model);
}

function remembered<Answer>(
  ask: (cluster: string | null, model: string | null) => Answer,
): (cluster: string | null, model: string | null) => Answer {
  const known = new Map<string, Answer>();
  return (cluster, model) => {
    const key = JSON.stringify([cluster, model]);
    const answer = known.get(key) ?? ask(cluster, model);
    known.set(key, answer);
    return answer;
  };
}

function hasRoom({ empty, idle }: Left): boolean {
  return empty + idle > 0;
}

/** More parts seated, then fewer people to ask. */
function isBetter(a: readonly Seat[], b: readonly Seat[]): boolean {
  const idle = (seats: readonly Seat[]): number => seats.reduce((sum, seat) => sum + seat.idle, 0);
  return a.length > b.length || (a.length === b.length && idle(a) < idle(b));
}

/** A machine for each part, as far as there are any; nothing is taken yet. */
function seatsOn(machines: readonly Left[], parts: readonly number[]): Seat[] {
  const least = parts.reduce((a, b) => Math.min(a, b));
  const large = machines.filter(({ empty, idle }) => empty + idle >= least);
  const room = new Map<Left, Room>();
  const seats: Seat[] = [];
  for (const gpus of parts) {
    let best: Left | undefined;
    for (const on of large) {
      const { empty, idle } = room.get(on) ?? on;
      if (empty + idle < gpus) continue;
      if (best === undefined || fitsCloser(room.get(on) ?? on, room.get(best) ?? best, gpus)) best = on;
    }
    if (best === undefined) break;
    const before = room.get(best) ?? best;
    const empty = Math.min(before.empty, gpus);
    const idle = gpus - empty;
    // Of those that are idle the first are taken, machine by machine.
    const from = best.node.idle - before.idle;
    seats.push({ on: best, empty, idle, holders: best.node.holders.slice(from, from + idle) });
    room.set(best, { empty: before.empty - empty, idle: before.idle - idle });
  }
  return seats;
}

/** Where fewer idle GPUs have to be asked for, then on the machine that has the least to spare. */
function fitsCloser(a: Room, b: Room, gpus: number): boolean {
  const [aIdle, bIdle] = [Math.max(0, gpus - a.empty), Math.max(0, gpus - b.empty)];
  return aIdle === bIdle ? a.empty + a.idle < b.empty + b.idle : aIdle < bIdle;
}

function regionsOf(machines: readonly Left[]): Left[][] {
  const regions = new Map<string | null, Left[]>();
  for (const each of machines) {
    const region = regions.get(each.node.region);
    if (region === undefined) regions.set(each.node.region, [each]);
    else region.push(each);
  }
  return [...regions.values()];
}

function partPlace(fitting: readonly Left[], partsFit: number, partsNeeded: number): Place {
  const onOneNode = fitting.reduce((most, { empty, idle }) => Math.max(most, empty + idle), 0);
  return { complete: false, nodes: [], empty: 0, idle: 0, holders: [], onOneNode, partsFit, partsNeeded };
}

function wholePlace(work: WaitingWork, seats: readonly Seat[]): Place {
  return {
    complete: true,
    nodes: [...new Set(seats.map(({ on }) => on.node.nodeId))],
    empty: seats.reduce((sum, { empty }) => sum + empty, 0),
    idle: seats.reduce((sum, { idle }) => sum + idle, 0),
    holders: [...new Set(seats.flatMap(({ holders }) => holders))],
    onOneNode: work.gpusOfOnePart,
    partsFit: seats.length,
    partsNeeded: seats.length,
  };
}

/** How many GPUs on how many machines: pods as they are; one job larger than any machine is spread over whole ones. */
function partsOf({ gpus, gpusOfOnePart, parts }: WaitingWork, machines: readonly Left[]): number[] {
  if (parts > 1) return Array.from({ length: parts }, () => gpusOfOnePart);
  const size = machines.reduce((most, { node }) => Math.max(most, node.size), 1);
  if (gpus <= size) return [gpus];
  return [...Array.from({ length: Math.floor(gpus / size) }, () => size), ...(gpus % size === 0 ? [] : [gpus % size])];
}

/**
 * Whether `NVIDIA H100 80GB HBM3` is what `h100` asks for: the one names the other, or both are one accelerator. A slice is nothing a
 * whole GPU is offered for: somebody would have to cut it first.
 */
export function isModel(listed: string | null, asked: string | null): boolean {
  if (asked === null) return true;
  if (listed === null || /\bMIG\b/i.test(asked)) return false;
  const words = (text: string): string => ` ${text.toLowerCase().replaceAll(/[-_/().,]/g, ' ')} `;
  if (words(listed).includes(words(asked))) return true;
  const accelerator = acceleratorNamed(asked);
  return accelerator !== undefined && accelerator === acceleratorNamed(listed);
}
