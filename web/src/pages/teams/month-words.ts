import { roundLargestRemainder } from '../../../../src/money/split.ts';
import { formatUsdCents } from '../../../../src/money/usd.ts';

const MICROS_PER_CENT = 10_000n;
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

/** `October 2026`. */
export function monthName(month: string): string {
  return `${MONTHS[Number(month.slice(5)) - 1] ?? month} ${month.slice(0, 4)}`;
}

/** `Oct`. */
export function monthShort(month: string): string {
  return (MONTHS[Number(month.slice(5)) - 1] ?? month).slice(0, 3);
}

/** `1–31 October 2026`. */
export function monthDays({ from, until }: { readonly from: string; readonly until: string }): string {
  const last = new Date(Date.parse(until) - 1);
  const first = new Date(from).getUTCDate();
  const name = monthName(last.toISOString().slice(0, 7));
  return first === last.getUTCDate() ? `${first} ${name}` : `${first}–${last.getUTCDate()} ${name}`;
}

/** `$149,378.21` of whole cents. */
export function usdOfCents(cents: string): string {
  return formatUsdCents(BigInt(cents) * MICROS_PER_CENT);
}

/** Parts in cents that add up to the amount over them, as the statement's own lines do; `no price` for null. */
export function centsParts(parts: readonly (string | null)[], amountCents: string): string[] {
  const shown = roundLargestRemainder(
    parts.map((part) => BigInt(part ?? '0')),
    MICROS_PER_CENT,
    BigInt(amountCents) * MICROS_PER_CENT,
  );
  return parts.map((part, place) => (part === null ? 'no price' : formatUsdCents(shown[place] ?? 0n)));
}

/** `12 min`, `3 h 10 min`, `1 d 7 h`: the two largest units that count. */
export function waitWords(seconds: number): string {
  const [days, hours, minutes] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3600) % 24,
    Math.floor(seconds / 60) % 60,
  ];
  if (days > 0) return hours > 0 ? `${days} d ${hours} h` : `${days} d`;
  if (hours > 0) return minutes > 0 ? `${hours} h ${minutes} min` : `${hours} h`;
  return minutes > 0 ? `${minutes} min` : `${Math.floor(seconds)} s`;
}
