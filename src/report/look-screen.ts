import { LIST_PRICES_AS_OF } from '../facts/list-price.ts';
import type { Category } from '../ledger/waterfall.ts';
import { CATEGORY_LINES, COMPUTE_SHARE_REFERENCE, reasonWords } from './category-words.ts';
import {
  counted,
  dollars,
  dollarsOf,
  gpuCount,
  gpuHours,
  gpuHoursOf,
  gpuSeconds,
  isoTime,
  minute,
  nestedDollarsOf,
  percentOfPermille,
  percentsOf,
} from './figures.ts';
import type { FindingsAnswer } from './finding-answer.ts';
import type { IdleTotal } from './idle-list.ts';
import { idleTotalWords } from './idle-list.ts';
import { attention } from './look-attention.ts';
import { findingLines, lookFindingsJson } from './look-findings.ts';
import type { WaitingWork } from './queue-page.ts';
import { medianWait, waitingWords } from './queue-page.ts';
import { safeText } from './safe-text.ts';
import { textTable } from './table.ts';
import type { AskedWindow } from './window-words.ts';
import { windowWords } from './window-words.ts';

/** What one category of the waterfall holds. */
export interface CategorySum {
  /** Null where there is time and none of it has a price. */
  readonly usdMicros: bigint | null;
  readonly gpuUnits: bigint;
  readonly unpricedUnits: bigint;
}

/** Time without a price: of which model, and whether a bill should have charged it. */
export interface UnpricedTime {
  readonly model: string | null;
  readonly billedBy: string | null;
  /** The currency of that bill, where it is not posted for want of an exchange rate. */
  readonly wantsRateOf: string | null;
  readonly gpuUnits: bigint;
}

/** Time held on a node that the inventory does not list. */
export interface UnlistedNode {
  readonly nodeId: string;
  readonly gpuUnits: bigint;
}

/** A price list of people's own that estimates rest on. */
export interface CatalogUse {
  /** Null where the list does not say where it is from. */
  readonly source: string | null;
  /** Its newest day among those that were used. */
  readonly asOf: string;
}

/** Everything the first screen says. */
export interface LookAnswer {
  readonly asOf: Date;
  readonly asOfBy: 'asked' | 'newest fact' | 'clock';
  readonly window: AskedWindow;
  /** First and last day of the ledger; undefined while it is empty. */
  readonly ledger: { readonly first: string; readonly last: string } | undefined;
  readonly paidUsdMicros: bigint | null;
  readonly categories: Readonly<Record<Category, CategorySum>>;
  readonly computeSharePermille: number | null;
  readonly computeShareHoursPermille: number | null;
  /** What starved time consists of, the dearest first. */
  readonly starvedBy: readonly {
    readonly reason: string | null;
    readonly usdMicros: bigint | null;
    readonly gpuUnits: bigint;
  }[];
  /** Attempts whose work was lost, by how they ended. */
  readonly lostAttempts: readonly { readonly outcome: string | null; readonly attempts: number }[];
  readonly basisUsdMicros: { readonly billed: bigint; readonly rate: bigint; readonly estimated: bigint };
  /** The price lists behind what is estimated, where any was imported; `list`: the built-in one serves too. */
  readonly estimatedBy?: { readonly list: boolean; readonly catalogs: readonly CatalogUse[] };
  readonly bills: number;
  /** What stands beside the GPU, the dearest first. */
  readonly beside: readonly { readonly what: string; readonly usdMicros: bigint }[];
  readonly unpriced: readonly UnpricedTime[];
  /** GPU charges that meet no node; part of unknown. */
  readonly unmatchedUsdMicros: bigint;
  readonly conflictUnits: bigint;
  readonly notPosted: readonly { readonly billId: string; readonly currency: string }[];
  /** Where the most time was held first. */
  readonly unlistedNodes: readonly UnlistedNode[];
  readonly staleRows: number;
  /** Words of `bursar import` of which nothing has come in yet. */
  readonly missing: readonly string[];
  readonly idleNow: IdleTotal;
  readonly silentGpus: number;
  /** Who waits for GPUs now; undefined where nobody says. */
  readonly waiting: readonly WaitingWork[] | undefined;
  /** What can be done about it. */
  readonly findings: FindingsAnswer | undefined;
}

/** The screen as `bursar look --json` gives it. */
export function lookJson(look: LookAnswer): unknown {
  const sum = ({ usdMicros, gpuUnits, unpricedUnits }: CategorySum): unknown => ({
    usdMicros,
    gpuSeconds: gpuSeconds(gpuUnits),
    unpricedSeconds: gpuSeconds(unpricedUnits),
  });
  const { stranded, unallocated, unknown, idle, starved, lost, computing, beside } = look.categories;
  return {
    asOf: isoTime(look.asOf),
    window: { from: isoTime(look.window.from), until: isoTime(look.window.until) },
    paidUsdMicros: look.paidUsdMicros,
    categories: {
      stranded: sum(stranded),
      unallocated: sum(unallocated),
      unknown: sum(unknown),
      idle: sum(idle),
      starved: sum(starved),
      lost: sum(lost),
      computing: sum(computing),
      beside: sum(beside),
    },
    computeSharePermille: look.computeSharePermille,
    computeShareHoursPermille: look.computeShareHoursPermille,
    starvedBy: look.starvedBy.map(({ reason, usdMicros, gpuUnits }) => ({
      reason,
      usdMicros,
      gpuSeconds: gpuSeconds(gpuUnits),
    })),
    lostAttempts: look.lostAttempts,
    asOfBy: look.asOfBy,
    basisUsdMicros: look.basisUsdMicros,
    besideUsdMicros: Object.fromEntries(look.beside.map(({ what, usdMicros }) => [what, usdMicros])),
    unpriced: look.unpriced.map(({ gpuUnits, ...time }) => ({ ...time, gpuSeconds: gpuSeconds(gpuUnits) })),
    unmatchedUsdMicros: look.unmatchedUsdMicros,
    conflictSeconds: gpuSeconds(look.conflictUnits),
    notPosted: look.notPosted,
    unlistedNodes: look.unlistedNodes.map(({ nodeId, gpuUnits }) => ({ nodeId, gpuSeconds: gpuSeconds(gpuUnits) })),
    staleRows: look.staleRows,
    idleNow: {
      gpus: gpuSeconds(look.idleNow.shareUnits),
      usdMicrosPerHour: look.idleNow.usdMicrosPerHour,
      owners: look.idleNow.owners,
    },
    silentGpus: look.silentGpus,
    waiting:
      look.waiting === undefined
        ? null
        : {
            jobs: look.waiting.length,
            gpus: look.waiting.reduce((total, { gpus }) => total + gpus, 0),
            medianSeconds: medianWait(look.waiting),
          },
    findings: lookFindingsJson(look.findings),
  };
}

/** One line of the screen, for every way of showing it. */
export interface LookLine {
  readonly category: Category;
  readonly name: string;
  readonly amount: string;
  readonly percent: string;
  readonly note: string;
  readonly sum: CategorySum;
}

/** What the screen says, before it is laid out: money where there is any, GPU-hours where nothing has a price. */
export interface LookParts {
  readonly title: string;
  readonly inMoney: boolean;
  readonly total: string;
  /** Basis, and as of when. */
  readonly basis: string;
  readonly lines: readonly LookLine[];
  /** One line, or none where nobody waits. */
  readonly waiting: readonly string[];
  readonly attention: readonly string[];
}

/** Undefined where there is nothing in the window. `dataFlag` is ` --data DIR` where the folder is not the default. */
export function lookParts(look: LookAnswer, dataFlag = ''): LookParts | undefined {
  const shown = CATEGORY_LINES.filter(([category]) => isThere(look.categories[category]));
  if (look.ledger === undefined || shown.length === 0) return undefined;
  const inMoney = look.paidUsdMicros !== null;
  const units = shown.map(([category]) => look.categories[category].gpuUnits);
  const micros = shown.map(([category]) => look.categories[category].usdMicros);
  const amounts = inMoney ? dollarsOf(micros) : gpuHoursOf(units);
  const percents = percentsOf(inMoney ? micros.map((each) => each ?? 0n) : units);
  return {
    title: `${inMoney ? 'Paid' : 'GPU-hours'}, ${windowWords(look)}`,
    inMoney,
    total: amounts.total,
    basis: [inMoney ? basisWords(look) : 'no price known for any of it', asOfWords(look)].filter(Boolean).join('; '),
    lines: shown.map(([category, name], index) => ({
      category,
      name,
      amount: amounts.parts[index] ?? '',
      percent: micros[index] === null && inMoney ? '' : (percents[index] ?? ''),
      note: note(category, look, inMoney, dataFlag),
      sum: look.categories[category],
    })),
    waiting: waitingLine(look, dataFlag),
    attention: attention(look, dataFlag),
  };
}

function waitingLine({ waiting }: LookAnswer, dataFlag: string): string[] {
  const words = waitingWords(waiting ?? []);
  return words === undefined ? [] : [`Waiting meanwhile: ${words}  → bursar queue${dataFlag}`];
}

/**
 * The first screen, never empty. `dataFlag` is ` --data DIR` where the folder is not the default.
 */
export function lookScreen(look: LookAnswer, dataFlag = ''): string[] {
  const parts = lookParts(look, dataFlag);
  if (look.ledger === undefined) return nothingYet(look, dataFlag);
  if (parts === undefined) return nothingInWindow(look, dataFlag);
  const columns = [{ align: 'left' }, { align: 'right' }, { align: 'right' }, { align: 'left' }] as const;
  return [
    ...textTable(columns, [
      [parts.title, parts.total, '', parts.basis],
      ...parts.lines.map(({ name, amount, percent, note: words }) => [`  ${name}`, amount, percent, words]),
    ]),
    ...parts.waiting,
    ...findingLines(look.findings, dataFlag),
    ...parts.attention,
    ...next(look, dataFlag),
  ];
}

export function isThere({ usdMicros, gpuUnits }: CategorySum): boolean {
  return gpuUnits !== 0n || (usdMicros ?? 0n) !== 0n;
}

function asOfWords({ asOf, asOfBy }: LookAnswer): string {
  if (asOfBy === 'clock') return '';
  return `as of ${minute(asOf)} UTC${asOfBy === 'newest fact' ? ', the newest fact' : ''}`;
}

/** Whether it was billed, stated or estimated; where mixed, how much of each. */
function basisWords(look: LookAnswer): string {
  const { basisUsdMicros, bills, paidUsdMicros } = look;
  const { billed, rate, estimated } = basisUsdMicros;
  const prices = priceListWords(look);
  const noBill = bills === 0 ? ', no bill connected' : '';
  const kinds = [
    { micros: billed, alone: 'billed (effective cost)', among: 'billed' },
    { micros: rate, alone: `stated rates${noBill}`, among: 'by stated rates' },
    {
      micros: estimated,
      alone: bills === 0 ? `estimate: ${prices}${noBill}` : 'estimate: no bill covers it yet',
      among: bills === 0 ? `estimated at ${prices}` : `estimated (${prices}, or rates)`,
    },
  ].filter(({ micros }) => micros !== 0n);
  if (kinds.length === 1) return kinds[0]?.alone ?? '';
  if (kinds.length === 0) return paidUsdMicros === 0n && bills > 0 ? 'billed (effective cost)' : '';
  const amounts = dollarsOf(kinds.map(({ micros }) => micros)).parts;
  return kinds.map(({ among }, index) => `${amounts[index]} ${among}`).join(', ') + noBill;
}

const CATALOGS_SHOWN = 2;

/** Whose prices, of which day: those of imported lists first, then the built-in one. */
function priceListWords({ estimatedBy }: LookAnswer): string {
  const builtIn = `list prices of ${LIST_PRICES_AS_OF}`;
  const { list = true, catalogs = [] } = estimatedBy ?? {};
  const words = [
    ...new Set(
      catalogs.map(({ source, asOf }) => `prices of ${asOf}${source === null ? '' : ` (${safeText(source)})`}`),
    ),
  ];
  const more = words.length - CATALOGS_SHOWN;
  const shown = [...words.slice(0, CATALOGS_SHOWN), ...(more > 0 ? [`${more} more lists`] : [])];
  return [...shown, ...(list || words.length === 0 ? [builtIn] : [])].join(', ');
}

function note(category: Category, look: LookAnswer, inMoney: boolean, dataFlag: string): string {
  const unpriced = look.categories[category].unpricedUnits;
  const words = [
    ...categoryWords(category, look, inMoney),
    inMoney && unpriced > 0n ? `and ${gpuHours(unpriced)} without a price` : '',
  ].filter((word) => word !== '');
  const leads = category === 'idle' && look.idleNow.shareUnits > 0n ? `  → bursar idle${dataFlag}` : '';
  return words.join('; ') + leads;
}

function categoryWords(category: Category, look: LookAnswer, inMoney: boolean): string[] {
  switch (category) {
    case 'computing':
      return [shareWords(look, inMoney), COMPUTE_SHARE_REFERENCE];
    case 'idle': {
      const { shareUnits } = look.idleNow;
      if (shareUnits === 0n) return ['none now'];
      return [[`${counted(gpuCount(shareUnits), 'GPU')} now`, ...idleTotalWords(look.idleNow)].join(', ')];
    }
    case 'unallocated':
      return [];
    case 'starved':
      return [starvedWords(look, inMoney)];
    case 'lost':
      return [lostWords(look)];
    case 'stranded':
      return ['paid for, and nothing ran on it'];
    case 'unknown':
      return [
        look.silentGpus > 0 ? `${counted(look.silentGpus, 'GPU')} without telemetry now` : '',
        look.unmatchedUsdMicros > 0n ? `${dollars(look.unmatchedUsdMicros)} of GPU charges meet no known node` : '',
        'never counted as idle',
      ];
    case 'beside':
      return [besideWords(look)];
  }
}

/** `gaps 60 %, pauses 40 %`. */
function starvedWords({ starvedBy }: LookAnswer, inMoney: boolean): string {
  const percents = percentsOf(starvedBy.map(({ usdMicros, gpuUnits }) => (inMoney ? (usdMicros ?? 0n) : gpuUnits)));
  return starvedBy
    .map(({ reason }, index) => `${safeText(reasonWords('starved', reason))} ${percents[index] ?? ''}`.trim())
    .join(', ');
}

/** `31 failed, 12 preempted attempts`. */
function lostWords({ lostAttempts }: LookAnswer): string {
  if (lostAttempts.length === 0) return '';
  const words = lostAttempts.map(
    ({ outcome, attempts }) => `${attempts.toLocaleString('en-US')} ${safeText(outcome ?? 'of unknown end')}`,
  );
  const isOne = lostAttempts.length === 1 && lostAttempts[0]?.attempts === 1;
  return `${words.join(', ')} ${isOne ? 'attempt' : 'attempts'}`;
}

/** It is the last line, and rounded within the screen as `bursar waste` rounds them: both show one figure. */
function besideWords({ beside, categories }: LookAnswer): string {
  const groups = CATEGORY_LINES.filter(([category]) => isThere(categories[category])).map(([category]) =>
    category === 'beside' ? beside.map(({ usdMicros }) => usdMicros) : [categories[category].usdMicros],
  );
  const amounts = nestedDollarsOf(groups).at(-1) ?? [];
  return beside.map(({ what }, index) => `${reasonWords('beside', what)} ${amounts[index] ?? ''}`).join(', ');
}

function shareWords({ computeSharePermille, computeShareHoursPermille }: LookAnswer, inMoney: boolean): string {
  const hours = computeShareHoursPermille === null ? '' : percentOfPermille(computeShareHoursPermille);
  if (!inMoney) return hours === '' ? '' : `${hours} of what is known`;
  if (computeSharePermille === null) return '';
  const money = percentOfPermille(computeSharePermille);
  return `${money} of what is known${hours === '' || hours === money ? '' : ` (${hours} of its GPU-hours)`}`;
}

function next(look: LookAnswer, dataFlag: string): string[] {
  const commands = ['bursar waste', 'bursar spend --by team', ...(look.bills > 0 ? ['bursar ledger check'] : [])];
  return [`Next: ${commands.map((command) => command + dataFlag).join(' · ')}`];
}

function nothingYet(look: LookAnswer, dataFlag: string): string[] {
  const lines = [
    'Nothing to look at yet: there is no fact with a time in the data folder.',
    `  what GPUs did      bursar import samples FILE${dataFlag}`,
    `  who held them      bursar import allocations FILE${dataFlag}`,
    `  what was paid      bursar import charges FILE${dataFlag}   or, for owned hardware, bursar import rates FILE${dataFlag}`,
    `  the machines       bursar import nodes FILE${dataFlag}`,
    'Or see your own fleet: bursar look; or a made-up one: bursar demo',
  ];
  return look.staleRows > 0
    ? [...lines, `${counted(look.staleRows, 'row')} of facts wait: bursar derive${dataFlag}`]
    : lines;
}

function nothingInWindow(look: LookAnswer, dataFlag: string): string[] {
  const { ledger } = look;
  const words = windowWords({ ...look, window: { ...look.window, ledgerDays: Number.MAX_SAFE_INTEGER } });
  return [
    `Nothing was paid and no GPU was there in this window (${words}${asOfWords(look) && `, ${asOfWords(look)}`}).`,
    `The facts reach from ${ledger?.first ?? ''} to ${ledger?.last ?? ''}: bursar look --window all${dataFlag}`,
    ...attention(look, dataFlag),
  ];
}
