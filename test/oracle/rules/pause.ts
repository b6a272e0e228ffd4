import type { Activity, ActivityOfDevice } from './activity.ts';
import type { Period } from '../order.ts';
import { sortedBy } from '../order.ts';

const PAUSE_S_MAX = 7200;

interface Stretch extends Period {
  readonly activity: Activity;
}

/** What a device did, each stretch as long as it stays the same. */
function stretchesOf({ cuts, at }: ActivityOfDevice): Stretch[] {
  const stretches: Stretch[] = [];
  cuts.slice(0, -1).forEach((from, index) => {
    const [activity, until, last] = [at(from), cuts[index + 1] ?? from, stretches.at(-1)];
    if (last?.activity === activity) stretches[stretches.length - 1] = { ...last, until };
    else stretches.push({ activity, from, until });
  });
  return stretches;
}

/** Times without a break, of times that may touch or overlap. */
function withoutBreaks(pieces: readonly Period[]): Period[] {
  const spells: Period[] = [];
  for (const { from, until } of sortedBy(pieces, (piece) => [piece.from, piece.until])) {
    const last = spells.at(-1);
    if (last !== undefined && from <= last.until)
      spells[spells.length - 1] = { from: last.from, until: Math.max(last.until, until) };
    else spells.push({ from, until });
  }
  return spells;
}

/** When one holder stood still on a device it has by name, only to go on. */
export function pausesOf(activity: ActivityOfDevice, pieces: readonly Period[]): Period[] {
  const stretches = stretchesOf(activity);
  return withoutBreaks(pieces).flatMap((spell) =>
    stretches.flatMap((stretch, index) => {
      if (stretch.activity !== 'idle' || stretches[index + 1]?.activity !== 'computing') return [];
      // The second before its end is the holder's, and so is the one in which computing begins.
      if (spell.from >= stretch.until || spell.until <= stretch.until) return [];
      const isAfterComputing = stretches[index - 1]?.activity === 'computing' && spell.from < stretch.from;
      if (!isAfterComputing && spell.from < stretch.from) return [];
      const from = Math.max(spell.from, stretch.from);
      return stretch.until - from > PAUSE_S_MAX ? [] : [{ from, until: stretch.until }];
    }),
  );
}
