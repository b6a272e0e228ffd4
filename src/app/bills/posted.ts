import type { BillFacts } from '../../facts/manifest.ts';
import { quote } from '../../lake/engine.ts';
import type { ReadSpace } from '../workspace.ts';

/** Question: how many micro-dollars of each bill stand in the ledger? Reads: spend_day. */
export async function postedByBill(
  space: ReadSpace,
  bills: readonly BillFacts[],
): Promise<ReadonlyMap<string, bigint>> {
  if (bills.length === 0) return new Map();
  const rows = await space.ask<{ billId: string; usdMicros: bigint }>({
    tables: [{ table: 'spend_day', ...daysOf(bills) }],
    sql: `SELECT bill_id AS "billId", CAST(sum(usd_micros) AS BIGINT) AS "usdMicros" FROM spend_day
          WHERE bill_id IN (${bills.map(({ billId }) => quote(billId)).join(', ')}) GROUP BY bill_id`,
  });
  return new Map(rows.map(({ billId, usdMicros }) => [billId, usdMicros]));
}

/** The days on which entries of these bills can stand. */
export function daysOf(bills: readonly BillFacts[]): { first: string; last: string } {
  const firsts = bills.map(({ firstDay }) => firstDay).toSorted();
  const lasts = bills.map(({ lastDay }) => lastDay).toSorted();
  return { first: firsts[0] ?? '', last: lasts.at(-1) ?? '' };
}
