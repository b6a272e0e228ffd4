import type { Finding } from '../facts/finding.ts';
import { counted, dollars, minute } from './figures.ts';
import type { FindingsAnswer } from './finding-answer.ts';
import { isSmall, smallBelowUsdMicros, sumOf } from './finding-answer.ts';
import { findingRows } from './finding-rows.ts';
import { findingNumber, knownWords, moneyWords, paidWords, sumWords } from './finding-words.ts';
import { safeText } from './safe-text.ts';
import { wrapText } from './table.ts';
import { unknownValueLines } from './unknown-value.ts';
import { windowWords } from './window-words.ts';

/** Where nobody says how wide the screen is. */
const WIDTH_DEFAULT = 120;
const DEAREST_MAX = 3;

export interface FindingListOptions {
  readonly dataFlag?: string;
  /** Every one, also those about price that a small bill hides. */
  readonly all?: boolean;
  /** Also those too small to be told one by one. */
  readonly small?: boolean;
  /** Columns of the screen. */
  readonly width?: number;
  /** Which of them; what was asked for, for people. */
  readonly filter?: { readonly words: string; readonly keeps: (finding: Finding) => boolean };
}

/** Which findings a list tells: what was asked for, at most so many unless all are; small ones are counted together. */
export function toldFindings(
  answer: FindingsAnswer,
  { all = false, small = false, filter }: FindingListOptions,
): { readonly told: readonly Finding[]; readonly rest: readonly Finding[]; readonly folded: readonly Finding[] } {
  const isAll = all || small;
  const wanted = [...answer.findings, ...(isAll ? answer.hiddenPrice : [])].filter(filter?.keeps ?? (() => true));
  const folded = small ? [] : wanted.filter((finding) => isSmall(finding, answer));
  const worth = wanted.filter((finding) => !folded.includes(finding));
  const told = isAll ? worth : worth.slice(0, answer.shownMax);
  return { told, rest: worth.slice(told.length), folded };
}

/** What there is to do, as people read it: safe first, then money. */
export function findingList(answer: FindingsAnswer, options: FindingListOptions = {}): string[] {
  const { dataFlag = '', width = WIDTH_DEFAULT } = options;
  const { told, rest, folded } = toldFindings(answer, options);
  const more = rest.length;
  const wrapped = (lines: readonly string[]): string[] => lines.flatMap((line) => wrapText(line, width));
  return [
    ...wrapped([headline(answer, told, more, options), ...unknownValueLines(answer.unknownValues), scopeLine(answer)]),
    ...(told.length > 0 ? ['', ...findingRows(told, answer.window.ledgerDays, width, dataFlag), ''] : []),
    ...(more > 0 ? [`${more} more: bursar findings --all${dataFlag}`] : []),
    ...wrapped(dearestLine(rest, answer)),
    ...wrapped([...foldedLine(answer, folded, dataFlag), ...asideLines(answer, options)]),
    ...(told.length > 0
      ? wrapped([
          'Cash: the bill falls once the machines are gone, at least by what stands on those the finding frees wholly. Capacity: GPU time others can use. Never added.',
          `All of one, its history, and what to do with it: bursar finding ${findingNumber(told[0] ?? { number: null })}${dataFlag}`,
        ])
      : []),
  ];
}

/** Safe first leaves the largest sums for later: somebody who has a month wants to know of them. */
function dearestLine(rest: readonly Finding[], answer: FindingsAnswer): string[] {
  const dearest = rest
    .filter(({ kind, usdMicros }) => (kind === 'cash' || kind === 'capacity') && usdMicros !== null)
    .toSorted((a, b) => Number((b.usdMicros ?? 0n) - (a.usdMicros ?? 0n)))
    .slice(0, DEAREST_MAX);
  if (dearest.length === 0) return [];
  const words = dearest.map((each) => `${findingNumber(each)} ${moneyWords(each, answer.window.ledgerDays)}`);
  return [`The dearest of them: ${words.join('; ')}`];
}

function foldedLine(answer: FindingsAnswer, folded: readonly Finding[], dataFlag: string): string[] {
  if (folded.length === 0) return [];
  const below = `below ${dollars(smallBelowUsdMicros(answer))}${folded.length === 1 ? '' : ' each'} (0.1 % of what is wasted)`;
  return [
    `${counted(folded.length, 'small one')} ${below}: ${sumWords(sumOf(folded))} in all: bursar findings --small${dataFlag}`,
  ];
}

function headline(
  answer: FindingsAnswer,
  told: readonly Finding[],
  more: number,
  { filter }: FindingListOptions,
): string {
  const what = filter === undefined ? '' : ` (${filter.words})`;
  if (answer.window.ledgerDays === 0) {
    const facts = answer.asOfBy === 'asked' ? 'facts of a whole day' : 'facts';
    return `Nothing can be said${what}: no ${facts} in ${windowWords(answer)}`;
  }
  // GPUs were held, and the days that findings are read from have none: a ledger of a version before.
  if (answer.gpus === 0 && answer.heldUnits > 0n) return `Nothing can be said${what} before: bursar derive`;
  if (told.length === 0) return `Nothing to do${what}: no finding in ${windowWords(answer)}`;
  const these = told.length === 1 ? 'This one' : `These ${told.length}`;
  return `${these}${what}, applied in order: ${sumWords(sumOf(told))}${more > 0 ? ` (${more} more: see below)` : ''}`;
}

function scopeLine(answer: FindingsAnswer): string {
  const scope = answer.team === undefined ? counted(answer.gpus, 'GPU') : `team ${safeText(answer.team)}`;
  const at = `as of ${minute(answer.asOf)} UTC${answer.asOfBy === 'newest fact' ? ', the newest fact' : ''}`;
  return [scope, `${windowWords(answer)}, ${at}`, ...paidWords(answer), knownWords(answer)].join('; ');
}

function asideLines(answer: FindingsAnswer, { all = false, dataFlag = '' }: FindingListOptions): string[] {
  const count = (state: string): number => answer.setAside.filter((finding) => finding.state === state).length;
  const aside = [
    ...(count('exempt') > 0 ? [`${count('exempt')} exempt`] : []),
    ...(count('dismissed') > 0 ? [`${count('dismissed')} dismissed`] : []),
  ];
  return [
    ...(aside.length > 0 ? [`${aside.join(', ')}: bursar findings --state exempt,dismissed${dataFlag}`] : []),
    ...(!all && answer.hiddenPrice.length > 0
      ? [
          `${answer.hiddenPrice.length} about price and commitments, not worth the meetings below one engineer's cost a year: bursar findings --all${dataFlag}`,
        ]
      : []),
    ...(answer.numbers === 'refused'
      ? ['The folder cannot be written to: new findings have no number, and nothing is marked as fixed.']
      : []),
  ];
}
