import { formatUsdCents } from '../money/usd.ts';
import { billAmount, exactText } from './bill-amount.ts';
import { counted } from './figures.ts';
import { safeText } from './safe-text.ts';
import { textTable } from './table.ts';

/** One service or team whose sum differs between two issues of a bill. */
export interface MovedLine {
  readonly name: string;
  readonly before: bigint;
  readonly after: bigint;
}

export interface Moved {
  /** In 10⁻¹⁸ of the bill's currency. */
  readonly services: readonly MovedLine[];
  /** In micro-dollars. */
  readonly teams: readonly MovedLine[];
}

/** A bill that was added. Amounts are whole numbers of 10⁻¹⁸ of its currency. */
export interface AddedBill {
  readonly billId: string;
  readonly currency: string;
  readonly rows: number;
  readonly billed: bigint;
  readonly effective: bigint;
  /** From 1; beyond it the bill was re-issued. */
  readonly issue: number;
  readonly isUnchanged: boolean;
  readonly coveredUntil: string | null;
  /** Its sums in the lake and in the ledger; none in a dry run. */
  readonly check?: {
    readonly lakeBilled: bigint;
    readonly lakeEffective: bigint;
    /** Undefined without a rate to dollars. */
    readonly wantUsdMicros?: bigint;
    readonly postedUsdMicros?: bigint;
    readonly staleRows: number;
  };
  readonly moved?: Moved;
}

/** A delivery: its files, its rows and what became of them. */
export interface AddedExport {
  readonly label: string;
  readonly format: string;
  readonly files: readonly string[];
  readonly hasManifest: boolean;
  readonly rowsRead: number;
  readonly rowsTaken: number;
  readonly rowsSkipped: number;
  readonly billIds: readonly string[];
  readonly notes: readonly string[];
  readonly ignoredColumns: readonly string[];
  readonly superseded: readonly string[];
}

export interface AddedBills {
  readonly dryRun: boolean;
  readonly bills: readonly AddedBill[];
  readonly exports: readonly AddedExport[];
  readonly notes: readonly string[];
}

const MOVED_SHOWN = 8;
const NAMES_SHOWN = 6;

/** Whether file, lake and ledger agree; undefined while the ledger cannot say. */
export function isReconciled({ billed, effective, check }: AddedBill): boolean | undefined {
  if (check === undefined) return undefined;
  if (check.lakeBilled !== billed || check.lakeEffective !== effective) return false;
  if (check.wantUsdMicros === undefined || check.staleRows > 0) return undefined;
  return check.postedUsdMicros === check.wantUsdMicros;
}

/** Bill by bill: what it is and comes to, whether file, lake and ledger agree, and what moved. */
export function addedBillsText({ bills, exports, notes, dryRun }: AddedBills, dataFlag = ''): string[] {
  const lines = exports.flatMap((each) => [
    ...bills.filter(({ billId }) => each.billIds.includes(billId)).flatMap((bill) => billText(bill, each, dryRun)),
    ...exportText(each, dryRun),
  ]);
  return [
    ...lines,
    ...notes.map((note) => safeText(note)),
    dryRun ? 'Nothing was changed: this was a dry run.' : `Next: bursar bills${dataFlag}`,
  ];
}

function billText(bill: AddedBill, { format }: AddedExport, dryRun: boolean): string[] {
  const sums = `billed ${billAmount(bill.billed, bill.currency)}, effective ${billAmount(bill.effective, bill.currency)}`;
  const again = bill.isUnchanged ? ', the same as before' : bill.issue > 1 ? `, issue ${bill.issue}` : '';
  return [
    `${safeText(bill.billId)}: ${safeText(format)}, ${counted(bill.rows, 'row')}, ${sums}${again}`,
    ...(dryRun ? [] : [`  ${reconciliation(bill)}`]),
    ...(bill.moved === undefined ? [] : movedText(bill.moved, bill.currency)),
  ];
}

function reconciliation(bill: AddedBill): string {
  const { check, effective, currency } = bill;
  if (check === undefined) return 'not checked';
  const inLake = `file ${exactText(effective)}, lake ${exactText(check.lakeEffective)} ${currency}`;
  if (check.wantUsdMicros === undefined) {
    return `${inLake}; not in the ledger: no rate to dollars → bursar import fx FILE   (currency,as_of,usd_per_unit)`;
  }
  if (check.staleRows > 0) return `${inLake}; the ledger is not up to date yet: bursar derive`;
  const posted = check.postedUsdMicros ?? 0n;
  const verdict = isReconciled(bill) === true ? 'adds up' : 'DOES NOT ADD UP';
  return `${inLake}, ledger ${formatUsdCents(posted)}: ${verdict}`;
}

function exportText(each: AddedExport, dryRun: boolean): string[] {
  const { label, files, rowsRead, rowsTaken, rowsSkipped, ignoredColumns } = each;
  const from = files.length === 1 ? '' : `${counted(files.length, 'file')}, `;
  const skipped = rowsSkipped === 0 ? 'none skipped' : `${counted(rowsSkipped, 'row')} skipped`;
  const some = ignoredColumns
    .slice(0, NAMES_SHOWN)
    .map((name) => safeText(name))
    .join(', ');
  const more = ignoredColumns.length > NAMES_SHOWN ? ` and ${ignoredColumns.length - NAMES_SHOWN} more` : '';
  return [
    `  ${safeText(label)}: ${from}${counted(rowsRead, 'row')}, ${rowsTaken.toLocaleString('en-US')} ${dryRun ? 'would be ' : ''}taken, ${skipped}`,
    ...each.notes.map((note) => `  ${safeText(note)}`),
    ...(ignoredColumns.length === 0 ? [] : [`  columns without a use here: ${some}${more}`]),
    ...each.superseded.map((run) => `  superseded, not read: ${safeText(run)}`),
  ];
}

function movedText({ services, teams }: Moved, currency: string): string[] {
  const table = (lines: readonly MovedLine[], amount: (value: bigint) => string): string[] =>
    textTable(
      [{ align: 'left' }, { align: 'right' }, { align: 'left' }, { align: 'right' }, { align: 'right' }],
      lines
        .slice(0, MOVED_SHOWN)
        .map(({ name, before, after }) => [
          `    ${safeText(name)}`,
          amount(before),
          '→',
          amount(after),
          `${after > before ? '+' : ''}${amount(after - before)}`,
        ]),
    );
  const total = services.reduce((sum, { before, after }) => sum + after - before, 0n);
  const rest = (lines: readonly MovedLine[]): string[] =>
    lines.length > MOVED_SHOWN ? [`    and ${lines.length - MOVED_SHOWN} more; --json has them all`] : [];
  if (services.length === 0 && teams.length === 0) return ['  re-issued: no service and no team moved'];
  return [
    `  re-issued: ${total > 0n ? '+' : ''}${billAmount(total, currency)} effective`,
    ...(services.length === 0
      ? []
      : ['  by service', ...table(services, (value) => billAmount(value, currency)), ...rest(services)]),
    ...(teams.length === 0 ? [] : ['  by team', ...table(teams, formatUsdCents), ...rest(teams)]),
  ];
}

export function addedBillsJson({ bills, exports, notes, dryRun }: AddedBills): unknown {
  return {
    dryRun,
    bills: bills.map((bill) => ({
      billId: bill.billId,
      currency: bill.currency,
      rows: bill.rows,
      billedExact: exactText(bill.billed),
      effectiveExact: exactText(bill.effective),
      issue: bill.issue,
      unchanged: bill.isUnchanged,
      coveredUntil: bill.coveredUntil === null ? null : `${bill.coveredUntil.replace(' ', 'T')}Z`,
      reconciled: isReconciled(bill) ?? null,
      lakeBilledExact: bill.check === undefined ? null : exactText(bill.check.lakeBilled),
      lakeEffectiveExact: bill.check === undefined ? null : exactText(bill.check.lakeEffective),
      postedUsdMicros: bill.check?.postedUsdMicros === undefined ? null : String(bill.check.postedUsdMicros),
      wantUsdMicros: bill.check?.wantUsdMicros === undefined ? null : String(bill.check.wantUsdMicros),
      moved: bill.moved === undefined ? null : movedJson(bill.moved),
    })),
    exports,
    notes,
  };
}

function movedJson({ services, teams }: Moved): unknown {
  return {
    services: services.map(({ name, before, after }) => ({
      service: name,
      beforeExact: exactText(before),
      afterExact: exactText(after),
      differenceExact: exactText(after - before),
    })),
    teams: teams.map(({ name, before, after }) => ({
      team: name,
      beforeUsdMicros: String(before),
      afterUsdMicros: String(after),
      differenceUsdMicros: String(after - before),
    })),
  };
}
