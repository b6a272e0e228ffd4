import { z } from 'zod';
import { detector } from '../facts/detector.ts';
import type { Claim } from '../facts/detector.ts';
import { sqlCount, sqlTime } from '../facts/sql-row.ts';
import { divideRounded } from '../money/usd.ts';
import { stemWords } from './run-words.ts';
import { LIVES_READ } from './runs-sql.ts';
import { LIVE_SQL, PAST_SQL } from './runaway-sql.ts';
import { commentLine, stopCommand } from './stop-command.ts';
import { countWords, gpuWords, moneyWords, spanWords } from './wording.ts';

const Options = z.object({
  // Of fewer, the next one is the longest by chance more often than one time in twenty.
  finishedMin: z.number().int().default(20),
  // Three times the middle is what people call far above.
  timesMedian: z.number().default(3),
  // Above all that have finished are healthy ones too, for long jobs are met more often than short ones, and GPUs are asked for in steps of two: more
  // than twice the 99th of a hundred, of fewer than a hundred twice the longest, is asked for besides.
  timesFarEnd: z.number().default(2),
  // So far; what is smaller is not worth waking anybody.
  gpuHoursMin: z.number().int().default(4),
  // News older than this say nothing about now.
  freshMinutes: z.number().int().default(60),
});
export type RunawayOptions = z.infer<typeof Options>;

const micros = z.bigint().nullable();

/** A job that goes on. */
const LiveJob = z.object({
  subject: z.string(),
  source: z.string(),
  allocationId: z.string(),
  attempt: sqlCount,
  name: z.string().nullable(),
  workloadKind: z.string().nullable(),
  cluster: z.string().nullable(),
  namespace: z.string().nullable(),
  home: z.string(),
  stem: z.string().nullable(),
  user: z.string().nullable(),
  model: z.string().nullable(),
  /** 63,000ths of a GPU it holds now. */
  shareUnits: z.bigint(),
  heldSince: sqlTime,
  gpuS: sqlCount,
  /** Since it began, as far as the window reaches. */
  usdMicros: micros,
  /** What it costs an hour, by its last day; null without a price. */
  usdMicrosPerHour: micros,
});
export type LiveJob = z.infer<typeof LiveJob>;

/** Finished attempts of one kind: the middle one, the 99th of a hundred, which of fewer than a hundred is the last, and the last. */
const Past = z.object({
  home: z.string(),
  stem: z.string().nullable(),
  /** Null: of all users. */
  user: z.string().nullable(),
  jobs: sqlCount,
  medianS: sqlCount,
  p99S: sqlCount,
  mostS: sqlCount,
  medianUsdMicros: micros,
  p99UsdMicros: micros,
  mostUsdMicros: micros,
  medianUnits: z.bigint(),
  p99Units: z.bigint(),
  mostUnits: z.bigint(),
});
export type Past = z.infer<typeof Past>;

/** What runs away: how long it has held GPUs, what it has cost, or how many it holds. */
export type RunawayBy = 'hours' | 'cost' | 'gpus';

export interface Runaway {
  readonly job: LiveJob;
  readonly kind: Past;
  readonly by: readonly RunawayBy[];
  readonly heldS: number;
  readonly stop: string;
}

/**
 * Question: which jobs that go on have left their own kind far behind: in hours, in money, in GPUs?
 *
 * A job is compared with finished jobs of its own name and person, where there are too few with those of its name; it must be above
 * all of them, twice their 99th percentile, and three times the middle: what goes on at a moment is longer than what has finished. An attempt is compared with
 * attempts: what its job cost before it was started again is not in it. Only completed ones count: what failed in its first minute says nothing about how long
 * such work takes. It claims no waste, for nobody knows whether the work is worth it: it says that somebody should look, now.
 *
 * Reads: life_day.
 */
export const runawayJobs = detector({
  name: 'runaway-jobs',
  title: 'jobs that spend far above their own kind, right now',
  category: 'computing',
  factor: 'utilisation',
  basis: 'measured',
  blastRadius: 4,
  blast: 'What the job computed since its last checkpoint is lost.',
  effort: 'a question to its owner, then one command',
  options: Options,
  ask: ({ freshMinutes }) => ({
    live: {
      row: LiveJob,
      // What it has cost, it has cost since it began.
      tables: [{ table: 'life_day', daysBefore: DAYS_BEFORE }],
      params: { freshMinutes },
      sql: LIVE_SQL,
    },
    past: {
      row: Past,
      tables: [...LIVES_READ],
      sql: PAST_SQL,
    },
  }),
  judge: ({ live, past }, { options, now }) => findRunaways(live, past, options, now).map(claimOf),
});

/** Jobs that live longer are rare, and are told with what they cost in so many days before the window. */
const DAYS_BEFORE = 92;

/** Question: which live jobs are far above finished ones of their kind, and in what? The dearest an hour first. */
export function findRunaways(
  live: readonly LiveJob[],
  past: readonly Past[],
  options: RunawayOptions,
  now: Date,
): readonly Runaway[] {
  return live
    .flatMap((job): Runaway[] => {
      const kind = kindFor(job, past, options);
      if (kind === undefined) return [];
      const heldS = Math.floor((now.getTime() - job.heldSince.getTime()) / 1000);
      const { medianS, p99S, mostS } = kind;
      const hours = { median: BigInt(medianS), p99: BigInt(p99S), most: BigInt(mostS) };
      const cost = { median: kind.medianUsdMicros, p99: kind.p99UsdMicros, most: kind.mostUsdMicros };
      const units = { median: kind.medianUnits, p99: kind.p99Units, most: kind.mostUnits };
      const by: RunawayBy[] = [
        ...(isFar(BigInt(heldS), hours, options) ? (['hours'] as const) : []),
        ...(isFar(job.usdMicros, cost, options) ? (['cost'] as const) : []),
        ...(isFar(job.shareUnits, units, options) ? (['gpus'] as const) : []),
      ];
      const isLarge = job.gpuS >= options.gpuHoursMin * 3600 || by.includes('gpus');
      return by.length > 0 && isLarge
        ? [{ job, kind, by, heldS, stop: stopCommand({ ...job, kind: job.workloadKind }) }]
        : [];
    })
    .toSorted(
      (a, b) => Number((b.job.usdMicrosPerHour ?? -1n) - (a.job.usdMicrosPerHour ?? -1n)) || b.job.gpuS - a.job.gpuS,
    );
}

/** Finished jobs of its name and person; of its name, where the person has finished too few. */
export function kindFor(
  { home, stem, user }: Pick<LiveJob, 'home' | 'stem' | 'user'>,
  past: readonly Past[],
  { finishedMin }: Pick<RunawayOptions, 'finishedMin'>,
): Past | undefined {
  if (stem === null) return undefined;
  const named = past.filter((kind) => kind.home === home && kind.stem === stem && kind.jobs >= finishedMin);
  return named.find((kind) => kind.user === (user ?? '')) ?? named.find((kind) => kind.user === null);
}

interface Ranks {
  readonly median: bigint | null;
  readonly p99: bigint | null;
  readonly most: bigint | null;
}

function isFar(
  value: bigint | null,
  { median, p99, most }: Ranks,
  { timesMedian, timesFarEnd }: Pick<RunawayOptions, 'timesMedian' | 'timesFarEnd'>,
): boolean {
  if (value === null || median === null || p99 === null || most === null) return false;
  const isTimes = (of: bigint, times: number): boolean => value * 1000n >= of * BigInt(Math.round(times * 1000));
  return value > most && isTimes(p99 + 1n, timesFarEnd) && isTimes(median, timesMedian);
}

/** From so many on one of a hundred is another than the last. */
const HUNDRED = 100;

/** `Runs`, or of a job that was started again, once, `This attempt, the 2nd of its job, runs`: what came before is told by its receipt. */
function begun({ attempt }: LiveJob, verb: string, isFirst: boolean): string {
  if (attempt === 0) return `${verb.charAt(0).toUpperCase()}${verb.slice(1)}`;
  return isFirst ? `This attempt, the ${ordinal(attempt + 1)} of its job, ${verb}` : `It ${verb}`;
}

function ordinal(n: number): string {
  const last = n % 100 > 10 && n % 100 < 14 ? 0 : n % 10;
  return `${n}${['th', 'st', 'nd', 'rd'][last] ?? 'th'}`;
}

/** What a runaway has that its kind has not, one sentence for each. */
export function runawayWords({ job, kind, by, heldS }: Runaway): readonly string[] {
  const others = `${countWords(kind.jobs, 'completed one')} of its kind`;
  const farEnd = (name: string, p99: string, most: string): string =>
    kind.jobs < HUNDRED ? `${name} ${most}` : `the 99th of a hundred ${p99}, ${name} ${most}`;
  return by.map((what, place) => {
    const verb = (words: string): string => begun(job, words, place === 0);
    if (what === 'hours')
      return `${verb('runs for')} ${spanWords(heldS)}; of ${others} the middle one took ${spanWords(kind.medianS)}, ${farEnd('the longest', spanWords(kind.p99S), spanWords(kind.mostS))}.`;
    if (what === 'cost')
      return `${verb('has cost')} ${money(job.usdMicros)}; of ${others} the middle one ${money(kind.medianUsdMicros)}, ${farEnd('the dearest', money(kind.p99UsdMicros), money(kind.mostUsdMicros))}.`;
    return `${verb('holds')} ${gpus(job.shareUnits)} GPUs; of ${others} the middle one ${gpus(kind.medianUnits)}, ${farEnd('the largest', gpus(kind.p99Units), gpus(kind.mostUnits))}.`;
  });
}

function claimOf(runaway: Runaway): Claim {
  const { job, heldS, stop } = runaway;
  const name = job.name ?? job.allocationId;
  return {
    about: job.subject,
    ownerSubject: job.subject,
    what: `${name} spends far above its kind: ${gpuWords(Math.max(1, Math.round(Number(job.shareUnits) / 63_000)), job.model)} for ${spanWords(heldS)}`,
    because: [
      ...runawayWords(runaway),
      `Begun ${job.heldSince.toISOString().slice(0, 16).replace('T', ' ')}${job.usdMicrosPerHour === null ? '' : `; an hour of it costs ${money(job.usdMicrosPerHour)}`}.`,
    ],
    fix: [commentLine(`ask its owner first; Bursar stops nothing`), stop],
    unless: `It is meant to be longer or larger than other runs of ${stemWords(job.stem)}: a name of its own makes it its own kind.`,
    liveSince: job.heldSince,
    takes: [],
    isQuestion: true,
  };
}

function money(usdMicros: bigint | null): string {
  return usdMicros === null ? 'no price' : moneyWords(usdMicros);
}

function gpus(units: bigint): string {
  const tenths = divideRounded(units * 10n, 63_000n);
  return tenths % 10n === 0n ? String(tenths / 10n) : `${tenths / 10n}.${tenths % 10n}`;
}
