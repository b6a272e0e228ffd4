import { OperationError } from '../../../facts/operation-error.ts';

/** A clock that reads what Slurm prints. Times are whole seconds since 1970. */
export interface SlurmClock {
  /**
   * Moments a text can mean: none for `Unknown` and `None`, two in the hour that autumn repeats, undefined where the text is
   * no time. Throws where it has no zone and none is known.
   */
  read(text: string): readonly number[] | undefined;
}

const NO_TIME = new Set(['', 'unknown', 'none', 'n/a', '(null)', 'invalid', '0']);
const ISO =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?)?\s*(Z|UTC|GMT|[+-]\d{2}:?\d{2})?$/i;
const FIRST_S = Date.UTC(2000, 0, 1) / 1000;
const LAST_S = Date.UTC(2100, 0, 1) / 1000;
/** No zone has ever changed its clocks within a quarter of an hour of the wall. */
const SLOT_S = 900;
const DAY_S = 86_400;

/** A clock for times of a zone. Without one, only times that say where they stand, and epochs, can be read. */
export function slurmClock(zone?: string, dateFormat?: string): SlurmClock {
  const offsets = zone === undefined ? undefined : zoneOffsets(zone);
  const format = dateFormat === undefined ? undefined : compileFormat(dateFormat);
  return {
    read(text) {
      const input = text.trim();
      if (NO_TIME.has(input.toLowerCase())) return [];
      if (/^\d{9,10}(?:\.\d+)?$/.test(input)) return plausible([Math.floor(Number(input))]);
      const wall = format?.(input) ?? isoWall(input);
      if (wall === undefined) return undefined;
      if (wall.offsetS !== undefined) return plausible([wall.localS - wall.offsetS]);
      if (offsets === undefined) throw zoneMissing(input);
      return plausible(offsets(wall.localS).map((offsetS) => wall.localS - offsetS));
    },
  };
}

function zoneMissing(example: string): OperationError {
  return new OperationError('zone-missing', `times such as ${example} do not say where the clock stood`, {
    hint: "Say it with --zone, e.g. --zone Europe/Berlin: the zone of the machine on which sacct ran (or export with SLURM_TIME_FORMAT='%s').",
  });
}

function plausible(moments: readonly number[]): readonly number[] | undefined {
  return moments.every((moment) => moment >= FIRST_S && moment < LAST_S) ? moments : undefined;
}

interface Wall {
  /** What the clock on the wall shows, as if it stood in UTC. */
  readonly localS: number;
  readonly offsetS?: number;
}

function isoWall(text: string): Wall | undefined {
  const match = ISO.exec(text);
  if (match === null) return undefined;
  const [, year, month, day, hour = '00', minute = '00', second = '00', zone] = match;
  return wallOf([year, month, day, hour, minute, second].map(Number), zone);
}

function wallOf(numbers: readonly number[], zone: string | undefined): Wall | undefined {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = numbers;
  if (hour > 23 || minute > 59 || second > 60) return undefined;
  const date = new Date(Date.UTC(year, month - 1, day, hour, minute, second));
  if (date.getUTCMonth() !== month - 1 || (second < 60 && date.getUTCDate() !== day)) return undefined;
  const localS = date.getTime() / 1000;
  return zone === undefined ? { localS } : { localS, offsetS: offsetSeconds(zone) };
}

function offsetSeconds(zone: string): number {
  const [, sign, hours, minutes] = /^([+-])(\d{2}):?(\d{2})$/.exec(zone) ?? [];
  const size = Number(hours ?? 0) * 3600 + Number(minutes ?? 0) * 60;
  return sign === '-' ? -size : size;
}

const FORMAT_PARTS: Readonly<Record<string, string>> = {
  Y: String.raw`(?<Y>\d{4})`,
  y: String.raw`(?<y>\d{2})`,
  m: String.raw`(?<m>\d{1,2})`,
  d: String.raw`(?<d>\d{1,2})`,
  e: String.raw`\s?(?<d>\d{1,2})`,
  b: String.raw`(?<b>[A-Za-z]{3})`,
  a: '[A-Za-z]{3}',
  H: String.raw`(?<H>\d{1,2})`,
  M: String.raw`(?<M>\d{2})`,
  S: String.raw`(?<S>\d{2})`,
  z: String.raw`(?<z>Z|[+-]\d{2}:?\d{2})`,
};
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/** The patterns of strftime people set in SLURM_TIME_FORMAT. */
function compileFormat(format: string): (text: string) => Wall | undefined {
  const written = format.replaceAll('%F', '%Y-%m-%d').replaceAll('%T', '%H:%M:%S').replaceAll('%R', '%H:%M');
  const source = written
    .replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`)
    .replaceAll(/%([A-Za-z])/g, (_, letter: string) => {
      const part = FORMAT_PARTS[letter];
      if (part !== undefined) return part;
      throw new OperationError('bad-option', `--date-format ${format}: %${letter} is not understood`, {
        hint: 'Use %Y %m %d %b %H %M %S %z, %F and %T.',
      });
    });
  let pattern: RegExp;
  try {
    pattern = new RegExp(`^${source}$`);
  } catch (cause) {
    throw new OperationError('bad-option', `--date-format ${format} says something twice`, {
      hint: 'For example %d/%m/%Y %H:%M:%S.',
      cause,
    });
  }
  return (text) => {
    const found = pattern.exec(text)?.groups;
    if (found === undefined) return undefined;
    const year = found['Y'] ?? (found['y'] === undefined ? '' : `20${found['y']}`);
    const month = found['m'] ?? MONTHS.indexOf((found['b'] ?? '').toLowerCase()) + 1;
    return wallOf([year, month, found['d'], found['H'] ?? 0, found['M'] ?? 0, found['S'] ?? 0].map(Number), found['z']);
  };
}

/**
 * What can be subtracted from a local time to get UTC: one offset nearly always, two in the hour that is repeated. In an hour
 * that was left out it is the one before, as if nobody had touched the clock.
 */
function zoneOffsets(zone: string): (localS: number) => readonly number[] {
  const formatter = formatterOf(zone);
  const known = new Map<number, readonly number[]>();
  const offsetAt = (utcS: number): number => wallSeconds(formatter, utcS) - utcS;
  return (localS) => {
    const slot = Math.floor(localS / SLOT_S);
    const before = known.get(slot);
    if (before !== undefined) return before;
    const [early, late] = [offsetAt(slot * SLOT_S - DAY_S), offsetAt(slot * SLOT_S + DAY_S)];
    const fitting = [...new Set([early, late])].filter((offset) => offsetAt(slot * SLOT_S - offset) === offset);
    // The greater offset is the earlier moment.
    const offsets = fitting.length === 0 ? [early] : fitting.toSorted((a, b) => b - a);
    known.set(slot, offsets);
    return offsets;
  };
}

function formatterOf(zone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US', {
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
    throw new OperationError('unknown-zone', `${zone} is not a time zone`, {
      hint: 'Use a name like Europe/Berlin or UTC.',
      cause,
    });
  }
}

function wallSeconds(formatter: Intl.DateTimeFormat, utcS: number): number {
  const parts: Record<string, number> = {};
  for (const { type, value } of formatter.formatToParts(utcS * 1000)) parts[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second) / 1000;
}

/** `10-13:27:06`, `00:00:24`, `27:06.123` or plain seconds; undefined where it is none of these. */
export function durationSeconds(text: string): number | undefined {
  const input = text.trim();
  if (/^\d{1,12}$/.test(input)) return Number(input);
  const match = /^(?:(\d{1,6})-)?(?:(\d{1,6}):)?(\d{1,2}):(\d{1,2})(?:\.\d+)?$/.exec(input);
  if (match === null) return undefined;
  const [, days = '0', hours = '0', minutes = '0', seconds = '0'] = match;
  return Number(days) * DAY_S + Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
}
