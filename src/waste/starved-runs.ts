import { detector } from '../facts/detector.ts';
import type { Claim, JudgeContext } from '../facts/detector.ts';
import { gapClaims } from './starved/gap-claim.ts';
import { exchangeClaim, pauseClaim } from './starved/pause-claims.ts';
import { daySpark } from './day-spark.ts';
import { kindKey, permilleOf } from './run-words.ts';
import { LIVES_READ } from './runs-sql.ts';
import { WRITTEN_READ } from './saved-work-sql.ts';
import { daysWords } from './wording.ts';
import { DAYS_SQL, LEVELS_SQL, PAUSES_SQL, STEPS_SQL } from './starved/queries.ts';
import { KindDay, Level, Pauses, StarvedOptions, Steps } from './starved/rows.ts';

/**
 * Question: which training and batch work waits, for what, and what would feed it?
 *
 * A kind of work is judged, not a run: what its runs differ in says why they wait. Three kinds of waiting have three fixes, so they are
 * three findings: gaps between kernels (input), pauses (start-up, checkpoints, evaluation on the CPU) and exchange between GPUs. Work
 * that answers requests or in which people try things has pauses of its own right and is not looked at.
 *
 * Reads: life_day, pause, node, work.
 */
export const starvedRuns = detector({
  name: 'starved-runs',
  title: 'training and batch work that waits for data, cores, checkpoints or its peers',
  category: 'starved',
  factor: 'efficiency',
  basis: 'measured',
  blastRadius: 2,
  blast: 'Runs that are under way are not touched; a wrong number of workers can slow one run down.',
  effort: 'a line of the job script, tried on one run',
  options: StarvedOptions,
  ask: ({ unknownPermilleMax }) => ({
    levels: {
      row: Level,
      tables: [...LIVES_READ, { table: 'node', daysBefore: 36_500 }],
      params: { unknownPermilleMax },
      sql: LEVELS_SQL,
    },
    pauses: {
      row: Pauses,
      tables: [...LIVES_READ, ...WRITTEN_READ, 'pause'],
      params: { unknownPermilleMax },
      sql: PAUSES_SQL,
    },
    steps: {
      row: Steps,
      tables: [...LIVES_READ, 'work'],
      params: { unknownPermilleMax },
      sql: STEPS_SQL,
    },
    days: { row: KindDay, tables: ['life_day'], params: { unknownPermilleMax }, sql: DAYS_SQL },
  }),
  judge({ levels, pauses, steps, days }, context) {
    const kinds = new Map<string, Level[]>();
    for (const level of levels) kinds.set(kindKey(level), [...(kinds.get(kindKey(level)) ?? []), level]);
    const daysOf = new Map<string, KindDay[]>();
    for (const row of days) {
      const ofKind = daysOf.get(kindKey(row));
      if (ofKind === undefined) daysOf.set(kindKey(row), [row]);
      else ofKind.push(row);
    }
    return [...kinds].flatMap(([key, ofKind]) =>
      claimsOf(
        ofKind,
        levels.filter(({ stem, model }) => stem === ofKind[0]?.stem && model === ofKind[0].model),
        pauses.filter((row) => kindKey(row) === key),
        steps.find((row) => kindKey(row) === key),
        context,
      ).map((claim) => ({
        ...claim,
        because: [...claim.because, ...spanOf(daysOf.get(key) ?? [])],
        spark: sparkOf(daysOf.get(key) ?? [], context),
      })),
    );
  },
});

/** From the first of its days to the last; they come in order. */
function spanOf(days: readonly KindDay[]): string[] {
  const [first, last] = [days.at(0), days.at(-1)];
  return first === undefined || last === undefined ? [] : [`Its runs were there ${daysWords(first.day, last.day)}.`];
}

/** The share of each day in which its GPUs were at work. */
function sparkOf(days: readonly KindDay[], context: JudgeContext<StarvedOptions>): readonly (number | null)[] {
  const told = days.map(({ day, atWorkS, knownS }) => ({
    day,
    permille: knownS <= 0 ? null : Math.max(0, permilleOf(atWorkS, knownS)),
  }));
  return daySpark(told, context);
}

function claimsOf(
  levels: readonly Level[],
  namesakes: readonly Level[],
  pauses: readonly Pauses[],
  steps: Steps | undefined,
  context: JudgeContext<StarvedOptions>,
): readonly Claim[] {
  const { sharePermilleMin, gapPermilleMin, pausePermilleMin, exchangePermilleMin, gpuHoursMin } = context.options;
  const sum = (what: 'heldS' | 'gapS' | 'pauseS' | 'exchangeS'): number =>
    levels.reduce((total, level) => total + level[what], 0);
  const heldS = sum('heldS');
  const isWorth = (waitedS: number, permilleMin: number): boolean =>
    waitedS >= gpuHoursMin * 3600 && permilleOf(waitedS, heldS) >= permilleMin;
  if (!isWorth(sum('gapS') + sum('pauseS') + sum('exchangeS'), sharePermilleMin)) return [];
  return [
    ...(isWorth(sum('gapS'), gapPermilleMin) ? gapClaims(levels, namesakes, steps, context) : []),
    ...(isWorth(sum('pauseS'), pausePermilleMin) ? [pauseClaim(levels, pauses, context)] : []),
    ...(isWorth(sum('exchangeS'), exchangePermilleMin) ? [exchangeClaim(levels, context)] : []),
  ];
}
