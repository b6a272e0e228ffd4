import { divideRounded } from '../money/usd.ts';
import { counted, dollarsOf, gpuHours, gpuHoursOf, gpuSeconds, isoTime, minute, percentsOf } from './figures.ts';
import { csvLine, safeText } from './safe-text.ts';
import { textTable } from './table.ts';
import type { TableColumn } from './table.ts';
import { unknownValueLines } from './unknown-value.ts';
import type { UnknownValue } from './unknown-value.ts';

export interface SpendRow {
  /** The values of `by`, in its order; null is what nobody can say. */
  readonly values: readonly (string | null)[];
  /** Where the row's step of time begins. */
  readonly step: Date | undefined;
  /** Null where nothing of it has a price; else of what has. */
  readonly costUsdMicros: bigint | null;
  readonly heldUnits: bigint;
  readonly unpricedUnits: bigint;
}

/** Of each hour: its part of all that is paid, or its part of what the bill would fall by. */
export type SpendPrice = 'amortised' | 'marginal';

export interface Spend {
  readonly by: readonly string[];
  readonly window: { readonly from: Date; readonly until: Date };
  readonly stepSeconds: number | undefined;
  /** What was left out, for people; '' for nothing. */
  readonly filter: string;
  readonly price: SpendPrice;
  /** Where there is nothing: what of the filter is nowhere in the window. */
  readonly unknownValues: readonly UnknownValue[];
  readonly rows: readonly SpendRow[];
  /** Null where there is something and none of it has a price, or where nothing of the window is in the ledger yet. */
  readonly totalUsdMicros: bigint | null;
  readonly heldUnits: bigint;
  readonly unpricedUnits: bigint;
  /** What the total rests on: billed, rate, estimated. */
  readonly usdMicrosByBasis: ReadonlyMap<string, bigint>;
}

const UNATTRIBUTED = 'unattributed';
const DAY_S = 86_400;
const SHARES_ADD_UP_MAX = 20;
const PRICE_WORDS: Readonly<Record<SpendPrice, string>> = {
  amortised: 'effective cost',
  marginal: 'part of what the bills would fall by; what is committed or owned costs nothing more',
};
const UNPRICED_WORDS: Readonly<Record<SpendPrice, string>> = {
  amortised: 'have no price and are in no sum: bursar import rates FILE, or a bill',
  marginal:
    'are in no sum: they have no price, or nobody says how their machines are bought (purchase in bursar import nodes FILE)',
};
export const BASIS_WORDS: readonly (readonly [basis: string, words: string])[] = [
  ['billed', 'billed'],
  ['rate', 'by stated rates'],
  ['estimated', 'estimated, not billed'],
];

/** The answer for programs; the shape others build on. */
export function spendJson(spend: Spend): unknown {
  const { by, window, rows, totalUsdMicros } = spend;
  return {
    window: { from: isoTime(window.from), until: isoTime(window.until) },
    price: spend.price,
    rows: rows.map((row) => ({
      ...(row.step !== undefined && { step: isoTime(row.step) }),
      ...Object.fromEntries(by.map((name, place) => [name, row.values[place] ?? null])),
      costUsdMicros: row.costUsdMicros === null ? null : String(row.costUsdMicros),
      heldSeconds: gpuSeconds(row.heldUnits),
      unpricedSeconds: gpuSeconds(row.unpricedUnits),
    })),
    totalUsdMicros: totalUsdMicros === null ? null : String(totalUsdMicros),
  };
}

/** RFC 4180; what nobody can say is empty, and text that a spreadsheet would run is not run. */
export function spendCsv({ by, stepSeconds, rows }: Spend): string {
  const names = [...(stepSeconds === undefined ? [] : ['step']), ...by];
  const lines = rows.map((row) =>
    csvLine([
      ...(row.step === undefined ? [] : [isoTime(row.step)]),
      ...row.values,
      row.costUsdMicros,
      gpuSeconds(row.heldUnits),
      gpuSeconds(row.unpricedUnits),
    ]),
  );
  return [csvLine([...names, 'costUsdMicros', 'heldSeconds', 'unpricedSeconds']), ...lines].join('');
}

/** The table for people: parts shown add up to the total shown. */
export function spendText(spend: Spend): string[] {
  const { by, stepSeconds, rows } = spend;
  const costs = dollarsOf(rows.map((row) => row.costUsdMicros));
  const shares = sharesOf(rows.map((row) => row.costUsdMicros ?? 0n));
  const held = gpuHoursOf(rows.map((row) => row.heldUnits));
  const unpriced = gpuHoursOf(rows.map((row) => row.unpricedUnits));
  const ifAny = (units: bigint, shown: string | undefined): string => (units === 0n ? '' : (shown ?? ''));
  const columns: TableColumn[] = [
    ...(stepSeconds === undefined ? [] : [{ align: 'left' as const, title: 'from' }]),
    ...by.map((title) => ({ align: 'left' as const, title })),
    { align: 'right', title: 'cost' },
    { align: 'right' },
    { align: 'right', title: 'GPU-hours' },
    { align: 'right', title: 'unpriced' },
  ];
  const lines = rows.map((row, place) => [
    ...(row.step === undefined ? [] : [stepText(row.step, stepSeconds ?? DAY_S)]),
    ...cellsOf(row),
    costs.parts[place] ?? '',
    shares[place] ?? '',
    ifAny(row.heldUnits, held.parts[place]),
    ifAny(row.unpricedUnits, unpriced.parts[place]),
  ]);
  const names = columns.length - 4;
  const total = [
    ...Array.from({ length: names }, (_, place) => (place === 0 ? 'total' : '')),
    costs.total,
    '',
    ifAny(spend.heldUnits, held.total),
    ifAny(spend.unpricedUnits, unpriced.total),
  ];
  if (rows.length === 0) {
    const nothing = spend.totalUsdMicros === null ? NOT_DERIVED : 'nothing in this window';
    return [heading(spend), nothing, ...unknownValueLines(spend.unknownValues)];
  }
  return [heading(spend), '', ...textTable(columns, names === 0 ? lines : [...lines, total]), '', ...footing(spend)];
}

function heading({ by, window, filter, price }: Spend): string {
  const dimensions = by.length === 0 ? '' : ` by ${by.join(', ')}`;
  const where = filter === '' ? '' : `, only ${safeText(filter)}`;
  const marginally = price === 'marginal' ? ' at marginal prices' : '';
  return `Spend${dimensions}${marginally}, ${minute(window.from)} to ${minute(window.until)} UTC${where}`;
}

/** What the figures rest on, and what is not in them. */
function footing({ usdMicrosByBasis, unpricedUnits, price }: Spend): string[] {
  const parts = BASIS_WORDS.flatMap(([basis, words]) => {
    const micros = usdMicrosByBasis.get(basis) ?? 0n;
    return micros === 0n ? [] : [{ micros, words }];
  });
  const { parts: shown } = dollarsOf(parts.map(({ micros }) => micros));
  const basis = parts.map(({ words }, place) => `${shown[place] ?? ''} ${words}`).join('; ');
  return [
    ...(basis === '' ? [] : [`${PRICE_WORDS[price]}: ${basis}`]),
    ...(unpricedUnits === 0n ? [] : [`${gpuHours(unpricedUnits)} ${UNPRICED_WORDS[price]}`]),
  ];
}

/** Shares add up to 100 % while there are few; of thousands of small ones, that would make 1 % of next to nothing. */
function sharesOf(costs: readonly bigint[]): string[] {
  if (costs.length <= SHARES_ADD_UP_MAX) return percentsOf(costs);
  const total = costs.reduce((sum, cost) => sum + cost, 0n);
  return costs.map((cost) => (cost <= 0n || total <= 0n ? '' : percentOf(cost, total)));
}

function percentOf(cost: bigint, total: bigint): string {
  const percent = divideRounded(cost * 100n, total);
  return percent === 0n ? '<1 %' : `${percent} %`;
}

function cellsOf(row: SpendRow): string[] {
  return row.values.map((value) => (value === null ? UNATTRIBUTED : safeText(value)));
}

function stepText(step: Date, stepSeconds: number): string {
  return stepSeconds % DAY_S === 0 && step.getTime() % (DAY_S * 1000) === 0
    ? step.toISOString().slice(0, 10)
    : minute(step);
}

/** Instead of a sum, where facts have come and none of their days is derived. */
export const NOT_DERIVED = 'not known yet, as these days are not in the ledger';

/** Said on stderr beside an answer that is not of the newest facts. */
export function staleText(staleRows: number): string | undefined {
  if (staleRows === 0) return undefined;
  return `${counted(staleRows, 'row')} of facts are not in the ledger yet: bursar derive`;
}
