const HOURS = 24;

/** An hour of the day, on so many days: on how many of them at least half of the replicas were more than it needed. */
export interface HourOfDay {
  readonly hour: number;
  readonly days: number;
  readonly quietDays: number;
  /** Replicas it needed on nine days of ten, at most. */
  readonly neededMost: number;
}

export interface QuietHours {
  readonly fromHour: number;
  /** The hour at which it ends; the same as `fromHour` where every hour is quiet. */
  readonly untilHour: number;
  /** The most of this of any of its hours. */
  readonly neededMost: number;
}

/**
 * Question: which hours of the day, in one piece, need less than half of the replicas on nearly every day?
 *
 * The longest such stretch, also over midnight; of two of the same length the one that needs less. Undefined where there is none
 * of three hours: a shorter one is over before replicas have come and gone.
 */
export function quietHours(given: readonly HourOfDay[], quietPermilleMin: number): QuietHours | undefined {
  const hours = Array.from({ length: HOURS }, (_, hour) => given.find((each) => each.hour === hour));
  const isQuiet = (hour: number): boolean => {
    const found = hours[hour % HOURS];
    return found !== undefined && found.days > 0 && found.quietDays * 1000 >= found.days * quietPermilleMin;
  };
  let best: QuietHours | undefined;
  let bestLength = 2;
  for (let from = 0; from < HOURS; from += 1) {
    let length = 0;
    while (length < HOURS && isQuiet(from + length)) length += 1;
    const stretch = stretchOf(hours, from, length);
    if (stretch === undefined || length < bestLength) continue;
    if (length > bestLength || (best !== undefined && stretch.neededMost < best.neededMost)) {
      [best, bestLength] = [stretch, length];
    }
  }
  return best;
}

function stretchOf(
  hours: readonly (HourOfDay | undefined)[],
  fromHour: number,
  length: number,
): QuietHours | undefined {
  const found = Array.from({ length }, (_, place) => hours[(fromHour + place) % HOURS]).filter(
    (hour) => hour !== undefined,
  );
  if (found.length === 0) return undefined;
  return {
    fromHour,
    untilHour: (fromHour + length) % HOURS,
    neededMost: Math.max(...found.map(({ neededMost }) => neededMost)),
  };
}

/** So many hours from the first on; all of them where it ends where it begins. */
function lengthOf({ fromHour, untilHour }: QuietHours): number {
  return ((untilHour - fromHour + HOURS - 1) % HOURS) + 1;
}

export function isWithin(quiet: QuietHours, hour: number): boolean {
  return (hour - quiet.fromHour + HOURS) % HOURS < lengthOf(quiet);
}

/** `22:00–07:00 UTC`, `at any hour`; of most of a day, over midnight, what is left of it: `in all hours but 15:00–16:00 UTC`. */
export function clockText(quiet: QuietHours): string {
  const { fromHour, untilHour } = quiet;
  if (fromHour === untilHour) return 'at any hour';
  const clock = (hour: number): string => `${String(hour).padStart(2, '0')}:00`;
  const isMost = untilHour < fromHour && lengthOf(quiet) * 2 > HOURS;
  return isMost
    ? `in all hours but ${clock(untilHour)}–${clock(fromHour)} UTC`
    : `${clock(fromHour)}–${clock(untilHour)} UTC`;
}
