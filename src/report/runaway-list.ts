import { counted, dollars, dollarsPerHour, duration, gpuCount, isoTime, minute, recently } from './figures.ts';
import { basisWords, knownWords } from './finding-words.ts';
import { shortModel } from './idle-list.ts';
import { safeText } from './safe-text.ts';
import { shellWord } from './shell-word.ts';
import { shorten, textTable } from './table.ts';

/** A job that spends far above its own kind. */
export interface RunawayJob {
  readonly source: string;
  readonly allocationId: string;
  readonly attempt: number;
  readonly name: string | null;
  readonly team: string | null;
  readonly user: string | null;
  readonly model: string | null;
  readonly shareUnits: bigint;
  readonly heldSince: Date;
  readonly heldSeconds: number;
  /** As far as the window reaches back; null where it has no price. */
  readonly usdMicrosSoFar: bigint | null;
  readonly usdMicrosPerHour: bigint | null;
  readonly by: readonly ('hours' | 'cost' | 'gpus')[];
  /** What it was compared with. */
  readonly kind: {
    readonly name: string;
    readonly user: string | null;
    readonly jobs: number;
    readonly medianSeconds: number;
    readonly p99Seconds: number;
    readonly mostSeconds: number;
    readonly medianUsdMicros: bigint | null;
    readonly p99UsdMicros: bigint | null;
    readonly mostUsdMicros: bigint | null;
    readonly medianShareUnits: bigint;
    readonly p99ShareUnits: bigint;
    readonly mostShareUnits: bigint;
  };
  readonly because: readonly string[];
  readonly stop: string;
}

export interface RunawayAnswer {
  readonly asOf: Date;
  readonly asOfBy: 'asked' | 'newest fact' | 'clock';
  readonly newestFact: Date | undefined;
  readonly window: { readonly asked: string; readonly from: Date; readonly days: number };
  readonly runaways: readonly RunawayJob[];
  /** Jobs that go on; those of them that could be compared, and with how many finished ones. */
  readonly liveJobs: number;
  readonly comparedJobs: number;
  readonly finishedJobs: number;
  readonly finishedMin: number;
  /** GPUs of the last day, what the window's money rests on, and how much of its held time is known. */
  readonly gpus: number;
  readonly usdMicrosByBasis: ReadonlyMap<string, bigint>;
  readonly knownUnits: bigint;
  readonly heldUnits: bigint;
}

const NAME_WIDTH_MAX = 44;
const SLACK_ROWS_MAX = 8;

const COLUMNS = [
  { align: 'right', title: 'per hour' },
  { align: 'right', title: 'so far' },
  { align: 'right', title: 'its kind: middle, most' },
  { align: 'left', title: 'GPUs' },
  { align: 'left', title: 'running since (UTC)' },
  { align: 'left', title: 'team / user' },
  { align: 'left', title: 'job' },
] as const;

/** The list as people read it: how many and what an hour costs, each with what it is compared with, and the command that stops it. */
export function runawayList(answer: RunawayAnswer, dataFlag = ''): string[] {
  const { runaways } = answer;
  if (runaways.length === 0) return [headLine(answer), comparedLine(answer)];
  return [
    headLine(answer),
    ...textTable(
      COLUMNS,
      runaways.map((job) => row(job, answer.asOf)),
    ),
    ...runaways.flatMap((job) => [
      `${name(job)}: ${safeText(job.because.join(' '))}`,
      `  stop it, if its owner agrees: ${safeText(job.stop)}`,
    ]),
    comparedLine(answer),
    `Bursar stops nothing. Where its money went: bursar job ${safeText(shellWord(runaways[0]?.allocationId ?? 'JOB'))}${dataFlag}`,
  ];
}

function row(job: RunawayJob, asOf: Date): string[] {
  const { kind } = job;
  const isByCost = job.by.includes('cost');
  const isByGpus = !isByCost && !job.by.includes('hours');
  const compared = isByCost
    ? [dollars(kind.medianUsdMicros), dollars(kind.mostUsdMicros)]
    : isByGpus
      ? [`${gpuCount(kind.medianShareUnits)} GPUs`, gpuCount(kind.mostShareUnits)]
      : [duration(kind.medianSeconds), duration(kind.mostSeconds)];
  return [
    dollarsPerHour(job.usdMicrosPerHour),
    dollars(job.usdMicrosSoFar),
    compared.join(', '),
    `${gpuCount(job.shareUnits)}×${job.model === null ? 'GPU' : shortModel(job.model)}`,
    `${recently(job.heldSince, asOf)}, ${duration(job.heldSeconds)}`,
    shorten(safeText(`${job.team ?? 'unattributed'} / ${job.user ?? '–'}`), NAME_WIDTH_MAX),
    shorten(safeText(`${job.name ?? ''} · ${job.allocationId}${attemptWords(job)}`), NAME_WIDTH_MAX),
  ];
}

function headLine(answer: RunawayAnswer): string {
  const at = `${minute(answer.asOf)} UTC${answer.asOfBy === 'newest fact' ? ', the newest fact' : ''}`;
  const { runaways } = answer;
  if (answer.newestFact === undefined)
    return 'No facts with a time yet, so no job is known: bursar collect, or bursar import allocations FILE';
  if (answer.asOf.getTime() - answer.newestFact.getTime() > 3_600_000)
    return `Nothing is known of ${at}: the newest fact is of ${minute(answer.newestFact)} UTC`;
  if (runaways.length === 0) return `No job spends far above its own kind; as of ${at}`;
  const priced = runaways.flatMap(({ usdMicrosPerHour }) => usdMicrosPerHour ?? []);
  const perHour = priced.length === 0 ? null : priced.reduce((a, b) => a + b, 0n);
  return `${counted(runaways.length, 'job spends', 'jobs spend')} far above ${runaways.length === 1 ? 'its' : 'their'} own kind, ${dollarsPerHour(perHour)} together; as of ${at}`;
}

/** What the answer rests on; it is the answer where nothing was found. */
function comparedLine({ liveJobs, comparedJobs, finishedJobs, finishedMin, window }: RunawayAnswer): string {
  const others = liveJobs - comparedJobs;
  return (
    `Compared: ${counted(comparedJobs, 'running job')} with ${counted(finishedJobs, 'finished one')} of the same name (and user, where there are ${finishedMin}) of the last ${counted(window.days, 'day')}; ` +
    `far above is more than any of them, more than twice the 99th of a hundred, and three times the middle one.${others > 0 ? ` ${counted(others, 'job')} could not be compared: fewer than ${finishedMin} of the kind have finished.` : ''}`
  );
}

/** A message for a channel: inert text, the newest first line, at most a handful of jobs. */
export function runawaySlack(answer: RunawayAnswer, command: string): string[] {
  const inert = (text: string): string =>
    `\`${safeText(text).replaceAll('`', "'").replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')}\``;
  const shown = answer.runaways.slice(0, SLACK_ROWS_MAX);
  const more = answer.runaways.length - shown.length;
  return [
    `*${headLine(answer)}*`,
    ...shown.map(
      (job) =>
        `• ${inert(name(job))} of ${inert(`${job.team ?? 'unattributed'} / ${job.user ?? '–'}`)}: ${dollars(job.usdMicrosSoFar)} so far${attemptWords(job)}, ${dollarsPerHour(job.usdMicrosPerHour)}, ${duration(job.heldSeconds)} on ${counted(gpuCount(job.shareUnits), 'GPU')}; stop: ${inert(job.stop)}`,
    ),
    ...(more > 0 ? [`and ${more} more`] : []),
    [
      counted(answer.gpus, 'GPU'),
      `${counted(answer.comparedJobs, 'running job')} compared with ${counted(answer.finishedJobs, 'finished one')} of ${counted(answer.window.days, 'day')}`,
      basisWords(answer) || 'no price',
      knownWords(answer),
      inert(command),
    ].join('; '),
  ];
}

/** The answer for programs. */
export function runawayJson(answer: RunawayAnswer): object {
  return {
    asOf: isoTime(answer.asOf),
    window: { asked: answer.window.asked, from: isoTime(answer.window.from), days: answer.window.days },
    liveJobs: answer.liveJobs,
    comparedJobs: answer.comparedJobs,
    finishedJobs: answer.finishedJobs,
    runaways: answer.runaways.map(({ shareUnits, heldSince, kind, ...job }) => ({
      ...job,
      gpus: Number(shareUnits) / 63_000,
      heldSince: isoTime(heldSince),
      kind: {
        name: kind.name,
        user: kind.user,
        jobs: kind.jobs,
        medianSeconds: kind.medianSeconds,
        p99Seconds: kind.p99Seconds,
        mostSeconds: kind.mostSeconds,
        medianUsdMicros: kind.medianUsdMicros,
        p99UsdMicros: kind.p99UsdMicros,
        mostUsdMicros: kind.mostUsdMicros,
        medianGpus: Number(kind.medianShareUnits) / 63_000,
        p99Gpus: Number(kind.p99ShareUnits) / 63_000,
        mostGpus: Number(kind.mostShareUnits) / 63_000,
      },
    })),
  };
}

/** Of a job that was started again: its other attempts are not in the figures. */
function attemptWords({ attempt }: RunawayJob): string {
  return attempt === 0 ? '' : ` (attempt ${attempt + 1} alone)`;
}

function name(job: RunawayJob): string {
  return shorten(safeText(job.name ?? job.allocationId), NAME_WIDTH_MAX);
}
