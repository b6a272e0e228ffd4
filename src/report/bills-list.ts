import type { BillFacts, BillIssue } from '../facts/manifest.ts';
import { formatUsdCents } from '../money/usd.ts';
import { billAmount, exactText } from './bill-amount.ts';
import { counted } from './figures.ts';
import { safeText } from './safe-text.ts';
import { textTable } from './table.ts';

/** A bill that is in the lake. Amounts are whole numbers of 10⁻¹⁸ of its currency. */
export interface ListedBill extends BillFacts {
  readonly rows: number;
  readonly billed: bigint;
  readonly effective: bigint;
  readonly invoices: readonly string[];
  /** Null where nothing of it stands in the ledger. */
  readonly postedUsdMicros: bigint | null;
  readonly importedFrom: string;
  readonly issue: number;
  readonly importedAt: string | null;
  readonly issues: readonly BillIssue[];
}

/** One line a bill, oldest period first. */
export function billListText(bills: readonly ListedBill[], dataFlag = ''): string[] {
  if (bills.length === 0)
    return ['No bill is here yet.', `Next: bursar bills add FILE, FOLDER or s3://bucket/prefix/${dataFlag}`];
  const unposted = bills.filter(({ postedUsdMicros }) => postedUsdMicros === null).length;
  const rows = bills.map((bill) => [
    safeText(bill.provider),
    safeText(bill.billingAccount),
    periodText(bill),
    bill.rows.toLocaleString('en-US'),
    billAmount(bill.billed, bill.currency),
    billAmount(bill.effective, bill.currency),
    bill.postedUsdMicros === null ? 'not posted' : formatUsdCents(bill.postedUsdMicros),
    bill.coveredUntil === null ? '' : bill.coveredUntil.slice(0, 10),
    bill.invoices.length === 0
      ? 'none'
      : bill.invoices.length === 1
        ? safeText(bill.invoices[0] ?? '')
        : String(bill.invoices.length),
    String(bill.issue),
    bill.importedAt === null || bill.importedAt.startsWith('1970') ? '' : bill.importedAt.slice(0, 16),
  ]);
  const titles = [
    'PROVIDER',
    'ACCOUNT',
    'PERIOD',
    'ROWS',
    'BILLED',
    'EFFECTIVE',
    'POSTED',
    'COVERED UNTIL',
    'INVOICE',
    'ISSUE',
    'IMPORTED',
  ];
  const right = new Set(['ROWS', 'BILLED', 'EFFECTIVE', 'POSTED', 'ISSUE']);
  return [
    `${counted(bills.length, 'bill')}${unposted === 0 ? '' : `, ${unposted} of them not in the ledger`}`,
    ...textTable(
      titles.map((title) => ({ title, align: right.has(title) ? 'right' : 'left' })),
      rows,
    ),
  ];
}

function periodText({ billId }: ListedBill): string {
  return billId.split('|').at(-1) ?? '';
}

export function billListJson(bills: readonly ListedBill[]): unknown {
  const utc = (text: string | null): string | null => (text === null ? null : `${text.replace(' ', 'T')}Z`);
  return {
    bills: bills.map(
      ({ billed, effective, postedUsdMicros, periodStart, periodEnd, coveredUntil, importedAt, issues, ...bill }) => ({
        ...bill,
        periodStart: utc(periodStart),
        periodEnd: utc(periodEnd),
        coveredUntil: utc(coveredUntil),
        importedAt: utc(importedAt),
        billedExact: exactText(billed),
        effectiveExact: exactText(effective),
        postedUsdMicros: postedUsdMicros === null ? null : String(postedUsdMicros),
        issues: issues.map((issue) => ({ ...issue, importedAt: utc(issue.importedAt) })),
      }),
    ),
  };
}
