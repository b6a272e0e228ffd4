import { age, least, usdParts } from '../../figures.ts';
import { STEPS } from '../../steps.ts';
import type { Step } from '../../steps.ts';
import type { JobReply } from '../../../../src/api/routes/jobs/job.ts';

export interface Verdict {
  /** Two or three words, or none where nothing is wrong. */
  readonly word: string;
  readonly state: 'good' | 'warn' | 'bad' | 'none';
  /** The category that took most of what was not computed. */
  readonly category: string | undefined;
}

const WORDS: Readonly<Record<string, string>> = {
  starved: 'Starved',
  idle: 'Mostly idle',
  lost: 'Work lost',
};
/** Below a tenth of its time a category is not what a job is about. */
const WORTH_TELLING = 0.1;
/** Where more than this is unknown nothing is said of the rest. */
const UNKNOWN_MOST = 0.5;

/** What became of most of a job's GPU time, by its seconds: true with and without a price. */
export function verdictOf({ categories, gpuSeconds }: Pick<JobReply, 'categories' | 'gpuSeconds'>): Verdict {
  const seconds = (category: string): number => categories[category]?.gpuSeconds ?? 0;
  if (gpuSeconds === 0) return { word: 'Held no GPU', state: 'none', category: undefined };
  if (seconds('unknown') > gpuSeconds * UNKNOWN_MOST)
    return { word: 'Mostly not measured', state: 'none', category: 'unknown' };
  const known = gpuSeconds - seconds('unknown');
  const [worst = 'idle'] = ['idle', 'starved', 'lost'].toSorted((a, b) => seconds(b) - seconds(a));
  if (seconds(worst) < known * WORTH_TELLING) return { word: 'Computed', state: 'good', category: undefined };
  const word = worst === 'idle' && seconds('idle') * 2 < known ? 'Partly idle' : (WORDS[worst] ?? worst);
  return { word, state: 'warn', category: worst };
}

type DeviceSeconds = Pick<
  JobReply['devices'][number],
  'computingSeconds' | 'idleSeconds' | 'starvedSeconds' | 'lostSeconds'
>;

/** What computed of what is known: lost work is known, and did not compute. Null where nothing is known. */
export function computedPermille(device: DeviceSeconds): number | null {
  const { computingSeconds, idleSeconds, starvedSeconds, lostSeconds } = device;
  const known = computingSeconds + idleSeconds + starvedSeconds + lostSeconds;
  return known === 0 ? null : (computingSeconds / known) * 1000;
}

/** Where a job's money went, step by step, as it is shown: the same figures in its sentence and its panel. */
export function jobMoney({ hours }: Pick<JobReply, 'hours'>): {
  readonly total: string;
  readonly steps: readonly { readonly step: Step; readonly shown: string }[];
} {
  const { micros, unpriced } = summed(hours);
  const steps = STEPS.filter(
    ({ category }) => (micros.get(category) ?? 0n) !== 0n || (unpriced.get(category) ?? 0) > 0,
  );
  const { total, parts } = usdParts(steps.map(({ category }) => microsText(micros.get(category))));
  const all = [...unpriced.values()].reduce((sum, each) => sum + each, 0);
  return {
    total: least(total, all),
    steps: steps.map((step, place) => ({ step, shown: least(parts[place] ?? '', unpriced.get(step.category) ?? 0) })),
  };
}

type Hours = JobReply['hours'];

/** Micros by category where something of it has a price, and GPU time by category where something has none. */
function summed(hours: Hours): { micros: Map<string, bigint>; unpriced: Map<string, number> } {
  const [micros, unpriced] = [new Map<string, bigint>(), new Map<string, number>()];
  for (const each of hours) addHour({ micros, unpriced }, each);
  return { micros, unpriced };
}

interface Sums {
  readonly micros: Map<string, bigint>;
  readonly unpriced: Map<string, number>;
}

function addHour({ micros, unpriced }: Sums, { category, costUsdMicros, unpricedSeconds }: Hours[number]): void {
  if (costUsdMicros !== null) micros.set(category, (micros.get(category) ?? 0n) + BigInt(costUsdMicros));
  if (unpricedSeconds > 0) unpriced.set(category, (unpriced.get(category) ?? 0) + unpricedSeconds);
}

function microsText(micros: bigint | undefined): string | null {
  return micros === undefined ? null : String(micros);
}

export const CATEGORY_GLOSS: Readonly<Record<string, string>> = {
  idle: 'its GPUs were held and did nothing',
  starved: 'its GPUs waited for input, their host or each other',
  lost: 'what was computed came to nothing',
  unknown: 'nobody measured its GPUs',
};

export interface Bucket {
  readonly from: number;
  /** Micros by category; without a category where nothing of it has a price. */
  readonly micros: ReadonlyMap<string, bigint>;
  /** GPU time by category that has no price. */
  readonly unpriced: ReadonlyMap<string, number>;
}

const HOUR_MS = 3_600_000;
const BARS_MAX = 96;

/** Money by the hour; a long job by more hours at a time, so that bars can be told apart. */
export function bucketsOf(
  hours: JobReply['hours'],
  from: string,
  until: string,
): { hoursEach: number; buckets: Bucket[] } {
  const [begin, end] = [Date.parse(from), Date.parse(until)];
  const count = Math.max(1, Math.ceil((end - begin) / HOUR_MS));
  const hoursEach =
    [1, 2, 3, 6, 12, 24, 48, 168].find((each) => count / each <= BARS_MAX) ?? Math.ceil(count / BARS_MAX);
  const buckets = Array.from({ length: Math.ceil(count / hoursEach) }, (_, place) => ({
    from: begin + place * hoursEach * HOUR_MS,
    micros: new Map<string, bigint>(),
    unpriced: new Map<string, number>(),
  }));
  for (const each of hours) {
    const bucket = buckets[Math.floor((Date.parse(each.hour) - begin) / HOUR_MS / hoursEach)];
    if (bucket !== undefined) addHour(bucket, each);
  }
  return { hoursEach, buckets };
}

/** What its bars are of, where that is not an hour: `steps of 3 h`. */
export function barsWords({ hours, activity }: Pick<JobReply, 'hours' | 'activity'>): string | null {
  const { hoursEach } = bucketsOf(hours, activity.from, activity.until);
  return hoursEach === 1 ? null : `steps of ${age(hoursEach * 3600)}`;
}

/** Runs of equal letters in a row of activity: `[letter, from, until]`. */
export function lettersRuns(cells: string): { letter: string; from: number; until: number }[] {
  const runs: { letter: string; from: number; until: number }[] = [];
  for (const [place, letter] of cells.split('').entries()) {
    const last = runs.at(-1);
    if (last?.letter === letter) last.until = place + 1;
    else runs.push({ letter, from: place, until: place + 1 });
  }
  return runs;
}
