import { divideRounded } from '../../money/usd.ts';
import type { Mover } from '../../report/statement-answer.ts';
import type { CubeRow } from './month-cube.ts';

interface Group {
  readonly project: string | null;
  readonly class: string | null;
  readonly what: string | null;
  readonly hasTime: boolean;
  usdMicros: bigint;
  gpuUnits: bigint;
}

/**
 * What moved between two months, by project, class and model, the greatest first; what stands beside the GPU by component.
 *
 * Volume is the change of GPU-hours at the old rate, price the change of the rate over the new hours: together they are the change,
 * to the micro. What was not there before, or is no longer, is all volume: there is no rate to compare with. Time without a price
 * is in neither month's rate.
 */
export function movers(now: readonly CubeRow[], before: readonly CubeRow[]): Mover[] {
  const [groupsNow, groupsBefore] = [grouped(now), grouped(before)];
  const keys = new Set([...groupsNow.keys(), ...groupsBefore.keys()]);
  return [...keys]
    .flatMap((key): Mover[] => {
      const [a, b] = [groupsBefore.get(key), groupsNow.get(key)];
      const named = b ?? a;
      if (named === undefined) return [];
      const change = (b?.usdMicros ?? 0n) - (a?.usdMicros ?? 0n);
      const { project, class: klass, what, hasTime } = named;
      const volume = hasTime ? volumeOf(a, b, change) : null;
      return [
        {
          project,
          class: klass,
          what,
          changeUsdMicros: change,
          volumeUsdMicros: volume,
          priceUsdMicros: volume === null ? null : change - volume,
        },
      ];
    })
    .filter(({ changeUsdMicros }) => changeUsdMicros !== 0n)
    .toSorted(compareMovers);
}

function volumeOf(before: Group | undefined, now: Group | undefined, change: bigint): bigint {
  const [oldUnits, newUnits] = [before?.gpuUnits ?? 0n, now?.gpuUnits ?? 0n];
  if (oldUnits === 0n || newUnits === 0n) return change;
  return divideRounded((newUnits - oldUnits) * (before?.usdMicros ?? 0n), oldUnits);
}

/** Rows that are GPU time together with the machine around it; the rest by component. */
function grouped(rows: readonly CubeRow[]): Map<string, Group> {
  const groups = new Map<string, Group>();
  for (const row of rows) {
    if (row.usdMicros === null) continue;
    const hasTime = row.category !== 'beside' && (row.component === 'gpu' || row.component === 'host');
    const what = hasTime ? row.model : row.component;
    const key = JSON.stringify([row.project, row.class, hasTime, what]);
    const group = groups.get(key);
    if (group === undefined) {
      const { project, class: klass, usdMicros, gpuUnits } = row;
      groups.set(key, { project, class: klass, what, hasTime, usdMicros, gpuUnits });
    } else {
      group.usdMicros += row.usdMicros;
      group.gpuUnits += row.gpuUnits;
    }
  }
  return groups;
}

function compareMovers(a: Mover, b: Mover): number {
  const [sizeA, sizeB] = [magnitude(a.changeUsdMicros), magnitude(b.changeUsdMicros)];
  if (sizeA !== sizeB) return sizeA > sizeB ? -1 : 1;
  const [nameA, nameB] = [a, b].map((mover) => JSON.stringify([mover.class, mover.project, mover.what]));
  return (nameA ?? '') < (nameB ?? '') ? -1 : 1;
}

function magnitude(micros: bigint): bigint {
  return micros < 0n ? -micros : micros;
}
