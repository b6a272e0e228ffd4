import { z } from 'zod';
import { detector } from '../facts/detector.ts';
import type { Claim, JudgeContext } from '../facts/detector.ts';
import { sqlCount } from '../facts/sql-row.ts';
import { kindPlace, permilleOf, stemWords, windowDays } from './run-words.ts';
import { LIVES, LIVES_READ } from './runs-sql.ts';
import { countWords, gpuHourWords, gpuHoursOfWords, percentWords, spanWords } from './wording.ts';

const Options = z.object({
  // GPU-hours lost in the window; less is what trying things costs.
  gpuHoursMin: z.number().int().default(10),
  // Of what the kind held: a fleet without failures has none to learn from.
  sharePermilleMin: z.number().int().default(20),
  // One bad end is an accident, two of the same kind are worth a look.
  badEndsMin: z.number().int().default(2),
});
type Options = z.infer<typeof Options>;

/** Attempts that die within this are mistakes in code or configuration: a smoke run finds them. */
const EARLY_S = 900;

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
  /** The middle life of those that lost something. */
  middleS: sqlCount.nullable(),
  subjects: z.array(z.string()).nullable(),
});
type Ends = z.infer<typeof Ends>;

/**
 * Question: whose work is done and thrown away, in which ends, and what would keep it?
 *
 * What is lost is said by the ledger: what an attempt computed after its last checkpoint, or all of it where nobody went on from it.
 * Work that somebody cancelled was theirs to cancel and is not counted.
 *
 * Reads: stint_day, subject, subject_day.
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
      tables: [...LIVES_READ],
      sql: `
        WITH ${LIVES}, loss AS (
          SELECT subject, CAST(sum(gpu_units) AS BIGINT) AS lost_units FROM subject_day WHERE category = 'lost' GROUP BY subject
        ), ended AS (
          SELECT l.subject, l.source, l.attempt, l.outcome, l.wall_s, l.units, COALESCE(x.lost_units, 0) AS lost_units, l.home, l.stem,
                 row_number() OVER (PARTITION BY l.home, l.stem, l.source, l.outcome, COALESCE(x.lost_units, 0) > 0 ORDER BY l.wall_s, l.subject) AS rank_no,
                 count(*) OVER (PARTITION BY l.home, l.stem, l.source, l.outcome, COALESCE(x.lost_units, 0) > 0) AS others
          FROM life l LEFT JOIN loss x ON l.subject = x.subject
          WHERE l.outcome IS NOT NULL
        )
        SELECT home, stem, source, outcome, count(*) AS attempts, count(*) FILTER (WHERE lost_units > 0) AS losing,
               count(*) FILTER (WHERE lost_units > 0 AND wall_s <= ${EARLY_S}) AS early,
               count(*) FILTER (WHERE lost_units > 0 AND attempt > 0) AS again,
               CAST(sum(units - units % 63000) / 63000 AS BIGINT) AS "heldS",
               CAST(sum(lost_units - lost_units % 63000) / 63000 AS BIGINT) AS "lostS",
               min(CASE WHEN lost_units > 0 AND rank_no * 2 >= others THEN wall_s END) AS "middleS",
               array_agg(subject ORDER BY lost_units DESC, subject) FILTER (WHERE lost_units > 0) AS subjects
        FROM ended GROUP BY home, stem, source, outcome ORDER BY home, stem, source, outcome`,
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

function claimsOf(ends: readonly Ends[], context: JudgeContext<Options>): readonly Claim[] {
  const { gpuHoursMin, sharePermilleMin, badEndsMin } = context.options;
  const sum = (what: 'attempts' | 'losing' | 'early' | 'again' | 'heldS' | 'lostS'): number =>
    ends.reduce((total, row) => total + row[what], 0);
  const lostS = sum('lostS');
  const isWorth =
    lostS >= gpuHoursMin * 3600 && permilleOf(lostS, sum('heldS')) >= sharePermilleMin && sum('losing') >= badEndsMin;
  const bad = ends.filter((row) => row.losing > 0).toSorted((a, b) => b.lostS - a.lostS);
  const [worst] = bad;
  if (!isWorth || worst === undefined) return [];
  const isEarly = sum('early') * 2 > sum('losing');
  const days = windowDays(context);
  return [
    {
      about: kindPlace({ ...worst, model: null }).replace(' on GPUs', ''),
      ownerSubject: worst.subjects?.[0] ?? null,
      what: `${stemWords(worst.stem)} loses ${percentWords(permilleOf(lostS, sum('heldS')))} of its time to bad ends, ${countWords(sum('losing'), 'attempt')} of ${sum('attempts').toLocaleString('en-US')}`,
      because: [
        `${gpuHoursOfWords(lostS, sum('heldS'))} were computed and thrown away (outcomes of the scheduler, checkpoints where they are recorded).`,
        `${bad.map((row) => `${countWords(row.losing, 'attempt')} ${WORDS[row.outcome] ?? row.outcome} (${gpuHourWords(row.lostS)}, the middle one after ${spanWords(row.middleS ?? 0)})`).join('; ')}.`,
        ...(sum('again') > 0
          ? [`${countWords(sum('again'), 'of them was a second try or later', 'of them were second tries or later')}.`]
          : []),
      ],
      fix: [
        ...(isEarly ? SMOKE : []),
        ...new Set(bad.flatMap((row) => (row.lostS * 4 >= lostS ? (FIXES[row.outcome]?.(row.source) ?? []) : []))),
        'bursar work record --run NAME --unit checkpoint --quantity 1   # where the script saves: shows what each end really costs',
      ],
      unless:
        'Checkpoints that are written and not recorded, from which the next attempt went on: record them, and less is lost.',
      takes: bad.flatMap(({ subjects }) =>
        (subjects ?? []).map((subject) => ({ subject, ...days, category: 'lost' as const })),
      ),
      // A checkpoint an hour keeps most of what day-long attempts lose; mistakes found on one GPU cost an eighth of those found on eight.
      reachable: { lowPermille: 400, highPermille: 850 },
    },
  ];
}

const WORDS: Readonly<Record<string, string>> = {
  failed: 'failed',
  preempted: 'were preempted',
  timeout: 'ran out of time',
  'node-fail': 'lost their machine',
  'out-of-memory': 'ran out of memory',
};

const SMOKE = [
  '# most die in their first quarter of an hour: a smoke run first, on one GPU',
  'srun --gpus=1 --time=00:10:00 python train.py --max-steps 20   # then the real run, by --dependency=afterok',
];

const FIXES: Readonly<Record<string, (source: string) => readonly string[]>> = {
  failed: (source) => [
    '# checkpoints by time, not by epoch, and resume from the newest at the begin',
    source === 'slurm'
      ? 'torchrun --max-restarts=3 train.py   # restarts in place, with the GPUs it has'
      : 'spec: { backoffLimit: 3 }   # retries with backoff; a mistake that repeats stops there',
  ],
  preempted: (source) =>
    source === 'slurm'
      ? ['#SBATCH --requeue --signal=B:USR1@120   # two minutes to save; trap USR1 in the script']
      : ['spec: { terminationGracePeriodSeconds: 120 }   # save on SIGTERM, resume from the newest checkpoint'],
  timeout: (source) =>
    source === 'slurm'
      ? [
          '#SBATCH --signal=B:USR1@300   # save five minutes before --time is over, then scontrol requeue "$SLURM_JOB_ID"',
        ]
      : ['# save before activeDeadlineSeconds is over, and resume'],
  'node-fail': () => [
    '# checkpoints by time; the machine that failed is in bursar findings, if it is one that fails often',
  ],
  'out-of-memory': () => [
    '# the largest batch first, so that what does not fit fails in the first minute',
    'export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True',
  ],
};
