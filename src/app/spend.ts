import { OperationError } from '../facts/operation-error.ts';
import type { Question, TableNeed } from '../lake/ask.ts';
import type { Params } from '../lake/engine.ts';
import type { Spend, SpendPrice, SpendRow } from '../report/spend-table.ts';
import type { Dimension, Filter } from './filter.ts';
import { filterSql, filterText } from './filter.ts';
import { isUnderived } from './ledger-days.ts';
import { ownedSpendSql } from './rules/owned-spend.ts';
import type { RuleBook } from './rules/rule.ts';
import { windowSpend } from './rules/window-spend.ts';
import { unknownValues } from './unknown-values.ts';
import { daysOf, hoursSql, stepSql } from './window.ts';
import type { LedgerWindow } from './window.ts';
import type { ReadSpace } from './workspace.ts';

const HOUR_S = 3600;
const DAY_S = 86_400;
const STEP_HOURS_MAX = 24 * 3660;

export interface SpendRequest {
  readonly by: readonly Dimension[];
  readonly window: LedgerWindow;
  readonly stepSeconds?: number;
  readonly filters: readonly Filter[];
  /** Amortised where it is left out: what statements say. Marginal is what the bills would fall by. */
  readonly price?: SpendPrice;
}

interface Sum {
  readonly step: bigint | null;
  readonly basis: string;
  readonly cost: bigint | null;
  readonly held: bigint;
  readonly unpriced: bigint;
  readonly [value: `v${number}`]: string | null;
}

/** `1d`, `6h`, `7d` in seconds. */
export function parseStep(text: string): number {
  const match = /^(\d{1,5})([hd])$/.exec(text.trim());
  const hours = Number(match?.[1]) * (match?.[2] === 'd' ? 24 : 1);
  if (match !== null && hours >= 1 && hours <= STEP_HOURS_MAX) return hours * HOUR_S;
  throw new OperationError('bad-step', `"${text}" is not a step of time`, {
    hint: 'a step is whole hours or days: 1h, 6h, 1d, 7d',
  });
}

/**
 * Question: what was paid in a window, by whom or for what?
 *
 * Reads `spend_day` where its dimensions and whole days suffice, which is a few thousand rows a day however large the
 * fleet; else the waterfall itself. Owners are those the rules in force say now; shared money is split over teams, except
 * where single nodes, devices, jobs or hours are asked for, which shows it with its pool.
 */
export async function spend(space: ReadSpace, request: SpendRequest): Promise<Spend> {
  const sums = request.window.days.length === 0 ? [] : await space.ask<Sum>(question(request, space.rules));
  const byBasis = new Map<string, bigint>();
  const rows = new Map<string, SpendRow>();
  for (const sum of sums) {
    if (sum.cost !== null) byBasis.set(sum.basis, (byBasis.get(sum.basis) ?? 0n) + sum.cost);
    const values = request.by.map((dimension, place) => valueOf(dimension, sum[`v${place}`] ?? null));
    const step = sum.step === null ? undefined : new Date(request.window.from.getTime() + Number(sum.step) * 1000);
    const key = JSON.stringify([values, sum.step === null ? null : String(sum.step)]);
    const other = rows.get(key);
    rows.set(key, {
      values,
      step,
      costUsdMicros: added(other?.costUsdMicros ?? null, sum.cost),
      heldUnits: (other?.heldUnits ?? 0n) + sum.held,
      unpricedUnits: (other?.unpricedUnits ?? 0n) + sum.unpriced,
    });
  }
  const nothing = isUnderived(space, request.window) ? null : 0n;
  const all = [...rows.values()].sort((a, b) => compareRows(request.by, a, b));
  return {
    by: request.by.map(({ name }) => name),
    window: request.window,
    stepSeconds: request.stepSeconds,
    filter: filterText(request.filters),
    price: request.price ?? 'amortised',
    unknownValues: all.length > 0 ? [] : await unknownValues(space, request.window, request.filters),
    rows: all,
    totalUsdMicros: all.reduce((total, row) => added(total, row.costUsdMicros), all.length === 0 ? nothing : null),
    heldUnits: all.reduce((total, row) => total + row.heldUnits, 0n),
    unpricedUnits: all.reduce((total, row) => total + row.unpricedUnits, 0n),
    usdMicrosByBasis: byBasis,
  };
}

/** Sums by day where they know all that is asked, else single entries. */
function question(request: SpendRequest, book: RuleBook): Question {
  const { by, window, filters, stepSeconds } = request;
  const part = usesSpendDay(request) ? dayPart(request, book) : entryPart(request);
  const names = by.map((_, place) => `v${place}, `).join('');
  return {
    tables: part.tables,
    params: {
      ...filterSql(filters, () => '').params,
      ...part.params,
      windowFrom: window.from,
      stepSeconds: stepSeconds ?? 1,
    },
    sql: `
      SELECT ${names}step, basis, CAST(sum(cost) AS BIGINT) AS cost, CAST(sum(held) AS BIGINT) AS held,
             CAST(sum(unpriced) AS BIGINT) AS unpriced
      FROM (${part.sql}) s
      GROUP BY ${names}step, basis`,
  };
}

interface Part {
  readonly tables: readonly TableNeed[];
  readonly params: Params;
  readonly sql: string;
}

/** Days can be added up to steps only if no step begins within one. */
function usesSpendDay({ by, window, stepSeconds, filters }: SpendRequest): boolean {
  const dimensions = [...by, ...filters.map(({ dimension }) => dimension)];
  const stepsAreDays =
    stepSeconds === undefined || (stepSeconds % DAY_S === 0 && window.from.getTime() % (DAY_S * 1000) === 0);
  return stepsAreDays && dimensions.every(({ spendDayColumn }) => spendDayColumn !== undefined);
}

function dayPart({ by, filters, stepSeconds, window, price }: SpendRequest, book: RuleBook): Part {
  const values = by.map(({ spendDayColumn = '' }, place) => `${spendDayColumn} AS v${place}, `).join('');
  const dimensions = [...by, ...filters.map(({ dimension }) => dimension)];
  const columns = dimensions.flatMap(({ name, spendDayColumn }) => (name === 'day' ? [] : (spendDayColumn ?? [])));
  const { tables, params, sql } = windowSpend(window);
  const owned = ownedSpendSql(book, {
    spend: sql,
    profile: 'SELECT * FROM known_profile',
    columns: [...new Set([...columns, 'basis'])],
    anyDay: stepSeconds === undefined && dimensions.every(({ name }) => name !== 'day'),
  });
  return {
    tables,
    params,
    sql: `
      SELECT ${values}${stepSql(stepSeconds, `date_diff('day', CAST($windowFrom AS DATE), day) * ${DAY_S}`)} AS step,
             basis, ${priceColumn(price)} AS cost, gpu_units AS held,
             CASE WHEN ${priceColumn(price)} IS NULL THEN gpu_units ELSE unpriced_units END AS unpriced
      FROM (${owned}) d WHERE ${filterSql(filters, ({ spendDayColumn = '' }) => spendDayColumn).sql}`,
  };
}

function entryPart({ by, filters, stepSeconds, window, price }: SpendRequest): Part {
  const values = by.map(({ entryColumn }, place) => `${entryColumn} AS v${place}, `).join('');
  const hours = hoursSql(window, 'w.hour_start');
  return {
    tables: [
      { table: 'waterfall', ...daysOf(window) },
      { table: 'ownership', ...daysOf(window) },
    ],
    params: hours.params,
    sql: `
      SELECT ${values}${stepSql(stepSeconds, `date_diff('second', $windowFrom, w.hour_start)`)} AS step, w.basis,
             w.${priceColumn(price)} AS cost, w.gpu_units AS held,
             CASE WHEN w.${priceColumn(price)} IS NULL THEN w.gpu_units ELSE 0 END AS unpriced
      FROM waterfall w LEFT JOIN ownership o ON w.day = o.day AND w.subject = o.subject
      WHERE ${hours.sql} AND ${filterSql(filters, ({ entryColumn }) => entryColumn).sql}`,
  };
}

function priceColumn(price: SpendPrice = 'amortised'): string {
  return price === 'marginal' ? 'marginal_usd_micros' : 'usd_micros';
}

/** Hours leave as ISO times, everything else as the ledger has it. */
function valueOf(dimension: Dimension, value: string | null): string | null {
  return dimension.name === 'hour' && value !== null ? `${value.replace(' ', 'T')}Z` : value;
}

function added(a: bigint | null, b: bigint | null): bigint | null {
  return a === null ? b : a + (b ?? 0n);
}

/** Time first, then what costs most; what belongs to nobody comes last. */
function compareRows(by: readonly Dimension[], a: SpendRow, b: SpendRow): number {
  const stepOrder = (a.step?.getTime() ?? 0) - (b.step?.getTime() ?? 0);
  if (stepOrder !== 0) return stepOrder;
  const times = by.flatMap(({ name }, place) => (name === 'day' || name === 'hour' ? [place] : []));
  for (const place of times) {
    const order = compareText(a.values[place] ?? null, b.values[place] ?? null);
    if (order !== 0) return order;
  }
  const isNobodys = (row: SpendRow): boolean => row.values.length > 0 && row.values.every((value) => value === null);
  if (isNobodys(a) !== isNobodys(b)) return isNobodys(a) ? 1 : -1;
  if (a.costUsdMicros !== b.costUsdMicros) {
    if (a.costUsdMicros === null || b.costUsdMicros === null) return a.costUsdMicros === null ? 1 : -1;
    return a.costUsdMicros > b.costUsdMicros ? -1 : 1;
  }
  for (const place of by.keys()) {
    const order = compareText(a.values[place] ?? null, b.values[place] ?? null);
    if (order !== 0) return order;
  }
  return 0;
}

function compareText(a: string | null, b: string | null): number {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? 1 : -1;
  return a < b ? -1 : 1;
}
