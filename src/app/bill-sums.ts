import type { BillFacts } from '../facts/manifest.ts';
import { divideRounded, parseDecimal } from '../money/usd.ts';
import type { ReadSpace } from './workspace.ts';

/** Amounts of a bill are whole numbers of 10⁻¹⁸ of its currency. */
export const BILL_DIGITS = 18;
const RATE_DIGITS = 9;

/** The rows of a bill that have one reason to differ between what is billed and what is effective. */
export interface ChargeGroup {
  readonly chargeCategory: string;
  readonly isCommitted: boolean;
  readonly rows: bigint;
  readonly effective: bigint;
  readonly billed: bigint;
  /** Of the rows that have a list price. */
  readonly list: bigint;
  readonly listedEffective: bigint;
  readonly listRows: bigint;
}

export interface BillSum {
  readonly groups: readonly ChargeGroup[];
  /** UTC days on which its charges begin: its rounding is bounded by them. */
  readonly days: bigint;
  /** Dollars for one unit of its currency; undefined where nobody said. */
  readonly usdPerUnit: string | undefined;
  /** Its effective cost in dollars, exact; undefined without a rate. */
  readonly usd: bigint | undefined;
}

interface GroupRow {
  readonly billId: string;
  readonly chargeCategory: string;
  readonly isCommitted: boolean;
  readonly rows: bigint;
  readonly effective: string;
  readonly billed: string;
  readonly list: string | null;
  readonly listedEffective: string | null;
  readonly listRows: bigint;
}

/**
 * Question: what does each bill add up to, by its rows alone?
 *
 * This is the second path to a bill's total, on purpose not the one that posts it: no order, no days, no running sums. Foreign
 * amounts are turned into dollars here, in whole numbers, each distinct amount once.
 *
 * Reads: charge, fx_rate.
 */
export async function billSums(space: ReadSpace, bills: readonly BillFacts[]): Promise<ReadonlyMap<string, BillSum>> {
  if (bills.length === 0) return new Map();
  const groups = await chargeGroups(space);
  const days = await space.ask<{ billId: string; days: bigint }>({
    tables: [{ table: 'charge' }],
    sql: `SELECT bill_id AS "billId", count(DISTINCT CAST(charge_from AS DATE)) AS days FROM charge GROUP BY bill_id`,
  });
  const daysOf = new Map(days.map((row) => [row.billId, row.days]));
  const rateOf = await usdRates(space, bills);
  const foreign = await foreignDollars(space, rateOf);
  return new Map(
    bills.map((bill) => {
      const own = groups.get(bill.billId) ?? [];
      const effective = own.reduce((total, group) => total + group.effective, 0n);
      const usdPerUnit = bill.currency === 'USD' ? '1' : rateOf.get(bill.billId);
      const usd = bill.currency === 'USD' ? effective : foreign.get(bill.billId);
      return [bill.billId, { groups: own, days: daysOf.get(bill.billId) ?? 0n, usdPerUnit, usd }];
    }),
  );
}

async function chargeGroups(space: ReadSpace): Promise<ReadonlyMap<string, readonly ChargeGroup[]>> {
  const rows = await space.ask<GroupRow>({
    tables: [{ table: 'charge' }],
    sql: `
      SELECT bill_id AS "billId", charge_category AS "chargeCategory",
             commitment_id IS NOT NULL OR commitment_status IS NOT NULL AS "isCommitted", count(*) AS rows,
             CAST(sum(effective) AS DECIMAL(38,18)) AS effective, CAST(sum(billed) AS DECIMAL(38,18)) AS billed,
             CAST(sum(list) AS DECIMAL(38,18)) AS list, count(list) AS "listRows",
             CAST(sum(CASE WHEN list IS NOT NULL THEN effective END) AS DECIMAL(38,18)) AS "listedEffective"
      FROM charge GROUP BY bill_id, charge_category, commitment_id IS NOT NULL OR commitment_status IS NOT NULL
      ORDER BY "billId", "chargeCategory", "isCommitted"`,
  });
  const groups = new Map<string, ChargeGroup[]>();
  for (const { billId, ...row } of rows) {
    const own = groups.get(billId) ?? [];
    own.push({
      ...row,
      effective: exact(row.effective),
      billed: exact(row.billed),
      list: exact(row.list ?? '0'),
      listedEffective: exact(row.listedEffective ?? '0'),
    });
    groups.set(billId, own);
  }
  return groups;
}

/** The newest rate dated up to the end of the bill's period. */
async function usdRates(space: ReadSpace, bills: readonly BillFacts[]): Promise<ReadonlyMap<string, string>> {
  const foreign = bills.filter(({ currency }) => currency !== 'USD');
  if (foreign.length === 0) return new Map();
  const rates = await space.ask<{ currency: string; asOf: string; usdPerUnit: string }>({
    tables: [{ table: 'fx_rate' }],
    sql: `SELECT currency, as_of AS "asOf", usd_per_unit AS "usdPerUnit" FROM fx_rate ORDER BY as_of`,
  });
  return new Map(
    foreign.flatMap(({ billId, currency, periodEnd }) => {
      const known = rates.filter((rate) => rate.currency === currency && rate.asOf <= periodEnd);
      const newest = known.at(-1);
      return newest === undefined ? [] : [[billId, newest.usdPerUnit]];
    }),
  );
}

async function foreignDollars(
  space: ReadSpace,
  rateOf: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string, bigint>> {
  if (rateOf.size === 0) return new Map();
  const amounts = await space.ask<{ billId: string; effective: string; rows: bigint }>({
    tables: [{ table: 'charge' }],
    sql: `
      SELECT bill_id AS "billId", effective, count(*) AS rows FROM charge WHERE currency <> 'USD'
      GROUP BY bill_id, effective`,
  });
  const dollars = new Map<string, bigint>();
  for (const { billId, effective, rows } of amounts) {
    const rate = rateOf.get(billId);
    if (rate === undefined) continue;
    const nanos = parseDecimal(rate, RATE_DIGITS) ?? 0n;
    const usd = divideRounded(exact(effective) * nanos, 10n ** BigInt(RATE_DIGITS));
    dollars.set(billId, (dollars.get(billId) ?? 0n) + usd * rows);
  }
  return dollars;
}

function exact(decimal: string): bigint {
  const scaled = parseDecimal(decimal, BILL_DIGITS);
  if (scaled === undefined) throw new Error(`the engine gave an amount that is no decimal: ${decimal}`);
  return scaled;
}
