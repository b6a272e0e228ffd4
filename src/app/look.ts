import type { BillFacts } from '../facts/manifest.ts';
import { providerKey } from '../facts/provider-name.ts';
import { divideRounded } from '../money/usd.ts';
import type { Question } from '../lake/ask.ts';
import { startOf } from '../lake/calendar.ts';
import { CATEGORIES } from '../ledger/waterfall.ts';
import type { Category } from '../ledger/waterfall.ts';
import { reasonWords } from '../report/category-words.ts';
import { idleTotal } from '../report/idle-list.ts';
import { isThere } from '../report/look-screen.ts';
import type { CategorySum, LookAnswer, UnlistedNode, UnpricedTime } from '../report/look-screen.ts';
import { findFindings } from './findings/find-findings.ts';
import { idleNow } from './idle.ts';
import { catalogsUsed } from './prices/catalogs-used.ts';
import { decideNow } from './now.ts';
import { waitingNow } from './queue/waiting-now.ts';
import { subjectRows } from './waste/subject-rows.ts';
import { daysOf, ledgerWindow } from './window.ts';
import type { LedgerWindow } from './window.ts';
import type { ReadSpace } from './workspace.ts';

export interface LookRequest {
  readonly asOf?: Date;
  readonly window: string;
  readonly clock: Date;
}

interface SpendSum {
  readonly category: Category;
  readonly reason: string | null;
  readonly component: string;
  readonly basis: string;
  readonly usdMicros: bigint | null;
  readonly gpuUnits: bigint;
  readonly unpricedUnits: bigint;
}

/** Kinds of charges that stand beside the GPU under the one component `other`, and the reason each is. */
const OTHER_KINDS: Readonly<Record<string, string>> = {
  tax: 'tax',
  credit: 'credit',
  support: 'support',
  unused: 'unused-commitment',
  rounding: 'rounding',
};

/**
 * Question: what was paid for in a window, and what became of it?
 *
 * Reads: spend_day (cut days: waterfall), subject_day where work was lost, charge_hour, ledger_entry, fx_rate, inferred, node, device, and what `idleNow`,
 * `waitingNow` and `findFindings` read.
 */
export async function look(space: ReadSpace, request: LookRequest): Promise<LookAnswer> {
  const now = decideNow(request.asOf, space.scope?.horizon, request.clock);
  const window = ledgerWindow(request.window, now.at, space.scope);
  const sums = await spendSums(space, window);
  const categories = Object.fromEntries(
    CATEGORIES.map((category) => [category, categorySum(sums.filter((sum) => sum.category === category))]),
  ) as Record<Category, CategorySum>;
  const kinds = await chargeKinds(space, window);
  const idle = await idleNow(space, now, { soFar: false });
  const bills = space.scope?.bills ?? [];
  const unposted = await notPosted(space, bills);
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
    starvedBy: reasonsOf(sums, 'starved'),
    lostAttempts: isThere(categories.lost) ? await lostAttempts(space, window) : [],
    basisUsdMicros: { billed: basis('billed'), rate: basis('rate'), estimated: basis('estimated') },
    ...(basis('estimated') !== 0n && {
      estimatedBy: await catalogsUsed(space, { ...daysOf(window), billedToo: bills.length === 0 }),
    }),
    bills: bills.length,
    beside: besideOf(sums, kinds),
    unpriced: isUnpriced ? await unpricedTimes(space, window, bills, unposted) : [],
    unmatchedUsdMicros: kinds.get('unmatched') ?? 0n,
    conflictUnits: await conflictUnits(space, window),
    notPosted: unposted.map(({ billId, currency }) => ({ billId, currency })),
    unlistedNodes: await unlistedNodes(space, window),
    staleRows: space.staleRows,
    missing: missingFacts(space),
    idleNow: idleTotal(idle.holdings),
    silentGpus: idle.silentGpus,
    waiting: await waitingNow(space, now),
    findings: await findFindings(space, { window, now: now.at, nowBy: now.by }),
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

const SPEND_COLUMNS = `category, reason, component, basis, CAST(sum(usd_micros) AS BIGINT) AS "usdMicros",
  CAST(sum(gpu_units) AS BIGINT) AS "gpuUnits"`;

async function spendSums(space: ReadSpace, window: LedgerWindow): Promise<SpendSum[]> {
  return overWindow<SpendSum>(
    space,
    window,
    ({ first, last }) => ({
      tables: [{ table: 'spend_day', first, last }],
      sql: `SELECT ${SPEND_COLUMNS}, CAST(sum(unpriced_units) AS BIGINT) AS "unpricedUnits"
            FROM spend_day GROUP BY category, reason, component, basis ORDER BY category, reason, component, basis`,
    }),
    (day) => ({
      tables: [{ table: 'waterfall', first: day, last: day }],
      sql: `SELECT ${SPEND_COLUMNS},
                   COALESCE(CAST(sum(gpu_units) FILTER (WHERE usd_micros IS NULL) AS BIGINT), 0) AS "unpricedUnits"
            FROM waterfall WHERE hour_start >= $from AND hour_start < $until
            GROUP BY category, reason, component, basis ORDER BY category, reason, component, basis`,
    }),
  );
}

/** What a category consists of by the reasons the ledger gives, the dearest first. */
function reasonsOf(sums: readonly SpendSum[], category: Category): LookAnswer['starvedBy'] {
  const ofIt = sums.filter((sum) => sum.category === category);
  return [...new Set(ofIt.map(({ reason }) => reason))]
    .map((reason) => {
      const { usdMicros, gpuUnits } = categorySum(ofIt.filter((sum) => sum.reason === reason));
      return { reason, usdMicros, gpuUnits };
    })
    .toSorted((a, b) => Number((b.usdMicros ?? 0n) - (a.usdMicros ?? 0n)));
}

/** How many attempts lost work, by how they ended. */
async function lostAttempts(space: ReadSpace, window: LedgerWindow): Promise<LookAnswer['lostAttempts']> {
  const { tables, params, sql } = subjectRows(window);
  const rows = await space.ask<{ outcome: string | null; attempts: bigint }>({
    tables,
    params,
    sql: `SELECT reason AS outcome, count(DISTINCT subject) AS attempts FROM (${sql}) w
          WHERE category = 'lost' GROUP BY reason ORDER BY attempts DESC, outcome`,
  });
  return rows.map(({ outcome, attempts }) => ({ outcome, attempts: Number(attempts) }));
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
    if (category === 'beside')
      add(component === 'host' ? reasonWords('beside', component) : component, usdMicros ?? 0n);
  }
  for (const [kind, reason] of Object.entries(OTHER_KINDS)) {
    const micros = kinds.get(kind) ?? 0n;
    if (micros === 0n) continue;
    add(reasonWords('beside', reason), micros);
    add('other', -micros);
  }
  return [...amounts]
    .filter(([, usdMicros]) => usdMicros !== 0n)
    .map(([what, usdMicros]) => ({ what, usdMicros }))
    .sort((a, b) => (a.usdMicros === b.usdMicros ? 0 : a.usdMicros > b.usdMicros ? -1 : 1));
}

/** Asks single entries; `sql` gets the condition that keeps to the hours of a cut day. */
async function entriesOverWindow<Row>(
  space: ReadSpace,
  window: LedgerWindow,
  sql: (inHours: string) => string,
  others: readonly string[] = [],
): Promise<Row[]> {
  const question = (days: { first: string; last: string }, inHours: string): Question => ({
    tables: [{ table: 'ledger_entry', ...days }, ...others.map((table) => ({ table }))],
    sql: sql(inHours),
  });
  return overWindow<Row>(
    space,
    window,
    (days) => question(days, 'TRUE'),
    (day) => question({ first: day, last: day }, 'hour_start >= $from AND hour_start < $until'),
  );
}

/** Time without a price, by model; `billedBy` where a bill covers the node and does not charge it, or is not posted itself. */
async function unpricedTimes(
  space: ReadSpace,
  window: LedgerWindow,
  bills: readonly BillFacts[],
  unposted: readonly BillFacts[],
): Promise<UnpricedTime[]> {
  const rows = await entriesOverWindow<{
    day: string;
    model: string | null;
    provider: string | null;
    account: string | null;
    gpuUnits: bigint;
  }>(
    space,
    window,
    (inHours) => `
      SELECT CAST(day AS VARCHAR) AS day, model, provider, account, CAST(sum(gpu_units) AS BIGINT) AS "gpuUnits"
      FROM ledger_entry WHERE basis = 'unpriced' AND gpu_units > 0 AND ${inHours}
      GROUP BY day, model, provider, account ORDER BY day, model, provider, account`,
  );
  const times = new Map<string, UnpricedTime>();
  for (const { day, model, provider, account, gpuUnits } of rows) {
    const bill = coveringBill(bills, provider, account, day);
    const billedBy = bill === undefined ? null : `${bill.provider} ${bill.billingAccount}`;
    const wantsRateOf = bill !== undefined && unposted.includes(bill) ? bill.currency : null;
    const key = JSON.stringify([model, billedBy, wantsRateOf]);
    times.set(key, { model, billedBy, wantsRateOf, gpuUnits: (times.get(key)?.gpuUnits ?? 0n) + gpuUnits });
  }
  return [...times.values()];
}

/** The bill that speaks for a day: that of the day's own period, else a later one that covers it too. */
function coveringBill(
  bills: readonly BillFacts[],
  provider: string | null,
  account: string | null,
  day: string,
): BillFacts | undefined {
  const midnight = `${day} 00:00:00`;
  const covering = bills.filter(
    (bill) =>
      provider !== null &&
      providerKey(bill.provider) === providerKey(provider) &&
      (account === null || bill.billingAccount === account) &&
      bill.coveredUntil !== null &&
      bill.coveredUntil > midnight,
  );
  const own = covering.find(({ periodStart, periodEnd }) => periodStart.slice(0, 10) <= day && midnight < periodEnd);
  return own ?? covering[0];
}

async function conflictUnits(space: ReadSpace, window: LedgerWindow): Promise<bigint> {
  const rows = await entriesOverWindow<{ gpuUnits: bigint | null }>(
    space,
    window,
    (inHours) => `
      SELECT CAST(sum(gpu_units) AS BIGINT) AS "gpuUnits" FROM ledger_entry WHERE conflict AND ${inHours}`,
  );
  return rows.reduce((total, { gpuUnits }) => total + (gpuUnits ?? 0n), 0n);
}

/**
 * Nodes that holdings name and no inventory lists, though there is one: a hostlist, or a full name beside a short one. Their
 * GPUs are counted twice, as held there and as empty under the name of the inventory.
 */
async function unlistedNodes(space: ReadSpace, window: LedgerWindow): Promise<UnlistedNode[]> {
  const tables = ['inferred', 'node', 'device'];
  const unlisted = `
    SELECT DISTINCT i.node_id FROM inferred i
    LEFT JOIN (SELECT node_id FROM node UNION SELECT node_id FROM device) listed ON i.node_id = listed.node_id
    WHERE i.node_id IS NOT NULL AND listed.node_id IS NULL
      AND EXISTS (SELECT 1 FROM node UNION ALL SELECT 1 FROM device)`;
  // Mostly there are none, and then no entry need be read.
  const names = await space.ask<{ node_id: string }>({ tables: tables.map((table) => ({ table })), sql: unlisted });
  if (names.length === 0) return [];
  const rows = await entriesOverWindow<UnlistedNode>(
    space,
    window,
    (inHours) => `
      SELECT node_id AS "nodeId", CAST(sum(gpu_units) AS BIGINT) AS "gpuUnits" FROM ledger_entry
      WHERE allocation_id IS NOT NULL AND gpu_units > 0 AND node_id IN (${unlisted}) AND ${inHours} GROUP BY node_id`,
    tables,
  );
  const units = new Map<string, bigint>();
  for (const { nodeId, gpuUnits } of rows) units.set(nodeId, (units.get(nodeId) ?? 0n) + gpuUnits);
  return [...units]
    .map(([nodeId, gpuUnits]) => ({ nodeId, gpuUnits }))
    .sort((a, b) => (a.gpuUnits === b.gpuUnits ? (a.nodeId < b.nodeId ? -1 : 1) : a.gpuUnits > b.gpuUnits ? -1 : 1));
}

/** Bills in a currency without an exchange rate up to their end: imported, not posted. */
async function notPosted(space: ReadSpace, bills: readonly BillFacts[]): Promise<BillFacts[]> {
  const foreign = bills.filter(({ currency }) => currency !== 'USD');
  if (foreign.length === 0) return [];
  const rates = await space.ask<{ currency: string; firstAt: string }>({
    tables: [{ table: 'fx_rate' }],
    sql: 'SELECT currency, min(as_of) AS "firstAt" FROM fx_rate GROUP BY currency',
  });
  return foreign.filter(
    ({ currency, periodEnd }) => !rates.some((rate) => rate.currency === currency && rate.firstAt <= periodEnd),
  );
}

function missingFacts(space: ReadSpace): string[] {
  const has = (...tables: string[]): boolean => space.snapshot.batches.some(({ table }) => tables.includes(table));
  return [
    ...(has('gpu_sample') ? [] : ['samples']),
    ...(has('allocation') ? [] : ['allocations']),
    ...(has('node', 'device') ? [] : ['nodes']),
  ];
}
