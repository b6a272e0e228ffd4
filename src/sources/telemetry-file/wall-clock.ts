import { OperationError } from '../../facts/operation-error.ts';

/** The moment at which clocks in a zone showed this; `wallMs` is what they showed, as if it were UTC. */
export function momentInZone(wallMs: number, zone: string): number {
  // Twice, because the offset may change between the first guess and the moment.
  const guess = wallMs - offsetMs(wallMs, zone);
  return wallMs - offsetMs(guess, zone);
}

function offsetMs(ms: number, zone: string): number {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch (cause) {
    throw new OperationError('bad-zone', `--zone ${zone} is not a time zone`, {
      hint: 'For example --zone Europe/Berlin, or --zone UTC.',
      cause,
    });
  }
  const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
  const part = (name: Intl.DateTimeFormatPartTypes): number => parts.get(name) ?? 0;
  const shown = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
  return shown - Math.floor(ms / 1000) * 1000;
}

const QUARTER_MS = 900_000;
const SLACK_MS = 300_000;

/** How far a clock was ahead of UTC, if it showed this at that moment; undefined if no zone is that far off. */
export function offsetBetween(wallMs: number, utcMs: number): number | undefined {
  const ahead = wallMs - utcMs;
  const offset = Math.round(ahead / QUARTER_MS) * QUARTER_MS;
  const isZone = Math.abs(ahead - offset) <= SLACK_MS && Math.abs(offset) <= 14 * 3_600_000;
  return isZone ? offset : undefined;
}
