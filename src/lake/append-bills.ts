import type { FactTable } from '../facts/fact-table.ts';
import { storedColumns } from '../facts/incoming.ts';
import type { Batch, BillFacts, BillIssue } from '../facts/manifest.ts';
import { OperationError } from '../facts/operation-error.ts';
import type { ReadyPart } from './append-check.ts';
import type { Engine } from './engine.ts';
import { quote } from './engine.ts';
import type { AsideFile } from './parquet-file.ts';
import { adoptAside, lakeFileOf, writeAside } from './parquet-file.ts';

/** A bill as it was read and written, before it is committed. Amounts are exact decimals of its currency. */
export interface TakenBill {
  readonly billId: string;
  /** The batch it came in with. */
  readonly origin: string;
  readonly currency: string;
  readonly rows: number;
  readonly billed: string;
  readonly effective: string;
  readonly issue: number;
  /** It is the same, row for row, as the one that is there. */
  readonly isUnchanged: boolean;
}

interface WrittenBills {
  readonly batches: readonly Batch[];
  readonly asides: readonly AsideFile[];
  readonly bills: readonly TakenBill[];
}

interface WriteOptions {
  /** Until when the bills are complete, where the person knows better than the rows. */
  readonly coveredUntil: string | undefined;
  readonly importedAt: Date | undefined;
  readonly keep: (aside: AsideFile) => void;
  /** What is in the lake now: earlier issues of these bills are among it. */
  readonly known: readonly Batch[];
}

interface BillRow extends Omit<BillFacts, 'coveredUntil'> {
  readonly month: string;
  readonly firstAt: string;
  readonly usageUntil: string | null;
  /** The end of its charges, not after the end of its period: how far a bill without such usage speaks. */
  readonly chargedUntil: string;
  readonly currencies: bigint;
  readonly rows: bigint;
  readonly billed: string;
  readonly effective: string;
}

const ISSUES_KEPT_MAX = 100;

/**
 * Writes the bills the files hold, one file and one batch each. Identical rows are legal in a bill: nothing is merged.
 *
 * Rows are read in the order of the files, which is the order they lie in: part after part, row after row. The engine keeps it, so
 * that millions of wide rows need no sort.
 */
export async function writeBills(
  engine: Engine,
  root: string,
  table: FactTable,
  batch: { readonly name: string; readonly importedFrom: string; readonly priority: number },
  parts: readonly ReadyPart[],
  options: WriteOptions,
): Promise<WrittenBills> {
  const rows = parts.map(({ relation }) => `SELECT * FROM (${relation})`).join(' UNION ALL ');
  const columns = storedColumns(table)
    .map(({ name }) => name)
    .join(', ');
  const batches: Batch[] = [];
  const asides: AsideFile[] = [];
  const taken: TakenBill[] = [];
  const found = await billsOf(engine, rows);
  for (const bill of found) {
    refuseMixed(bill, batch.importedFrom);
    const which = found.length === 1 ? '' : ` WHERE bill_id = ${quote(bill.billId)}`;
    const whole = found.length === 1 && parts.length === 1 ? parts[0]?.wholePath : undefined;
    const aside =
      whole === undefined
        ? await writeAside(engine, root, table, bill.month, `SELECT ${columns} FROM (${rows})${which}`)
        : await adoptAside(root, table, bill.month, whole, Number(bill.rows));
    options.keep(aside);
    asides.push(aside);
    const coveredUntil = options.coveredUntil ?? coverage(bill.usageUntil, parts);
    const file = await lakeFileOf(table, aside);
    const before = options.known.find(({ table: of, name }) => of === table.name && name === bill.billId);
    const issues = issuesOf(bill, before, file.contentHash, batch.importedFrom, options.importedAt);
    taken.push(takenBill(bill, batch.name, issues, before));
    batches.push({
      table: table.name,
      name: bill.billId,
      origin: batch.name,
      importedFrom: batch.importedFrom,
      priority: batch.priority,
      observedAt: coveredUntil ?? bill.periodEnd,
      firstAt: bill.firstAt,
      newestAt: coveredUntil ?? coverage(bill.chargedUntil, parts),
      bill: billFacts(bill, coveredUntil),
      issues,
      files: [file],
    });
  }
  return { batches, asides, bills: taken };
}

function takenBill(bill: BillRow, origin: string, issues: readonly BillIssue[], before: Batch | undefined): TakenBill {
  const issue = issues.at(-1)?.number ?? 1;
  const isUnchanged = before !== undefined && lastIssueOf(before).at(-1)?.number === issue;
  const { billId, currency, rows, billed, effective } = bill;
  return { billId, origin, currency, rows: Number(rows), billed, effective, issue, isUnchanged };
}

/** What is kept of a bill's earlier issues; of one from before these were kept, what its files tell. */
function lastIssueOf(batch: Batch): readonly BillIssue[] {
  if (batch.issues !== undefined) return batch.issues;
  const rows = batch.files.reduce((sum, file) => sum + file.rows, 0);
  const contentHash = batch.files[0]?.contentHash ?? '';
  const { importedFrom, observedAt } = batch;
  return [{ number: 1, importedAt: observedAt, importedFrom, rows, billed: null, effective: null, contentHash }];
}

function issuesOf(
  bill: BillRow,
  before: Batch | undefined,
  contentHash: string,
  importedFrom: string,
  importedAt: Date | undefined,
): readonly BillIssue[] {
  const known = before === undefined ? [] : lastIssueOf(before);
  const last = known.at(-1);
  if (last?.contentHash === contentHash) return known;
  const issue: BillIssue = {
    number: (last?.number ?? 0) + 1,
    importedAt: timeText(importedAt ?? new Date(0)),
    importedFrom,
    rows: Number(bill.rows),
    billed: bill.billed,
    effective: bill.effective,
    contentHash,
  };
  return [...known, issue].slice(-ISSUES_KEPT_MAX);
}

function billFacts(bill: BillRow, coveredUntil: string | null): BillFacts {
  const { billId, provider, billingAccount, currency, periodStart, periodEnd, firstDay, lastDay } = bill;
  return { billId, provider, billingAccount, currency, periodStart, periodEnd, coveredUntil, firstDay, lastDay };
}

async function billsOf(engine: Engine, rows: string): Promise<BillRow[]> {
  return engine.rows<BillRow>(`
    SELECT bill_id AS "billId", min(provider) AS provider, min(billing_account) AS "billingAccount",
           min(currency) AS currency, CAST(CASE WHEN min(currency) = max(currency) THEN 1 ELSE 2 END AS BIGINT) AS currencies,
           min(billing_period_start) AS "periodStart", max(billing_period_end) AS "periodEnd",
           strftime(min(billing_period_start), '%Y-%m') AS month, min(charge_from) AS "firstAt",
           strftime(min(charge_from), '%Y-%m-%d') AS "firstDay",
           strftime(max(greatest(charge_from, charge_until - INTERVAL 1 SECOND)), '%Y-%m-%d') AS "lastDay",
           max(charge_until) FILTER (WHERE lower(charge_category) = 'usage'
             AND charge_until <= charge_from + INTERVAL 1 DAY) AS "usageUntil",
           least(max(charge_until), max(billing_period_end)) AS "chargedUntil",
           count(*) AS rows, CAST(sum(billed) AS DECIMAL(38,18)) AS billed,
           CAST(sum(effective) AS DECIMAL(38,18)) AS effective
    FROM (${rows}) GROUP BY bill_id ORDER BY bill_id`);
}

/** A bill adds up in one currency or not at all. */
function refuseMixed(bill: BillRow, importedFrom: string): void {
  if (bill.currencies <= 1n) return;
  throw new OperationError(
    'mixed-currencies',
    `${importedFrom}: bill ${bill.billId} has rows in more than one currency`,
    {
      hint: 'Import the currencies apart, each with an account of its own: --set account=NAME.',
    },
  );
}

/** Usage that was known when the file was written: a file cannot speak of what came after it. */
function coverage(usageUntil: string | null, parts: readonly ReadyPart[]): string | null {
  const written = parts.flatMap(({ part }) => (part.writtenAt === undefined ? [] : [timeText(part.writtenAt)]));
  const newest = written.toSorted().at(-1);
  if (usageUntil === null || newest === undefined) return usageUntil;
  return usageUntil < newest ? usageUntil : newest;
}

function timeText(time: Date): string {
  return time.toISOString().slice(0, 19).replace('T', ' ');
}
