/** Time in which no device at all has a sample: the source, not a GPU, was silent. */
export interface Silence {
  readonly from: Date;
  readonly until: Date;
  readonly reason: string;
}

const SHORTEST_S = 120;
const STEPS = 3;

/** Where are the holes between marks, one a second? A hole counts from three steps on; the ends count as marks do. */
export function silences(marks: Uint8Array, fromMs: number, stepS: number): Silence[] {
  const longest = Math.max(SHORTEST_S, STEPS * stepS);
  const holes: Silence[] = [];
  let last = -1;
  const hole = (fromS: number, untilS: number) => {
    if (untilS - fromS < longest) return;
    holes.push({
      from: new Date(fromMs + fromS * 1000),
      until: new Date(fromMs + untilS * 1000),
      reason: 'no GPU sample of any device',
    });
  };
  for (const [second, mark] of marks.entries()) {
    if (mark === 0) continue;
    // What a sample tells holds for one step.
    hole(last < 0 ? 0 : last + stepS, second);
    last = second;
  }
  hole(last < 0 ? 0 : last + stepS, marks.length);
  return holes;
}
