const DAY_MS = 86_400_000;

/** `2026-11-01` of a time. */
export function dayOf(time: Date): string {
  return time.toISOString().slice(0, 10);
}

/** First second of a day. */
export function startOf(day: string): Date {
  return new Date(`${day}T00:00:00Z`);
}

export function addDays(day: string, count: number): string {
  return dayOf(new Date(startOf(day).getTime() + count * DAY_MS));
}

/** Every day from the first to the last, both included. */
export function daysBetween(first: string, last: string): string[] {
  const days: string[] = [];
  for (let at = startOf(first).getTime(); at <= startOf(last).getTime(); at += DAY_MS) days.push(dayOf(new Date(at)));
  return days;
}

/** Times of the manifest are text as the engine prints them: `2026-11-01 10:00:00`. */
export function parseTime(text: string): Date {
  return new Date(`${text.replace(' ', 'T')}Z`);
}

export function printTime(time: Date): string {
  return time.toISOString().slice(0, 19).replace('T', ' ');
}
