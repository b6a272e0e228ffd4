import type { Chance } from '../chance.ts';
import type { Levels, Part, Seconds, Span } from '../timeline.ts';
import type { Quantiles, Reason } from '../world/world-schema.ts';

/** One list for each reason, shared by all spans: there are millions of them. */
const wholeParts = new Map<Reason, readonly Part[]>();

export function allOf(reason: Reason): readonly Part[] {
  let parts = wholeParts.get(reason);
  if (parts === undefined) wholeParts.set(reason, (parts = [{ reason, permille: 1000 }]));
  return parts;
}

export interface Tempo {
  readonly burst_minutes: Quantiles;
  readonly pause_minutes: Quantiles;
}

/** Nobody reads an answer in less. */
const SHORTEST_S = 10;

/** Somebody at work: runs something, reads, writes, runs the next, from then until they go. */
export function* bursts(
  chance: Chance,
  tempo: Tempo,
  { from, until, busy, resting }: { from: Seconds; until: Seconds; busy: Levels; resting: Levels },
): Generator<Span> {
  let at = from;
  for (let runs = true; at < until; runs = !runs) {
    const drawnS = Math.round(chance.from(runs ? tempo.burst_minutes : tempo.pause_minutes) * 60);
    const next = Math.min(until, at + Math.max(SHORTEST_S, drawnS));
    yield {
      from: at,
      until: next,
      parts: allOf(runs ? 'debugging' : 'thinking'),
      levels: runs ? busy : resting,
    };
    at = next;
  }
}
