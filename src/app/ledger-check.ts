import type { BillFacts } from '../facts/manifest.ts';
import { OperationError } from '../facts/operation-error.ts';
import { LEDGER_MARK } from '../lake/staleness.ts';
import { divideRounded } from '../money/usd.ts';
import type { BillCheck, LedgerCheck, LedgerFault } from '../report/ledger-check-page.ts';
import { BILL_DIGITS, billSums } from './bill-sums.ts';
import type { BillSum } from './bill-sums.ts';
import { keptDays } from './kept-days.ts';
import { dayChunks } from './ledger-days.ts';
import type { DayChunk } from './ledger-days.ts';
import { entrySums, innerFaults, openSums } from './ledger-sums.ts';
import type { EntrySum } from './ledger-sums.ts';
import { rateSums, strandedSum } from './rate-sums.ts';
import type { ReadSpace } from './workspace.ts';

const DAY_MS = 86_400_000;
const CHUNK_ROWS_MAX = 2_000_000;
/** What takes the most memory is compared in so many parts. */
const PARTS_OF_A_CHUNK = 4;
const BILL_UNITS_PER_MICRO = 10n ** BigInt(BILL_DIGITS - 6);
const CHECKED = ['ledger_entry', 'waterfall', 'spend_day', 'estimate_hour', 'presence'];

/** What was found within days, by their content. */
export type CheckedDays = Map<
  string,
  { readonly entries: readonly EntrySum[]; readonly faults: readonly LedgerFault[] }
>;

export interface CheckOptions {
  readonly checked?: CheckedDays;
  /** True once whoever asks can wait no longer. */
  readonly isTimeUp?: () => boolean;
  readonly chunkRowsMax?: number;
}

/**
 * Question: does the ledger add up to the bills, and do its parts add up to it?
 *
 * Bills, rates and estimates are added up by a second path, from the facts and from device-hours, not from what posted them.
 * Facts that are imported and not yet derived are listed, not compared: a reader beside a writer must not raise an alarm. Whoever asks again and
 * again hands in what was `checked`: days with the same content are not read again. Who cannot wait for a long history says when the time is up: then it
 * is refused with how far it came (`still-checking`), and the next one goes on from there.
 */
export async function checkLedger(space: ReadSpace, options: CheckOptions = {}): Promise<LedgerCheck> {
  const { checked = new Map(), isTimeUp = () => false, chunkRowsMax = CHUNK_ROWS_MAX } = options;
  const bills = space.scope?.bills ?? [];
  const sums = await billSums(space, bills);
  const posted = new Map<string, { usdMicros: bigint; roundingUsdMicros: bigint }>();
  const got = { rate: 0n, estimated: 0n, strandedMicros: 0n, strandedUnits: 0n };
  const want = { rate: 0n, estimated: 0n };
  const open = { unattributed: 0n, unknown: 0n, unpricedUnits: 0n };
  const faults: LedgerFault[] = [];
  const within = keptDays(
    CHECKED,
    async (chunk) => ({
      entries: await entrySums(space, chunk),
      faults: await innerFaults(space, chunk, Math.ceil(chunkRowsMax / PARTS_OF_A_CHUNK)),
    }),
    checked,
  );
  const chunks = dayChunks(space.snapshot, CHECKED, chunkRowsMax);
  let isFurther = false;
  for (const [place, chunk] of chunks.entries()) {
    const isNew = !within.knows(space.snapshot, chunk);
    // Who asks again comes further each time, however short the time is.
    if (isNew && isFurther && isTimeUp()) throw stillChecking(place, chunks);
    isFurther ||= isNew;
    await within.of(space.snapshot, chunk);
  }
  for (const chunk of chunks) {
    const { entries, faults: inner } = await within.of(space.snapshot, chunk);
    for (const sum of entries) addEntries(posted, got, sum);
    faults.push(...inner);
    const opened = await openSums(space, chunk);
    open.unattributed += opened.unattributed;
    open.unknown += opened.unknown;
    open.unpricedUnits += opened.unpricedUnits;
    const rates = await rateSums(space, chunk, bills);
    want.rate += rates.rate;
    want.estimated += rates.estimated;
  }
  const isCurrent = derivedFacts(space);
  const billChecks = bills.map((bill) =>
    checkBill(bill, sums.get(bill.billId), posted.get(bill.billId), isCurrent(bill)),
  );
  if (space.staleRows === 0) {
    const stranded = await strandedSum(space);
    faults.push(
      ...unequal('entries by rate are the rates of the devices that were there', want.rate, got.rate),
      ...unequal('estimated entries are the prices of the devices that were there', want.estimated, got.estimated),
      ...unequal('machines that are paid for and absent are stranded', stranded.usdMicros, got.strandedMicros),
      ...unequal('seconds of machines that are paid for and absent', stranded.units, got.strandedUnits),
      ...strangers(bills, posted),
    );
  }
  faults.push(...billChecks.flatMap(billFaults));
  const rateDifference =
    space.staleRows > 0 ? 0n : magnitude(got.rate - want.rate) + magnitude(got.estimated - want.estimated);
  return {
    bills: billChecks,
    differenceUsdMicros: billChecks.reduce((sum, bill) => sum + magnitude(bill.differenceUsdMicros), rateDifference),
    rateUsdMicros: got.rate + got.strandedMicros,
    estimatedUsdMicros: got.estimated,
    unattributedUsdMicros: open.unattributed,
    unknownUsdMicros: open.unknown,
    unpricedUnits: open.unpricedUnits,
    staleRows: space.staleRows,
    faults: merged(faults),
  };
}

function stillChecking(place: number, chunks: readonly DayChunk[]): OperationError {
  const daysOf = (some: readonly DayChunk[]): number =>
    some.reduce((days, { first, last }) => days + (Date.parse(last) - Date.parse(first)) / DAY_MS + 1, 0);
  const [done, all] = [daysOf(chunks.slice(0, place)), daysOf(chunks)];
  return new OperationError('still-checking', `the ledger is being added up: ${done} of ${all} days so far`, {
    hint: 'Ask again in a few seconds: it goes on from there. bursar ledger check does all of it at once.',
  });
}

function addEntries(
  posted: Map<string, { usdMicros: bigint; roundingUsdMicros: bigint }>,
  got: { rate: bigint; estimated: bigint; strandedMicros: bigint; strandedUnits: bigint },
  { billId, basis, isRounding, isDevice, usdMicros, units }: EntrySum,
): void {
  const micros = usdMicros ?? 0n;
  if (billId !== null) {
    const known = posted.get(billId) ?? { usdMicros: 0n, roundingUsdMicros: 0n };
    known.usdMicros += micros;
    if (isRounding) known.roundingUsdMicros += micros;
    posted.set(billId, known);
  } else if (basis === 'rate' && !isDevice) {
    got.strandedMicros += micros;
    got.strandedUnits += units;
  } else if (basis === 'rate' || basis === 'estimated') got[basis] += micros;
}

/** Whether the ledger is of a bill as it is now: its own rows, and for a foreign one the rates. */
function derivedFacts({ snapshot, staleRows }: ReadSpace): (bill: BillFacts) => boolean {
  if (staleRows === 0) return () => true;
  const mark = snapshot.derived.find(({ table, unit }) => table === LEDGER_MARK.table && unit === LEDGER_MARK.unit);
  const known = mark?.dayHashes ?? {};
  const isDerived = (table: string, name?: string): boolean =>
    snapshot.batches
      .filter((batch) => batch.table === table && (name === undefined || batch.name === name))
      .every(({ files }) => files.every(({ path }) => known[path] !== undefined));
  return ({ billId, currency }) => isDerived('charge', billId) && (currency === 'USD' || isDerived('fx_rate'));
}

function checkBill(
  bill: BillFacts,
  sum: BillSum | undefined,
  posted: { usdMicros: bigint; roundingUsdMicros: bigint } | undefined,
  isDerived: boolean,
): BillCheck {
  const groups = sum?.groups ?? [];
  const total = (amount: 'effective' | 'billed' | 'list' | 'listedEffective' | 'rows' | 'listRows'): bigint =>
    groups.reduce((all, group) => all + group[amount], 0n);
  const usdMicros = sum?.usd === undefined ? undefined : divideRounded(sum.usd, BILL_UNITS_PER_MICRO);
  const isPosted = isDerived && usdMicros !== undefined;
  return {
    billId: bill.billId,
    posted: isPosted,
    whyNot: isPosted ? undefined : usdMicros === undefined ? 'no-rate' : 'not-derived',
    currency: bill.currency,
    periodEnd: bill.periodEnd,
    coveredUntil: bill.coveredUntil,
    usdPerUnit: sum?.usdPerUnit,
    rows: Number(total('rows')),
    days: Number(sum?.days ?? 0n),
    effective: total('effective'),
    billed: total('billed'),
    list: total('listRows') === 0n ? null : total('list'),
    listedEffective: total('listedEffective'),
    listRows: Number(total('listRows')),
    groups,
    postedUsdMicros: isPosted ? (posted?.usdMicros ?? 0n) : 0n,
    roundingUsdMicros: isPosted ? (posted?.roundingUsdMicros ?? 0n) : 0n,
    differenceUsdMicros: isPosted ? (posted?.usdMicros ?? 0n) - usdMicros : 0n,
  };
}

/** A rounding entry beyond half a micro for each day, and one for the bill, would be a plug. */
function billFaults(bill: BillCheck): LedgerFault[] {
  const bound = bill.days + 1;
  const isPlug = 2n * magnitude(bill.roundingUsdMicros) > BigInt(bound);
  return [
    ...unequal('a bill is posted whole', 0n, bill.differenceUsdMicros, bill.billId),
    ...(isPlug
      ? [
          {
            check: 'rounding stays within half a micro for each day of a bill, and one',
            cases: 1,
            examples: [{ place: bill.billId, want: `at most ${bound / 2}`, got: String(bill.roundingUsdMicros) }],
          },
        ]
      : []),
  ];
}

function unequal(check: string, want: bigint, got: bigint, place = 'the ledger'): LedgerFault[] {
  if (want === got) return [];
  return [{ check, cases: 1, examples: [{ place, want: String(want), got: String(got) }] }];
}

/** Entries of a bill that is not there. */
function strangers(bills: readonly BillFacts[], posted: ReadonlyMap<string, { usdMicros: bigint }>): LedgerFault[] {
  const known = new Set(bills.map(({ billId }) => billId));
  return [...posted]
    .filter(([billId]) => !known.has(billId))
    .flatMap(([billId, { usdMicros }]) => unequal('every billed entry has a bill', 0n, usdMicros, billId));
}

/** One fault for each check, over all days. */
function merged(faults: readonly LedgerFault[]): LedgerFault[] {
  const byCheck = new Map<string, LedgerFault>();
  for (const fault of faults) {
    const known = byCheck.get(fault.check);
    byCheck.set(fault.check, {
      check: fault.check,
      cases: (known?.cases ?? 0) + fault.cases,
      examples: [...(known?.examples ?? []), ...fault.examples].slice(0, 5),
    });
  }
  return [...byCheck.values()];
}

function magnitude(amount: bigint): bigint {
  return amount < 0n ? -amount : amount;
}
