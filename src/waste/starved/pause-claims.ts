import type { Claim, JudgeContext } from '../../facts/detector.ts';
import { kindPlace, kindWords, permilleOf } from '../run-words.ts';
import { countWords, gpuHoursOfWords, percentWords, spanWords } from '../wording.ts';
import { sumLevels, takesOf } from './levels.ts';
import type { Level, Pauses, StarvedOptions } from './rows.ts';

/** A cause is named, and its fix given, where it makes at least this much of the standing still. */
const NAMED_PERMILLE_MIN = 250;

const WORDS = {
  start: { noun: 'start-up', verb: 'starting up' },
  saving: { noun: 'checkpoints, as long as they are recorded', verb: 'writing checkpoints' },
  short: { noun: 'short pauses, often checkpoints', verb: 'in short pauses' },
  long: { noun: 'long pauses, often evaluation on the CPU', verb: 'in long pauses' },
} as const;

const SAVE_ASIDE = 'torch.distributed.checkpoint.async_save, or write to local NVMe and copy in the background';
const FIXES = {
  start: [
    '# start-up: pull the image and stage the data before the GPUs are asked for (a CPU job, a warm image cache)',
  ],
  saving: [`# checkpoints: ${SAVE_ASIDE}`],
  short: [
    `# if these are checkpoints: ${SAVE_ASIDE}`,
    'bursar work record --run NAME --unit checkpoint --quantity 1   # where the script saves: then it is known',
  ],
  long: ['# if it evaluates: a job of its own on one GPU or on CPUs, from the checkpoint, while training goes on'],
} as const;

/** Work that stands still, GPUs and all, and then goes on. */
export function pauseClaim(
  levels: readonly Level[],
  pauses: readonly Pauses[],
  context: JudgeContext<StarvedOptions>,
): Claim {
  const [first] = levels;
  const { pauseS, heldS, runs } = sumLevels(levels);
  const seenS = pauses.reduce((sum, { deviceS }) => sum + deviceS, 0);
  const ranked = pauses.toSorted((a, b) => b.deviceS - a.deviceS);
  const named = ranked.filter(({ deviceS }) => permilleOf(deviceS, seenS) >= NAMED_PERMILLE_MIN);
  const kind = { home: first?.home ?? '', stem: first?.stem ?? null, model: first?.model ?? null };
  const doing = named.map(({ place }) => WORDS[place].verb).join(' and ') || 'waiting for its host';
  const takes = takesOf(levels, 'pause', context);
  return {
    about: `pauses of ${kindPlace(kind)}`,
    ownerSubject: takes[0]?.subject ?? null,
    what: `${kindWords(kind)} stands still ${percentWords(permilleOf(pauseS, heldS))} of its time, ${doing}, ${countWords(runs, 'run')}`,
    because: [
      `Its GPUs did nothing for ${gpuHoursOfWords(pauseS, heldS)} held, and then went on (engine, else SM, else utilisation).`,
      ...ranked.map(
        ({ place, pauses: count, beyond, lengthS, deviceS, runs: inRuns, computedBetweenS }) =>
          `${percentWords(permilleOf(deviceS, seenS))} of it: ${WORDS[place].noun}; ${countWords(count, 'pause')} in ${countWords(inRuns, 'run')}, the middle one ${lengthS < 60 ? `${lengthS} s` : spanWords(lengthS)}${place === 'start' ? '' : `, one every ${spanWords(computedBetweenS / Math.max(1, count))}`}${beyond === 0 ? '' : `; ${beyond === count ? 'in all' : `in ${beyond.toLocaleString('en-US')}`} of them a checkpoint was recorded, and its time is taken off`}.`,
      ),
    ],
    fix: [
      ...named.flatMap(({ place }) => FIXES[place]),
      '# one run first: compare the time between its steps with the runs before',
    ],
    unless:
      'A log of the run that shows the GPUs were needed meanwhile, for example to keep a model warm that cannot be saved.',
    takes,
    basis: 'modelled',
    reachable: { lowPermille: 300, highPermille: 900 },
    effort: 'an afternoon: saving and evaluating aside',
    blast:
      'Runs that are under way are not touched; what is saved or evaluated aside needs memory and disk of its own while the run goes on.',
  };
}

/** Work whose GPUs exchange data instead of computing. */
export function exchangeClaim(levels: readonly Level[], context: JudgeContext<StarvedOptions>): Claim {
  const [first] = levels;
  const { exchangeS, heldS, runs } = sumLevels(levels);
  const spread = sumLevels(levels.filter(({ isSpread }) => isSpread));
  const single = sumLevels(levels.filter(({ isSpread }) => !isSpread));
  const kind = { home: first?.home ?? '', stem: first?.stem ?? null, model: first?.model ?? null };
  const takes = takesOf(levels, 'exchange', context);
  return {
    about: `exchange of ${kindPlace(kind)}`,
    ownerSubject: takes[0]?.subject ?? null,
    what: `${kindWords(kind)} exchanges data ${percentWords(permilleOf(exchangeS, heldS))} of its time, ${countWords(runs, 'run')}`,
    because: [
      `Its traffic fills NVLink for ${gpuHoursOfWords(exchangeS, heldS)} held (modelled: NVLink bytes against a quarter of what the links carry).`,
      ...(spread.heldS > 0 && single.heldS > 0
        ? [
            `Over several machines it is ${percentWords(permilleOf(spread.exchangeS, spread.heldS))}, on one machine ${percentWords(permilleOf(single.exchangeS, single.heldS))}.`,
          ]
        : []),
    ],
    fix: [
      '# gradient accumulation or a larger batch for each GPU: exchange once for more work',
      '# DistributedDataParallel: bucket_cap_mb=100, gradient_as_bucket_view=True: exchange overlaps with the backward pass',
      '# one run first: compare its seconds for a step with the runs before',
    ],
    unless:
      'A profile (Nsight Systems, torch.profiler) in which kernels compute while data is exchanged: then nothing waits.',
    takes,
    basis: 'modelled',
    reachable: { lowPermille: 200, highPermille: 700 },
    effort: 'an afternoon, and a check that the loss falls as before',
    blast: 'Runs that are under way are not touched; a larger batch can change how the loss of a later run falls.',
  };
}
