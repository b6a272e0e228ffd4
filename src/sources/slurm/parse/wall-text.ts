/** What a clock in the zone shows, as Slurm's commands take it: `2026-11-16T10:00:00`. */
export function wallText(seconds: number, zone: string): string {
  const moment = new Date(seconds * 1000);
  if (zone === 'UTC') return moment.toISOString().slice(0, 19);
  // Swedish dates are ISO dates.
  return new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' })
    .format(moment)
    .replace(' ', 'T');
}
