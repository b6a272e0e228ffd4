import { divideRounded } from '../money/usd.ts';
import type { Question } from '../lake/ask.ts';
import { startOf } from '../lake/calendar.ts';
import { CATEGORIES } from '../ledger/waterfall.ts';
import type { Category } from '../ledger/waterfall.ts';
import { idleTotal } from '../report/idle-list.ts';
import type { CategorySum, LookAnswer, UnpricedTime } from '../report/look-screen.ts';
import { idleNow } from './idle.ts';
import { decideNow } from './now.ts';
import { ledgerWindow } from './window.ts';
import type { LedgerWindow } from './window.ts';
import type { ReadSpace } from './workspace.ts';

export interface LookRequest {
  readonly asOf?: Date;
  readonly window: string;
  readonly clock: Date;
}

interface SpendSum {
  readonly category: Category;
  readonly component: string;
  readonly basis: string;
  readonly usdMicros: bigint | null;
  readonly gpuUnits: bigint;
  readonly unpricedUnits: bigint;
}

/** Kinds of charges that stand beside the GPU under the one component `other`, and what people call them. */
const OTHER_KINDS: Readonly<Record<string, string>> = {
  tax: 'tax',
  credit: 'credits',
  support: 'support',
  rounding: 'rounding',
};

/**
 * Question: what was paid for in a window, and what became of it?
 *
 * Reads: spend_day (cut days: waterfall), charge_hour, ledger_entry, fx_rate, and what `idleNow` reads.
 */
export async function look(space: ReadSpace, request: LookRequest): Promise<LookAnswer> {
  const now = decideNow(request.asOf, space.scope?.horizon, request.clock);
  const window = ledgerWindow(request.window, now.at, space.scope);
  const sums = await spendSums(space, window);
  const categories = Object.fromEntries(
    CATEGORIES.map((category) => [category, categorySum(sums.filter((sum) => sum.category === category))]),
  ) as Record<Category, CategorySum>;
  const kinds = await chargeKinds(space, window);
  const idle = await idleNow(space, now);
  const bills = space.scope?.bills ?? [];
  const [first, last] = [space.scope?.days[0], space.scope?.days.at(-1)];
  const isUnpriced = sums.some(({ unpricedUnits }) => unpricedUnits > 0n);
  const basis = (name: string): bigint => sumOf(sums.filter((sum) => sum.basis === name)) ?? 0n;
  const paidUsdMicros = sums.length === 0 ? 0n : sumOf(sums);
  return {
    asOf: now.at,
    asOfBy: now.by,
    window: { asked: window.asked, from: window.from, until: window.until, ledgerDays: window.days.length },
    ledger: first === undefined || last === undefined ? undefined : { first, last },
    paidUsdMicros,
    categories,
    ...computeShares(paidUsdMicros, categories),
    basisUsdMicros: { billed: basis('billed'), rate: basis('rate'), estimated: basis('estimated') },
    bills: bills.length,
    beside: besideOf(sums, kinds),
    unpriced: isUnpriced ? await unpricedTimes(space, window) : [],
    unmatchedUsdMicros: kinds.get('unmatched') ?? 0n,
    conflictUnits: await conflictUnits(space, window),
    notPosted: await notPosted(space),
    staleRows: space.staleRows,
    missing: missingFacts(space),
    idleNow: idleTotal(idle.holdings),
    silentGpus: idle.silentGpus,
  };
}

/** Asks once for the whole days and once for each cut one. */
async function overWindow<Row>(
  space: ReadSpace,
  window: LedgerWindow,
  whole: (days: { first: string; last: string }) => Question,
  cut: (day: string) => Question,
): Promise<Row[]> {
  const rows: Row[] = [];
  if (window.whole !== undefined) rows.push(...(await space.ask<Row>(whole(window.whole))));
  for (const { day, from, until } of window.cut) {
    const question = cut(day);
    rows.push(...(await space.ask<Row>({ ...question, params: { ...question.params, from, until } })));
  }
  return rows;
}

const SPEND_COLUMNS = `category, component, basis, CAST(sum(usd_micros) AS BIGINT) AS "usdMicros",
  CAST(sum(gpu_units) AS BIGINT) AS "gpuUnits"`;

async function spendSums(space: ReadSpace, window: LedgerWindow): Promise<SpendSum[]> {
  return overWindow<SpendSum>(
    space,
    window,
    ({ first, last }) => ({
      tables: [{ table: 'spend_day', first, last }],
      sql: `SELECT ${SPEND_COLUMNS}, CAST(sum(unpriced_units) AS BIGINT) AS "unpricedUnits"
            FROM spend_day GROUP BY category, component, basis ORDER BY category, component, basis`,
    }),
    (day) => ({
      tables: [{ table: 'waterfall', first: day, last: day }],
      sql: `SELECT ${SPEND_COLUMNS},
                   COALESCE(CAST(sum(gpu_units) FILTER (WHERE usd_micros IS NULL) AS BIGINT), 0) AS "unpricedUnits"
            FROM waterfall WHERE hour_start >= $from AND hour_start < $until
            GROUP BY category, component, basis ORDER BY category, component, basis`,
    }),
  );
}

/** Null where there is time and none of it has a price; nothing at all is 0. */
function categorySum(sums: readonly SpendSum[]): CategorySum {
  return {
    usdMicros: sums.length === 0 ? 0n : sumOf(sums),
    gpuUnits: sums.reduce((total, { gpuUnits }) => total + gpuUnits, 0n),
    unpricedUnits: sums.reduce((total, { unpricedUnits }) => total + unpricedUnits, 0n),
  };
}

function sumOf(sums: readonly { readonly usdMicros: bigint | null }[]): bigint | null {
  return sums.reduce<bigint | null>(
    (total, { usdMicros }) => (usdMicros === null ? total : (total ?? 0n) + usdMicros),
    null,
  );
}

/** Computing ÷ (paid − beside − unknown), in money and in GPU-hours; null where there is nothing to divide by. */
function computeShares(
  paid: bigint | null,
  { computing, beside, unknown, ...others }: Readonly<Record<Category, CategorySum>>,
): Pick<LookAnswer, 'computeSharePermille' | 'computeShareHoursPermille'> {
  const known = (paid ?? 0n) - (beside.usdMicros ?? 0n) - (unknown.usdMicros ?? 0n);
  const knownUnits = [computing, ...Object.values(others)].reduce((total, { gpuUnits }) => total + gpuUnits, 0n);
  const permille = (part: bigint, whole: bigint): number | null =>
    whole <= 0n ? null : Number(divideRounded(part * 1000n, whole));
  return {
    computeSharePermille: permille(computing.usdMicros ?? 0n, known),
    computeShareHoursPermille: permille(computing.gpuUnits, knownUnits),
  };
}

/** Money of charges by kind, for the kinds that the sums by day do not tell apart. */
async function chargeKinds(space: ReadSpace, window: LedgerWindow): Promise<Map<string, bigint>> {
  if (space.scope === undefined || space.scope.bills.length === 0) return new Map();
  const question = (days: { first: string; last: string }): Question => ({
    tables: [{ table: 'charge_hour', ...days }],
    params: { from: startOf(days.first), until: new Date(startOf(days.last).getTime() + 86_400_000) },
    sql: `SELECT kind, CAST(sum(usd_micros) AS BIGINT) AS "usdMicros" FROM charge_hour
          WHERE kind IN ('unmatched', ${Object.keys(OTHER_KINDS)
            .map((kind) => `'${kind}'`)
            .join(', ')})
            AND hour_start >= $from AND hour_start < $until GROUP BY kind`,
  });
  const rows = await overWindow<{ kind: string; usdMicros: bigint }>(space, window, question, (day) =>
    question({ first: day, last: day }),
  );
  const kinds = new Map<string, bigint>();
  for (const { kind, usdMicros } of rows) kinds.set(kind, (kinds.get(kind) ?? 0n) + usdMicros);
  return kinds;
}

/** What stands beside the GPU: by component, and the one called `other` by the kind of its charges. */
function besideOf(sums: readonly SpendSum[], kinds: ReadonlyMap<string, bigint>): LookAnswer['beside'] {
  const amounts = new Map<string, bigint>();
  const add = (what: string, micros: bigint): void => void amounts.set(what, (amounts.get(what) ?? 0n) + micros);
  for (const { category, component, usdMicros } of sums) {
    if (category === 'beside') add(component === 'host' ? 'hosts without GPUs' : component, usdMicros ?? 0n);
  }
  for (const [kind, what] of Object.entries(OTHER_KINDS)) {
    const micros = kinds.get(kind) ?? 0n;
    if (micros === 0n) continue;
    add(what, micros);
    add('other', -micros);
  }
  return [...amounts]
    .filter(([, usdMicros]) => usdMicros !== 0n)
    .map(([what, usdMicros]) => ({ what, usdMicros }))
    .sort((a, b) => (a.usdMicros === b.usdMicros ? 0 : a.usdMicros > b.usdMicros ? -1 : 1));
}

/** Time without a price, by model; `billedBy` where a bill covers the node and does not charge it. */
async function unpricedTimes(space: ReadSpace, window: LedgerWindow): Promise<UnpricedTime[]> {
  const sql = (filter: string): string => `
    SELECT model, provider, account, CAST(sum(gpu_units) AS BIGINT) AS "gpuUnits"
    FROM ledger_entry WHERE basis = 'unpriced' AND gpu_units > 0${filter}
    GROUP BY model, provider, account ORDER BY model, provider, account`;
  const rows = await overWindow<{
    model: string | null;
    provider: string | null;
    account: string | null;
    gpuUnits: bigint;
  }>(
    space,
    window,
    (days) => ({ tables: [{ table: 'ledger_entry', ...days }], sql: sql('') }),
    (day) => ({
      tables: [{ table: 'ledger_entry', first: day, last: day }],
      sql: sql(' AND hour_start >= $from AND hour_start < $until'),
    }),
  );
  const covering = (provider: string | null, account: string | null): string | null => {
    const bill = space.scope?.bills.find(
      (each) =>
        each.provider.toLowerCase() === provider?.toLowerCase() &&
        (account === null || each.billingAccount === account) &&
        each.coveredUntil !== null,
    );
    return bill === undefined ? null : `${bill.provider} ${bill.billingAccount}`;
  };
  const times = new Map<string, UnpricedTime>();
  for (const { model, provider, account, gpuUnits } of rows) {
    const billedBy = covering(provider, account);
    const key = JSON.stringify([model, billedBy]);
    times.set(key, { model, billedBy, gpuUnits: (times.get(key)?.gpuUnits ?? 0n) + gpuUnits });
  }
  return [...times.values()];
}

async function conflictUnits(space: ReadSpace, window: LedgerWindow): Promise<bigint> {
  const sql = (filter: string): string =>
    `SELECT CAST(sum(gpu_units) AS BIGINT) AS "gpuUnits" FROM ledger_entry WHERE conflict${filter}`;
  const rows = await overWindow<{ gpuUnits: bigint | null }>(
    space,
    window,
    (days) => ({ tables: [{ table: 'ledger_entry', ...days }], sql: sql('') }),
    (day) => ({
      tables: [{ table: 'ledger_entry', first: day, last: day }],
      sql: sql(' AND hour_start >= $from AND hour_start < $until'),
    }),
  );
  return rows.reduce((total, { gpuUnits }) => total + (gpuUnits ?? 0n), 0n);
}

/** Bills in a currency without an exchange rate up to their end: imported, not posted. */
async function notPosted(space: ReadSpace): Promise<LookAnswer['notPosted']> {
  const foreign = (space.scope?.bills ?? []).filter(({ currency }) => currency !== 'USD');
  if (foreign.length === 0) return [];
  const rates = await space.ask<{ currency: string; firstAt: string }>({
    tables: [{ table: 'fx_rate' }],
    sql: 'SELECT currency, min(as_of) AS "firstAt" FROM fx_rate GROUP BY currency',
  });
  return foreign
    .filter(({ currency, periodEnd }) => !rates.some((rate) => rate.currency === currency && rate.firstAt <= periodEnd))
    .map(({ billId, currency }) => ({ billId, currency }));
}

function missingFacts(space: ReadSpace): string[] {
  const has = (...tables: string[]): boolean => space.snapshot.batches.some(({ table }) => tables.includes(table));
  return [
    ...(has('gpu_sample') ? [] : ['samples']),
    ...(has('allocation') ? [] : ['allocations']),
    ...(has('node', 'device') ? [] : ['nodes']),
  ];
}
