import type { Category } from '../../ledger/waterfall.ts';
import { formatUsdCents, formatWholeUsd } from '../../money/usd.ts';
import { CATEGORY_LINES, reasonWords } from '../category-words.ts';
import {
  dollars,
  dollarsOf,
  dollarsOfSome,
  gpuHoursOf,
  nestedDollarsOf,
  nestedHoursOf,
  percentsOf,
} from '../figures.ts';
import { isThere } from '../look-screen.ts';
import type { CategorySum } from '../look-screen.ts';
import { safeText } from '../safe-text.ts';
import type { WasteAnswer, WasteCategory } from './waste-answer.ts';

/** A line of the waterfall, for every way of showing it. */
export interface WasteLine {
  readonly category: Category;
  /** A category, or a reason within the one above. */
  readonly isReason: boolean;
  /** Null of a category, and where the ledger gives none. */
  readonly reason: string | null;
  readonly name: string;
  readonly amount: string;
  readonly percent: string;
  readonly hours: string;
  readonly change: string;
  readonly weight: bigint;
}

/** The waterfall in words: money where there is any, GPU-hours where nothing has a price. Both levels add up as shown. */
export function wasteLines(answer: WasteAnswer): {
  total: string;
  totalHours: string;
  inMoney: boolean;
  lines: WasteLine[];
} {
  const shown = shownCategories(answer);
  const inMoney = answer.sum.usdMicros !== null;
  const weight = (sum: CategorySum): bigint => (inMoney ? (sum.usdMicros ?? 0n) : sum.gpuUnits);
  const money = dollarsOf(shown.map(({ sum }) => sum.usdMicros));
  const hours = gpuHoursOf(shown.map(({ sum }) => sum.gpuUnits));
  const reasonMoney = nestedDollarsOf(shown.map(({ reasons }) => reasons.map(({ sum }) => sum.usdMicros)));
  const reasonHours = nestedHoursOf(shown.map(({ reasons }) => reasons.map(({ sum }) => sum.gpuUnits)));
  const percents = percentsOf(shown.map(({ sum }) => weight(sum)));
  const lines = shown.flatMap((each, place): WasteLine[] => [
    {
      category: each.category,
      isReason: false,
      reason: null,
      name: each.name,
      amount: money.parts[place] ?? '',
      percent: each.sum.usdMicros === null && inMoney ? '' : (percents[place] ?? ''),
      hours: each.sum.gpuUnits === 0n ? '' : (hours.parts[place] ?? ''),
      change: changeWords(each, answer, inMoney),
      weight: weight(each.sum),
    },
    ...(hasOneReason(each) ? [] : each.reasons).map(({ reason, sum }, index): WasteLine => ({
      category: each.category,
      isReason: true,
      reason,
      name: safeText(reasonWords(each.category, reason)),
      amount: reasonMoney[place]?.[index] ?? '',
      percent: '',
      hours: sum.gpuUnits === 0n ? '' : (reasonHours[place]?.[index] ?? ''),
      change: '',
      weight: weight(sum),
    })),
  ]);
  return { total: money.total, totalHours: hours.total, inMoney, lines };
}

/** What some categories come to, as the lines show them. */
export function sumAsShown(answer: WasteAnswer, isWanted: (category: Category) => boolean): string {
  const shown = shownCategories(answer);
  const amounts = shown.map(({ sum }) => sum.usdMicros);
  return dollarsOfSome(amounts, (place) => isWanted(shown[place]?.category ?? 'unknown'));
}

function shownCategories({ categories }: WasteAnswer): (WasteCategory & { readonly name: string })[] {
  return CATEGORY_LINES.flatMap(([category, name]) => {
    const found = categories.find((each) => each.category === category);
    return found !== undefined && isThere(found.sum) ? [{ ...found, name }] : [];
  });
}

/** `only team=nlp`, else everything. */
export function scopeWords({ filter }: Pick<WasteAnswer, 'filter'>): string {
  return filter === '' ? 'everything' : `only ${safeText(filter)}`;
}

/** A category of one nameless kind needs no second line. */
function hasOneReason({ reasons }: WasteCategory): boolean {
  return reasons.length === 0 || (reasons.length === 1 && reasons[0]?.reason === null);
}

/** `+$4,100, +3 points`: in money, and in its part of the whole. Nothing is said where the facts do not reach back. */
function changeWords({ sum, before }: WasteCategory, { sum: whole, sumBefore }: WasteAnswer, inMoney: boolean): string {
  if (!inMoney || before === undefined || sumBefore === undefined) return '';
  const money = changeOf(sum, before, whole);
  if (money === '') return '';
  const points =
    pointsOf(sum.usdMicros ?? 0n, whole.usdMicros ?? 0n) - pointsOf(before.usdMicros ?? 0n, sumBefore.usdMicros ?? 0n);
  return points === 0 ? money : `${money}, ${pointWords(points)}`;
}

/** `+$4,100`, or nothing where one of the two is not known; in the precision of the whole it stands beside. */
export function changeOf(now: CategorySum, before: CategorySum | undefined, whole: CategorySum): string {
  if (now.usdMicros === null || before === undefined || before.usdMicros === null) return '';
  const difference = now.usdMicros - before.usdMicros;
  if (difference === 0n) return 'as before';
  const isSmall = dollars(whole.usdMicros).includes('.');
  return `${difference > 0n ? '+' : ''}${isSmall ? formatUsdCents(difference) : formatWholeUsd(difference)}`;
}

/** `+3 points`, `−1 point`. */
export function pointWords(points: number): string {
  return `${points > 0 ? '+' : '−'}${Math.abs(points)} ${Math.abs(points) === 1 ? 'point' : 'points'}`;
}

/** Whole percents. */
function pointsOf(part: bigint, whole: bigint): number {
  return whole <= 0n ? 0 : Math.round(Number((part * 1000n) / whole) / 10);
}
