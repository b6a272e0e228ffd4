import { roundLargestRemainder } from '../../src/money/split.ts';
import { formatWholeUsd } from '../../src/money/usd.ts';
import { dollars, dollarsOf, NO_PRICE } from '../../src/report/figures.ts';

/** Whole dollars of micros as the API sends them; `no price` for null. */
export function usd(micros: string | null | undefined): string {
  if (micros === undefined) return '–';
  // A true zero has no cents.
  return micros === '0' ? '$0' : dollars(micros === null ? null : BigInt(micros));
}

/** `≥ $1,000` where GPU time beside it has no price; `no price` where none of it has one. */
export function leastUsd(micros: string | null, unpricedSeconds: number): string {
  return least(usd(micros), unpricedSeconds);
}

/** Marks an amount as a lower bound where GPU time beside it has no price. */
export function least(shown: string, unpricedSeconds: number): string {
  return unpricedSeconds > 0 && shown !== NO_PRICE ? `≥ ${shown}` : shown;
}

/** Parts and their total, rounded so that the parts shown add up to the total shown. */
export function usdParts(micros: readonly (string | null)[]): { readonly total: string; readonly parts: string[] } {
  return dollarsOf(micros.map((each) => (each === null ? null : BigInt(each))));
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `14 Nov`; UTC. */
export function day(time: string | number | Date): string {
  const at = new Date(time);
  return `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()] ?? ''}`;
}

/** `14 Nov, 04:10`; UTC. */
export function minute(time: string | number | Date): string {
  return `${day(time)}, ${new Date(time).toISOString().slice(11, 16)}`;
}

/** `16 Oct – 14 Nov 2026` of a half-open window. */
export function dayRange(from: string, until: string): string {
  const last = new Date(Date.parse(until) - 1);
  const first = day(from);
  return `${first === day(last) ? '' : `${first} – `}${day(last)} ${last.getUTCFullYear()}`;
}

const DAY_MS = 86_400_000;

/** `30 of 31 days` of a window in which not every day has facts; null where each has some. */
export function factDays(
  { from, until }: { readonly from: string; readonly until: string },
  ledgerDays: number,
): string | null {
  const days = Math.ceil((Date.parse(until) - Date.parse(from)) / DAY_MS);
  return ledgerDays < days ? `${ledgerDays} of ${days} days` : null;
}

/** The same of a month's statement, which says how many days it has no facts of; null also of one that was issued before that was counted. */
export function statedFactDays({
  window,
  missingDays,
}: {
  readonly window: { readonly from: string; readonly until: string };
  readonly missingDays: number | null;
}): string | null {
  const days = Math.ceil((Date.parse(window.until) - Date.parse(window.from)) / DAY_MS);
  return missingDays === null ? null : factDays(window, days - missingDays);
}

const signed = (text: string, value: number): string => (value < 0 ? `−${text}` : value > 0 ? `+${text}` : `±${text}`);

/** `+4.7%` against what was before; null where there was nothing. */
export function change(now: string | null, before: string | null): string | null {
  if (now === null || before === null || BigInt(before) <= 0n) return null;
  const permille = Number(((BigInt(now) - BigInt(before)) * 10_000n) / BigInt(before)) / 10;
  const tenths = Math.round(permille) / 10;
  return signed(`${Math.abs(tenths).toFixed(1)}%`, tenths);
}

/** `+2.7 pts`: a change of a share is points, not percent. */
export function points(nowPermille: number | null, beforePermille: number | null): string | null {
  if (nowPermille === null || beforePermille === null) return null;
  const tenths = Math.round(nowPermille - beforePermille) / 10;
  return `${signed(Math.abs(tenths).toFixed(1), tenths)} pts`;
}

/** `51.5%` of permille; what is there but would read as nothing is `<1%`. */
export function percent(permille: number | null, digits = 1): string {
  if (permille === null) return '–';
  const shown = (permille / 10).toFixed(digits);
  return permille > 0 && Number(shown) === 0 ? `<${10 ** -digits}%` : `${shown}%`;
}

/** Thousandths of a part in a whole; null where there is no whole. */
export function permilleOf(part: string | null, whole: string | null): number | null {
  if (part === null || whole === null || BigInt(whole) <= 0n) return null;
  return Number((BigInt(part) * 10_000n) / BigInt(whole)) / 10;
}

/** `252.7` or `1,834` GPU-hours of GPU-seconds. */
export function hours(seconds: number): string {
  const value = seconds / 3600;
  const digits = value !== 0 && value < 1000 ? 1 : 0;
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** GPU-hours of parts, each in the precision of their sum, rounded so that the parts shown add up to it. */
export function hoursParts(seconds: readonly number[]): string[] {
  const millis = seconds.map((each) => BigInt(Math.round(each * 1000)));
  const unit = millis.reduce((sum, each) => sum + each, 0n) < 3_600_000_000n ? 360_000n : 3_600_000n;
  const shown = roundLargestRemainder(millis, unit);
  const digits = unit === 360_000n ? 1 : 0;
  return shown.map((each) =>
    (Number(each) / 3_600_000).toLocaleString('en-US', {
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
    }),
  );
}

/** `40 s`, `12 min`, `3 h`, `2 days` of seconds. */
export function age(seconds: number): string {
  if (seconds < 90) return `${Math.max(0, Math.round(seconds))} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}

/** Long names are cut in the middle, where they differ least; the whole name stands in the title. */
export function cut(text: string, length = 34): string {
  if (text.length <= length) return text;
  const kept = length - 1;
  return `${text.slice(0, Math.ceil(kept / 2))}…${text.slice(-Math.floor(kept / 2))}`;
}

/** As it stands where a sentence begins. */
export function sentenceCase(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const WHOLE_FROM_MICROS = 100_000_000n;

/** `$3,032–8,150`, `up to $940`; one figure where both ends read the same. The same on every page, so that they tie. */
export function usdRange({ low, high }: { readonly low: string; readonly high: string }): string {
  // Both ends in one precision: cents beside thousands would be made up.
  const isLarge = BigInt(high) >= WHOLE_FROM_MICROS;
  const [from, to] = [isLarge ? formatWholeUsd(BigInt(low)) : usd(low), usd(high)];
  if (from === to) return to;
  return BigInt(low) === 0n ? `up to ${to}` : `${from}–${to.replace('$', '')}`;
}

/** What one unit costs: `$1,662`, below a hundred dollars `$35.30`, below one dollar three digits: `$0.0219`. */
export function unitUsd(micros: string | null): string {
  if (micros === null) return '–';
  const value = Number(micros) / 1e6;
  if (Math.abs(value) >= 100) return `$${Math.round(value).toLocaleString('en-US')}`;
  if (Math.abs(value) >= 0.9995) return `$${value.toFixed(2)}`;
  return `$${Number(value.toPrecision(3)).toLocaleString('en-US', { maximumSignificantDigits: 3, maximumFractionDigits: 12 })}`;
}

/** `$3.90` an hour: rates are compared to the cent, and small ones further. */
export function rateUsd(micros: string | null): string {
  if (micros === null) return '–';
  const value = Number(micros) / 1e6;
  return value >= 0.1 ? `$${value.toFixed(2)}` : unitUsd(micros);
}

/** `H100` of `NVIDIA H100 80GB HBM3`: the whole name stands in the title. */
export function shortModel(model: string): string {
  return model.replace(/^NVIDIA /, '').split(' ')[0] ?? model;
}

/** Dollars as a number, for where it is drawn; never for a sum that is shown. */
export function usdNumber(micros: string | null | undefined): number | null {
  return micros === null || micros === undefined ? null : Number(BigInt(micros)) / 1e6;
}

/** `14 days`, `6 h`: how long a window is. */
export function lengthWords(from: string, until: string): string {
  const hoursLong = Math.round((Date.parse(until) - Date.parse(from)) / 3_600_000);
  const days = Math.round(hoursLong / 24);
  if (hoursLong < 48 && hoursLong % 24 !== 0) return `${hoursLong} h`;
  return days === 1 ? '1 day' : `${days} days`;
}
