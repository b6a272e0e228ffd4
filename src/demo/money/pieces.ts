import type { Attempt, Device, Holding, OrganisationDay } from '../organisation.ts';
import { NOTHING, type Seconds, type Span, spanOf } from '../timeline.ts';
import { cut } from './whole-number.ts';

/** A part of a GPU, for a time in which nothing changes about who has it and what for. */
export interface Piece {
  readonly device: Device;
  /** Who has it; undefined where nobody does. */
  readonly attempt: Attempt | undefined;
  /** What it did there: the reasons, and how they take turns. */
  readonly span: Span;
  readonly shareUnits: number;
  readonly from: Seconds;
  until: Seconds;
  /** What it cost so far: the pause of the span first, then its parts in their order. */
  readonly usdMicros: number[];
}

/** Spans of what nobody has. They have no pauses, so it does not matter when they begin. */
const NOBODYS = {
  empty: spanOf(0, 0, 'empty', NOTHING),
  'mig-rest': spanOf(0, 0, 'mig-rest', NOTHING),
  down: spanOf(0, 0, 'down', NOTHING),
  drained: spanOf(0, 0, 'drained', NOTHING),
};

/**
 * All of a GPU for all of the day that its machine is there, cut into pieces, by begin: what holders had of it or of
 * its slices, and what nobody had. At every moment their shares add up to the whole.
 */
export function piecesOf(day: OrganisationDay, gpu: Device, slices: readonly Device[]): Piece[] {
  const from = Math.max(day.from, gpu.node.presentFrom);
  const until = Math.min(day.until, gpu.node.presentUntil);
  const pieces: Piece[] = [];
  for (const device of slices.length === 0 ? [gpu] : slices) {
    addDevice(pieces, device, day.onDevice.get(device) ?? [], from, until);
  }
  if (slices.length > 0) {
    const rest = slices.reduce((left, { shareUnits }) => left - shareUnits, gpu.shareUnits);
    if (rest > 0) addFree(pieces, gpu, 'mig-rest', rest, from, until);
  }
  // Stable: pieces that begin together stay in the order of their devices and holders.
  return pieces.sort((a, b) => a.from - b.from);
}

/**
 * Those who have a device at the same time have equal parts of it; alone, one has it all. What does not divide goes by
 * the order of their names, as in the ledger's own split, so that more than ten of them have the same parts there.
 */
function addDevice(pieces: Piece[], device: Device, holdings: readonly Holding[], from: Seconds, until: Seconds): void {
  const edges = new Set([from, until]);
  for (const { attempt } of holdings) {
    if (attempt.from > from && attempt.from < until) edges.add(attempt.from);
    if (attempt.until > from && attempt.until < until) edges.add(attempt.until);
  }
  const moments = [...edges].sort((a, b) => a - b);
  const newest = new Map<Holding, Piece>();
  for (let index = 1; index < moments.length; index += 1) {
    const [start, end] = [moments[index - 1]!, moments[index]!];
    const present = holdings.filter(({ attempt }) => attempt.from <= start && attempt.until >= end);
    if (present.length === 0) addFree(pieces, device, 'empty', device.shareUnits, start, end);
    present.sort(byHolder);
    for (const [place, holding] of present.entries()) {
      const upTo = (holders: number): number => cut(device.shareUnits, holders, present.length);
      addHeld(pieces, newest, device, holding, upTo(place + 1) - upTo(place), start, end);
    }
  }
}

function byHolder({ attempt: a }: Holding, { attempt: b }: Holding): number {
  if (a.job.id !== b.job.id) return a.job.id < b.job.id ? -1 : 1;
  return a.number - b.number;
}

function addHeld(
  pieces: Piece[],
  newest: Map<Holding, Piece>,
  device: Device,
  holding: Holding,
  shareUnits: number,
  from: Seconds,
  until: Seconds,
): void {
  const { attempt, spans } = holding;
  for (let index = firstEndingAfter(spans, from); index < spans.length; index += 1) {
    const span = spans[index]!;
    if (span.from >= until) break;
    const [start, end] = [Math.max(from, span.from), Math.min(until, span.until)];
    const last = newest.get(holding);
    if (last !== undefined && last.until === start && last.span === span && last.shareUnits === shareUnits) {
      last.until = end;
      continue;
    }
    const piece: Piece = { device, attempt, span, shareUnits, from: start, until: end, usdMicros: [] };
    pieces.push(piece);
    newest.set(holding, piece);
  }
}

/** What nobody has, by the state its machine is in. */
function addFree(
  pieces: Piece[],
  device: Device,
  whenUp: 'empty' | 'mig-rest',
  shareUnits: number,
  from: Seconds,
  until: Seconds,
): void {
  let last: Piece | undefined;
  for (const state of device.node.states) {
    const [start, end] = [Math.max(from, state.from), Math.min(until, state.until)];
    if (start >= end) continue;
    const span = NOBODYS[state.state === 'up' ? whenUp : state.state];
    if (last?.span === span && last.until === start) {
      last.until = end;
      continue;
    }
    last = { device, attempt: undefined, span, shareUnits, from: start, until: end, usdMicros: [] };
    pieces.push(last);
  }
}

/** Long attempts have thousands of spans, of which a day needs a few. */
function firstEndingAfter(spans: readonly Span[], moment: Seconds): number {
  let [low, high] = [0, spans.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (spans[middle]!.until > moment) high = middle;
    else low = middle + 1;
  }
  return low;
}
