import type { SourcesReply } from '../../../../src/api/routes/sources/list-sources.ts';

export type FreshCluster = SourcesReply['freshness']['clusters'][number];

/** What the unmeasured time of all clusters costs, in micros. */
export function worthOf(clusters: readonly FreshCluster[]): string {
  return String(clusters.reduce((sum, { unknownUsdMicros }) => sum + BigInt(unknownUsdMicros), 0n));
}

/** Hours of the same share beside each other are one; hours in which nothing was held are none. */
export function runsOf(hours: readonly (number | null)[]): { known: number; from: number; length: number }[] {
  const runs: { known: number; from: number; length: number }[] = [];
  hours.forEach((known, place) => {
    const last = runs.at(-1);
    if (known === null) return;
    if (last !== undefined && last.known === known && last.from + last.length === place) last.length += 1;
    else runs.push({ known, from: place, length: 1 });
  });
  return runs;
}

/** Mean of the hours in which something was held, in permille; null where nothing was. */
export function knownShare(hours: readonly (number | null)[]): number | null {
  const held = hours.filter((each) => each !== null);
  return held.length === 0 ? null : Math.floor(held.reduce((sum, each) => sum + each, 0) / held.length);
}

/** From this on single samples are lost, which happens everywhere. */
const WHOLE_FROM = 990;
/** Less of a hatch cannot be told from a line. */
const HATCH_MIN = 4;

/** How much of an hour's height is filled: what was not measured stays to be seen, however little it is. */
export function filledHeight(knownPermille: number, height: number): number {
  if (knownPermille >= WHOLE_FROM) return height;
  return Math.min((knownPermille * height) / 1000, height - HATCH_MIN);
}

/** Every hour of every cluster: how much of its held time was measured; nothing where nobody held anything. */
export function freshCells({ clusters, from }: SourcesReply['freshness']): (string | number | null)[][] {
  return clusters.flatMap(({ cluster, hours }) =>
    hours.map((known, place) => [cluster, new Date(Date.parse(from) + place * 3_600_000).toISOString(), known]),
  );
}
