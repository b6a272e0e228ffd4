import { BILL_DIGITS, billSums } from '../bill-sums.ts';
import { divideRounded } from '../../money/usd.ts';
import type { ReadSpace } from '../workspace.ts';

const BILL_UNITS_PER_MICRO = 10n ** BigInt(BILL_DIGITS - 6);

/** What bills of one content add up to: reading them again for every look would cost seconds where bills are large. */
interface Added {
  readonly of: string;
  readonly usdMicros: ReadonlyMap<string, bigint>;
}

/**
 * Question: how far is the ledger from the bills? Each bill's difference counts without its sign.
 *
 * The short form of `ledger check`: sums by day against the rows of the bills. Null where there is no bill, and while facts wait to be
 * derived: a ledger that is being brought up to date is no fault.
 */
export function billDifference(): (space: ReadSpace) => Promise<bigint | null> {
  let added: Added | undefined;
  return async (space) => {
    const bills = space.scope?.bills ?? [];
    if (bills.length === 0 || space.staleRows > 0) return null;
    const of = contentOf(space);
    if (added?.of !== of) added = { of, usdMicros: await rowSums(space) };
    const posted = await space.ask<{ billId: string; usdMicros: bigint | null }>({
      tables: [{ table: 'spend_day' }],
      sql: `SELECT bill_id AS "billId", CAST(sum(usd_micros) AS BIGINT) AS "usdMicros" FROM spend_day
            WHERE bill_id IS NOT NULL GROUP BY bill_id`,
    });
    const postedOf = new Map(posted.map(({ billId, usdMicros }) => [billId, usdMicros ?? 0n]));
    return [...added.usdMicros].reduce(
      (sum, [bill, micros]) => sum + magnitude((postedOf.get(bill) ?? 0n) - micros),
      0n,
    );
  };
}

function contentOf({ snapshot }: ReadSpace): string {
  return snapshot.batches
    .filter(({ table }) => table === 'charge' || table === 'fx_rate')
    .flatMap(({ files }) => files.map(({ contentHash }) => contentHash))
    .toSorted()
    .join();
}

/** Bills without a rate for their currency are not posted, and not compared. */
async function rowSums(space: ReadSpace): Promise<ReadonlyMap<string, bigint>> {
  const sums = await billSums(space, space.scope?.bills ?? []);
  return new Map(
    [...sums].flatMap(([bill, { usd }]) =>
      usd === undefined ? [] : [[bill, divideRounded(usd, BILL_UNITS_PER_MICRO)] as const],
    ),
  );
}

function magnitude(micros: bigint): bigint {
  return micros < 0n ? -micros : micros;
}
