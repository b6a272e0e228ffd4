import { z } from 'zod';
import { detector } from '../facts/detector.ts';
import type { Claim, JudgeContext } from '../facts/detector.ts';
import { sqlCount, sqlTexts, textsInOne } from '../facts/sql-row.ts';
import { nearestRank } from './nearest-rank.ts';
import { intervalWords, kindPlace, kindWords, permilleOf, windowDays } from './run-words.ts';
import { LIVES, LIVES_READ } from './runs-sql.ts';
import { SAVED, SAVED_READ, SPACING_S, WRITTEN, WRITTEN_READ } from './saved-work-sql.ts';
import { countWords, gpuHourWords, spanWords } from './wording.ts';

const Options = z.object({
  // Fewer bad ends say nothing about how often they come.
  badEndsMin: z.number().int().default(5),
  // The loss is flat around the best interval: at half or twice of it a run loses a quarter more than it must.
  rareFactor: z.number().default(2),
  oftenFactor: z.number().default(3),
  // What a better interval would have kept in the window.
  gpuHoursMin: z.number().int().default(10),
});
type Options = z.infer<typeof Options>;

/** Lives that end sooner die of mistakes, not of bad luck, and no checkpoint helps them. */
const EARLY_S = 900;

/** What is known of a kind's checkpoints and ends. */
const Saving = z.object({
  home: z.string(),
  stem: z.string().nullable(),
  model: z.string().nullable(),
  /** Bad ends that somebody went on from: what nobody went on from, no checkpoint brings back to use. */
  badEnds: sqlCount,
  /** Seconds on the clock, and of devices, of attempts that are known to save. */
  wallS: sqlCount,
  heldS: sqlCount,
  pauseS: sqlCount,
  checkpoints: sqlCount,
  /** From save to save, or from the start to the first, in the middle attempt that saved; null where none is known. */
  spacingS: sqlCount.nullable(),
  /** How long the middle one takes to write; null where only its moment is recorded. */
  writeS: sqlCount.nullable(),
  /** Device-seconds lost by attempts that were resumed, and those attempts. */
  lostS: sqlCount,
  losing: sqlTexts.nullable(),
  pausing: sqlTexts.nullable(),
});
type Saving = z.infer<typeof Saving>;

/**
 * Question: which work saves too rarely for how often it ends badly, and which too often?
 *
 * The interval at which writing and losing together cost least is √(2·C·MTBF): C the seconds of a checkpoint, MTBF the seconds a run of
 * this kind lives between bad ends. Only work whose checkpoints are recorded is judged, and only ends that somebody resumed from: what
 * nobody went on with, no checkpoint would have brought back to use. How often it saves is seen from save to save, not counted over
 * lives that ended before their first; and no more is said to be kept than was lost.
 *
 * Reads: life_day, checkpoint, fate, work.
 */
export const rareCheckpoints = detector({
  name: 'rare-checkpoints',
  title: 'work that saves too rarely, or too often',
  category: 'lost',
  factor: 'efficiency',
  basis: 'modelled',
  blastRadius: 1,
  blast: 'Later runs save at another pace; storage fills faster unless old checkpoints are deleted.',
  effort: 'a line of the training script',
  options: Options,
  ask: () => ({
    savings: {
      row: Saving,
      tables: [...LIVES_READ, ...WRITTEN_READ, ...SAVED_READ, 'fate'],
      sql: `
        WITH ${LIVES}, ${WRITTEN}, ${SAVED}, ended AS (
          SELECT DISTINCT subject, resumed FROM fate
        ), saving AS (
          SELECT DISTINCT l.home, COALESCE(l.stem, '') AS stem, COALESCE(l.model, '') AS model FROM life l JOIN saved c ON l.subject = c.subject
          WHERE c.checkpoints > 0
        ), tried AS (
          SELECT l.subject, l.allocation_id, l.attempt, l.wall_s, l.held_s, l.pause_s, l.home, l.stem, l.model,
                 COALESCE(c.checkpoints, 0) AS checkpoints, ${SPACING_S} AS spacing_s,
                 COALESCE(e.resumed, FALSE) AND l.wall_s > ${EARLY_S} AS ended_badly,
                 CASE WHEN COALESCE(e.resumed, FALSE) AND l.wall_s > ${EARLY_S} THEN CAST((l.lost_units - l.lost_units % 63000) / 63000 AS BIGINT) ELSE 0 END AS lost_s
          FROM life l JOIN saving k ON l.home = k.home AND COALESCE(l.stem, '') = k.stem AND COALESCE(l.model, '') = k.model
          LEFT JOIN saved c ON l.subject = c.subject LEFT JOIN ended e ON l.subject = e.subject
        ), writing AS (
          SELECT a.home, COALESCE(a.stem, '') AS stem, COALESCE(a.model, '') AS model, date_diff('second', w.window_from, w.window_until) AS write_s
          FROM written w JOIN tried a ON w.allocation_id = a.allocation_id AND a.attempt = 0 WHERE w.window_until > w.window_from
        ), middle AS (
          SELECT home, stem, model, ${nearestRank('write_s', 50)} AS write_s FROM writing GROUP BY home, stem, model
        )
        SELECT a.home, a.stem, a.model, count(*) FILTER (WHERE a.ended_badly) AS "badEnds", CAST(sum(a.wall_s) AS BIGINT) AS "wallS",
               CAST(sum(a.held_s) AS BIGINT) AS "heldS", CAST(sum(a.pause_s) AS BIGINT) AS "pauseS",
               CAST(sum(a.checkpoints) AS BIGINT) AS checkpoints,
               ${nearestRank('a.spacing_s', 50, 'a.spacing_s IS NOT NULL')} AS "spacingS", min(w.write_s) AS "writeS", CAST(sum(a.lost_s) AS BIGINT) AS "lostS",
               ${textsInOne('array_agg(a.subject ORDER BY a.lost_s DESC, a.subject) FILTER (WHERE a.lost_s > 0)')} AS losing,
               ${textsInOne('array_agg(a.subject ORDER BY a.pause_s DESC, a.subject) FILTER (WHERE a.pause_s >= 300)')} AS pausing
        FROM tried a LEFT JOIN middle w ON a.home = w.home AND COALESCE(a.stem, '') = w.stem AND COALESCE(a.model, '') = w.model
        GROUP BY a.home, a.stem, a.model HAVING CAST(sum(a.checkpoints) AS BIGINT) > 0
        ORDER BY a.home, a.stem, a.model`,
    },
  }),
  judge: ({ savings }, context) => savings.flatMap((saving) => claimOf(saving, context) ?? []),
});

function claimOf(saving: Saving, context: JudgeContext<Options>): Claim | undefined {
  const { badEndsMin, rareFactor, oftenFactor, gpuHoursMin } = context.options;
  const { badEnds, wallS, heldS, spacingS: intervalS, writeS } = saving;
  if (badEnds < badEndsMin || intervalS === null || intervalS === 0 || writeS === null) return undefined;
  const mtbfS = wallS / badEnds;
  const exactS = Math.sqrt(2 * writeS * mtbfS);
  /** Device-seconds that writing and losing cost at an interval, over the window. */
  const costS = (every: number): number => heldS * (writeS / every + every / (2 * mtbfS));
  const keptS = costS(intervalS) - costS(exactS);
  const isRare = intervalS >= rareFactor * exactS;
  const isOften = intervalS * oftenFactor <= exactS;
  if ((!isRare && !isOften) || keptS < gpuHoursMin * 3600) return undefined;
  const words = { bestS: roundInterval(exactS), exactS, intervalS, mtbfS, writeS };
  return isRare ? rareClaim(saving, words, context) : oftenClaim(saving, words, keptS, context);
}

interface Intervals {
  /** As people would write it down, and as it comes out. */
  readonly bestS: number;
  readonly exactS: number;
  readonly intervalS: number;
  readonly mtbfS: number;
  readonly writeS: number;
}

function rareClaim(saving: Saving, times: Intervals, context: JudgeContext<Options>): Claim | undefined {
  const { losing, lostS, heldS } = saving;
  if (losing === null || lostS === 0) return undefined;
  const days = windowDays(context);
  // What is lost at an end grows with the interval; what the shorter one writes more is taken off again.
  const permille = Math.max(1, Math.min(1000, permilleOf(times.intervalS - times.bestS, times.intervalS)));
  const takenS = (lostS * permille) / 1000;
  const savedS = Math.min(takenS, (heldS * (times.intervalS - times.bestS)) / (2 * times.mtbfS));
  const writtenS = heldS * (times.writeS / times.bestS - times.writeS / times.intervalS);
  const netS = savedS - writtenS;
  if (netS < context.options.gpuHoursMin * 3600) return undefined;
  const netPermille = permilleOf(netS, takenS);
  return {
    ...common(saving, times, [
      `${gpuHourWords(lostS)} were lost so: ${gpuHourWords(savedS)} of them would have been kept, less ${gpuHourWords(writtenS)} for writing more often (modelled: ends come at any time alike).`,
    ]),
    what: `${kindWords(saving)} saves about every ${intervalWords(times.intervalS)}; every ${intervalWords(times.bestS)} would lose less`,
    fix: [
      `# a checkpoint every ${intervalWords(times.bestS)}, by the clock and not by epochs; keep the last two`,
      '# one run first: see that a checkpoint still takes as long',
    ],
    takes: losing.map((subject) => ({ subject, ...days, category: 'lost' as const, permille })),
    reachable: { lowPermille: Math.floor(netPermille / 2), highPermille: netPermille },
  };
}

function oftenClaim(
  saving: Saving,
  times: Intervals,
  keptS: number,
  context: JudgeContext<Options>,
): Claim | undefined {
  const { pausing, pauseS, heldS } = saving;
  if (pausing === null || pauseS === 0) return undefined;
  const writingS = (heldS * times.writeS) / times.intervalS;
  const sparedS = writingS * (1 - times.intervalS / times.bestS);
  const permille = Math.max(1, Math.min(1000, permilleOf(sparedS, pauseS)));
  const days = windowDays(context);
  return {
    ...common(saving, times, [
      `Writing and losing together would cost ${gpuHourWords(Math.min(keptS, sparedS))} less in the window (modelled: ends come at any time alike).`,
    ]),
    what: `${kindWords(saving)} saves about every ${intervalWords(times.intervalS)}; every ${intervalWords(times.bestS)} is enough`,
    fix: [
      `# a checkpoint every ${intervalWords(times.bestS)}`,
      '# or asynchronously: torch.distributed.checkpoint.async_save',
    ],
    takes: pausing.map((subject) => ({ subject, ...days, category: 'starved' as const, reason: 'pause', permille })),
    reachable: { lowPermille: 500, highPermille: 1000 },
  };
}

function common(
  saving: Saving,
  { exactS, intervalS, mtbfS, writeS }: Intervals,
  kept: readonly string[],
): Pick<Claim, 'about' | 'ownerSubject' | 'because' | 'unless'> {
  return {
    about: kindPlace(saving),
    ownerSubject: saving.losing?.[0] ?? saving.pausing?.[0] ?? null,
    because: [
      `${countWords(saving.checkpoints, 'checkpoint')} recorded, in the middle run one every ${intervalWords(intervalS)} (from save to save, and from the start to the first), ${intervalWords(writeS)} to write the middle one.`,
      `${countWords(saving.badEnds, 'run')} of its kind ended badly and were gone on from, one every ${spanWords(mtbfS)} of running: √(2 × ${intervalWords(writeS)} × ${spanWords(mtbfS)}) is about ${intervalWords(exactS)}.`,
      ...kept,
    ],
    unless: 'Checkpoints that are written and not recorded, or storage that has no room for more of them.',
  };
}

/** Intervals people write down: five-minute steps below an hour, quarters of an hour above. */
function roundInterval(seconds: number): number {
  const step = seconds < 600 ? 60 : seconds < 3600 ? 300 : 900;
  return Math.max(step, Math.round(seconds / step) * step);
}
