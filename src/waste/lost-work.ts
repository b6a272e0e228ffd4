import { z } from 'zod';
import { detector } from '../facts/detector.ts';
import type { Claim, JudgeContext } from '../facts/detector.ts';
import { sqlCount, sqlTexts, sqlTime, textsInOne } from '../facts/sql-row.ts';
import { nearestRank } from './nearest-rank.ts';
import { intervalWords, kindPlace, permilleOf, stemWords, windowDays } from './run-words.ts';
import { LIVES, LIVES_READ } from './runs-sql.ts';
import { SAVED, SAVED_READ, SPACING_S } from './saved-work-sql.ts';
import { countWords, daysWords, gpuHourWords, gpuHoursOfWords, percentWords, spanWords, timeWords } from './wording.ts';

const Options = z.object({
  // GPU-hours lost in the window; less is what trying things costs.
  gpuHoursMin: z.number().int().default(10),
  // Of what the kind held: a fleet without failures has none to learn from.
  sharePermilleMin: z.number().int().default(20),
  // One bad end is an accident, two of the same kind are worth a look.
  badEndsMin: z.number().int().default(2),
});
type Options = z.infer<typeof Options>;

/** `a ÷ b`, truncated, in portable SQL. */
const divided = (a: string, b: string): string => `CAST((${a} - (${a}) % ${b}) / ${b} AS BIGINT)`;

/** Device-seconds of units added up, each attempt rounded down to whole ones. */
const seconds = (units: string): string => `CAST(sum(${units} - (${units}) % 63000) / 63000 AS BIGINT)`;

/** Attempts that die within this are mistakes in code or configuration: a smoke run finds them. */
const EARLY_S = 900;

/** A checkpoint an hour: assumed where the kind records none, or rarer ones. */
const ASSUMED_INTERVAL_S = 3600;

/** What checkpoints would have kept of an attempt whose end costs it `half` an interval; a smoke run on one GPU, of one that dies early. */
const kept = (half: string): string =>
  `CASE WHEN wall_s <= ${EARLY_S} THEN lost_units - least_units WHEN lost_units > ${half} THEN lost_units - ${half} ELSE 0 END`;

/** Attempts of one kind that ended in one way. */
const Ends = z.object({
  home: z.string(),
  stem: z.string().nullable(),
  source: z.string(),
  outcome: z.string(),
  attempts: sqlCount,
  /** Attempts of which something was lost; those of them that lived at most a quarter of an hour; those that were not the first. */
  losing: sqlCount,
  early: sqlCount,
  again: sqlCount,
  heldS: sqlCount,
  lostS: sqlCount,
  /** What checkpoints at the interval would have kept of it, and a smoke run of what died early; of that, of attempts somebody went on from. */
  keptS: sqlCount,
  keptResumedS: sqlCount,
  /** The same with checkpoints twice as often; and half as often, of attempts somebody went on from. */
  keptMostS: sqlCount,
  keptLeastS: sqlCount,
  /** What tries after the first lost, and after the second; how many tries one had. */
  againS: sqlCount,
  thirdS: sqlCount,
  tries: sqlCount,
  /** Somebody went on from one; one of the kind is still at work. */
  isResumed: z.boolean(),
  isRunning: z.boolean(),
  intervalS: sqlCount,
  isRecorded: z.boolean(),
  /** How often the kind saves, where it records it. */
  savesEveryS: sqlCount.nullable(),
  /** The middle life of those that lost something. */
  middleS: sqlCount.nullable(),
  subjects: sqlTexts.nullable(),
  /** When the first and the last of those ended that lost something, and the one that lost most; what that lost. */
  firstEnd: sqlTime.nullable(),
  lastEnd: sqlTime.nullable(),
  worstEnd: sqlTime.nullable(),
  worstS: sqlCount,
});
type Ends = z.infer<typeof Ends>;

/**
 * Question: whose work is done and thrown away, in which ends, and what would keep it?
 *
 * What is lost is said by the ledger: what an attempt computed after its last checkpoint, or all of it where none is recorded and nobody went on.
 * Work that somebody cancelled was theirs to cancel and is not counted. What could be kept is worked out end by end: with a checkpoint every so often, half an interval
 * of each is lost, whatever the attempt lived; what nobody went on from counts for the upper end only. How often somebody will save is not known: the ends of the range
 * are twice and half as often. Of work that never comes to its end only tries after the first count.
 *
 * Reads: life_day, checkpoint, fate.
 */
export const lostWork = detector({
  name: 'lost-work',
  title: 'work that failed or was preempted, and is lost',
  category: 'lost',
  factor: 'efficiency',
  basis: 'modelled',
  blastRadius: 1,
  blast: 'Later runs only; what runs now is not touched.',
  effort: 'a few lines of the job script',
  options: Options,
  ask: () => ({
    ends: {
      row: Ends,
      tables: [...LIVES_READ, ...SAVED_READ, 'fate'],
      sql: `
        WITH ${LIVES}, ${SAVED}, spaced AS (
          SELECT l.home, COALESCE(l.stem, '') AS stem, ${SPACING_S} AS spacing_s FROM life l JOIN saved c ON l.subject = c.subject
        ), pace AS (
          SELECT home, stem, ${nearestRank('spacing_s', 50)} AS interval_s FROM spaced WHERE spacing_s IS NOT NULL GROUP BY home, stem
        ), resumed AS (
          SELECT DISTINCT subject FROM fate WHERE resumed
        ), paced AS (
          SELECT l.subject, l.home, l.stem, l.source, l.outcome, l.attempt, l.held_until, l.wall_s, l.held_s, l.units, l.lost_units,
                 f.subject IS NOT NULL AS is_resumed, p.interval_s AS saves_every_s, COALESCE(p.interval_s <= ${ASSUMED_INTERVAL_S}, FALSE) AS is_recorded,
                 CASE WHEN p.interval_s <= ${ASSUMED_INTERVAL_S} THEN p.interval_s ELSE ${ASSUMED_INTERVAL_S} END AS interval_s
          FROM life l LEFT JOIN resumed f ON l.subject = f.subject
          LEFT JOIN pace p ON l.home = p.home AND COALESCE(l.stem, '') = p.stem WHERE l.lost_units > 0
        ), halved AS (
          SELECT paced.*, COALESCE(${divided('lost_units', `NULLIF(${divided('held_s', 'NULLIF(wall_s, 0)')}, 0)`)}, lost_units) AS least_units,
                 COALESCE(${divided(`(interval_s * ${divided('units', 'NULLIF(wall_s, 0)')})`, '2')}, lost_units) AS half_units
          FROM paced
        ), losing AS (
          SELECT halved.*, ${kept('half_units')} AS kept_units, ${kept(divided('half_units', '2'))} AS kept_most_units,
                 ${kept('half_units * 2')} AS kept_least_units
          FROM halved
        ), lost AS (
          SELECT home, stem, source, outcome, count(*) AS losing, count(*) FILTER (WHERE wall_s <= ${EARLY_S}) AS early,
                 count(*) FILTER (WHERE attempt > 0) AS again, ${nearestRank('wall_s', 50)} AS middle_s,
                 ${seconds('lost_units')} AS lost_s,
                 ${seconds('kept_units')} AS kept_s, ${seconds('CASE WHEN is_resumed THEN kept_units ELSE 0 END')} AS kept_resumed_s,
                 ${seconds('kept_most_units')} AS kept_most_s, ${seconds('CASE WHEN is_resumed THEN kept_least_units ELSE 0 END')} AS kept_least_s,
                 ${seconds('CASE WHEN attempt > 0 THEN lost_units ELSE 0 END')} AS again_s, ${seconds('CASE WHEN attempt > 1 THEN lost_units ELSE 0 END')} AS third_s,
                 max(attempt) + 1 AS tries, bool_or(is_resumed) AS is_resumed,
                 max(interval_s) AS interval_s, bool_or(is_recorded) AS is_recorded, max(saves_every_s) AS saves_every_s,
                 min(held_until) AS first_end, max(held_until) AS last_end, (array_agg(held_until ORDER BY lost_units DESC, subject))[1] AS worst_end,
                 CAST((max(lost_units) - max(lost_units) % 63000) / 63000 AS BIGINT) AS worst_s,
                 ${textsInOne('array_agg(subject ORDER BY lost_units DESC, subject)')} AS subjects
          FROM losing GROUP BY home, stem, source, outcome
        ), ended AS (
          SELECT home, stem, source, outcome, count(*) AS attempts, CAST(sum(units - units % 63000) / 63000 AS BIGINT) AS held_s
          FROM life WHERE outcome IS NOT NULL GROUP BY home, stem, source, outcome
        ), running AS (
          SELECT DISTINCT home, COALESCE(stem, '') AS stem FROM life WHERE outcome IS NULL
        )
        SELECT e.home, e.stem, e.source, e.outcome, e.attempts, COALESCE(l.losing, 0) AS losing, COALESCE(l.early, 0) AS early,
               COALESCE(l.again, 0) AS again, e.held_s AS "heldS", COALESCE(l.lost_s, 0) AS "lostS", COALESCE(l.kept_s, 0) AS "keptS",
               COALESCE(l.kept_resumed_s, 0) AS "keptResumedS", COALESCE(l.kept_most_s, 0) AS "keptMostS",
               COALESCE(l.kept_least_s, 0) AS "keptLeastS", COALESCE(l.again_s, 0) AS "againS", COALESCE(l.third_s, 0) AS "thirdS",
               COALESCE(l.tries, 1) AS tries, COALESCE(l.is_resumed, FALSE) AS "isResumed", r.home IS NOT NULL AS "isRunning", l.middle_s AS "middleS", COALESCE(l.interval_s, ${ASSUMED_INTERVAL_S}) AS "intervalS",
               COALESCE(l.is_recorded, FALSE) AS "isRecorded", l.saves_every_s AS "savesEveryS", l.subjects,
               l.first_end AS "firstEnd", l.last_end AS "lastEnd", l.worst_end AS "worstEnd", COALESCE(l.worst_s, 0) AS "worstS"
        FROM ended e LEFT JOIN lost l ON e.home = l.home AND e.stem IS NOT DISTINCT FROM l.stem AND e.source = l.source AND e.outcome = l.outcome
        LEFT JOIN running r ON e.home = r.home AND COALESCE(e.stem, '') = r.stem
        ORDER BY e.home, e.stem, e.source, e.outcome`,
    },
  }),
  judge({ ends }, context) {
    const kinds = new Map<string, Ends[]>();
    for (const row of ends) {
      const key = JSON.stringify([row.home, row.stem]);
      kinds.set(key, [...(kinds.get(key) ?? []), row]);
    }
    return [...kinds.values()].flatMap((ofKind) => claimsOf(ofKind, context));
  },
});

type Sum =
  | 'attempts'
  | 'losing'
  | 'early'
  | 'again'
  | 'heldS'
  | 'lostS'
  | 'keptS'
  | 'keptResumedS'
  | 'keptMostS'
  | 'keptLeastS'
  | 'againS'
  | 'thirdS';

const sumOf = (ends: readonly Ends[], what: Sum): number => ends.reduce((total, row) => total + row[what], 0);

/** What would help work of one kind, and in device-seconds how much of what it lost. */
interface Remedy {
  readonly because: string;
  /** What its least and its most rest on. */
  readonly range: string;
  readonly fix: readonly string[];
  readonly unless: string;
  readonly leastS: number;
  readonly mostS: number;
}

function claimsOf(ends: readonly Ends[], context: JudgeContext<Options>): readonly Claim[] {
  const { gpuHoursMin, sharePermilleMin, badEndsMin } = context.options;
  const sum = (what: Sum): number => sumOf(ends, what);
  const lostS = sum('lostS');
  const isWorth =
    lostS >= gpuHoursMin * 3600 && permilleOf(lostS, sum('heldS')) >= sharePermilleMin && sum('losing') >= badEndsMin;
  const bad = ends.filter((row) => row.losing > 0).toSorted((a, b) => b.lostS - a.lostS);
  const [worst] = bad;
  if (!isWorth || worst === undefined) return [];
  const remedy = isHopeless(ends) ? fewerTries(bad, worst) : savedOften(bad, worst);
  // What no checkpoint and no smoke run would have kept of work that gets to its end is nobody's to mend.
  if (remedy === undefined) return [];
  const days = windowDays(context);
  return [
    {
      about: kindPlace({ ...worst, model: null }).replace(' on GPUs', ''),
      ownerSubject: worst.subjects?.[0] ?? null,
      what: `${stemWords(worst.stem)} loses ${percentWords(permilleOf(lostS, sum('heldS')))} of its time to bad ends, ${countWords(sum('losing'), 'attempt')} of ${sum('attempts').toLocaleString('en-US')}`,
      because: [
        `${gpuHoursOfWords(lostS, sum('heldS'))} were computed and thrown away (outcomes of the scheduler, checkpoints where they are recorded).`,
        remedy.because,
        remedy.range,
        `${bad.map((row) => `${countWords(row.losing, 'attempt')} ${WORDS[row.outcome] ?? row.outcome} (${gpuHourWords(row.lostS)}, the middle one after ${spanWords(row.middleS ?? 0)})`).join('; ')}.`,
        ...(sum('again') > 0
          ? [`${countWords(sum('again'), 'of them was a second try or later', 'of them were second tries or later')}.`]
          : []),
        ...endWords(bad, context.now),
      ],
      fix: remedy.fix,
      unless: remedy.unless,
      takes: bad.flatMap(({ subjects }) =>
        (subjects ?? []).map((subject) => ({ subject, ...days, category: 'lost' as const })),
      ),
      reachable: {
        lowPermille: Math.min(1000, permilleOf(remedy.leastS, lostS)),
        highPermille: Math.min(1000, permilleOf(remedy.mostS, lostS)),
      },
    },
  ];
}

/** When it was, and one by the number under which its scheduler knows it. */
function endWords(bad: readonly Ends[], now: Date): string[] {
  const [worst] = bad.toSorted((a, b) => b.worstS - a.worstS);
  const ends = bad.flatMap(({ firstEnd, lastEnd }) => [firstEnd, lastEnd]).flatMap((time) => time ?? []);
  if (worst?.worstEnd == null || ends.length === 0) return [];
  const days = ends.map((time) => time.toISOString().slice(0, 10)).toSorted();
  const name = (worst.subjects?.[0] ?? '').replace(/^job /, '').replace(/\/\d+$/, '');
  return [
    `They ended ${daysWords(days.at(0) ?? '', days.at(-1) ?? '')}; ${name} lost most, ${timeWords(worst.worstEnd, now)}.`,
  ];
}

const diesEarly = (ends: readonly Ends[]): boolean => sumOf(ends, 'early') * 2 > sumOf(ends, 'losing');

/** Ends that the work brought about itself. */
const OWN_ENDS = ['failed', 'out-of-memory'];

/**
 * Every attempt ended by its own mistake and none is at work: what a checkpoint would keep of it nobody would ever use. Where somebody goes on by
 * hand, or saves are recorded, it may get further each time; what dies early a smoke run finds.
 */
const isHopeless = (ends: readonly Ends[]): boolean =>
  ends.every(
    ({ outcome, isRunning, savesEveryS }) => OWN_ENDS.includes(outcome) && !isRunning && savesEveryS === null,
  ) &&
  (sumOf(ends, 'again') > 0 || ends.every(({ isResumed }) => !isResumed)) &&
  !diesEarly(ends);

/** Of work that never comes to its end: the tries after the first at most, at least those after the second. */
function fewerTries(bad: readonly Ends[], { source }: Ends): Remedy {
  const [againS, thirdS] = [sumOf(bad, 'againS'), sumOf(bad, 'thirdS')];
  const tries = Math.max(...bad.map((row) => row.tries));
  return {
    because: 'No attempt of it came to its end, so that a checkpoint would have kept nothing of use.',
    range:
      againS === 0
        ? 'It was not tried again, so that nothing of it would have been spared but by finding the mistake before.'
        : `Spared are at most the tries after the first, ${gpuHourWords(againS)}, and at least those after the second, ${gpuHourWords(thirdS)}.`,
    fix: [
      '# no attempt of it has come to its end: find the mistake in one before it is handed in again',
      ...(againS === 0
        ? []
        : bySource(
            source,
            ['#SBATCH --no-requeue'],
            // One try more than the limit is made: what had three has two then.
            [`spec: { backoffLimit: ${tries > 2 ? 1 : 0} }   # it had ${tries} tries, and each failed`],
            ['torchrun --nproc-per-node=gpu --max-restarts=0 train.py'],
          )),
      ...(bad.some(({ outcome }) => outcome === 'out-of-memory') ? OUT_OF_MEMORY_FIX : []),
    ],
    unless: 'A later version of it comes to its end under the same name, or the mistake was not its own.',
    leastS: thirdS,
    mostS: againS,
  };
}

function savedOften(bad: readonly Ends[], worst: Ends): Remedy | undefined {
  const sum = (what: Sum): number => sumOf(bad, what);
  if (sum('keptS') === 0) return undefined;
  const isRecording = bad.some(({ savesEveryS }) => savesEveryS !== null);
  return {
    because: `With a checkpoint every ${intervalWords(worst.intervalS)} (${paceWords(worst)}) ${gpuHourWords(sum('keptS'))} of it would have been kept, ${partWords(sum('keptResumedS'), sum('keptS'))} of them in attempts that somebody went on from.`,
    range: `Twice as often at most ${gpuHourWords(sum('keptMostS'))}, half as often at least ${gpuHourWords(sum('keptLeastS'))}.`,
    fix: [
      ...(diesEarly(bad) ? smokeRun(worst.source) : []),
      ...new Set(bad.flatMap((row) => (row.lostS * 4 >= sum('lostS') ? (FIXES[row.outcome]?.(row.source) ?? []) : []))),
      ...(isRecording
        ? []
        : [
            'bursar work record --run NAME --unit checkpoint --quantity 1   # where the script saves: shows what each end really costs',
          ]),
    ],
    unless: isRecording
      ? 'A checkpoint takes so long to write that one so often costs more than it keeps: rare-checkpoints weighs the two.'
      : 'Checkpoints that are written and not recorded, from which the next attempt went on: record them, and less is lost.',
    leastS: sum('keptLeastS'),
    mostS: sum('keptMostS'),
  };
}

/** A part of a time that is told before it; what reads alike is not told twice. */
function partWords(partS: number, wholeS: number): string {
  if (partS === wholeS) return 'all';
  return gpuHourWords(partS) === gpuHourWords(wholeS) ? 'nearly all' : gpuHourWords(partS);
}

/** Where the interval is from. */
const paceWords = ({ isRecorded, savesEveryS }: Ends): string => {
  if (isRecorded) return 'as it saves where that is recorded';
  return savesEveryS === null ? 'assumed' : `assumed; it records one about every ${intervalWords(savesEveryS)}`;
};

const WORDS: Readonly<Record<string, string>> = {
  failed: 'failed',
  preempted: 'were preempted',
  timeout: 'ran out of time',
  'node-fail': 'lost the machine',
  'out-of-memory': 'ran out of memory',
};

/** What to write in the script, by who hands the GPUs out; without a scheduler the program itself. */
const bySource = (source: string, slurm: readonly string[], kubernetes: readonly string[], plain: readonly string[]) =>
  source === 'slurm' ? slurm : source === 'kubernetes' ? kubernetes : plain;

const smokeRun = (source: string): readonly string[] => [
  '# most die in their first quarter of an hour: a smoke run first, on one GPU',
  ...bySource(
    source,
    ['srun --gpus=1 --time=00:10:00 python train.py --max-steps 20   # then the real run, by --dependency=afterok'],
    ['python train.py --max-steps 20   # as a Job of its own, with nvidia.com/gpu: 1 and activeDeadlineSeconds: 600'],
    ['CUDA_VISIBLE_DEVICES=0 timeout 10m python train.py --max-steps 20   # then the real run'],
  ),
];

const RESTARTS = 'torchrun --nproc-per-node=gpu --max-restarts=3 train.py   # restarts in place, with the GPUs it has';

const OUT_OF_MEMORY_FIX = [
  '# the largest batch first, so that what does not fit fails in the first minute',
  'export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True',
];

const FIXES: Readonly<Record<string, (source: string) => readonly string[]>> = {
  failed: (source) => [
    '# checkpoints by time, not by epoch, and resume from the newest when it starts',
    ...bySource(
      source,
      [RESTARTS],
      ['spec: { backoffLimit: 3 }   # retries with backoff; a mistake that repeats stops there'],
      [RESTARTS],
    ),
  ],
  preempted: (source) =>
    bySource(
      source,
      [
        '#SBATCH --requeue --signal=B:USR1@120   # saves when it comes: trap USR1 in the script',
        '# slurm.conf sends it at preemption only by SlurmctldParameters=preempt_send_user_signal; GraceTime is the time to save',
      ],
      ['spec: { terminationGracePeriodSeconds: 120 }   # save on SIGTERM, resume from the newest checkpoint'],
      ['# save on SIGTERM, and on the cloud’s notice of a spot machine; resume from the newest checkpoint'],
    ),
  timeout: (source) =>
    bySource(
      source,
      [
        '#SBATCH --signal=B:USR1@300   # save five minutes before --time is over, then scontrol requeue "$SLURM_JOB_ID"',
      ],
      ['# save before activeDeadlineSeconds is over, and resume'],
      ['# save before its time is over, and resume'],
    ),
  'node-fail': () => [
    '# checkpoints by time; the machine that failed is in bursar findings, if it is one that fails often',
  ],
  'out-of-memory': () => OUT_OF_MEMORY_FIX,
};
