import type { BillFacts } from '../../facts/manifest.ts';
import { OperationError } from '../../facts/operation-error.ts';
import { parseDecimal } from '../../money/usd.ts';
import type { InvoiceBill, InvoiceCheck, InvoiceLine } from '../../report/bills-invoices.ts';
import { BILL_DIGITS, billSums } from '../bill-sums.ts';
import type { ReadSpace } from '../workspace.ts';

interface LineRow {
  readonly billId: string;
  readonly invoice: string | null;
  readonly reason: InvoiceLine['groups'][number]['reason'];
  readonly rows: bigint;
  readonly billed: string;
  readonly effective: string;
  readonly effectiveInMonth: string;
}

/** The reasons for which billed and effective differ, one for each row. */
const REASON = `CASE WHEN lower(charge_category) = 'tax' THEN 'tax'
  WHEN lower(charge_category) = 'credit' THEN 'credit'
  WHEN lower(charge_category) = 'purchase' THEN 'purchase'
  WHEN commitment_id IS NOT NULL OR commitment_status IS NOT NULL THEN 'committed'
  WHEN lower(charge_category) = 'usage' THEN 'usage' ELSE 'other' END`;

/**
 * Question: does the month tie to its invoices?
 *
 * An invoice is all rows that carry its id, on whatever bill. The month's invoices are those of bills whose period begins in it and
 * those with charges in it. Rows without an id are a line of their own, so that the lines add up to the bills, exactly.
 *
 * Reads: charge, spend_day, fx_rate.
 */
export async function checkInvoices(space: ReadSpace, month: string): Promise<InvoiceCheck> {
  const { from, until } = monthOf(month);
  const bills = (space.scope?.bills ?? []).filter((bill) => touches(bill, from, until));
  if (bills.length === 0) {
    throw new OperationError('no-bills', `no bill is of ${month}`, { hint: 'bursar bills lists what is here.' });
  }
  const rows = await lineRows(space, from, until);
  const ids = new Set(bills.map(({ billId }) => billId));
  const ofMonth = new Set(
    rows
      .filter(
        ({ billId, effectiveInMonth }) =>
          ids.has(billId) && (isOfMonth(bills, billId, from) || exact(effectiveInMonth) !== 0n),
      )
      .map(keyOf),
  );
  const kept = rows.filter((row) =>
    row.invoice === null ? ids.has(row.billId) && ofMonth.has(keyOf(row)) : ofMonth.has(keyOf(row)),
  );
  const told = bills.filter(({ billId }) => kept.some((row) => row.billId === billId));
  return { month, lines: linesOf(kept), bills: await billLines(space, told, from, until), staleRows: space.staleRows };
}

function keyOf({ invoice, billId }: Pick<LineRow, 'invoice' | 'billId'>): string {
  return invoice === null ? `without ${billId}` : `invoice ${invoice}`;
}

function monthOf(text: string): { from: string; until: string } {
  const match = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(text);
  if (match === null) {
    throw new OperationError('bad-option', `--month ${text} is not a month`, { hint: 'For example --month 2026-10.' });
  }
  const next = new Date(Date.UTC(Number(match[1]), Number(match[2]), 1));
  return { from: `${text}-01`, until: next.toISOString().slice(0, 10) };
}

function touches({ firstDay, lastDay, periodStart }: BillFacts, from: string, until: string): boolean {
  return (
    (firstDay < until && lastDay >= from) || (periodStart.slice(0, 10) >= from && periodStart.slice(0, 10) < until)
  );
}

function isOfMonth(bills: readonly BillFacts[], billId: string, from: string): boolean {
  return bills.some((bill) => bill.billId === billId && bill.periodStart.slice(0, 7) === from.slice(0, 7));
}

async function lineRows(space: ReadSpace, from: string, until: string): Promise<LineRow[]> {
  return space.ask<LineRow>({
    tables: [{ table: 'charge' }],
    sql: `
      SELECT bill_id AS "billId", invoice_id AS invoice, ${REASON} AS reason, count(*) AS rows,
             CAST(sum(billed) AS DECIMAL(38,18)) AS billed, CAST(sum(effective) AS DECIMAL(38,18)) AS effective,
             CAST(COALESCE(sum(effective) FILTER (WHERE charge_from >= CAST($from AS TIMESTAMP)
               AND charge_from < CAST($until AS TIMESTAMP)), 0) AS DECIMAL(38,18)) AS "effectiveInMonth"
      FROM charge GROUP BY bill_id, invoice_id, ${REASON} ORDER BY invoice_id NULLS LAST, bill_id, reason`,
    params: { from, until },
  });
}

function linesOf(rows: readonly LineRow[]): InvoiceLine[] {
  const lines = new Map<
    string,
    { invoice: string | null; bills: Set<string>; groups: InvoiceLine['groups'][number][] }
  >();
  for (const row of rows) {
    const known = lines.get(keyOf(row)) ?? { invoice: row.invoice, bills: new Set<string>(), groups: [] };
    known.bills.add(row.billId);
    known.groups.push({
      billId: row.billId,
      reason: row.reason,
      rows: Number(row.rows),
      billed: exact(row.billed),
      effective: exact(row.effective),
      effectiveInMonth: exact(row.effectiveInMonth),
    });
    lines.set(keyOf(row), known);
  }
  return [...lines.values()].map(({ invoice, bills, groups }) => ({ invoice, billIds: [...bills], groups }));
}

async function billLines(
  space: ReadSpace,
  bills: readonly BillFacts[],
  from: string,
  until: string,
): Promise<InvoiceBill[]> {
  const sums = await billSums(space, bills);
  const posted = await space.ask<{ billId: string; inside: bigint; outside: bigint }>({
    tables: [{ table: 'spend_day' }],
    sql: `SELECT bill_id AS "billId",
                 CAST(COALESCE(sum(usd_micros) FILTER (WHERE day >= CAST($from AS DATE) AND day < CAST($until AS DATE)), 0) AS BIGINT) AS inside,
                 CAST(COALESCE(sum(usd_micros) FILTER (WHERE day < CAST($from AS DATE) OR day >= CAST($until AS DATE)), 0) AS BIGINT) AS outside
          FROM spend_day WHERE bill_id IS NOT NULL GROUP BY bill_id`,
    params: { from, until },
  });
  return bills.map((bill) => {
    const sum = sums.get(bill.billId);
    const own = posted.find(({ billId }) => billId === bill.billId);
    return {
      billId: bill.billId,
      currency: bill.currency,
      billed: (sum?.groups ?? []).reduce((all, group) => all + group.billed, 0n),
      effective: (sum?.groups ?? []).reduce((all, group) => all + group.effective, 0n),
      usd: sum?.usd ?? null,
      postedInMonthUsdMicros: own?.inside ?? 0n,
      postedOutsideUsdMicros: own?.outside ?? 0n,
    };
  });
}

function exact(decimal: string): bigint {
  const scaled = parseDecimal(decimal, BILL_DIGITS);
  if (scaled === undefined) throw new Error(`the engine gave an amount that is no decimal: ${decimal}`);
  return scaled;
}
