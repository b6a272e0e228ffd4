import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { csv, fleetFolder } from '../../test/fleet-folder.ts';
import type { FleetFolder } from '../../test/fleet-folder.ts';
import { flavoursOf, randomOrganisation } from '../../test/oracle/random-organisation.ts';
import { seedsOf } from '../../test/oracle/seeds.ts';
import { toFiles } from '../../test/oracle/to-files.ts';
import { EURO_BILL, SMALL_FLEET } from '../../test/small-fleet.ts';
import { dispatch } from '../cli/dispatch.ts';
import { OperationError } from '../facts/operation-error.ts';
import { openEngine } from '../lake/engine.ts';
import { ledgerCheckJson, ledgerCheckText } from '../report/ledger-check-page.ts';
import { checkLedger } from './ledger-check.ts';
import { withReader } from './workspace.ts';

const check = (fleet: FleetFolder) => withReader(fleet.dataDir, checkLedger);
const FX = csv('currency|as_of|usd_per_unit\nEUR|2026-03-31T00:00:00Z|1.0842\nEUR|2026-04-02T00:00:00Z|2');

/** The JSON shape others build on. */
interface CheckJson {
  readonly bills: readonly Readonly<Record<string, unknown>>[];
  readonly differenceUsdMicros: string;
}

describe('a long history', () => {
  test('who has little time is told how far it came, comes further each time, and gets the same in the end', async () => {
    const fleet = await fleetFolder(toFiles(randomOrganisation(27)));
    const whole = await check(fleet);
    const options = { checked: new Map(), isTimeUp: () => true, chunkRowsMax: 1 };
    const told: string[] = [];
    const again = async (): Promise<unknown> => {
      try {
        return await withReader(fleet.dataDir, (space) => checkLedger(space, options));
      } catch (failure) {
        if (!(failure instanceof OperationError) || failure.code !== 'still-checking') throw failure;
        told.push(failure.message);
        return again();
      }
    };
    expect(await again()).toEqual(whole);
    expect(told.length).toBeGreaterThan(1);
    const all = told.length + 1;
    expect(told).toEqual(told.map((_, n) => `the ledger is being added up: ${n + 1} of ${all} days so far`));
    await fleet.remove();
  });
});

describe('a ledger that adds up', () => {
  let fleet: FleetFolder;
  beforeAll(async () => {
    fleet = await fleetFolder({ ...SMALL_FLEET, 'charges 2': EURO_BILL });
  });
  afterAll(() => fleet.remove());

  test('a bill is posted at its effective cost; billed and list stand beside it, with the reason', async () => {
    const json = ledgerCheckJson(await check(fleet)) as CheckJson;
    expect(json.bills[0]).toMatchObject({
      billId: 'AWS|111|2026-03',
      posted: true,
      currency: 'USD',
      effectiveExact: '28.45',
      billedExact: '41.95',
      listExact: '57.95',
      postedUsdMicros: '28450000',
      roundingUsdMicros: '0',
      differenceUsdMicros: '0',
      rows: 10,
      rowsWithListPrice: 9,
      billedDiffers: [
        { chargeCategory: 'Purchase', rows: 1, effectiveExact: '0', billedExact: '24.5' },
        { chargeCategory: 'Usage', committed: true, rows: 2, effectiveExact: '11', billedExact: '0' },
      ],
    });
    expect(json).toMatchObject({
      differenceUsdMicros: '0',
      rates: { rateUsdMicros: '4000000', estimatedUsdMicros: '1610000' },
      unattributedUsdMicros: '10560000',
      unknownUsdMicros: '16985000',
      unpricedSeconds: 7200,
      faults: [],
    });
    // 57.95 − (28.45 − 1.00): the unused hour has no list price, so it is not compared.
    expect(ledgerCheckText(await check(fleet)).join('\n')).toContain(
      'effective is 30.5 below, of 9 rows that have one',
    );
  });

  test('a bill without a rate to dollars is listed, with what to do', async () => {
    const answer = await check(fleet);
    expect((ledgerCheckJson(answer) as CheckJson).bills[1]).toMatchObject({
      billId: 'OVH|9|2026-03',
      posted: false,
      whyNot: 'no-rate',
      effectiveExact: '10',
      listExact: null,
      postedUsdMicros: '0',
    });
    const page = ledgerCheckText(answer).join('\n');
    expect(page).toContain('OVH|9|2026-03  10 EUR: no rate to dollars dated up to 2026-04-01');
    expect(page).toContain('bursar import fx');
    expect(page).toContain('everything adds up');
  });

  test('with a rate it is posted, at the newest rate up to the end of its period', async () => {
    await fleet.import({ fx: FX });
    const [, euro] = (await check(fleet)).bills;
    expect(euro).toMatchObject({
      posted: true,
      usdPerUnit: '1.084200000000000000',
      postedUsdMicros: 10_842_000n,
      differenceUsdMicros: 0n,
    });
  });
});

test('an empty folder adds up to nothing', async () => {
  const fleet = await fleetFolder({});
  const answer = await check(fleet);
  expect(answer).toMatchObject({ bills: [], differenceUsdMicros: 0n, faults: [] });
  await fleet.remove();
});

describe('a ledger that does not add up is found out', () => {
  let fleet: FleetFolder;
  beforeAll(async () => {
    fleet = await fleetFolder(SMALL_FLEET);
  });
  afterAll(() => fleet.remove());

  /** Changes a derived file behind the ledger's back, looks, and puts it back. */
  async function tampered(table: string, change: string, where: string) {
    const path = await withReader(fleet.dataDir, async ({ snapshot, dataDir }) => {
      const unit = snapshot.derived.find((candidate) => candidate.table === table && candidate.file !== null);
      return join(dataDir, unit?.file?.path ?? '');
    });
    const engine = await openEngine({ threads: 1, memoryLimitMb: 200 });
    await engine.run(`COPY (SELECT * REPLACE (CASE WHEN ${where} THEN ${change.split(' = ')[1]} ELSE ${change.split(' = ')[0]} END
      AS ${change.split(' = ')[0]}) FROM read_parquet('${path}')) TO '${path}.other' (FORMAT parquet)`);
    engine.close();
    await rename(path, `${path}.kept`);
    await rename(`${path}.other`, path);
    try {
      let printed = '';
      const commands = [{ name: 'ledger', summary: '', load: () => import('../cli/commands/ledger.ts') }];
      const stream = { write: (text: string): void => void (printed += text) };
      const exitCode = await dispatch(['ledger', 'check', '--data', fleet.dataDir], '0', commands, {
        stdout: stream,
        stderr: stream,
      });
      process.exitCode = undefined;
      const answer = await check(fleet);
      const inParts = await withReader(fleet.dataDir, (space) => checkLedger(space, { chunkRowsMax: 1 }));
      expect(inParts).toEqual(answer);
      return { exitCode, printed, answer };
    } finally {
      await rename(`${path}.kept`, path);
    }
  }

  const cases: Record<string, { table: string; change: string; where: string; want: string[] }> = {
    'a micro too much on a billed entry': {
      table: 'ledger_entry',
      change: 'usd_micros = usd_micros + 1',
      where: "allocation_id = '101' AND extract(hour FROM hour_start) = 8",
      want: [
        'the entries of a device-hour add up to its price',
        'the categories of an entry add up to it',
        'a bill is posted whole',
      ],
    },
    'a micro too little by a rate': {
      table: 'ledger_entry',
      change: 'usd_micros = usd_micros - 1',
      where: "allocation_id = '201' AND extract(hour FROM hour_start) = 8",
      want: [
        'the entries of a device-hour add up to its price',
        'the categories of an entry add up to it',
        'entries by rate are the rates of the devices that were there',
      ],
    },
    'a dollar in two categories': {
      table: 'waterfall',
      change: 'usd_micros = usd_micros * 2',
      where: "category = 'idle'",
      want: ['the categories of an entry add up to it', 'the sums of a day are those of its entries'],
    },
    'seconds that were lost': {
      table: 'ledger_entry',
      change: 'gpu_units = 0',
      where: "allocation_id = '102' AND extract(hour FROM hour_start) = 8",
      want: ['the categories of an entry add up to it', 'the seconds of a device-hour are those it was there'],
    },
    'sums of a day that are old': {
      table: 'spend_day',
      change: 'usd_micros = usd_micros - 5',
      where: "component = 'gpu'",
      want: ['the sums of a day are those of its entries'],
    },
    'a rounding that is a plug': {
      table: 'ledger_entry',
      change: "disposition = 'rounding'",
      where: "disposition = 'tax'",
      want: [
        'the categories of an entry add up to it',
        'rounding stays within half a micro for each day of a bill, and one',
      ],
    },
  };
  test.each(Object.entries(cases))('%s', async (_, { table, change, where, want }) => {
    const { exitCode, printed, answer } = await tampered(table, change, where);
    expect(answer.faults.map((fault) => fault.check)).toEqual(want);
    expect(exitCode).toBe(1);
    expect(printed).toContain('DOES NOT ADD UP');
  });

  test('and afterwards it adds up again', async () => expect((await check(fleet)).faults).toEqual([]));
});

describe('whatever the organisation, its ledger adds up', () => {
  test.each(seedsOf('CHECK_SEEDS', 6))('%i', { timeout: 120_000 }, async (seed) => {
    const fleet = await fleetFolder(toFiles(randomOrganisation(seed)));
    try {
      const answer = await check(fleet);
      expect(answer.faults, flavoursOf(seed).join(', ')).toEqual([]);
      expect(answer.differenceUsdMicros).toBe(0n);
    } finally {
      await fleet.remove();
    }
  });
});
