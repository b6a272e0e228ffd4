import type { Category } from '../../ledger/waterfall.ts';
import { CATEGORY_LINES, COMPUTE_SHARE_REFERENCE, WASTE_CATEGORIES } from '../category-words.ts';
import { day, dollars, dollarsOf, gpuHours, minute, percentOfPermille, percentsOf } from '../figures.ts';
import { isThere } from '../look-screen.ts';
import { safeText } from '../safe-text.ts';
import { BASIS_WORDS, NOT_DERIVED } from '../spend-table.ts';
import { shorten, textTable, textWidth, wrapText } from '../table.ts';
import { unknownValueLines } from '../unknown-value.ts';
import { windowWords } from '../window-words.ts';
import { stackedBar, stretches, stretchText } from './bar.ts';
import { openedLines } from './opened-page.ts';
import type { WasteAnswer, WasteGroup } from './waste-answer.ts';
import { changeOf, scopeWords, sumAsShown, wasteLines } from './waste-lines.ts';
import type { WasteLine } from './waste-lines.ts';

export interface WastePageOptions {
  /** Columns of the terminal. */
  readonly width: number;
  /** ` --data DIR` where the folder is not the default. */
  readonly dataFlag: string;
  /** ` --team nlp --window 30d`: what was asked, to be asked again. */
  readonly asked: string;
  /** The same without filters, which findings do not take. */
  readonly askedOfFindings: string;
  /** The same scope for `ledger explain`: ` --filter team=nlp`. */
  readonly scopeFlags: string;
}

const BAR_WIDTH_MIN = 12;
const BAR_WIDTH_MAX = 48;
const GAPS = 2;
/** One character a category, where several stand in one bar. */
const MARKS: Readonly<Record<Category, string>> = {
  computing: '#',
  idle: '.',
  unallocated: '_',
  starved: '~',
  stranded: '=',
  lost: 'x',
  unknown: '?',
  beside: '+',
};

/** The whole waterfall of a scope as bars, what is inside each step, and what to type next. */
export function wastePage(answer: WasteAnswer, options: WastePageOptions): string[] {
  const { width } = options;
  if (!answer.categories.some(({ sum }) => isThere(sum))) {
    return nothing(answer, options);
  }
  const wrapped = (lines: readonly string[]): string[] => lines.flatMap((line) => wrapText(line, width));
  const body =
    answer.opened === undefined
      ? [...wrapped(headLines(answer)), '', ...table(answer, width), ...groupLines(answer, width)]
      : openedLines(answer, answer.opened, options);
  return [...body, '', ...wrapped(footLines(answer)), ...nextLines(answer, options)];
}

/** What was wasted of what was paid, of what and when; and the compute share with both its numbers. */
export function headLines(answer: WasteAnswer): string[] {
  const wasted = answer.categories.filter(({ category }) => WASTE_CATEGORIES.includes(category));
  const paid = answer.sum.usdMicros;
  const where = `${scopeWords(answer)}, ${windowWords(answer)}`;
  const { money, hours } = answer.computeShare;
  if (paid === null) {
    const units = wasted.reduce((total, { sum }) => total + sum.gpuUnits, 0n);
    const [share = ''] = percentsOf([units, answer.sum.gpuUnits - units]);
    return [
      `Wasted: ${gpuHours(units)} of ${gpuHours(answer.sum.gpuUnits)} (${share})${spareWords(answer)}, ${where}; no price is known for any of it`,
      `Compute share: ${shareWords(hours.permille)} = ${gpuHours(hours.part)} computing ÷ ${gpuHours(hours.whole)} known; ${COMPUTE_SHARE_REFERENCE}`,
    ];
  }
  const micros = wasted.reduce((total, { sum }) => total + (sum.usdMicros ?? 0n), 0n);
  const [share = ''] = percentsOf([micros, paid - micros]);
  return [
    `Wasted: ${sumAsShown(answer, (category) => WASTE_CATEGORIES.includes(category))} of ${dollars(paid)} paid${share === '' ? '' : ` (${share})`}${spareWords(answer)}, ${where}`,
    `Compute share: ${shareWords(money.permille)} = ${sumAsShown(answer, isComputing)} computing ÷ ${sumAsShown(answer, isKnown)} known (paid less unknown and beside the GPU);` +
      ` ${shareWords(hours.permille)} of the GPU-hours; ${COMPUTE_SHARE_REFERENCE}`,
  ];
}

/** What stands spare on purpose is unallocated all the same: who reads the sum of waste is told how much of it was meant. */
function spareWords(answer: WasteAnswer): string {
  const { inMoney, lines } = wasteLines(answer);
  const spare = lines.find(({ category, reason }) => category === 'unallocated' && reason === 'spare');
  if (spare === undefined) return '';
  return `, ${inMoney ? spare.amount : `${spare.hours} GPU-hours`} of it spare on purpose`;
}

const isComputing = (category: Category): boolean => category === 'computing';
const isKnown = (category: Category): boolean => category !== 'unknown' && category !== 'beside';

function shareWords(permille: number | null): string {
  return permille === null ? 'not known' : percentOfPermille(permille);
}

/** `the 7 days before`. */
function beforeWords({ before }: WasteAnswer): string {
  const days = (before.until.getTime() - before.from.getTime()) / 86_400_000;
  const length = Number.isInteger(days) ? (days === 1 ? 'the day' : `the ${days} days`) : 'as long a time';
  return before.isKnown ? `against ${length} before` : `no data before ${day(before.until)}`;
}

function table(answer: WasteAnswer, width: number): string[] {
  const { total, totalHours, inMoney, lines } = wasteLines(answer);
  const top: WasteLine = {
    category: 'computing',
    isReason: false,
    reason: null,
    name: inMoney ? 'paid' : 'GPU-hours',
    amount: total,
    percent: '',
    hours: totalHours,
    change: changeOf(answer.sum, answer.sumBefore, answer.sum),
    weight: 0n,
  };
  const cells = (line: WasteLine): string[] => [
    line.isReason ? `    ${line.name}` : line === top ? line.name : `  ${line.name}`,
    inMoney ? line.amount : line.hours,
    line.percent,
    inMoney ? line.hours : '',
    line.change,
  ];
  const rows = [top, ...lines].map(cells);
  const titles = ['', inMoney ? 'paid' : 'GPU-hours', '', inMoney ? 'GPU-hours' : '', beforeWords(answer)];
  const columnWidth = (place: number): number =>
    Math.max(...[titles, ...rows].map((row) => textWidth(row[place] ?? '')));
  // The bar gets what is left; where that is too little the hours give way to it, and then it is left out.
  const taken = [0, 1, 2, 4].reduce((sum, place) => sum + columnWidth(place) + GAPS, 0);
  const withHours = width - taken - columnWidth(3) - GAPS;
  const keepsHours = withHours >= BAR_WIDTH_MIN || (width - taken < BAR_WIDTH_MIN && withHours >= 0);
  const left = keepsHours ? withHours : width - taken;
  const barWidth = left < BAR_WIDTH_MIN ? 0 : Math.min(left, BAR_WIDTH_MAX);
  const bars = barsOf(lines, barWidth);
  const columns = [
    { align: 'left', title: '' },
    { align: 'left', title: '' },
    { align: 'right', title: titles[1] ?? '' },
    { align: 'right', title: '' },
    { align: 'right', title: titles[3] ?? '' },
    { align: 'left', title: titles[4] ?? '' },
  ] as const;
  return textTable(
    columns,
    rows.map(([name = '', amount = '', percent = '', hours = '', change = ''], place) => [
      name,
      barWidth === 0 ? '' : place === 0 ? '#'.repeat(barWidth) : (bars[place - 1] ?? ''),
      amount,
      percent,
      keepsHours ? hours : '',
      // A title alone would make the column: where nothing is known of before, it is said in words below.
      change,
    ]),
  );
}

/** Each begins where the one above ends; reasons lie within their category. */
function barsOf(lines: readonly WasteLine[], width: number): string[] {
  if (width === 0) return [];
  const ofCategories = stretches(
    lines.map(({ isReason, weight }) => (isReason ? 0n : weight)),
    width,
  );
  const reasons = lines.filter(({ isReason }) => isReason);
  return lines.map((line, place) => {
    const own = ofCategories[place] ?? { at: 0, width: 0 };
    if (!line.isReason) return stretchText(own, '#', width, line.weight > 0n);
    const category = ofCategories[lines.findIndex((each) => !each.isReason && each.category === line.category)];
    const siblings = reasons.filter((each) => each.category === line.category);
    const within = stretches(
      siblings.map(({ weight }) => weight),
      category?.width ?? 0,
    )[siblings.indexOf(line)] ?? { at: 0, width: 0 };
    return stretchText({ at: (category?.at ?? 0) + within.at, width: within.width }, '-', width, line.weight > 0n);
  });
}

const GROUPS_SHOWN = 30;
const GROUP_NAME_MAX = 36;

/** One bar for each value of what it was asked by. */
function groupLines({ by, groups }: WasteAnswer, width: number): string[] {
  if (groups.length === 0) return [];
  const shown = groups.slice(0, GROUPS_SHOWN);
  const inMoney = groups.some(({ sum }) => sum.usdMicros !== null);
  const amounts = dollarsOf(groups.map(({ sum }) => sum.usdMicros));
  const weight = (sum: WasteGroup['sum']): bigint => (inMoney ? (sum.usdMicros ?? 0n) : sum.gpuUnits);
  const rows = shown.map((group, place) => {
    const of = (category: Category): bigint => weight(group.categories.get(category) ?? group.sum);
    const known = ['computing' as const, ...WASTE_CATEGORIES].reduce((total, category) => total + of(category), 0n);
    const share = known <= 0n ? 'not known' : percentOfPermille(Number((of('computing') * 1000n) / known));
    const name = group.values.map((value) => safeText(value ?? 'unattributed')).join(' / ');
    return {
      name: shorten(name, GROUP_NAME_MAX),
      amount: inMoney ? (amounts.parts[place] ?? '') : gpuHours(group.sum.gpuUnits),
      share,
      of,
    };
  });
  const taken = Math.max(...rows.map(({ name }) => textWidth(name)), by.join(' / ').length) + 9 + 11 + 4 * GAPS;
  const left = Math.min(BAR_WIDTH_MAX, width - taken);
  const barWidth = left < BAR_WIDTH_MIN ? 0 : left;
  const used = CATEGORY_LINES.filter(([category]) => rows.some(({ of }) => of(category) > 0n));
  const columns = [
    { align: 'left', title: by.join(' / ') },
    { align: 'right', title: inMoney ? 'paid' : 'GPU-hours' },
    { align: 'right', title: 'computed' },
    { align: 'left', title: '' },
  ] as const;
  const more = groups.length - shown.length;
  return [
    '',
    ...textTable(
      columns,
      rows.map(({ name, amount, share, of }) => [
        name,
        amount,
        share,
        barWidth === 0
          ? ''
          : `[${stackedBar(
              used.map(([category]) => ({ weight: of(category), mark: MARKS[category] })),
              barWidth,
            )}]`,
      ]),
    ),
    ...(more > 0 ? [`and ${more.toLocaleString('en-US')} more: --json has them all`] : []),
    ...(barWidth === 0 ? [] : [used.map(([category, name]) => `${MARKS[category]} ${name}`).join('   ')]),
  ];
}

/** What the figures rest on, and what is not in them. */
export function footLines(answer: WasteAnswer): string[] {
  const kinds = BASIS_WORDS.flatMap(([basis, words]) => {
    const micros = answer.basisUsdMicros.get(basis) ?? 0n;
    return micros === 0n ? [] : [{ micros, words }];
  });
  const { parts } = dollarsOf(kinds.map(({ micros }) => micros));
  const basis = kinds.map(({ words }, place) => `${parts[place] ?? ''} ${words}`).join(', ');
  const unknown = answer.categories.find(({ category }) => category === 'unknown')?.sum;
  const known =
    answer.sum.usdMicros === null || answer.sum.usdMicros <= 0n
      ? undefined
      : Number(((answer.sum.usdMicros - (unknown?.usdMicros ?? 0n)) * 1000n) / answer.sum.usdMicros);
  const asOf = answer.asOfBy === 'clock' ? '' : `as of ${minute(answer.asOf)} UTC`;
  const first = [
    basis === '' ? '' : `Effective cost: ${basis}`,
    known === undefined ? '' : `${percentOfPermille(known)} of it known`,
    asOf,
  ].filter((words) => words !== '');
  return [
    ...(first.length === 0 ? [] : [first.join('; ')]),
    ...(answer.before.isKnown || answer.opened !== undefined
      ? []
      : [
          `No change is shown: there is no data for all of the time before (${minute(answer.before.from)} to ${minute(answer.before.until)} UTC).`,
        ]),
    ...(answer.sum.unpricedUnits > 0n && answer.sum.usdMicros !== null
      ? [
          `Beside it ${gpuHours(answer.sum.unpricedUnits)} without a price, in no sum: bursar import rates FILE, or a bill`,
        ]
      : []),
  ];
}

/** What goes down from here, one command a line. */
function nextLines(answer: WasteAnswer, { asked, askedOfFindings, dataFlag }: WastePageOptions): string[] {
  const flags = `${asked}${dataFlag}`;
  const dearest = answer.categories
    .filter(({ category, sum }) => WASTE_CATEGORIES.includes(category) && sum.gpuUnits + (sum.usdMicros ?? 0n) > 0n)
    .toSorted((a, b) => Number((b.sum.usdMicros ?? 0n) - (a.sum.usdMicros ?? 0n)))[0];
  const down = dearest === undefined ? [] : [`bursar waste --open ${dearest.category}${flags}`];
  const commands = [
    ...(answer.opened === undefined ? down : [`bursar waste${flags}`]),
    ...(answer.by.length === 0 && answer.opened === undefined ? [`bursar waste --by team${flags}`] : []),
    `bursar findings${askedOfFindings}${dataFlag}`,
  ];
  return commands.map((command, place) => `${place === 0 ? 'Next: ' : '      '}${command}`);
}

function nothing(answer: WasteAnswer, { dataFlag }: WastePageOptions): string[] {
  const what =
    answer.sum.usdMicros === null ? `What was paid is ${NOT_DERIVED}` : 'Nothing was paid and no GPU was there';
  return [
    `${what}: ${scopeWords(answer)}, ${minute(answer.window.from)} to ${minute(answer.window.until)} UTC`,
    ...unknownValueLines(answer.unknownValues),
    answer.sum.usdMicros === null ? `Next: bursar derive${dataFlag}` : `Next: bursar waste --window all${dataFlag}`,
  ];
}
