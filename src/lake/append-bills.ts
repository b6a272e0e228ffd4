import type { FactTable } from '../facts/fact-table.ts';
import { storedColumns } from '../facts/incoming.ts';
import type { Batch, BillFacts } from '../facts/manifest.ts';
import { OperationError } from '../facts/operation-error.ts';
import type { ReadyPart } from './append-check.ts';
import type { Engine } from './engine.ts';
import { quote } from './engine.ts';
import type { AsideFile } from './parquet-file.ts';
import { lakeFileOf, writeAside } from './parquet-file.ts';

export interface WrittenBills {
  readonly batches: readonly Batch[];
  readonly asides: readonly AsideFile[];
}

interface BillRow extends Omit<BillFacts, 'coveredUntil'> {
  readonly month: string;
  readonly firstAt: string;
  readonly usageUntil: string | null;
  /** The end of its charges, not after the end of its period: how far a bill without such usage speaks. */
  readonly chargedUntil: string;
  readonly currencies: bigint;
}

/**
 * Writes the bills the files hold, one file and one batch each. Identical rows are legal in a bill: nothing is merged.
 */
export async function writeBills(
  engine: Engine,
  root: string,
  table: FactTable,
  batch: { readonly name: string; readonly importedFrom: string; readonly priority: number },
  parts: readonly ReadyPart[],
  statedCoveredUntil: string | undefined,
  keep: (aside: AsideFile) => void,
): Promise<WrittenBills> {
  const rows = parts.map(({ relation }) => `SELECT * FROM (${relation})`).join(' UNION ALL ');
  const columns = storedColumns(table)
    .map(({ name }) => name)
    .join(', ');
  const batches: Batch[] = [];
  const asides: AsideFile[] = [];
  for (const bill of await billsOf(engine, rows)) {
    refuseMixed(bill, batch.importedFrom);
    const aside = await writeAside(
      engine,
      root,
      table,
      bill.month,
      `SELECT ${columns} FROM (${rows}) WHERE bill_id = ${quote(bill.billId)} ORDER BY ${table.sortBy.join(', ')}`,
    );
    keep(aside);
    asides.push(aside);
    const coveredUntil = statedCoveredUntil ?? coverage(bill.usageUntil, parts);
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
      files: [await lakeFileOf(table, aside)],
    });
  }
  return { batches, asides };
}

function billFacts(bill: BillRow, coveredUntil: string | null): BillFacts {
  const { billId, provider, billingAccount, currency, periodStart, periodEnd, firstDay, lastDay } = bill;
  return { billId, provider, billingAccount, currency, periodStart, periodEnd, coveredUntil, firstDay, lastDay };
}

async function billsOf(engine: Engine, rows: string): Promise<BillRow[]> {
  return engine.rows<BillRow>(`
    SELECT bill_id AS "billId", min(provider) AS provider, min(billing_account) AS "billingAccount",
           min(currency) AS currency, count(DISTINCT currency) AS currencies,
           min(billing_period_start) AS "periodStart", max(billing_period_end) AS "periodEnd",
           strftime(min(billing_period_start), '%Y-%m') AS month, min(charge_from) AS "firstAt",
           strftime(min(charge_from), '%Y-%m-%d') AS "firstDay",
           strftime(max(greatest(charge_from, charge_until - INTERVAL 1 SECOND)), '%Y-%m-%d') AS "lastDay",
           max(charge_until) FILTER (WHERE lower(charge_category) = 'usage'
             AND charge_until <= charge_from + INTERVAL 1 DAY) AS "usageUntil",
           least(max(charge_until), max(billing_period_end)) AS "chargedUntil"
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
