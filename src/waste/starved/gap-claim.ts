import type { Claim, JudgeContext } from '../../facts/detector.ts';
import { diagnoseInput } from './input-cause.ts';
import type { CoreGroup, InputDiagnosis } from './input-cause.ts';
import { kindPlace, kindWords, permilleOf } from '../run-words.ts';
import { countWords, gpuHourWords, gpuHoursOfWords, percentWords } from '../wording.ts';
import { sumLevels, takesOf } from './levels.ts';
import type { Level, StarvedOptions, Steps } from './rows.ts';

/** Steps that differ by less say nothing about feeding. */
const STEP_RATIO_MIN_PERMILLE = 1200;
/** What a loader that nobody compared can be brought to, where its own runs show nothing better: a twentieth, as well-fed runs have. */
const WELL_FED_PERMILLE = 50;

/**
 * Work in which no kernel runs for part of the time it is at work: it waits for its input. Where its own runs do not show why, those of
 * the same name elsewhere may: a script is the same whoever's account pays for it. Where nothing shows it and the gaps are no larger than
 * launching kernels makes, nothing is said; where kernels are small, both are named, because the sensors cannot tell them apart.
 */
export function gapClaims(
  levels: readonly Level[],
  namesakes: readonly Level[],
  steps: Steps | undefined,
  context: JudgeContext<StarvedOptions>,
): readonly Claim[] {
  const [first] = levels;
  const { gapS, computingS, heldS, runs, smPermille } = sumLevels(levels);
  const own = diagnoseInput(levels, context.options);
  const wider = own.compared === null ? diagnoseInput(namesakes, context.options) : own;
  const diagnosis = wider.compared === null ? own : wider;
  const gapPermille = permilleOf(gapS, computingS);
  const isExplained = diagnosis.compared !== null;
  if (!isExplained && gapPermille < context.options.unexplainedPermilleMin) return [];
  const small = !isExplained && (smPermille ?? 1000) <= context.options.smallKernelsPermilleMax ? smPermille : null;
  const kind = { home: first?.home ?? '', stem: first?.stem ?? null, model: first?.model ?? null };
  const takes = takesOf(levels, 'gap', context);
  const claim: Claim = {
    about: `input of ${kindPlace(kind)}`,
    ownerSubject: takes[0]?.subject ?? null,
    what: `${kindWords(kind)} waits for ${small === null ? causeName(diagnosis.cause, levels) : 'its input, or between small kernels,'} ${percentWords(permilleOf(gapS, heldS))} of its time, ${countWords(runs, 'run')}`,
    because: [
      `No kernel ran in ${gpuHoursOfWords(gapS, computingS)} at work, pauses left out (${percentWords(gapPermille)}); ${gpuHourWords(heldS)} were held (engine activity, else utilisation).`,
      ...(small === null
        ? []
        : [
            `While kernels run they keep ${percentWords(small)} of the SMs busy: small ones, and launching such leaves gaps too, which these sensors do not tell from waiting.`,
          ]),
      ...causeWords(diagnosis, levels),
      ...stepWords(steps),
    ],
    fix: [...(small === null ? [] : SMALL_KERNELS_FIX), ...fixLines(diagnosis, levels)],
    unless: small === null ? UNLESS[diagnosis.cause] : SMALL_KERNELS_UNLESS,
    takes,
    reachable: reachableOf(diagnosis, gapPermille, context.options.flatPermille),
    ...(diagnosis.cause === 'cores' ? {} : { basis: 'modelled' as const }),
    ...(diagnosis.cause === 'nodes'
      ? { blast: 'Runs that are under way are not touched; a later one may take longer on fewer machines.' }
      : {}),
  };
  return [claim];
}

const SMALL_KERNELS_FIX = [
  '# first a profile of a hundred steps (torch.profiler): does the host wait for a batch, or launch one short kernel after the other?',
  '# if it launches: torch.compile(mode="reduce-overhead") or CUDA graphs, a larger batch, fused optimizers; if it waits:',
] as const;
const SMALL_KERNELS_UNLESS =
  'A profile in which the host neither waits for a batch nor is busy launching: then something else holds the kernels up.';

const CAUSE_WORDS = {
  cores: 'CPU cores',
  'few-cores': 'data, likely for CPU cores,',
  nodes: 'its other machines',
  // No comparison of runs shows it: what the host does between two steps is as silent as a loader.
  loader: 'its loader, storage or other work of its host',
} as const;

/** Cores and storage cannot be told apart where nobody said how many cores there were. */
function causeName(cause: InputDiagnosis['cause'], levels: readonly Level[]): string {
  return cause === 'loader' && levels.every(({ cores }) => cores === null) ? 'its input' : CAUSE_WORDS[cause];
}

const UNLESS = {
  cores: 'A profile of one run (py-spy, torch.profiler) in which the workers of the loader stand idle.',
  'few-cores':
    'One run with all the cores of the machine’s share that waits as long: then it is storage or the loader itself.',
  nodes: 'The same run on one machine that waits as long for each step.',
  loader:
    'A profile of one run (py-spy, torch.profiler) in which the workers of the loader compute all the time: then it is cores.',
} as const;

function causeWords(
  { cause, compared, enoughCores, isFlatSeen, tried: [least, most] }: InputDiagnosis,
  levels: readonly Level[],
): string[] {
  if (cause === 'cores' && compared !== null) {
    return [
      `Runs with ${coresOf(compared.worse.cores)} for each GPU wait ${percentWords(compared.worse.gapPermille)} (${countWords(compared.worse.runs, 'run')}), those with ${coresOf(compared.better.cores)} ${percentWords(compared.better.gapPermille)} (${countWords(compared.better.runs, 'run')}): too few cores.`,
      isFlatSeen
        ? `From ${enoughCores} cores on, more make no difference.`
        : `Nobody has tried more than ${compared.better.cores[1]} yet${(enoughCores ?? 0) <= (compared.better.cores[1] ?? 0) ? '' : `; at what a core feeds now, ${enoughCores} would do`}.`,
    ];
  }
  if (cause === 'nodes' && compared !== null) {
    return [
      `Runs over several machines wait ${percentWords(compared.worse.gapPermille)} (${countWords(compared.worse.runs, 'run')}), on one machine with as many cores ${percentWords(compared.better.gapPermille)} (${countWords(compared.better.runs, 'run')}).`,
    ];
  }
  if (least === null || most === null)
    return ['How many CPU cores its runs had is not known, so cores and storage cannot be told apart.'];
  const there = Math.max(0, ...levels.map(({ coresThere }) => coresThere ?? 0));
  if (cause === 'few-cores') {
    return [
      `Its runs ask for ${coresOf([least, most])} for each GPU, and the machine has ${there}: nobody has tried more.`,
    ];
  }
  return least === most
    ? [
        `All runs have ${coresOf([least, most])} for each GPU${there > 0 && least >= there ? ', all the machine has' : ''}.`,
      ]
    : [`Its gaps do not depend on cores: between ${least} and ${most} for each GPU it waits the same.`];
}

function stepWords(steps: Steps | undefined): string[] {
  if (steps === undefined || steps.runs < 5 || permilleOf(steps.middleMs, steps.bestMs) < STEP_RATIO_MIN_PERMILLE)
    return [];
  return [
    `A step takes ${seconds(steps.middleMs)} in the middle of ${countWords(steps.runs, 'run')} and ${seconds(steps.bestMs)} in the best tenth.`,
  ];
}

function fixLines({ cause, enoughCores }: InputDiagnosis, levels: readonly Level[]): string[] {
  const there = Math.max(0, ...levels.map(({ coresThere }) => coresThere ?? 0));
  const asked = Math.max(1, ...levels.map(({ cores }) => cores ?? 0));
  const cores = enoughCores ?? Math.min(there, asked * 2);
  const isSlurm = levels.some(({ source }) => source === 'slurm');
  const isKubernetes = levels.some(({ source }) => source === 'kubernetes');
  const ask = isSlurm
    ? `#SBATCH --cpus-per-gpu=${cores}`
    : isKubernetes
      ? `resources: { requests: { cpu: "${cores}" } }   # for each GPU`
      : `# a machine with ${cores} cores for each GPU it uses`;
  if (cause === 'cores' || cause === 'few-cores') {
    const tooMany = there > 0 && cores > there;
    return [
      ask,
      `# DataLoader: num_workers=${cores}, persistent_workers=True, prefetch_factor=4, for each GPU`,
      ...(tooMany ? [`# the machine has ${there} for each GPU: fewer GPUs of it, or decode on the GPU (DALI)`] : []),
      '# one run first: compare its seconds for a step with the runs before',
    ];
  }
  if (cause === 'nodes') {
    return [
      isSlurm ? '#SBATCH --nodes=1' : '# one machine, where the model fits',
      '# else larger local batches or gradient accumulation, so that machines talk less often',
      '# one run first: compare its seconds for a step, and cost for a step, with the runs before',
    ];
  }
  return [
    '# DataLoader: persistent_workers=True, prefetch_factor=4, pin_memory=True',
    '# copy the data to local NVMe before the first epoch, or pack small files into shards (WebDataset, Parquet, TFRecord)',
    '# one run first: compare its seconds for a step with the runs before',
  ];
}

/** Of the gap: down to what the best of its own runs have, at least less what counts as the same. */
function reachableOf(
  { cause, floorPermille }: InputDiagnosis,
  gapPermille: number,
  flatPermille: number,
): NonNullable<Claim['reachable']> {
  const isCompared = cause === 'cores' || cause === 'nodes';
  const floor = isCompared ? floorPermille : Math.min(floorPermille, WELL_FED_PERMILLE);
  const high = permilleOf(Math.max(0, gapPermille - floor), gapPermille);
  const low = isCompared
    ? permilleOf(Math.max(0, gapPermille - floorPermille - flatPermille), gapPermille)
    : permilleOf(Math.max(0, gapPermille - floorPermille), gapPermille);
  return { lowPermille: Math.min(low, high), highPermille: high };
}

function coresOf([least, most]: CoreGroup['cores']): string {
  if (least !== most) return `${least} to ${most} cores`;
  return countWords(least ?? 0, 'core');
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
}
