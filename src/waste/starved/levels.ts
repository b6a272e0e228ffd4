import type { JudgeContext, Take } from '../../facts/detector.ts';
import { permilleOf, windowDays } from '../run-words.ts';
import type { Level } from './rows.ts';

type SummedColumn = 'runs' | 'heldS' | 'computingS' | 'gapS' | 'pauseS' | 'exchangeS' | 'engineActivity' | 'smActivity';

/** What the levels of a kind come to together. */
export function sumLevels(levels: readonly Level[]): {
  readonly runs: number;
  readonly heldS: number;
  readonly computingS: number;
  readonly gapS: number;
  readonly pauseS: number;
  readonly exchangeS: number;
  /** SMs at work, in permille of the time the engine was; null where they were not measured. */
  readonly smPermille: number | null;
} {
  const sum = (what: SummedColumn): number => levels.reduce((total, level) => total + level[what], 0);
  return {
    runs: sum('runs'),
    heldS: sum('heldS'),
    computingS: sum('computingS'),
    gapS: sum('gapS'),
    pauseS: sum('pauseS'),
    exchangeS: sum('exchangeS'),
    smPermille: sum('engineActivity') === 0 ? null : permilleOf(sum('smActivity'), sum('engineActivity')),
  };
}

/** The starved money of a kind's runs that has one reason, in the window. */
export function takesOf(
  levels: readonly Level[],
  reason: string,
  window: Pick<JudgeContext<unknown>, 'from' | 'until'>,
): Take[] {
  const days = windowDays(window);
  return levels
    .toSorted((a, b) => b.gapS + b.pauseS + b.exchangeS - (a.gapS + a.pauseS + a.exchangeS))
    .flatMap(({ subjects }) => subjects ?? [])
    .map((subject) => ({ subject, ...days, category: 'starved', reason }));
}
