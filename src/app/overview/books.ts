import type { BillFacts, Snapshot } from '../../facts/manifest.ts';
import { divideRounded, parseDecimal } from '../../money/usd.ts';
import { BILL_DIGITS, billSums } from '../bill-sums.ts';
import { parseDimensions } from '../filter.ts';
import { spend } from '../spend.ts';
import { ledgerWindow } from '../window.ts';
import type { ReadSpace } from '../workspace.ts';

export interface Books {
  readonly bills: number;
  /** What ledger and bills differ by, each difference without its sign; null where nothing could be compared. */
  readonly differenceUsdMicros: bigint | null;
  /** Bills without an exchange rate. */
  readonly notPosted: number;
  readonly staleRows: number;
  /** Up to when every bill speaks; null without bills. */
  readonly billedUntil: string | null;
}

const UNITS_PER_MICRO = 10n ** BigInt(BILL_DIGITS - 6);

/**
 * Question: is what the ledger posted what the bills say?
 *
 * The quick half of `ledger check`, for a page that is opened often: the sum by which a bill came in, kept since then, against the
 * entries that name it. Only bills of other currencies are added up again. Reads: spend_day; charge and fx_rate for those.
 */
export async function checkBooks(space: ReadSpace, now: Date): Promise<Books> {
  const bills = space.scope?.bills ?? [];
  const { staleRows } = space;
  const ends = bills.flatMap(({ coveredUntil }) => coveredUntil ?? []).toSorted();
  const billedUntil = ends[0] === undefined ? null : `${ends[0].replace(' ', 'T')}Z`;
  const nothing = { bills: bills.length, staleRows, billedUntil };
  if (bills.length === 0) return { ...nothing, differenceUsdMicros: null, notPosted: 0 };
  const wanted = await wantedMicros(space, bills);
  const notPosted = bills.filter(({ billId }) => !wanted.has(billId)).length;
  // What is not derived yet cannot be compared: the next look can.
  if (staleRows > 0) return { ...nothing, differenceUsdMicros: null, notPosted };
  const { rows } = await spend(space, {
    by: parseDimensions('bill'),
    filters: [],
    window: ledgerWindow('all', now, space.scope),
  });
  const posted = new Map(rows.map(({ values, costUsdMicros }) => [values[0] ?? null, costUsdMicros ?? 0n]));
  const differences = [...wanted].map(([billId, micros]) => (posted.get(billId) ?? 0n) - micros);
  return {
    ...nothing,
    notPosted,
    differenceUsdMicros: differences.reduce((sum, each) => sum + (each < 0n ? -each : each), 0n),
  };
}

/** What each bill comes to in dollars; those without an exchange rate are left out. */
async function wantedMicros(space: ReadSpace, bills: readonly BillFacts[]): Promise<Map<string, bigint>> {
  const wanted = new Map<string, bigint>();
  const others: BillFacts[] = [];
  for (const bill of bills) {
    const exact = bill.currency === 'USD' ? keptSum(space.snapshot, bill.billId) : undefined;
    if (exact === undefined) others.push(bill);
    else wanted.set(bill.billId, divideRounded(exact, UNITS_PER_MICRO));
  }
  for (const [billId, { usd }] of await billSums(space, others)) {
    if (usd !== undefined) wanted.set(billId, divideRounded(usd, UNITS_PER_MICRO));
  }
  return wanted;
}

function keptSum({ batches }: Snapshot, billId: string): bigint | undefined {
  const effective = batches.find(({ bill }) => bill?.billId === billId)?.issues?.at(-1)?.effective;
  return effective === undefined || effective === null ? undefined : parseDecimal(effective, BILL_DIGITS);
}
