import { z } from 'zod';
import { ACCELERATORS, acceleratorNamed } from '../facts/accelerators.ts';
import { detector } from '../facts/detector.ts';
import type { Claim } from '../facts/detector.ts';
import { sqlCount } from '../facts/sql-row.ts';
import { kindPlace, kindWords, permilleOf } from './run-words.ts';
import { LIVES, LIVES_READ } from './runs-sql.ts';
import { countWords, gpuHourWords, modelWords, percentWords } from './wording.ts';

const Options = z.object({
  // Fewer runs may be of an unusual size.
  runsMin: z.number().int().default(5),
  // Of the memory of the GPU, at the peak of every run; beyond a quarter the next size down is no longer safe.
  memoryPermilleMax: z.number().int().default(250),
  // Of SMs while it computes, in every run: above it a smaller GPU would be slower in proportion.
  smPermilleMax: z.number().int().default(300),
  // Of the tensor pipe: work that uses it is what large GPUs are for.
  tensorPermilleMax: z.number().int().default(50),
  // Held in the window: below a day nobody should spend an hour on a trial.
  gpuHoursMin: z.number().int().default(24),
  // Above it the GPU is not too large, it waits: `starved-runs` says for what.
  gapPermilleMax: z.number().int().default(150),
  // Of the held time; beyond it the sensors were away too long for a verdict.
  unknownPermilleMax: z.number().int().default(50),
});

const Peak = z.object({
  home: z.string(),
  stem: z.string().nullable(),
  model: z.string().nullable(),
  source: z.string(),
  isSeveral: z.boolean(),
  runs: sqlCount,
  heldS: sqlCount,
  peakMib: sqlCount,
  smPermille: sqlCount,
  /** Null where no run has it: DCGM sends it only where it is asked to. */
  tensorPermille: sqlCount.nullable(),
  gapPermille: sqlCount,
  subject: z.string(),
});
type Peak = z.infer<typeof Peak>;

/** The mean of a field while the GPU computed, over the seconds that carry it; null where none does. */
const meanOf = (field: string): string => {
  const [sum, seconds] = [
    `CAST(sum(${field} * computing_s) AS BIGINT)`,
    `NULLIF(CAST(sum(CASE WHEN ${field} IS NULL THEN 0 ELSE computing_s END) AS BIGINT), 0)`,
  ];
  return `CAST((${sum} - ${sum} % ${seconds}) / ${seconds} AS BIGINT)`;
};

/** GPUs below this memory have few smaller ones to go to. */
const SMALL_GIB = 24;
/** Room above the peak that was seen: the next data set is larger. */
const HEADROOM = 2;

/**
 * Question: is the GPU larger than the work?
 *
 * It stays a question. Memory in use is not memory needed (servers and TensorFlow take what is there, and then this says nothing), and a
 * low SM activity may be the nature of the work. Only a trial on a smaller GPU, or the framework's own peak, answers it. Serving is
 * judged by its latency elsewhere. Jobs of several GPUs are asked about apart from those of one.
 *
 * Reads: life_day, stint_day.
 */
export const oversizedGpus = detector({
  name: 'oversized-gpus',
  title: 'GPUs that may be larger than the work',
  category: 'computing',
  factor: 'efficiency',
  basis: 'assumed',
  blastRadius: 2,
  blast: 'A trial that runs out of memory fails; the runs that are there are not touched.',
  effort: 'one trial run',
  options: Options,
  ask: (options) => ({
    peaks: {
      row: Peak,
      tables: [...LIVES_READ, 'stint_day'],
      params: { unknownPermilleMax: options.unknownPermilleMax, runsMin: options.runsMin },
      sql: `
        WITH ${LIVES}, sensed AS (
          SELECT subject_key, max(fb_used_mib_max) AS peak_mib,
                 ${meanOf('sm_permille')} AS sm_permille, ${meanOf('tensor_permille')} AS tensor_permille,
                 CAST(sum(CASE WHEN sm_permille IS NULL OR fb_used_mib_max IS NULL THEN computing_s ELSE 0 END) AS BIGINT) AS dark_s
          FROM stint_day WHERE manner = 'job' AND computing_s > 0 AND device_id = root_device_id AND units = held_s * 63000 GROUP BY subject_key
        ), run AS (
          SELECT l.*, s.peak_mib, s.sm_permille, s.tensor_permille,
                 CAST((l.gap_s * 1000 - (l.gap_s * 1000) % l.computing_s) / l.computing_s AS BIGINT) AS gap_permille
          FROM life l JOIN sensed s ON l.subject_key = s.subject_key
          WHERE l.computing_s >= 900 AND l.unknown_s * 1000 <= l.held_s * $unknownPermilleMax
            AND s.peak_mib IS NOT NULL AND s.sm_permille IS NOT NULL AND l.gap_rows > 0
            AND s.dark_s * 1000 <= l.computing_s * $unknownPermilleMax
        )
        SELECT home, stem, model, min(source) AS source, units > 63000 * wall_s AS "isSeveral", count(*) AS runs, CAST(sum(held_s) AS BIGINT) AS "heldS",
               max(peak_mib) AS "peakMib", max(sm_permille) AS "smPermille", max(tensor_permille) AS "tensorPermille",
               CAST((sum(gap_s) * 1000 - (sum(gap_s) * 1000) % sum(computing_s)) / sum(computing_s) AS BIGINT) AS "gapPermille",
               max_by(subject, held_s) AS subject
        FROM run GROUP BY home, stem, model, units > 63000 * wall_s HAVING count(*) >= $runsMin`,
    },
  }),
  judge: ({ peaks }, { options }) =>
    peaks.flatMap((peak) => {
      const gpu = peak.model === null ? undefined : acceleratorNamed(peak.model);
      if (gpu === undefined || gpu.memoryGib <= SMALL_GIB) return [];
      const isSmall =
        permilleOf(peak.peakMib, gpu.memoryGib * 1024) < options.memoryPermilleMax &&
        peak.smPermille < options.smPermilleMax &&
        (peak.tensorPermille ?? 0) < options.tensorPermilleMax &&
        peak.gapPermille < options.gapPermilleMax &&
        peak.heldS >= options.gpuHoursMin * 3600;
      return isSmall ? [questionOf(peak, gpu.memoryGib)] : [];
    }),
});

function questionOf(peak: Peak, memoryGib: number): Claim {
  const tensor = peak.tensorPermille === null ? '' : `, the tensor pipe ${percentWords(peak.tensorPermille)}`;
  const several = peak.isSeveral ? ', jobs of several GPUs' : '';
  const neededGib = (peak.peakMib / 1024) * HEADROOM;
  const smaller = ['L4', 'A10G', 'L40S', 'A100-40GB']
    .flatMap((name) => acceleratorNamed(name) ?? [])
    .filter((gpu) => gpu.memoryGib >= neededGib && gpu.memoryGib < memoryGib)
    .toSorted((a, b) => a.memoryGib - b.memoryGib)[0];
  const slice = ACCELERATORS.find(({ id }) => id === modelWords(peak.model ?? ''))?.migProfiles?.find(
    (profile) => Number(/\.(\d+)gb/.exec(profile)?.[1] ?? 0) >= neededGib,
  );
  const trials = [
    ...(smaller === undefined ? [] : [smaller.id]),
    ...(slice === undefined || peak.isSeveral ? [] : [`a ${slice} slice of its own model`]),
  ];
  return {
    about: `${kindPlace(peak)}${several}`,
    ownerSubject: peak.subject,
    what: `does ${kindWords(peak)} need a GPU that large? ${countWords(peak.runs, 'run')}${several}`,
    because: [
      `In all of them memory stayed below ${(peak.peakMib / 1024).toFixed(0)} of ${memoryGib} GiB, SMs were active ${percentWords(peak.smPermille)} at most while it computed${tensor}; ${gpuHourWords(peak.heldS)}.`,
      ...(peak.tensorPermille === null
        ? ['The tensor pipe was not measured (DCGM_FI_PROF_PIPE_TENSOR_ACTIVE): work on it is what large GPUs are for.']
        : []),
      'Memory in use is not memory needed, and a slower GPU may cost more for a step: only a trial tells.',
    ],
    fix: [
      `# one run on ${trials.length === 0 ? 'a smaller GPU' : trials.join(' or ')}, at the same batch size; compare cost for a step: bursar receipt JOB`,
      'print(torch.cuda.max_memory_allocated())   # the framework’s own peak, at the end of a run',
    ],
    unless: 'The trial takes longer by more than the GPU is cheaper, or the framework’s own peak does not fit.',
    takes: [],
    isQuestion: true,
  };
}
