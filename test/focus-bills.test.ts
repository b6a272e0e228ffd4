import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { BILL_DIGITS } from '../src/app/bill-sums.ts';
import { checkLedger } from '../src/app/ledger-check.ts';
import { look } from '../src/app/look.ts';
import { takeIn } from '../src/app/take-in.ts';
import type { TakeInRequest } from '../src/app/take-in.ts';
import { withReader } from '../src/app/workspace.ts';
import { OperationError } from '../src/facts/operation-error.ts';
import { divideRounded, parseDecimal } from '../src/money/usd.ts';

const BILLS = fileURLToPath(new URL('../../shared/data/billing/', import.meta.url));
const SCENARIOS = join(BILLS, 'focus-spec-scenarios');
const isHere = existsSync(BILLS);
const why = isHere ? '' : ' (skipped: ../shared/data/billing is not here)';
const clock = new Date('2026-11-15T00:00:00Z');
const account = 'provider=Acme,account=42,currency=USD';

/** Imports one bill into a folder of its own and asks what the ledger makes of it. */
async function postedBill(file: string, options: Partial<TakeInRequest>) {
  const folder = await mkdtemp(join(tmpdir(), 'bursar-focus-'));
  try {
    const dataDir = join(folder, 'data');
    await takeIn({ dataDir, table: 'charges', files: [file], ...options });
    return await withReader(dataDir, async (space) => ({
      check: await checkLedger(space),
      look: await look(space, { window: 'all', asOf: new Date('2030-01-01T00:00:00Z'), clock }),
    }));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

describe.skipIf(!isHere)(`the FOCUS sample, each of its columns posted in turn${why}`, () => {
  // The totals of the file, added up by hand.
  const cases = {
    EffectiveCost: '14.97651418586',
    BilledCost: '20.52022672899',
    ListCost: '20.39090575119',
  };
  test.each(Object.entries(cases))('%s adds up to the micro', { timeout: 60_000 }, async (column, want) => {
    const { check, look: screen } = await postedBill(join(BILLS, 'focus_1.0_sample.csv'), {
      map: [`effective=${column}`],
    });
    expect(check.differenceUsdMicros).toBe(0n);
    const exact = check.bills.reduce((sum, bill) => sum + bill.effective, 0n);
    expect(exact).toBe(parseDecimal(want, BILL_DIGITS));
    // Each of the four bills is rounded once, to the nearest micro.
    expect(check.bills).toHaveLength(4);
    const posted = check.bills.map((bill) => divideRounded(bill.effective, 10n ** BigInt(BILL_DIGITS - 6)));
    expect(check.bills.map(({ postedUsdMicros }) => postedUsdMicros)).toEqual(posted);
    expect(screen.paidUsdMicros).toBe(posted.reduce((sum, micros) => sum + micros, 0n));
  });
});

describe.skipIf(!isHere)(`the FOCUS specification's own examples${why}`, () => {
  // What each file is about: how much of the commitment nobody used.
  const strandedUsdMicros: Readonly<Record<string, bigint>> = {
    commitment_discount_purchase_scenario_1: 0n,
    commitment_discount_purchase_scenario_2: 0n,
    commitment_discount_purchase_scenario_3: 0n,
    commitment_discount_usage_scenario_1: 0n,
    commitment_discount_usage_scenario_2: 1_000_000n,
    commitment_discount_usage_scenario_3: 250_000n,
    commitment_discount_usage_scenario_4: 0n,
    one_hundred_percent_utilization_with_commitment_discount_flexibility_with_1_resource: 0n,
    one_hundred_percent_utilization_with_commitment_discount_flexibility_with_2_resources: 0n,
    one_hundred_percent_utilization_without_commitment_discount_flexibility: 0n,
    zero_percent_utilization_without_commitment_discount_flexibility: 1_500_000n,
  };
  test.each(Object.entries(strandedUsdMicros))('%s strands what it says', { timeout: 60_000 }, async (name, want) => {
    const { check, look: screen } = await postedBill(join(SCENARIOS, `${name}.csv`), { set: [account] });
    expect(check.differenceUsdMicros).toBe(0n);
    expect(screen.categories.stranded.usdMicros ?? 0n).toBe(want);
  });

  const others = isHere
    ? readdirSync(SCENARIOS).filter((file) => strandedUsdMicros[file.replace('.csv', '')] === undefined)
    : [];
  const isRefused = (file: string): boolean => file.startsWith('simple_saas');
  test.each(others.filter((file) => !isRefused(file)))('%s is taken and adds up', { timeout: 60_000 }, async (file) => {
    const { check } = await postedBill(join(SCENARIOS, file), { dateFormat: '%m/%d/%y' });
    expect(check.differenceUsdMicros).toBe(0n);
  });
  test.each(others.filter(isRefused))('%s is refused: $10,000.00 is not a plain number', async (file) => {
    const taken = postedBill(join(SCENARIOS, file), { dateFormat: '%m/%d/%y' });
    await expect(taken).rejects.toThrow(OperationError);
    await expect(taken).rejects.toThrow(/\$[\d,.]+/);
  });

  test('without --date-format, 4/1/25 is refused: nobody can know which of the two is the month', async () => {
    await expect(postedBill(join(SCENARIOS, 'saas_spend_agreements_a1.csv'), {})).rejects.toThrow(
      /date-format|5\/1\/25|4\/1\/25/,
    );
  });
});
