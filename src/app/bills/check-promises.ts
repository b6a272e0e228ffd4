import { OperationError } from '../../facts/operation-error.ts';
import type { TakenBill } from '../../lake/append-bills.ts';
import { parseDecimal } from '../../money/usd.ts';
import { BILL_DIGITS } from '../bill-sums.ts';
import type { OpenedExport } from './open-exports.ts';

/**
 * Refuses all that was read where an export has no row, two exports are of one bill, or a manifest promised other rows or another
 * total than its files hold. Asked before anything is committed: the old state stays.
 */
export function checkPromises(bills: readonly TakenBill[], exports: readonly OpenedExport[]): void {
  refuseTwice(bills);
  for (const opened of exports) {
    const own = bills.filter(({ origin }) => origin.startsWith(`${opened.label}, added `));
    const rows = own.reduce((sum, bill) => sum + bill.rows, 0);
    if (rows === 0) {
      throw new OperationError('no-rows', `${opened.label} has a header and no row: nothing was taken`, {
        hint: 'Is the period right, and is the export done? An empty bill would wipe out what is known.',
      });
    }
    checkManifest(opened, own, rows);
  }
}

function refuseTwice(bills: readonly TakenBill[]): void {
  const seen = new Map<string, string>();
  for (const { billId, origin } of bills) {
    const label = origin.replace(/, added [^,]*$/, '');
    const other = seen.get(billId);
    if (other !== undefined) {
      throw new OperationError(
        'same-bill-twice',
        `${other} and ${label} are both the bill ${billId}: nothing was taken`,
        {
          hint: 'Add the one that counts; the later command replaces the earlier.',
        },
      );
    }
    seen.set(billId, label);
  }
}

function checkManifest({ label, found: { manifest } }: OpenedExport, bills: readonly TakenBill[], rows: number): void {
  if (manifest === undefined) return;
  const refuse = (what: string, want: string, got: string): OperationError =>
    new OperationError(
      'manifest-mismatch',
      `${label}: its manifest says ${want} ${what}, and its files hold ${got}; nothing was taken`,
      {
        hint: 'The delivery is not whole, or it was changed after it was written: export or copy it again.',
      },
    );
  const stated = manifest.rows ?? statedByParts(manifest.parts.map((part) => part.rows));
  if (stated !== undefined && stated !== rows) throw refuse('rows', String(stated), String(rows));
  for (const amount of ['billed', 'effective'] as const) {
    const want = manifest[amount];
    if (want === undefined) continue;
    const got = bills.reduce((sum, bill) => sum + (parseDecimal(bill[amount], BILL_DIGITS) ?? 0n), 0n);
    const exact = parseDecimal(want, BILL_DIGITS);
    if (exact !== undefined && exact !== got) throw refuse(amount, want, decimalText(got));
  }
}

function statedByParts(rows: readonly (number | undefined)[]): number | undefined {
  const known = rows.filter((count) => count !== undefined);
  return known.length === 0 || known.length < rows.length ? undefined : known.reduce((sum, count) => sum + count, 0);
}

function decimalText(amount: bigint): string {
  const digits = String(amount < 0n ? -amount : amount).padStart(BILL_DIGITS + 1, '0');
  const fraction = digits.slice(-BILL_DIGITS).replace(/0+$/, '');
  return `${amount < 0n ? '-' : ''}${digits.slice(0, -BILL_DIGITS)}${fraction === '' ? '' : `.${fraction}`}`;
}
