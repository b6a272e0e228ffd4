/**
 * The number in a value such as `59 MiB`, `71.15 W`, `0 %`, `0x0000000000000004`; undefined where the driver has none to
 * give: `N/A`, `[Not Supported]`, `[Unknown Error]`, `Insufficient Permissions`.
 */
export function smiNumber(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const trimmed = text.trim();
  if (/^0x[0-9a-f]{1,13}$/i.test(trimmed)) return Number.parseInt(trimmed, 16);
  // A mask of 64 bits of which none above the 52nd is ever set.
  const mask = /^0x0+([0-9a-f]{1,13})$/i.exec(trimmed);
  if (mask?.[1] !== undefined) return Number.parseInt(mask[1], 16);
  const found = /^([+-]?\d+(?:\.\d+)?)\s*(?:[a-zA-Z%/]{1,8})?$/.exec(trimmed);
  return found === null ? undefined : Number(found[1]);
}

/** The text, or undefined where the driver says that there is none. */
export function smiText(text: string | undefined): string | undefined {
  const trimmed = text?.trim() ?? '';
  const isNone = trimmed === '' || /^\[?(?:N\/A|None|Unknown Error|Not Supported|Not Found)\]?$/i.test(trimmed);
  return isNone ? undefined : trimmed;
}

/** A whole number of at least 0 in the unit of a column; undefined if there is none or it is not plausible. */
export function smiColumn(text: string | undefined, factor: number, max: number): number | undefined {
  const number = smiNumber(text);
  if (number === undefined || number < 0) return undefined;
  const value = Math.round(number * factor);
  return value <= max ? value : undefined;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/**
 * The clock of the machine that printed it, as milliseconds as if it were UTC: the tools write no zone. Undefined for what is
 * no time. `Tue Jul 14 09:00:27 2026` and `2026/07/14 09:00:27.792`.
 */
export function smiWallMs(text: string | undefined): number | undefined {
  const trimmed = text?.trim() ?? '';
  const digits = /^(\d{4})\/(\d{2})\/(\d{2}) (\d{2}):(\d{2}):(\d{2})(?:\.\d+)?$/.exec(trimmed);
  if (digits !== null) {
    const [, year, month, day, ...clock] = digits.map(Number);
    return wall(year, (month ?? 0) - 1, day, clock);
  }
  const words = /^[A-Z][a-z]{2} ([A-Z][a-z]{2}) +(\d{1,2}) (\d{2}):(\d{2}):(\d{2}) (\d{4})$/.exec(trimmed);
  if (words === null) return undefined;
  const [, month = '', day, hour, minute, second, year] = words;
  return wall(Number(year), MONTHS.indexOf(month), Number(day), [hour, minute, second].map(Number));
}

function wall(
  year: number | undefined,
  month: number,
  day: number | undefined,
  [hour, minute, second]: readonly (number | undefined)[],
): number | undefined {
  const ms = Date.UTC(year ?? 0, month, day, hour, minute, second);
  const date = new Date(ms);
  const isReal = month >= 0 && date.getUTCMonth() === month && date.getUTCDate() === day && date.getUTCHours() === hour;
  return isReal ? ms : undefined;
}

/** Masked ids, as people paste them into bug reports, are the same for everybody. */
export function isMaskedId(id: string): boolean {
  return /^(?:GPU-|MIG-)?0{8}-0000-0000-0000-0{12}$/.test(id);
}
