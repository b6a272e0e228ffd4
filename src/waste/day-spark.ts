import { textsInOne } from '../facts/sql-row.ts';

const DAY_MS = 86_400_000;
/** A line of more steps is not read. */
const DAYS_MAX = 30;

/** The day after one, both as texts. */
export const dayAfter = (day: string): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) + DAY_MS).toISOString().slice(0, 10);

/** A day of a finding: the permille of its time in which what is paid for was at work; null where nothing is known of it. */
export interface SparkDay {
  readonly day: string;
  readonly permille: number | null;
}

/** The days as a line up to the end of the window, one step a day, from the first that is told; a day nobody tells of is unknown. */
export function daySpark(days: readonly SparkDay[], { until }: { readonly until: Date }): readonly (number | null)[] {
  const told = new Map(days.map(({ day, permille }) => [day, permille]));
  const first = days.reduce<string | undefined>(
    (least, { day }) => (least === undefined || day < least ? day : least),
    undefined,
  );
  if (first === undefined) return [];
  const last = Math.floor((until.getTime() - 1) / DAY_MS) * DAY_MS;
  const start = Math.max(Date.parse(`${first}T00:00:00Z`), last - (DAYS_MAX - 1) * DAY_MS);
  const steps = Math.max(0, Math.round((last - start) / DAY_MS) + 1);
  return Array.from({ length: steps }, (_, step) => {
    const day = new Date(start + step * DAY_MS).toISOString().slice(0, 10);
    return told.get(day) ?? null;
  });
}

/** A day of a subject in SQL, as a text of its date, the seconds of its devices that were at work and those of which anything is known: for `addedSpark`. */
export const SPENT_DAY = `CAST(day AS VARCHAR) || ' ' || CAST(computing_s AS VARCHAR) || ' ' || CAST(held_s - unknown_s AS VARCHAR)`;

/**
 * The days of some subjects in SQL, for `addedSpark`: one row a `subject_key`, its days (`SPENT_DAY`) in one text (`sqlTexts`). `keys` is a query of them.
 * Reads: life_day.
 */
export const spentDays = (keys: string): string => `
  SELECT subject_key, ${textsInOne(`array_agg(${SPENT_DAY} ORDER BY day)`)} AS days
  FROM life_day WHERE subject_key IN (${keys}) GROUP BY subject_key`;

/** The days of several subjects, added up, as a line. */
export function addedSpark(
  subjects: readonly (readonly string[] | null)[],
  window: { readonly until: Date },
): readonly (number | null)[] {
  const sums = new Map<string, { atWorkS: number; knownS: number }>();
  for (const text of subjects.flatMap((days) => days ?? [])) {
    const [day = '', atWorkS = '0', knownS = '0'] = text.split(' ');
    const sum = sums.get(day) ?? { atWorkS: 0, knownS: 0 };
    sums.set(day, { atWorkS: sum.atWorkS + Number(atWorkS), knownS: sum.knownS + Number(knownS) });
  }
  return daySpark(
    [...sums].map(([day, { atWorkS, knownS }]) => ({
      day,
      permille: knownS <= 0 ? null : Math.min(1000, Math.max(0, Math.floor((atWorkS * 1000) / knownS))),
    })),
    window,
  );
}
