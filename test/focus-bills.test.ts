import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { BILL_DIGITS } from '../src/app/bill-sums.ts';
import { parseDimensions } from '../src/app/filter.ts';
import { checkLedger } from '../src/app/ledger-check.ts';
import { spend } from '../src/app/spend.ts';
import { takeIn } from '../src/app/take-in.ts';
import type { TakeInRequest } from '../src/app/take-in.ts';
import { ledgerWindow } from '../src/app/window.ts';
import { withReader } from '../src/app/workspace.ts';
import { divideRounded, parseDecimal } from '../src/money/usd.ts';

const BILLS = fileURLToPath(new URL('../../shared/data/billing/', import.meta.url));
const SCENARIOS = join(BILLS, 'focus-spec-scenarios');
const isHere = existsSync(BILLS);
const why = isHere ? '' : ' (skipped: ../shared/data/billing is not here)';
const clock = new Date('2030-01-01T00:00:00Z');
const account = 'provider=Acme,account=42,currency=USD';

/** Imports one bill into a folder of its own and asks what the ledger makes of it. */
async function postedBill(file: string, options: Partial<TakeInRequest>, rates?: string) {
  const folder = await mkdtemp(join(tmpdir(), 'bursar-focus-'));
  try {
    const dataDir = join(folder, 'data');
    if (rates !== undefined) await takeIn({ dataDir, table: 'fx', files: [rates] });
    await takeIn({ dataDir, table: 'charges', files: [file], ...options });
    return await withReader(dataDir, async (space) => ({
      check: await checkLedger(space),
      sums: await spend(space, {
        by: parseDimensions('category,reason'),
        filters: [],
        window: ledgerWindow('all', clock, space.scope),
      }),
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
  test.each(Object.entries(cases))('%s adds up to the micro', { timeout: 240_000 }, async (column, want) => {
    const { check, sums } = await postedBill(join(BILLS, 'focus_1.0_sample.csv'), {
      map: [`effective=${column}`],
    });
    expect(check.differenceUsdMicros).toBe(0n);
    const exact = check.bills.reduce((sum, bill) => sum + bill.effective, 0n);
    expect(exact).toBe(parseDecimal(want, BILL_DIGITS));
    // Each of the four bills is rounded once, to the nearest micro.
    expect(check.bills).toHaveLength(4);
    const posted = check.bills.map((bill) => divideRounded(bill.effective, 10n ** BigInt(BILL_DIGITS - 6)));
    expect(check.bills.map(({ postedUsdMicros }) => postedUsdMicros)).toEqual(posted);
    expect(sums.totalUsdMicros).toBe(posted.reduce((sum, micros) => sum + micros, 0n));
  });
});

describe.skipIf(!isHere)(`the FOCUS specification's own examples${why}`, () => {
  // What each file is about: how much of the commitment nobody used.
  const unusedUsdMicros: Readonly<Record<string, bigint>> = {
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
  test.each(Object.entries(unusedUsdMicros))(
    '%s leaves unused what it says',
    { timeout: 240_000 },
    async (name, want) => {
      const { check, sums } = await postedBill(join(SCENARIOS, `${name}.csv`), { set: [account] });
      expect(check.differenceUsdMicros).toBe(0n);
      // No row of them is for a GPU: what is unused stands beside it, with its reason.
      const unused = sums.rows.find(({ values }) => values[1] === 'unused-commitment');
      expect(unused?.costUsdMicros ?? 0n).toBe(want);
      expect(sums.rows.filter(({ values }) => values[0] === 'stranded')).toEqual([]);
    },
  );

  const others = isHere
    ? readdirSync(SCENARIOS).filter((file) => unusedUsdMicros[file.replace('.csv', '')] === undefined)
    : [];
  test.each(others)('%s is taken and adds up', { timeout: 240_000 }, async (file) => {
    // Dates like 4/1/25 and amounts like $10,000.00 are understood without a word.
    const { check } = await postedBill(join(SCENARIOS, file), {});
    expect(check.differenceUsdMicros).toBe(0n);
    expect(check.bills.every(({ posted }) => posted)).toBe(true);
  });
});

describe.skipIf(!isHere)(`exports that are not FOCUS${why}`, () => {
  test('the AWS report comes to 1.6823 dollars, billed and effective', { timeout: 240_000 }, async () => {
    const { check } = await postedBill(join(BILLS, 'aws_cur_sample.csv'), {});
    expect(check.differenceUsdMicros).toBe(0n);
    expect(check.bills).toMatchObject([
      {
        billId: 'AWS|123412340534|2023-11',
        rows: 1281,
        postedUsdMicros: 1_682_309n,
        billed: parseDecimal('1.6823086974', BILL_DIGITS),
      },
    ]);
  });

  test('the Azure export is in Canadian dollars: posted once there is a rate', { timeout: 240_000 }, async () => {
    const file = join(BILLS, 'azure_ea_sample.csv');
    const without = await postedBill(file, {});
    expect(without.check.bills).toMatchObject([
      { currency: 'CAD', rows: 27, posted: false, whyNot: 'no-rate', postedUsdMicros: 0n },
    ]);
    const folder = await mkdtemp(join(tmpdir(), 'bursar-fx-'));
    await writeFile(join(folder, 'fx.csv'), 'currency,as_of,usd_per_unit\nCAD,2023-09-01,0.75\n');
    const { check } = await postedBill(file, {}, join(folder, 'fx.csv'));
    await rm(folder, { recursive: true, force: true });
    expect(check.differenceUsdMicros).toBe(0n);
    // 1.26136926505726 CAD × 0.75
    expect(check.bills).toMatchObject([
      { posted: true, postedUsdMicros: 946_027n, effective: parseDecimal('1.26136926505726', BILL_DIGITS) },
    ]);
  });
});
