export type Key = readonly (string | number | bigint)[];

/** Orders by the first element that differs. Text by code unit, which for the little organisations' ASCII is by byte. */
export function compareKeys(left: Key, right: Key): number {
  for (const [index, a] of left.entries()) {
    const b = right[index];
    if (b === undefined) return 1;
    if (a < b) return -1;
    if (a > b) return 1;
  }
  return left.length - right.length;
}

export function sortedBy<T>(rows: Iterable<T>, key: (row: T) => Key): T[] {
  return [...rows].sort((left, right) => compareKeys(key(left), key(right)));
}

export function groupedBy<T>(rows: Iterable<T>, name: (row: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const row of rows) {
    const group = groups.get(name(row));
    if (group === undefined) groups.set(name(row), [row]);
    else group.push(row);
  }
  return groups;
}

export interface Period {
  readonly from: number;
  readonly until: number;
}

export function overlap(left: Period, right: Period): Period {
  return { from: Math.max(left.from, right.from), until: Math.min(left.until, right.until) };
}

export function secondsOf(period: Period): number {
  return Math.max(0, period.until - period.from);
}

export function covers(period: Period, time: number): boolean {
  return period.from <= time && time < period.until;
}

/** Seconds that at least one of the periods covers within `window`. */
export function secondsCovered(periods: readonly Period[], window: Period): number {
  let seconds = 0;
  let reached = window.from;
  for (const period of sortedBy(periods, (each) => [each.from])) {
    seconds += secondsOf(overlap(period, { from: reached, until: window.until }));
    reached = Math.max(reached, period.until);
  }
  return seconds;
}
