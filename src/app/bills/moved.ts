import type { BillFacts } from '../../facts/manifest.ts';
import { quote } from '../../lake/engine.ts';
import { parseDecimal } from '../../money/usd.ts';
import type { Moved, MovedLine } from '../../report/bills-added.ts';
import { BILL_DIGITS } from '../bill-sums.ts';
import type { ReadSpace } from '../workspace.ts';
import { daysOf } from './posted.ts';

/** Question: what moved between two issues of a bill, by service in its currency and by team in dollars? */
export async function movedOf(before: ReadSpace, after: ReadSpace, bill: BillFacts): Promise<Moved> {
  const old = before.snapshot.batches.find(({ table, name }) => table === 'charge' && name === bill.billId)?.bill;
  const services = linesOf(await byService(before, bill), await byService(after, bill));
  const teams = linesOf(await byTeam(before, old ?? bill), await byTeam(after, bill));
  return { services, teams };
}

/** Reads: charge. */
async function byService(space: ReadSpace, { billId }: BillFacts): Promise<Map<string, bigint>> {
  const rows = await space.ask<{ name: string | null; amount: string }>({
    tables: [{ table: 'charge' }],
    sql: `SELECT service_name AS name, CAST(sum(effective) AS DECIMAL(38,18)) AS amount FROM charge
          WHERE bill_id = ${quote(billId)} GROUP BY service_name`,
  });
  return new Map(rows.map(({ name, amount }) => [name ?? 'no service', parseDecimal(amount, BILL_DIGITS) ?? 0n]));
}

/** Reads: ledger_entry, ownership. */
async function byTeam(space: ReadSpace, bill: BillFacts): Promise<Map<string, bigint>> {
  const days = daysOf([bill]);
  const rows = await space.ask<{ name: string | null; amount: bigint | null }>({
    tables: [
      { table: 'ledger_entry', ...days },
      { table: 'ownership', ...days },
    ],
    sql: `SELECT o.team AS name, CAST(sum(e.usd_micros) AS BIGINT) AS amount
          FROM ledger_entry e LEFT JOIN ownership o ON e.day = o.day AND e.subject = o.subject
          WHERE e.bill_id = ${quote(bill.billId)} GROUP BY o.team`,
  });
  return new Map(rows.map(({ name, amount }) => [name ?? 'unattributed', amount ?? 0n]));
}

/** What differs, the largest difference first. */
export function linesOf(before: ReadonlyMap<string, bigint>, after: ReadonlyMap<string, bigint>): MovedLine[] {
  const names = [...new Set([...before.keys(), ...after.keys()])];
  const size = ({ before: from, after: to }: MovedLine): bigint => (to > from ? to - from : from - to);
  return names
    .map((name) => ({ name, before: before.get(name) ?? 0n, after: after.get(name) ?? 0n }))
    .filter((line) => line.before !== line.after)
    .toSorted((left, right) =>
      size(left) < size(right) ? 1 : size(left) > size(right) ? -1 : left.name < right.name ? -1 : 1,
    );
}
