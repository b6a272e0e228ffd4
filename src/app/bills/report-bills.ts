import type { BillFacts } from '../../facts/manifest.ts';
import type { TakenBill } from '../../lake/append-bills.ts';
import { divideRounded, parseDecimal } from '../../money/usd.ts';
import type { AddedBill } from '../../report/bills-added.ts';
import { BILL_DIGITS, billSums } from '../bill-sums.ts';
import type { ReadSpace } from '../workspace.ts';
import { movedOf } from './moved.ts';
import { postedByBill } from './posted.ts';

const BILL_UNITS_PER_MICRO = 10n ** BigInt(BILL_DIGITS - 6);

/**
 * Question: what is in the lake and in the ledger of each bill that was added, and what moved where it was there before?
 *
 * The file is what was read, the lake is added up from its rows again, the ledger from what was posted: three sums of one bill.
 * Without `after` nothing was changed, and only the file is told.
 */
export async function reportBills(
  taken: readonly TakenBill[],
  facts: readonly BillFacts[],
  before: ReadSpace | undefined,
  after: ReadSpace | undefined,
): Promise<AddedBill[]> {
  const sums = after === undefined ? undefined : await billSums(after, facts);
  const posted = after === undefined ? undefined : await postedByBill(after, facts);
  const told: AddedBill[] = [];
  for (const bill of taken) {
    const fact = facts.find(({ billId }) => billId === bill.billId);
    const sum = sums?.get(bill.billId);
    const lake = (amount: 'billed' | 'effective'): bigint =>
      (sum?.groups ?? []).reduce((all, group) => all + group[amount], 0n);
    const effective = parseDecimal(bill.effective, BILL_DIGITS) ?? 0n;
    const billed = parseDecimal(bill.billed, BILL_DIGITS) ?? 0n;
    const wantUsdMicros = sum?.usd === undefined ? undefined : divideRounded(sum.usd, BILL_UNITS_PER_MICRO);
    const postedUsdMicros = posted?.get(bill.billId) ?? 0n;
    const isReissue = before !== undefined && !bill.isUnchanged && bill.issue > 1;
    told.push({
      billId: bill.billId,
      currency: bill.currency,
      rows: bill.rows,
      billed,
      effective,
      issue: bill.issue,
      isUnchanged: bill.isUnchanged,
      coveredUntil: fact?.coveredUntil ?? null,
      ...(after !== undefined &&
        fact !== undefined && {
          check: {
            lakeBilled: lake('billed'),
            lakeEffective: lake('effective'),
            ...(wantUsdMicros !== undefined && { wantUsdMicros, postedUsdMicros }),
            staleRows: after.staleRows,
          },
          ...(isReissue && { moved: await movedOf(before, after, fact) }),
        }),
    });
  }
  return told;
}
