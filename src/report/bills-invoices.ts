import { divideRounded, formatUsdMicros } from '../money/usd.ts';
import { exactText } from './bill-amount.ts';
import { counted } from './figures.ts';
import { safeText } from './safe-text.ts';
import { textTable } from './table.ts';

/** Rows of an invoice on one bill that have one reason to differ. Amounts are whole numbers of 10⁻¹⁸ of the currency. */
interface InvoiceGroup {
  readonly billId: string;
  readonly reason: 'tax' | 'credit' | 'purchase' | 'committed' | 'usage' | 'other';
  readonly rows: number;
  readonly billed: bigint;
  readonly effective: bigint;
  /** Of charges that begin in the month. */
  readonly effectiveInMonth: bigint;
}

/** One invoice, or the rows of a bill that carry no invoice id. */
export interface InvoiceLine {
  readonly invoice: string | null;
  readonly billIds: readonly string[];
  readonly groups: readonly InvoiceGroup[];
}

export interface InvoiceBill {
  readonly billId: string;
  readonly currency: string;
  readonly billed: bigint;
  readonly effective: bigint;
  /** Effective in dollars, exact; null without a rate. */
  readonly usd: bigint | null;
  readonly postedInMonthUsdMicros: bigint;
  readonly postedOutsideUsdMicros: bigint;
}

export interface InvoiceCheck {
  readonly month: string;
  readonly lines: readonly InvoiceLine[];
  readonly bills: readonly InvoiceBill[];
  readonly staleRows: number;
}

const UNITS_PER_MICRO = 10n ** 12n;

const WHY: Readonly<Record<InvoiceGroup['reason'], string>> = {
  purchase: 'purchases: billed at once, effective where they are used',
  committed: 'usage that commitments pay for: billed when they were bought',
  credit: 'credits: billed and spread differently',
  tax: 'tax: billed and spread differently',
  usage: 'usage that was prepaid or is discounted elsewhere',
  other: 'adjustments: billed and spread differently',
};

const sumOf = (groups: readonly InvoiceGroup[], amount: 'billed' | 'effective' | 'effectiveInMonth'): bigint =>
  groups.reduce((sum, group) => sum + group[amount], 0n);

/** What does not tie: a bill whose lines do not add up to it, or whose posting is not its effective cost. */
export function invoiceFaults({ lines, bills, staleRows }: InvoiceCheck): string[] {
  return bills.flatMap((bill) => {
    const own = lines.flatMap(({ groups }) => groups.filter(({ billId }) => billId === bill.billId));
    const faults = (['billed', 'effective'] as const).flatMap((amount) =>
      sumOf(own, amount) === bill[amount]
        ? []
        : [
            `${bill.billId}: its invoices come to ${exactText(sumOf(own, amount))} ${amount}, the bill to ${exactText(bill[amount])}`,
          ],
    );
    const posted = bill.postedInMonthUsdMicros + bill.postedOutsideUsdMicros;
    const want = bill.usd === null ? undefined : divideRounded(bill.usd, UNITS_PER_MICRO);
    if (want === undefined || staleRows > 0 || posted === want) return faults;
    return [...faults, `${bill.billId}: ${formatUsdMicros(posted)} is posted, ${formatUsdMicros(want)} is effective`];
  });
}

export function invoiceCheckText(check: InvoiceCheck): string[] {
  const faults = invoiceFaults(check);
  const invoices = check.lines.filter(({ invoice }) => invoice !== null).length;
  const verdict = faults.length === 0 ? 'ties to its invoices' : 'DOES NOT TIE to its invoices';
  return [
    `${check.month} ${verdict}: ${counted(invoices, 'invoice')}, ${counted(check.bills.length, 'bill')}; effective cost, UTC days`,
    ...check.lines.flatMap((line) => lineText(line, check)),
    '',
    ...textTable(
      [
        { align: 'left', title: 'BILL' },
        { align: 'right', title: 'BILLED' },
        { align: 'right', title: 'EFFECTIVE' },
        { align: 'left' },
        { align: 'right', title: `POSTED IN ${check.month}` },
        { align: 'right', title: 'POSTED IN OTHER MONTHS' },
      ],
      check.bills.map((bill) => [
        safeText(bill.billId),
        exactText(bill.billed),
        exactText(bill.effective),
        bill.currency,
        bill.usd === null ? 'no rate to dollars' : formatUsdMicros(bill.postedInMonthUsdMicros),
        bill.usd === null ? '' : formatUsdMicros(bill.postedOutsideUsdMicros),
      ]),
    ),
    ...faults.map((fault) => `not so: ${safeText(fault)}`),
    ...(check.staleRows === 0
      ? []
      : [`${counted(check.staleRows, 'row')} of facts are not in the ledger yet: bursar derive`]),
  ];
}

function lineText({ invoice, billIds, groups }: InvoiceLine, { month, bills }: InvoiceCheck): string[] {
  const currency = bills.find(({ billId }) => billIds.includes(billId))?.currency ?? '';
  const rows = groups.reduce((sum, group) => sum + group.rows, 0);
  const [billed, effective, inMonth] = [
    sumOf(groups, 'billed'),
    sumOf(groups, 'effective'),
    sumOf(groups, 'effectiveInMonth'),
  ];
  const table = [
    ['  billed', exactText(billed), currency, counted(rows, 'row')],
    ...groups
      .filter((group) => group.billed !== group.effective)
      .map((group) => {
        const off = group.effective - group.billed;
        return [
          `    ${WHY[group.reason].split(':')[0] ?? ''}`,
          `${off > 0n ? '+' : ''}${exactText(off)}`,
          currency,
          WHY[group.reason].split(': ')[1] ?? '',
        ];
      }),
    ['  effective', exactText(effective), currency, ''],
    [`  charged in ${month}`, exactText(inMonth), currency, ''],
    ...(inMonth === effective ? [] : [['  charged in other months', exactText(effective - inMonth), currency, '']]),
  ];
  const title =
    invoice === null
      ? `without an invoice id: ${billIds.map((id) => safeText(id)).join(', ')}`
      : `invoice ${safeText(invoice)}: ${billIds.map((id) => safeText(id)).join(', ')}`;
  return [
    '',
    title,
    ...textTable([{ align: 'left' }, { align: 'right' }, { align: 'left' }, { align: 'left' }], table),
  ];
}

export function invoiceCheckJson(check: InvoiceCheck): unknown {
  return {
    month: check.month,
    ties: invoiceFaults(check).length === 0,
    invoices: check.lines.map(({ invoice, billIds, groups }) => ({
      invoiceId: invoice,
      billIds,
      rows: groups.reduce((sum, group) => sum + group.rows, 0),
      billedExact: exactText(sumOf(groups, 'billed')),
      effectiveExact: exactText(sumOf(groups, 'effective')),
      chargedInMonthExact: exactText(sumOf(groups, 'effectiveInMonth')),
      chargedInOtherMonthsExact: exactText(sumOf(groups, 'effective') - sumOf(groups, 'effectiveInMonth')),
      differences: groups
        .filter((group) => group.billed !== group.effective)
        .map((group) => ({
          billId: group.billId,
          kind: group.reason,
          because: WHY[group.reason],
          rows: group.rows,
          billedExact: exactText(group.billed),
          effectiveExact: exactText(group.effective),
        })),
    })),
    bills: check.bills.map((bill) => ({
      billId: bill.billId,
      currency: bill.currency,
      billedExact: exactText(bill.billed),
      effectiveExact: exactText(bill.effective),
      postedInMonthUsdMicros: bill.usd === null ? null : String(bill.postedInMonthUsdMicros),
      postedInOtherMonthsUsdMicros: bill.usd === null ? null : String(bill.postedOutsideUsdMicros),
    })),
    rowsNotDerived: check.staleRows,
    faults: invoiceFaults(check),
  };
}
