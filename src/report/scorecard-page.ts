import type { Category } from '../ledger/waterfall.ts';
import { CATEGORY_LINES, COMPUTE_SHARE_RANGES, WASTE_CATEGORIES } from './category-words.ts';
import {
  dollars,
  dollarsOfSome,
  gpuHours,
  gpuHoursOf,
  gpuSeconds,
  isoTime,
  minute,
  percentOfPermille,
} from './figures.ts';
import { markdownText } from './markdown-text.ts';
import { textTable, wrapText } from './table.ts';
import type { AskedWindow } from './window-words.ts';
import { windowWords } from './window-words.ts';

/** The measures, by the names programs know them by, in the order of the page. */
export const SCORES = [
  'compute-share',
  'known',
  'tagging',
  'spot',
  'commitment-coverage',
  'commitment-utilisation',
  'auto-shutdown',
] as const;
export type ScoreName = (typeof SCORES)[number];
type MoneyScoreName = Exclude<ScoreName, 'auto-shutdown'>;

/** A share with both its numbers: micro-dollars, or sessions. */
export interface Score {
  readonly part: bigint;
  readonly whole: bigint;
  /** Null where there is nothing to divide by. */
  readonly permille: number | null;
}

export interface ScorecardAnswer {
  readonly asOf: Date;
  readonly asOfBy: 'asked' | 'newest fact' | 'clock';
  readonly window: AskedWindow;
  readonly before: { readonly from: Date; readonly until: Date; readonly isKnown: boolean };
  readonly now: Readonly<Record<ScoreName, Score>>;
  /** The shares of money in unit-seconds: what has no price is in these. */
  readonly hours: Readonly<Record<MoneyScoreName, Score>>;
  /** Undefined where the facts do not reach back. */
  readonly earlier: Readonly<Record<ScoreName, Score>> | undefined;
  /** GPU money of owned machines: no commitment could cover it. */
  readonly ownedUsdMicros: bigint;
  /** Sessions of which too little is known to say whether they were stopped. */
  readonly unknownSessions: number;
  readonly shutdownHours: number;
  readonly unpricedUnits: bigint;
  /** All that was paid, by category: the page rounds shares of it as `bursar waste` does, so that both show one figure. */
  readonly categoryUsdMicros: ReadonlyMap<Category, bigint>;
}

interface Words {
  readonly title: string;
  readonly part: string;
  readonly whole: string;
  /** What others reach; undefined where nobody has published it. */
  readonly published?: string;
  /** What we go by where no study says it. */
  readonly ruleOfThumb?: string;
}

const words = (hours: number): Readonly<Record<ScoreName, Words>> => ({
  'compute-share': {
    title: 'compute share',
    part: 'computing',
    whole: 'of GPU money whose activity is known',
    ruleOfThumb: COMPUTE_SHARE_RANGES,
  },
  known: { title: 'activity known', part: 'known', whole: 'paid for GPUs' },
  tagging: {
    title: 'tagging',
    part: 'with a team',
    whole: 'paid',
    published: 'all cloud spend: 50 % crawl, 80 % walk, above 90 % run',
  },
  spot: { title: 'spot of batch', part: 'on spot', whole: 'held by training and batch' },
  'commitment-coverage': {
    title: 'commitment coverage',
    part: 'of commitments in use',
    whole: 'of that and on demand',
    published: 'all cloud spend: about 60 % crawl, 70 % walk, 80 % run',
  },
  'commitment-utilisation': { title: 'commitment utilisation', part: 'used', whole: 'committed' },
  'auto-shutdown': {
    title: 'auto-shutdown',
    part: `sessions stopped within ${hours} h of their last kernel`,
    whole: 'that ended or stand unused',
  },
});

const HOURS_TITLE = 'of GPU-hours';
const NO_RANGE = 'no published range known';

/** Where the fleet stands: each share with its two numbers, beside what is published or a rule of thumb, and beside its own time before. */
export function scorecardPage(card: ScorecardAnswer, width: number, dataFlag = ''): string[] {
  const isWide = width >= 150;
  const rows = rowsOf(card);
  const columns = [
    { align: 'left', title: '' },
    { align: 'right', title: 'now' },
    { align: 'right', title: card.unpricedUnits > 0n ? HOURS_TITLE : '' },
    { align: 'right', title: 'before' },
    { align: 'left', title: 'to compare' },
    { align: 'left', title: isWide ? 'how' : '' },
  ] as const;
  const table = textTable(
    columns,
    rows.map(({ title, now, hours, earlier, compared, how }) => [
      title,
      now,
      hours,
      earlier,
      compared,
      isWide ? how : '',
    ]),
  );
  const hows = isWide ? [] : ['', ...rows.flatMap(({ title, how }) => wrapText(`${title}: ${how}`, width))];
  return [
    headLine(card),
    '',
    ...table,
    ...hows,
    '',
    ...footLines(card).flatMap((line) => wrapText(line, width)),
    `Next: bursar waste${dataFlag} · bursar rules suggest${dataFlag} · bursar findings${dataFlag}`,
  ];
}

function headLine(card: ScorecardAnswer): string {
  const { 'compute-share': share } = card.now;
  const known =
    share.permille === null ? 'compute share not known' : `compute share ${percentOfPermille(share.permille)}`;
  const hours = card.unpricedUnits > 0n ? ` (${shareWords(card.hours['compute-share'])} of the GPU-hours)` : '';
  const asOf = card.asOfBy === 'clock' ? '' : `; as of ${minute(card.asOf)} UTC`;
  return `Scorecard: ${known}${hours}, ${windowWords(card)}, everything${asOf}`;
}

interface Row {
  readonly title: string;
  readonly now: string;
  /** Where all has a price, money says it. */
  readonly hours: string;
  readonly earlier: string;
  readonly compared: string;
  readonly how: string;
}

function rowsOf(card: ScorecardAnswer): Row[] {
  const of = words(card.shutdownHours);
  return SCORES.map((name) => {
    const { title, part, whole, published, ruleOfThumb } = of[name];
    const score = card.now[name];
    const [shownPart, shownWhole] = shownNumbers(card, name);
    return {
      title,
      now: shareWords(score),
      hours: card.unpricedUnits > 0n && name !== 'auto-shutdown' ? shareWords(card.hours[name]) : '',
      earlier: card.earlier === undefined ? 'no data' : shareWords(card.earlier[name]),
      compared: published ?? (ruleOfThumb === undefined ? NO_RANGE : `rule of thumb: ${ruleOfThumb}`),
      how: score.whole <= 0n ? `there is nothing ${whole}` : `${shownPart} ${part} ÷ ${shownWhole} ${whole}`,
    };
  });
}

const isKnown = (category: Category): boolean => category === 'computing' || WASTE_CATEGORIES.includes(category);
/** Which categories the numbers of a share are sums of, where they are whole ones. */
const CATEGORIES_OF: Partial<Readonly<Record<ScoreName, readonly [part: IsCategory, whole: IsCategory]>>> = {
  'compute-share': [(category) => category === 'computing', isKnown],
  known: [isKnown, (category) => category !== 'beside'],
};
type IsCategory = (category: Category) => boolean;

function shownNumbers({ now, categoryUsdMicros }: ScorecardAnswer, name: ScoreName): [part: string, whole: string] {
  const { part, whole } = now[name];
  if (name === 'auto-shutdown') return [part.toLocaleString('en-US'), whole.toLocaleString('en-US')];
  const categories = CATEGORIES_OF[name];
  if (categories === undefined) return [dollars(part), dollars(whole)];
  const shown = CATEGORY_LINES.filter(([category]) => categoryUsdMicros.has(category));
  const amounts = shown.map(([category]) => categoryUsdMicros.get(category) ?? 0n);
  const sumOf = (isWanted: IsCategory): string =>
    dollarsOfSome(amounts, (place) => isWanted(shown[place]?.[0] ?? 'unknown'));
  return [sumOf(categories[0]), sumOf(categories[1])];
}

function shareWords({ permille }: Score): string {
  return permille === null ? '–' : percentOfPermille(permille);
}

function footLines(card: ScorecardAnswer): string[] {
  const { before } = card;
  return [
    `Before: ${minute(before.from)} to ${minute(before.until)} UTC${before.isKnown ? '' : ', for which there is not all data'}.`,
    ...(card.ownedUsdMicros > 0n
      ? [`Commitment coverage leaves out ${dollars(card.ownedUsdMicros)} of owned machines, as it does spot.`]
      : []),
    ...(card.unknownSessions > 0
      ? [
          `Too little is known of ${card.unknownSessions.toLocaleString('en-US')} sessions to say whether they were stopped.`,
        ]
      : []),
    ...(card.unpricedUnits > 0n
      ? [
          `${gpuHours(card.unpricedUnits)} of ${gpuHoursOf([card.hours.tagging.whole]).total} have no price and are in no money here: bursar look says of which models.`,
        ]
      : []),
    'Definitions, and where the ranges are from: docs/SCORECARD.md',
  ];
}

/** To paste, with scope, window, date and the command that made it. */
export function scorecardMarkdown(
  card: ScorecardAnswer,
  made: { readonly command: string; readonly madeAt: Date; readonly mark: string },
): string[] {
  const isPriced = card.unpricedUnits === 0n;
  const row = (title: string, now: string, hours: string, ...rest: readonly string[]): string =>
    `| ${[title, now, ...(isPriced ? [] : [hours]), ...rest].join(' | ')} |`;
  return [
    `**${made.mark === '' ? '' : `${made.mark} `}${markdownText(headLine(card))}**`,
    '',
    row('', 'now', HOURS_TITLE, 'before', 'to compare', 'how'),
    row('---', '---:', '---:', '---:', '---', '---'),
    ...rowsOf(card).map(({ title, now, hours, earlier, compared, how }) =>
      row(title, now, hours, earlier, compared, how),
    ),
    '',
    ...footLines(card).map((line) => `${markdownText(line)}  `),
    `Made ${isoTime(made.madeAt)} by \`${made.command.replaceAll('`', "'")}\``,
  ];
}

export function scorecardJson(card: ScorecardAnswer): unknown {
  const of = words(card.shutdownHours);
  return {
    asOf: isoTime(card.asOf),
    asOfBy: card.asOfBy,
    window: { from: isoTime(card.window.from), until: isoTime(card.window.until) },
    before: { from: isoTime(card.before.from), until: isoTime(card.before.until), isKnown: card.before.isKnown },
    scores: SCORES.map((name) => ({
      name,
      unit: name === 'auto-shutdown' ? 'sessions' : 'usdMicros',
      ...card.now[name],
      hours: name === 'auto-shutdown' ? null : hoursJson(card.hours[name]),
      before: card.earlier === undefined ? null : card.earlier[name],
      published: of[name].published ?? null,
      ruleOfThumb: of[name].ruleOfThumb ?? null,
    })),
    unpricedSeconds: gpuSeconds(card.unpricedUnits),
    ownedUsdMicros: card.ownedUsdMicros,
    unknownSessions: card.unknownSessions,
    shutdownHours: card.shutdownHours,
  };
}

function hoursJson({ part, whole, permille }: Score): unknown {
  return { partSeconds: gpuSeconds(part), wholeSeconds: gpuSeconds(whole), permille };
}
