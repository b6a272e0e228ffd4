import { SHARE_UNITS } from '../facts/column.ts';
import { roundLargestRemainder } from '../money/split.ts';
import { divideRounded, formatUsdCents, formatWholeUsd, MICROS_PER_USD } from '../money/usd.ts';

/** What stands where a price is missing; never $0. */
export const NO_PRICE = 'no price';

const MICROS_PER_CENT = 10_000n;
/** Below this the cents matter to a reader, above they are made-up precision. */
const CENTS_BELOW_USD_MICROS = 100n * MICROS_PER_USD;
/** Unit-seconds (63,000ths of a GPU × seconds) in a GPU-hour. */
export const UNITS_PER_GPU = BigInt(SHARE_UNITS);
const UNITS_PER_GPU_HOUR = UNITS_PER_GPU * 3600n;
const TENTHS_BELOW_HOURS = 100n;
const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

/** `$412,900`, below a hundred dollars `$25.60`, `no price` for null. */
export function dollars(micros: bigint | null): string {
  if (micros === null) return NO_PRICE;
  return usesCents(micros) ? formatUsdCents(micros) : formatWholeUsd(micros);
}

/** `$16.8k–18.7k`; one figure where both ends read the same. */
export function rangeWords({ low, high }: { readonly low: bigint; readonly high: bigint }): string {
  const [from, to] = [shortDollars(low), shortDollars(high)];
  return from === to ? to : `${from}–${to.slice(1)}`;
}

/** Three digits: `$940`, `$1,650`, `$16.8k`, `$187k`, `$1.25M`. */
export function shortDollars(micros: bigint): string {
  const whole = divideRounded(micros, MICROS_PER_USD);
  if (whole < 1000n) return `$${whole}`;
  if (whole < 9995n) return `$${(divideRounded(whole, 10n) * 10n).toLocaleString('en-US')}`;
  const [unit, suffix] = whole < 999_500n ? [1000n, 'k'] : [1_000_000n, 'M'];
  const decimals = whole < 10n * unit ? 2 : whole < 100n * unit ? 1 : 0;
  const scaled = String(divideRounded(whole * 10n ** BigInt(decimals), unit)).padStart(decimals + 1, '0');
  const fraction = decimals === 0 ? '' : `.${scaled.slice(-decimals)}`.replace(/\.?0+$/, '');
  return `$${decimals === 0 ? scaled : scaled.slice(0, -decimals)}${fraction}${suffix}`;
}

/** `$94/h`, `$3.20/h`. */
export function dollarsPerHour(micros: bigint | null): string {
  return micros === null ? NO_PRICE : `${dollars(micros)}/h`;
}

/** A total and its parts in one precision, rounded so that the parts shown add up to the total shown. */
export function dollarsOf(parts: readonly (bigint | null)[]): { total: string; parts: string[] } {
  const known = parts.map((part) => part ?? 0n);
  const sum = known.reduce((a, b) => a + b, 0n);
  const unit = usesCents(sum) ? MICROS_PER_CENT : MICROS_PER_USD;
  const shown = roundLargestRemainder(known, unit);
  return {
    total:
      parts.every((part) => part === null) && parts.length > 0
        ? NO_PRICE
        : roundedDollars(sum, divideRounded(sum, unit) * unit, unit),
    parts: parts.map((part, index) => (part === null ? NO_PRICE : roundedDollars(part, shown[index] ?? 0n, unit))),
  };
}

/** What some of the parts come to, as `dollarsOf` shows them: who adds up what is on the screen gets the same. */
export function dollarsOfSome(parts: readonly (bigint | null)[], isWanted: (place: number) => boolean): string {
  const known = parts.map((part) => part ?? 0n);
  const unit = usesCents(known.reduce((a, b) => a + b, 0n)) ? MICROS_PER_CENT : MICROS_PER_USD;
  const shown = roundLargestRemainder(known, unit);
  const sumOf = (amounts: readonly bigint[]): bigint =>
    amounts.filter((_, place) => isWanted(place)).reduce((a, b) => a + b, 0n);
  return roundedDollars(sumOf(known), sumOf(shown), unit);
}

/** Parts and their own parts in one precision: both levels add up as they are shown. */
export function nestedDollarsOf(groups: readonly (readonly (bigint | null)[])[]): string[][] {
  const known = groups.map((parts) => parts.map((part) => part ?? 0n));
  const sums = known.map((parts) => parts.reduce((a, b) => a + b, 0n));
  const unit = usesCents(sums.reduce((a, b) => a + b, 0n)) ? MICROS_PER_CENT : MICROS_PER_USD;
  const shown = nestedRounded(known, sums, unit);
  return groups.map((parts, place) =>
    parts.map((part, index) => (part === null ? NO_PRICE : roundedDollars(part, shown[place]?.[index] ?? 0n, unit))),
  );
}

function nestedRounded(groups: readonly (readonly bigint[])[], sums: readonly bigint[], unit: bigint): bigint[][] {
  const targets = roundLargestRemainder(sums, unit);
  return groups.map((parts, place) => roundLargestRemainder(parts, unit, targets[place] ?? 0n));
}

function roundedDollars(micros: bigint, rounded: bigint, unit: bigint): string {
  if (unit === MICROS_PER_USD) return formatWholeUsd(micros, rounded);
  return rounded === 0n && micros !== 0n ? formatUsdCents(micros < 0n ? -1n : 1n) : formatUsdCents(rounded);
}

/** Parts as whole percents of their sum, adding up to 100; what is there but below one half is `<1 %`. */
export function percentsOf(parts: readonly bigint[]): string[] {
  const sum = parts.reduce((a, b) => a + b, 0n);
  if (sum <= 0n) return parts.map(() => '');
  const shown = roundLargestRemainder(
    parts.map((part) => part * 100n),
    sum,
  ).map((scaled) => scaled / sum);
  return parts.map((part, index) => {
    const percent = shown[index] ?? 0n;
    if (percent === 0n && part > 0n) return '<1 %';
    return `${percent < 0n ? `−${-percent}` : percent} %`;
  });
}

/** `41 %` of a permille. */
export function percentOfPermille(permille: number): string {
  const percent = Math.round(permille / 10);
  if (percent === 100 && permille < 1000) return '>99 %';
  return percent === 0 && permille > 0 ? '<1 %' : `${percent} %`;
}

/** `9,400 GPU-hours` of unit-seconds; below a hundred with one decimal. */
export function gpuHours(units: bigint): string {
  return `${gpuHoursOf([units]).parts[0] ?? ''} GPU-hours`;
}

/** GPU-hours of a total and its parts, in one precision, adding up. */
export function gpuHoursOf(parts: readonly bigint[]): { total: string; parts: string[] } {
  const sum = parts.reduce((a, b) => a + b, 0n);
  const unit = hoursUnit(sum);
  const shown = roundLargestRemainder(parts, unit);
  return {
    total: roundedHours(sum, divideRounded(sum, unit) * unit, unit),
    parts: parts.map((part, index) => roundedHours(part, shown[index] ?? 0n, unit)),
  };
}

/** GPU-hours of parts and their own parts, in one precision, adding up on both levels. */
export function nestedHoursOf(groups: readonly (readonly bigint[])[]): string[][] {
  const sums = groups.map((parts) => parts.reduce((a, b) => a + b, 0n));
  const unit = hoursUnit(sums.reduce((a, b) => a + b, 0n));
  const shown = nestedRounded(groups, sums, unit);
  return groups.map((parts, place) =>
    parts.map((part, index) => roundedHours(part, shown[place]?.[index] ?? 0n, unit)),
  );
}

function hoursUnit(sum: bigint): bigint {
  return sum < TENTHS_BELOW_HOURS * UNITS_PER_GPU_HOUR ? UNITS_PER_GPU_HOUR / 10n : UNITS_PER_GPU_HOUR;
}

function roundedHours(units: bigint, rounded: bigint, unit: bigint): string {
  const isSmall = unit < UNITS_PER_GPU_HOUR;
  const count = rounded / unit;
  if (count === 0n && units > 0n) return isSmall ? '<0.1' : '<1';
  return isSmall ? `${count / 10n}.${count % 10n}` : grouped(count);
}

/** `8`, `2.5`: how many GPUs so many 63,000ths are. */
export function gpuCount(shareUnits: bigint): string {
  const tenths = divideRounded(shareUnits * 10n, UNITS_PER_GPU);
  if (tenths === 0n && shareUnits > 0n) return '<0.1';
  return tenths % 10n === 0n ? grouped(tenths / 10n) : `${grouped(tenths / 10n)}.${tenths % 10n}`;
}

/** Unit-seconds as seconds of a whole GPU, for JSON: at most three decimals. */
export function gpuSeconds(units: bigint): number {
  return Number(divideRounded(units * 1000n, UNITS_PER_GPU)) / 1000;
}

/** `2 d 3 h`, `3 h 10 m`, `45 m`, `30 s`: the two largest units that count. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const [days, hours, minutes] = [
    Math.floor(whole / 86_400),
    Math.floor(whole / 3600) % 24,
    Math.floor(whole / 60) % 60,
  ];
  if (days > 0) return hours > 0 ? `${days} d ${hours} h` : `${days} d`;
  if (hours > 0) return minutes > 0 ? `${hours} h ${minutes} m` : `${hours} h`;
  return minutes > 0 ? `${minutes} m` : `${whole} s`;
}

/** `2026-11-01`. */
export function day(time: Date): string {
  return time.toISOString().slice(0, 10);
}

/** `2026-11-01 09:30`, in UTC. */
export function minute(time: Date): string {
  return time.toISOString().slice(0, 16).replace('T', ' ');
}

/** `2026-11-01T09:30:00Z`, for JSON. */
export function isoTime(time: Date): string {
  return `${time.toISOString().slice(0, 19)}Z`;
}

/** `Fri 18:42` within the last six days of `now`, else `2026-11-01 18:42`. */
export function recently(time: Date, now: Date): string {
  const isRecent = now.getTime() - time.getTime() < 6 * 86_400_000;
  return isRecent ? `${WEEKDAYS[time.getUTCDay()] ?? ''} ${time.toISOString().slice(11, 16)}` : minute(time);
}

/** `1 owner`, `9 owners`, `1,200 GPUs`. */
export function counted(count: number | bigint | string, noun: string, nouns = `${noun}s`): string {
  const text = typeof count === 'string' ? count : grouped(BigInt(count));
  return `${text} ${text === '1' ? noun : nouns}`;
}

function usesCents(micros: bigint): boolean {
  return micros < CENTS_BELOW_USD_MICROS && micros > -CENTS_BELOW_USD_MICROS;
}

function grouped(whole: bigint): string {
  return String(whole).replace(/\B(?=(\d{3})+$)/g, ',');
}
