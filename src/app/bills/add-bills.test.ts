import { gzipSync } from 'node:zlib';
import { mkdir, mkdtemp, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addedBillsText, isReconciled } from '../../report/bills-added.ts';
import { withReader } from '../workspace.ts';
import type { AddBillsRequest } from './add-bills.ts';
import { addBills } from './add-bills.ts';
import { checkInvoices } from './invoice-check.ts';
import { invoiceFaults } from '../../report/bills-invoices.ts';
import { listBills } from './list-bills.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bursar-bills-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const HEADER =
  'ProviderName,BillingAccountId,BillingCurrency,BillingPeriodStart,BillingPeriodEnd,ChargePeriodStart,ChargePeriodEnd,ChargeCategory,BilledCost,EffectiveCost,ServiceName,InvoiceId,ResourceId,Tags';

interface Row {
  readonly day?: string;
  readonly billed?: string;
  readonly effective?: string;
  readonly service?: string;
  readonly team?: string;
  readonly invoice?: string;
  readonly category?: string;
  readonly month?: string;
  readonly currency?: string;
}

function line(row: Row): string {
  const {
    day = '05',
    effective = '1',
    billed = effective,
    service = 'EC2',
    team = 'nlp',
    invoice = '',
    category = 'Usage',
    month = '10',
    currency = 'USD',
  } = row;
  const next = String(Number(month) + 1).padStart(2, '0');
  return `AWS,1,${currency},2026-${month}-01,2026-${next}-01,2026-${month}-${day}T00:00:00Z,2026-${month}-${day}T01:00:00Z,${category},${billed},${effective},${service},${invoice},${service}-${team},"{""team"":""${team}""}"`;
}
const bill = (...rows: Row[]): string => `${[HEADER, ...rows.map(line)].join('\n')}\n`;

/** Writes a file below the folder and gives its path. */
async function file(name: string, content: string | Buffer, writtenAt?: string): Promise<string> {
  const path = join(folder, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
  if (writtenAt !== undefined) await utimes(path, new Date(writtenAt), new Date(writtenAt));
  return path;
}

const dataDir = (): string => join(folder, 'data');
const add = (places: readonly string[], more: Partial<AddBillsRequest> = {}) =>
  addBills({ dataDir: dataDir(), places, now: new Date('2026-11-03T09:00:00Z'), ...more });
const list = () => withReader(dataDir(), listBills);
const exact = (text: string): bigint =>
  BigInt(text.replace('.', '')) * 10n ** BigInt(18 - (text.split('.')[1]?.length ?? 0));

describe('adding bills', () => {
  it('says what came in, and that file, lake and ledger agree', async () => {
    const added = await add([await file('oct.csv', bill({ effective: '1.5' }, { effective: '2.25', day: '06' }))]);
    expect(added.bills).toHaveLength(1);
    expect(added.bills[0]).toMatchObject({ billId: 'AWS|1|2026-10', rows: 2, effective: exact('3.75'), issue: 1 });
    expect(added.bills.map(isReconciled)).toEqual([true]);
    expect(added.exports).toMatchObject([{ format: 'FOCUS 1.2', rowsRead: 2, rowsTaken: 2, rowsSkipped: 0 }]);
    expect(addedBillsText(added)[0]).toBe('AWS|1|2026-10: FOCUS 1.2, 2 rows, billed 3.75 USD, effective 3.75 USD');
    expect(await list()).toMatchObject([
      { billId: 'AWS|1|2026-10', postedUsdMicros: 3_750_000n, issue: 1, importedAt: '2026-11-03 09:00:00' },
    ]);
  });

  it('a month that came again replaces itself and says what moved, the largest first', async () => {
    await add([
      await file(
        'oct.csv',
        bill(
          { effective: '1' },
          { effective: '5', service: 'S3', team: 'vision' },
          { effective: '9', service: 'Bedrock' },
        ),
      ),
    ]);
    const again = await add(
      [
        await file(
          'oct-2.csv',
          bill(
            { effective: '1.5' },
            { effective: '2', service: 'S3', team: 'vision' },
            { effective: '9', service: 'Bedrock' },
          ),
        ),
      ],
      {
        now: new Date('2026-11-09T09:00:00Z'),
      },
    );
    expect(again.bills[0]).toMatchObject({ issue: 2, isUnchanged: false, effective: exact('12.5') });
    expect(again.bills[0]?.moved).toEqual({
      services: [
        { name: 'S3', before: exact('5'), after: exact('2') },
        { name: 'EC2', before: exact('1'), after: exact('1.5') },
      ],
      teams: [
        { name: 'vision', before: 5_000_000n, after: 2_000_000n },
        { name: 'nlp', before: 10_000_000n, after: 10_500_000n },
      ],
    });
    const [listed] = await list();
    expect(listed?.issues.map(({ number, rows, importedAt }) => ({ number, rows, importedAt }))).toEqual([
      { number: 1, rows: 3, importedAt: '2026-11-03 09:00:00' },
      { number: 2, rows: 3, importedAt: '2026-11-09 09:00:00' },
    ]);
  });

  it('the same once more is no new issue, and another month under the same name takes nothing away', async () => {
    const path = await file('export.csv', bill({}));
    await add([path]);
    expect((await add([path])).bills[0]).toMatchObject({ issue: 1, isUnchanged: true });
    await file('export.csv', bill({ month: '09' }));
    await add([path]);
    expect((await list()).map(({ billId, issue }) => `${billId} ${issue}`)).toEqual([
      'AWS|1|2026-09 1',
      'AWS|1|2026-10 1',
    ]);
  });

  it('that cannot be posted are in all the same, and it says so', async () => {
    const fullWhilePosting = (step: string): void => {
      if (step === 'publish') throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
    };
    await expect(
      add([await file('oct.csv', bill({ effective: '1.5' }))], { onStep: fullWhilePosting }),
    ).rejects.toMatchObject({
      code: 'disk-full',
      message: expect.stringMatching(/the bills are in, but not in the ledger/),
    });
    expect(await list()).toMatchObject([{ billId: 'AWS|1|2026-10', rows: 1 }]);
  });

  it('a dry run tells it all and makes nothing', async () => {
    const added = await add([await file('oct.csv', bill({}))], { dryRun: true });
    expect(added.bills).toMatchObject([{ billId: 'AWS|1|2026-10', rows: 1 }]);
    await expect(stat(dataDir())).rejects.toThrow('ENOENT');
  });
});

const legacyManifest = (keys: readonly string[], run: string, more: object = {}): string =>
  JSON.stringify({
    assemblyId: run,
    reportName: 'cur',
    billingPeriod: { start: '20261001T000000.000Z', end: '20261101T000000.000Z' },
    compression: 'GZIP',
    reportKeys: keys,
    ...more,
  });
const azureManifest = (blobs: readonly object[], more: object = {}): string =>
  JSON.stringify({
    exportConfig: { exportName: 'daily', type: 'FocusCost', dataVersion: '1.2' },
    runInfo: { runId: 'r1', submittedTime: '2026-11-02T00:00:00Z', startDate: '2026-10-01T00:00:00' },
    blobCount: blobs.length,
    blobs,
    ...more,
  });

describe('a folder with manifests', () => {
  it('gives the newest assembly of its month; the older one is named and not read', async () => {
    await file(
      'in/cur/20261001-20261101/cur-Manifest.json',
      legacyManifest(['p/cur/20261001-20261101/new/cur-1.csv.gz', 'p/cur/20261001-20261101/new/cur-2.csv.gz'], 'new'),
    );
    await file(
      'in/cur/20261001-20261101/old/cur-Manifest.json',
      legacyManifest(['p/cur/20261001-20261101/old/cur-1.csv.gz'], 'old'),
    );
    await file('in/cur/20261001-20261101/old/cur-1.csv.gz', gzipSync(bill({ effective: '100' })));
    await file('in/cur/20261001-20261101/new/cur-1.csv.gz', gzipSync(bill({ effective: '1' })));
    await file('in/cur/20261001-20261101/new/cur-2.csv.gz', gzipSync(bill({ effective: '2' })));
    const added = await add([join(folder, 'in')]);
    expect(added.bills).toMatchObject([{ rows: 2, effective: exact('3') }]);
    expect(added.exports[0]?.superseded).toEqual(['cur/20261001-20261101/old/cur-Manifest.json (old)']);
  });

  it('gives every month of it, and a Data Export by its metadata', async () => {
    for (const month of ['09', '10']) {
      await file(`in/focus/data/BILLING_PERIOD=2026-${month}/focus-0001.csv`, bill({ month, effective: month }));
      await file(
        `in/focus/metadata/BILLING_PERIOD=2026-${month}/focus-Manifest.json`,
        JSON.stringify({
          executionId: month,
          dataFiles: [`s3://b/p/focus/data/BILLING_PERIOD=2026-${month}/focus-0001.csv`],
        }),
      );
    }
    const added = await add([join(folder, 'in')]);
    expect(added.bills.map(({ billId, rows }) => `${billId} ${rows}`)).toEqual(['AWS|1|2026-09 1', 'AWS|1|2026-10 1']);
  });

  const text = bill({ effective: '1' }, { effective: '2' });
  const bytes = Buffer.byteLength(text);
  const refused: Record<string, { manifest: string; code: string; says: RegExp }> = {
    'that names a part that is not there': {
      manifest: azureManifest([{ blobName: 'x/part_0.csv' }, { blobName: 'x/part_1.csv' }]),
      code: 'missing-part',
      says: /x\/part_1\.csv, which is not there/,
    },
    'whose bytes are others': {
      manifest: azureManifest([{ blobName: 'x/part_0.csv', byteCount: bytes + 1 }]),
      code: 'manifest-mismatch',
      says: /bytes/,
    },
    'whose rows are others': {
      manifest: azureManifest([{ blobName: 'x/part_0.csv', byteCount: bytes, dataRowCount: 3 }]),
      code: 'manifest-mismatch',
      says: /3 rows, and its files hold 2/,
    },
    'whose sum of rows is another': {
      manifest: azureManifest([{ blobName: 'x/part_0.csv' }], { dataRowCount: 5 }),
      code: 'manifest-mismatch',
      says: /5 rows/,
    },
    'whose total is another': {
      manifest: azureManifest([{ blobName: 'x/part_0.csv' }], { totalCost: 3.01 }),
      code: 'manifest-mismatch',
      says: /3\.01 billed, and its files hold 3;/,
    },
    'of a version nobody knows': {
      manifest: azureManifest([{ blobName: 'x/part_0.csv' }], {
        exportConfig: { exportName: 'daily', type: 'FocusCost', dataVersion: '3.0' },
      }),
      code: 'unknown-focus-version',
      says: /FOCUS 3\.0/,
    },
    'that was cut off': { manifest: azureManifest([]).slice(0, 40), code: 'bad-manifest', says: /is not a manifest/ },
    'that names nothing': { manifest: azureManifest([]), code: 'empty-manifest', says: /names no file/ },
  };
  for (const [name, { manifest, code, says }] of Object.entries(refused)) {
    it(`${name} is refused whole, and what was there stays`, async () => {
      await add([await file('before.csv', bill({ effective: '7' }))]);
      await file('in/part_0.csv', text);
      await file('in/manifest.json', manifest);
      const refusal = add([join(folder, 'in')]);
      await expect(refusal).rejects.toMatchObject({ code });
      await expect(refusal).rejects.toThrow(says);
      expect(await list()).toMatchObject([{ effective: exact('7'), issue: 1 }]);
    });
  }

  it('that adds up is taken with its rows and its total', async () => {
    await file('in/part_0.csv', text);
    await file(
      'in/manifest.json',
      azureManifest([{ blobName: 'x/part_0.csv', byteCount: bytes, dataRowCount: 2 }], {
        byteCount: bytes,
        dataRowCount: 2,
        totalCost: 3,
      }),
    );
    expect((await add([join(folder, 'in')])).exports).toMatchObject([{ hasManifest: true, rowsTaken: 2 }]);
  });

  it('of an actual and an amortised export of Azure gives the money once', async () => {
    const header =
      'BillingAccountId,SubscriptionId,Date,MeterCategory,MeterId,CostInBillingCurrency,BillingCurrencyCode,ChargeType,PricingModel';
    await file('in/actual.csv', `${header}\n7,s,10/05/2026,Virtual Machines,m,100,USD,Purchase,Reservation\n`);
    await file('in/amortised.csv', `${header}\n7,s,10/05/2026,Virtual Machines,m,4,USD,Usage,Reservation\n`);
    const added = await add([join(folder, 'in')]);
    expect(added.bills).toMatchObject([{ billId: 'Microsoft|7|2026-10', effective: exact('4') }]);
    expect(added.notes.join()).toMatch(/actual\.csv: left out/);
  });
});

describe('a place that is no bill', () => {
  const cases: Record<string, { content: string | Buffer; name?: string; code: string }> = {
    'a gzip file that was cut off': {
      name: 'a.csv.gz',
      content: gzipSync(bill({}, {}, {})).subarray(0, 60),
      code: 'truncated-file',
    },
    'a page to log in': { content: '<!DOCTYPE html><html><body>Sign in</body></html>', code: 'not-a-table' },
    'a header without rows': { content: `${HEADER}\n`, code: 'no-rows' },
    'two currencies in one bill': { content: bill({}, { currency: 'EUR' }), code: 'mixed-currencies' },
    'another table': { content: 'a,b\n1,2\n', code: 'missing-columns' },
    'an empty file': { content: '', code: 'empty-file' },
  };
  for (const [name, { content, name: fileName = 'a.csv', code }] of Object.entries(cases)) {
    it(`${name} is refused, and what was there stays`, async () => {
      await add([await file('before.csv', bill({ effective: '7' }))]);
      await expect(add([await file(fileName, content)])).rejects.toMatchObject({ code });
      expect(await list()).toMatchObject([{ effective: exact('7') }]);
    });
  }

  it('nothing there, and nothing of the sort there', async () => {
    await expect(add([join(folder, 'nowhere')])).rejects.toMatchObject({ code: 'no-such-file' });
    await mkdir(join(folder, 'empty'));
    await expect(add([join(folder, 'empty')])).rejects.toMatchObject({ code: 'no-bills' });
  });
});

describe('a month tied to its invoices', () => {
  it('adds up by invoice id, says why billed and effective differ, and shows rows without one', async () => {
    await add([
      await file(
        'bills.csv',
        bill(
          { invoice: 'A', billed: '0', effective: '4' },
          { invoice: 'A', category: 'Purchase', billed: '120', effective: '0' },
          { invoice: 'A', category: 'Tax', effective: '8' },
          { effective: '0.1234567' },
          { invoice: 'B', month: '09', effective: '3' },
          { invoice: 'A', month: '09', effective: '5' },
        ),
      ),
    ]);
    const check = await withReader(dataDir(), (space) => checkInvoices(space, '2026-10'));
    expect(invoiceFaults(check)).toEqual([]);
    const told = check.lines.map(({ invoice, groups }) => ({
      invoice,
      billed: groups.reduce((sum, group) => sum + group.billed, 0n),
      inMonth: groups.reduce((sum, group) => sum + group.effectiveInMonth, 0n),
      effective: groups.reduce((sum, group) => sum + group.effective, 0n),
    }));
    // Invoice A has a row on September's bill too; B is not of this month.
    expect(told).toEqual([
      { invoice: 'A', billed: exact('133'), inMonth: exact('12'), effective: exact('17') },
      { invoice: null, billed: exact('0.1234567'), inMonth: exact('0.1234567'), effective: exact('0.1234567') },
    ]);
    expect(check.bills).toMatchObject([
      { billId: 'AWS|1|2026-10', postedInMonthUsdMicros: 12_123_457n, postedOutsideUsdMicros: 0n },
    ]);
  });

  it('a month without a bill, and a word that is no month, are said', async () => {
    await add([await file('oct.csv', bill({}))]);
    await expect(withReader(dataDir(), (space) => checkInvoices(space, '2025-01'))).rejects.toMatchObject({
      code: 'no-bills',
    });
    await expect(withReader(dataDir(), (space) => checkInvoices(space, 'October'))).rejects.toMatchObject({
      code: 'bad-option',
    });
  });
});
