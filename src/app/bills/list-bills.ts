import { parseDecimal } from '../../money/usd.ts';
import type { ListedBill } from '../../report/bills-list.ts';
import { BILL_DIGITS } from '../bill-sums.ts';
import type { ReadSpace } from '../workspace.ts';
import { postedByBill } from './posted.ts';

interface SumRow {
  readonly billId: string;
  readonly rows: bigint;
  readonly billed: string;
  readonly effective: string;
  readonly invoices: readonly string[];
}

/** Question: which bills are here, what do they come to, and how often did each come in? Reads: charge, spend_day. */
export async function listBills(space: ReadSpace): Promise<ListedBill[]> {
  const batches = space.snapshot.batches.filter(({ table, bill }) => table === 'charge' && bill !== undefined);
  const facts = batches.flatMap(({ bill }) => bill ?? []);
  if (facts.length === 0) return [];
  const sums = await space.ask<SumRow>({
    tables: [{ table: 'charge' }],
    sql: `SELECT bill_id AS "billId", count(*) AS rows, CAST(sum(billed) AS DECIMAL(38,18)) AS billed,
                 CAST(sum(effective) AS DECIMAL(38,18)) AS effective,
                 list_sort(list_filter(list(DISTINCT invoice_id), lambda id: id IS NOT NULL)) AS invoices
          FROM charge GROUP BY bill_id`,
  });
  const sumOf = new Map(sums.map((row) => [row.billId, row]));
  const posted = await postedByBill(space, facts);
  return batches
    .flatMap(({ bill, issues = [], importedFrom }): ListedBill[] => {
      if (bill === undefined) return [];
      const sum = sumOf.get(bill.billId);
      const last = issues.at(-1);
      return [
        {
          ...bill,
          rows: Number(sum?.rows ?? 0n),
          billed: parseDecimal(sum?.billed ?? '0', BILL_DIGITS) ?? 0n,
          effective: parseDecimal(sum?.effective ?? '0', BILL_DIGITS) ?? 0n,
          invoices: sum?.invoices ?? [],
          // A bill in dollars that comes to nothing is posted with nothing; one without a rate is not posted.
          postedUsdMicros: posted.get(bill.billId) ?? (bill.currency === 'USD' && space.staleRows === 0 ? 0n : null),
          importedFrom,
          issue: last?.number ?? 1,
          importedAt: last?.importedAt ?? null,
          issues,
        },
      ];
    })
    .toSorted((left, right) => (left.periodStart + left.billId < right.periodStart + right.billId ? -1 : 1));
}
