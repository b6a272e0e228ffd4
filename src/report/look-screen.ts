import { LIST_PRICES_AS_OF } from '../facts/list-price.ts';
import type { Category } from '../ledger/waterfall.ts';
import {
  counted,
  day,
  dollars,
  dollarsOf,
  gpuCount,
  gpuHours,
  gpuHoursOf,
  gpuSeconds,
  isoTime,
  minute,
  percentOfPermille,
  percentsOf,
} from './figures.ts';
import type { IdleTotal } from './idle-list.ts';
import { idleTotalWords, shortModel } from './idle-list.ts';
import { safeText } from './safe-text.ts';
import { textTable } from './table.ts';

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

/** Everything the first screen says. */
export interface LookAnswer {
  readonly asOf: Date;
  readonly asOfBy: 'asked' | 'newest fact' | 'clock';
  readonly window: { readonly asked: string; readonly from: Date; readonly until: Date; readonly ledgerDays: number };
  /** First and last day of the ledger; undefined while it is empty. */
  readonly ledger: { readonly first: string; readonly last: string } | undefined;
  readonly paidUsdMicros: bigint | null;
  readonly categories: Readonly<Record<Category, CategorySum>>;
  readonly computeSharePermille: number | null;
  readonly computeShareHoursPermille: number | null;
  readonly basisUsdMicros: { readonly billed: bigint; readonly rate: bigint; readonly estimated: bigint };
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
}

/** In the order of the screen: what is good first, then by what can be done about it. */
const LINES: readonly (readonly [category: Category, name: string])[] = [
  ['computing', 'computing'],
  ['idle', 'idle, held'],
  ['unallocated', 'unallocated'],
  ['stranded', 'stranded'],
  ['unknown', 'unknown'],
  ['beside', 'beside the GPU'],
];
/** What fleets reach: surveys of GPU fleets and the published figures of large training labs. */
const REFERENCE = 'unmanaged fleets 15–40 %, well run 60–80 %';
/** Names of nodes given as examples. */
const UNLISTED_SHOWN = 2;
const NOT_TOLD_APART = 'starved and lost time are not yet told apart';

/** The screen as `bursar look --json` gives it. */
export function lookJson(look: LookAnswer): unknown {
  const sum = ({ usdMicros, gpuUnits, unpricedUnits }: CategorySum): unknown => ({
    usdMicros,
    gpuSeconds: gpuSeconds(gpuUnits),
    unpricedSeconds: gpuSeconds(unpricedUnits),
  });
  const { stranded, unallocated, unknown, idle, computing, beside } = look.categories;
  return {
    asOf: isoTime(look.asOf),
    window: { from: isoTime(look.window.from), until: isoTime(look.window.until) },
    paidUsdMicros: look.paidUsdMicros,
    categories: {
      stranded: sum(stranded),
      unallocated: sum(unallocated),
      unknown: sum(unknown),
      idle: sum(idle),
      computing: sum(computing),
      beside: sum(beside),
    },
    computeSharePermille: look.computeSharePermille,
    computeShareHoursPermille: look.computeShareHoursPermille,
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
  };
}

/**
 * The first screen, never empty. Money where there is any; GPU-hours where nothing has a price. `dataFlag` is
 * ` --data DIR` where the folder is not the default.
 */
export function lookScreen(look: LookAnswer, dataFlag = ''): string[] {
  if (look.ledger === undefined) return nothingYet(look, dataFlag);
  const shown = LINES.filter(([category]) => isThere(look.categories[category]));
  if (shown.length === 0) return nothingInWindow(look, dataFlag);
  const columns = [{ align: 'left' }, { align: 'right' }, { align: 'right' }, { align: 'left' }] as const;
  const inMoney = look.paidUsdMicros !== null;
  const units = shown.map(([category]) => look.categories[category].gpuUnits);
  const micros = shown.map(([category]) => look.categories[category].usdMicros);
  const amounts = inMoney ? dollarsOf(micros) : gpuHoursOf(units);
  const percents = percentsOf(inMoney ? micros.map((each) => each ?? 0n) : units);
  return [
    ...textTable(columns, [
      [
        `${inMoney ? 'Paid' : 'GPU-hours'}, ${windowWords(look)}`,
        amounts.total,
        '',
        [inMoney ? basisWords(look) : 'no price known for any of it', asOfWords(look)].filter(Boolean).join('; '),
      ],
      ...shown.map(([category, name], index) => [
        `  ${name}`,
        amounts.parts[index] ?? '',
        micros[index] === null && inMoney ? '' : (percents[index] ?? ''),
        note(category, look, inMoney, dataFlag),
      ]),
    ]),
    ...attention(look, dataFlag),
    ...next(look, dataFlag),
  ];
}

function isThere({ usdMicros, gpuUnits }: CategorySum): boolean {
  return gpuUnits !== 0n || (usdMicros ?? 0n) !== 0n;
}

function windowWords({ window }: LookAnswer): string {
  const days = (window.until.getTime() - window.from.getTime()) / 86_400_000;
  const some = window.ledgerDays < days ? ` (${window.ledgerDays} with facts)` : '';
  const nd = /^(\d+)d$/i.exec(window.asked);
  if (nd !== null) return nd[1] === '1' ? `today${some && ' so far'}` : `last ${Number(nd[1])} days${some}`;
  if (window.asked.toLowerCase() === 'today') return 'today';
  if (!isMidnight(window.from) || !isMidnight(window.until))
    return `${minute(window.from)} to ${minute(window.until)} UTC`;
  const [from, last] = [day(window.from), day(new Date(window.until.getTime() - 1))];
  return from === last ? from : `${from} to ${last}${some}`;
}

function isMidnight(time: Date): boolean {
  return time.getTime() % 86_400_000 === 0;
}

function asOfWords({ asOf, asOfBy }: LookAnswer): string {
  if (asOfBy === 'clock') return '';
  return `as of ${minute(asOf)} UTC${asOfBy === 'newest fact' ? ', the newest fact' : ''}`;
}

/** Whether it was billed, stated or estimated; where mixed, how much of each. */
function basisWords({ basisUsdMicros, bills, paidUsdMicros }: LookAnswer): string {
  const { billed, rate, estimated } = basisUsdMicros;
  const noBill = bills === 0 ? ', no bill connected' : '';
  const kinds = [
    { micros: billed, alone: 'billed (effective cost)', among: 'billed' },
    { micros: rate, alone: `stated rates${noBill}`, among: 'by stated rates' },
    {
      micros: estimated,
      alone: bills === 0 ? `estimate: list prices of ${LIST_PRICES_AS_OF}${noBill}` : 'estimate: no bill covers it yet',
      among:
        bills === 0
          ? `estimated at list prices of ${LIST_PRICES_AS_OF}`
          : `estimated (list prices of ${LIST_PRICES_AS_OF}, or rates)`,
    },
  ].filter(({ micros }) => micros !== 0n);
  if (kinds.length === 1) return kinds[0]?.alone ?? '';
  if (kinds.length === 0) return paidUsdMicros === 0n && bills > 0 ? 'billed (effective cost)' : '';
  const amounts = dollarsOf(kinds.map(({ micros }) => micros)).parts;
  return kinds.map(({ among }, index) => `${amounts[index]} ${among}`).join(', ') + noBill;
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
      return [shareWords(look, inMoney), REFERENCE, NOT_TOLD_APART];
    case 'idle': {
      const { shareUnits } = look.idleNow;
      if (shareUnits === 0n) return ['none now'];
      return [[`${counted(gpuCount(shareUnits), 'GPU')} now`, ...idleTotalWords(look.idleNow)].join(', ')];
    }
    case 'unallocated':
      return [];
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

function besideWords({ beside }: LookAnswer): string {
  const amounts = dollarsOf(beside.map(({ usdMicros }) => usdMicros)).parts;
  return beside.map(({ what }, index) => `${what} ${amounts[index] ?? ''}`).join(', ');
}

function shareWords({ computeSharePermille, computeShareHoursPermille }: LookAnswer, inMoney: boolean): string {
  const hours = computeShareHoursPermille === null ? '' : percentOfPermille(computeShareHoursPermille);
  if (!inMoney) return hours === '' ? '' : `${hours} of what is known`;
  if (computeSharePermille === null) return '';
  const money = percentOfPermille(computeSharePermille);
  return `${money} of what is known${hours === '' || hours === money ? '' : ` (${hours} of its GPU-hours)`}`;
}

/** One line for each thing that keeps the figures from being whole, with what to do about it. */
function attention(look: LookAnswer, dataFlag: string): string[] {
  const lines: string[] = [];
  const noPrice = look.unpriced.filter(({ billedBy }) => billedBy === null);
  if (noPrice.length > 0) {
    const models = [...new Set(noPrice.map(({ model }) => (model === null ? null : shortModel(model))))];
    const rows = models.map((model) => `${model ?? '*'},USD`).join('\\n');
    lines.push(
      `No price: ${gpuHours(sumUnits(noPrice))} of ${models.map((model) => model ?? 'GPUs of unknown model').join(', ')}.` +
        ` Say what an hour costs: printf 'model,usd_per_gpu_hour\\n${rows}\\n' | bursar import rates - --batch rates${dataFlag}`,
    );
  }
  const notCharged = look.unpriced.filter(({ billedBy, wantsRateOf }) => billedBy !== null && wantsRateOf === null);
  if (notCharged.length > 0) {
    const bills = [...new Set(notCharged.map(({ billedBy }) => safeText(billedBy ?? '')))].join(', ');
    lines.push(
      `No price: ${gpuHours(sumUnits(notCharged))} on nodes of ${bills} that its bill covers and does not charge.` +
        ` Check their resource_id: bursar import nodes FILE${dataFlag}`,
    );
  }
  if (look.unlistedNodes.length > 0) lines.push(unlistedWords(look, dataFlag));
  if (look.conflictUnits > 0n) {
    lines.push(
      `In two places: ${gpuHours(look.conflictUnits)} are claimed by more holders than fit; they share the money.`,
    );
  }
  const currencies = [...new Set(look.notPosted.map(({ currency }) => safeText(currency)))].sort();
  if (currencies.length > 0) {
    const waiting = sumUnits(look.unpriced.filter(({ wantsRateOf }) => wantsRateOf !== null));
    const hours = waiting === 0n ? '' : `; ${gpuHours(waiting)} have no price without it`;
    lines.push(
      `Not posted: ${counted(look.notPosted.length, 'bill')} in ${currencies.join(', ')}, for want of an exchange rate${hours}.` +
        ` printf 'currency,as_of,usd_per_unit\\n${currencies[0]},DATE,USD\\n' | bursar import fx - --batch fx${dataFlag}`,
    );
  }
  if (look.staleRows > 0) {
    lines.push(`Not in the figures yet: ${counted(look.staleRows, 'new row')} of facts.  → bursar derive${dataFlag}`);
  }
  return [...lines, ...missingWords(look, dataFlag)];
}

function unlistedWords({ unlistedNodes }: LookAnswer, dataFlag: string): string {
  const names = unlistedNodes.slice(0, UNLISTED_SHOWN).map(({ nodeId }) => safeText(nodeId));
  return (
    `Not in the inventory: ${gpuHours(sumUnits(unlistedNodes))} held on ${counted(unlistedNodes.length, 'node')},` +
    ` e.g. ${names.join(', ')}. If the inventory has these machines under other names, their GPUs count there too, as` +
    ` nobody's: write one name in both files, one node a row.` +
    `  → bursar import allocations FILE${dataFlag} or bursar import nodes FILE${dataFlag}`
  );
}

const MISSING: Readonly<Record<string, string>> = {
  samples: 'what GPUs did is unknown',
  allocations: 'who holds GPUs is unknown, and nothing counts as unallocated',
  nodes: 'a GPU counts from its first sample or holder to its last',
};

function missingWords({ missing }: LookAnswer, dataFlag: string): string[] {
  return missing.flatMap((word) =>
    MISSING[word] === undefined ? [] : [`No ${word} yet: ${MISSING[word]}.  → bursar import ${word} FILE${dataFlag}`],
  );
}

function next(look: LookAnswer, dataFlag: string): string[] {
  const commands = [
    'bursar spend --by team',
    ...(look.bills > 0 ? ['bursar ledger check'] : []),
    `bursar ledger explain --category ${look.categories.idle.gpuUnits > 0n ? 'idle' : 'computing'}`,
  ];
  return [`Next: ${commands.map((command) => command + dataFlag).join(' · ')}`];
}

function nothingYet(look: LookAnswer, dataFlag: string): string[] {
  const lines = [
    'Nothing to look at yet: there is no fact with a time in the data folder.',
    `  what GPUs did      bursar import samples FILE${dataFlag}`,
    `  who held them      bursar import allocations FILE${dataFlag}`,
    `  what was paid      bursar import charges FILE${dataFlag}   or, for owned hardware, bursar import rates FILE${dataFlag}`,
    `  the machines       bursar import nodes FILE${dataFlag}`,
    'Or see all of it on a made-up fleet: bursar example',
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

function sumUnits(times: readonly { readonly gpuUnits: bigint }[]): bigint {
  return times.reduce((sum, { gpuUnits }) => sum + gpuUnits, 0n);
}
