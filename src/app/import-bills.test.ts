import { existsSync } from 'node:fs';
import { readdir, utimes } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ImportFolder } from '../../test/import-folder.ts';
import { importFolder } from '../../test/import-folder.ts';

const BILLING = fileURLToPath(new URL('../../../shared/data/billing/', import.meta.url));

let folder: ImportFolder;
beforeEach(async () => {
  folder = await importFolder();
});
afterEach(() => folder.remove());

const HEADER =
  'ProviderName,BillingAccountId,BillingCurrency,BillingPeriodStart,BillingPeriodEnd,ChargePeriodStart,ChargePeriodEnd,ChargeCategory,BilledCost,EffectiveCost,ResourceId,Tags';

/** A bill row; `day` is of October 2026 unless it says more. */
function row(
  day: string,
  amount: string,
  options: { account?: string; category?: string; days?: number; tags?: string } = {},
): string {
  const { account = '1', category = 'Usage', days = 1, tags = '' } = options;
  const until = String(Number(day) + days).padStart(2, '0');
  return `AWS,${account},USD,2026-10-01,2026-11-01,2026-10-${day},2026-10-${until},${category},${amount},${amount},arn:aws:ec2/I-0ABC,"${tags.replaceAll('"', '""')}"`;
}

const bill = (...rows: string[]): string => [HEADER, ...rows, ''].join('\n');

describe('bills', () => {
  it('are one batch each, with what follows from their rows', async () => {
    const path = await folder.file(
      'oct.csv',
      bill(row('05', '1.5', { tags: '{"b": 1, "a": 2}' }), row('06', '-0.25'), row('05', '7', { account: '2' })),
    );
    await folder.take('charges', [path]);
    expect(
      folder.batches().map(({ name, origin, firstAt, newestAt }) => ({ name, origin, firstAt, newestAt })),
    ).toEqual([
      { name: 'AWS|1|2026-10', origin: 'oct.csv', firstAt: '2026-10-05 00:00:00', newestAt: '2026-10-07 00:00:00' },
      { name: 'AWS|2|2026-10', origin: 'oct.csv', firstAt: '2026-10-05 00:00:00', newestAt: '2026-10-06 00:00:00' },
    ]);
    expect(folder.batches()[0]?.bill).toEqual({
      billId: 'AWS|1|2026-10',
      provider: 'AWS',
      billingAccount: '1',
      currency: 'USD',
      periodStart: '2026-10-01 00:00:00',
      periodEnd: '2026-11-01 00:00:00',
      coveredUntil: '2026-10-07 00:00:00',
      firstDay: '2026-10-05',
      lastDay: '2026-10-06',
    });
    expect(await folder.rows('charge', 'bill_id, part, ordinal, resource_key, effective, tags')).toEqual([
      {
        bill_id: 'AWS|1|2026-10',
        part: 0,
        ordinal: 1n,
        resource_key: 'i-0abc',
        effective: '1.500000000000000000',
        tags: { a: '2', b: '1' },
      },
      {
        bill_id: 'AWS|1|2026-10',
        part: 0,
        ordinal: 2n,
        resource_key: 'i-0abc',
        effective: '-0.250000000000000000',
        tags: null,
      },
      {
        bill_id: 'AWS|2|2026-10',
        part: 0,
        ordinal: 3n,
        resource_key: 'i-0abc',
        effective: '7.000000000000000000',
        tags: null,
      },
    ]);
  });

  it('keep identical rows, whose hash is the same in whatever file they come', async () => {
    const files = [
      await folder.file('a.csv', bill(row('05', '1.50'), row('05', '1.5'))),
      await folder.file('b.csv', bill(row('05', '1.500'))),
    ];
    expect(await folder.take('charges', files)).toMatchObject({
      rowsTaken: 3,
      rowsSkipped: 0,
      batches: ['a.csv+b.csv'],
    });
    expect(await folder.rows('charge', 'part, ordinal')).toEqual([
      { part: 0, ordinal: 1n },
      { part: 0, ordinal: 2n },
      { part: 1, ordinal: 1n },
    ]);
    expect(await folder.rows('charge', 'count(DISTINCT row_hash) AS hashes')).toEqual([{ hashes: 1n }]);
  });

  it('are replaced by bill, and by the name of the import', async () => {
    await folder.take('charges', [await folder.file('a.csv', bill(row('05', '1'), row('05', '1', { account: '2' })))]);
    const other = await folder.take('charges', [await folder.file('b.csv', bill(row('05', '3')))]);
    expect(other).toMatchObject({ rowsTaken: 1, rowsReplaced: 1 });
    const again = await folder.take('charges', [await folder.file('a.csv', bill(row('05', '4', { account: '3' })))]);
    expect(again).toMatchObject({ rowsTaken: 1, rowsReplaced: 1 });
    expect(folder.batches().map(({ name, origin }) => `${name} ${origin}`)).toEqual([
      'AWS|1|2026-10 b.csv',
      'AWS|3|2026-10 a.csv',
    ]);
  });

  it('are complete until their last daily usage, not after their file, or as the user says', async () => {
    const path = await folder.file(
      'a.csv',
      bill(row('05', '1'), row('01', '9', { days: 30 }), row('20', '1', { category: 'Tax' })),
    );
    const covered = () => folder.batches()[0]?.bill?.coveredUntil;
    await folder.take('charges', [path]);
    expect(covered()).toBe('2026-10-06 00:00:00');
    await utimes(path, new Date('2026-10-05T12:00:00Z'), new Date('2026-10-05T12:00:00Z'));
    await folder.take('charges', [path]);
    expect(covered()).toBe('2026-10-05 12:00:00');
    await folder.take('charges', [path], { coveredUntil: '2026-10-31' });
    expect(covered()).toBe('2026-10-31 00:00:00');
  });

  it('of a period that begins within the month carry its day', async () => {
    await folder.take('charges', [
      await folder.file('a.csv', bill(row('16', '1')).replaceAll('2026-10-01,', '2026-10-15,')),
    ]);
    expect(folder.batches()[0]).toMatchObject({ name: 'AWS|1|2026-10-15', files: [{ partition: '2026-10' }] });
  });

  it('in two currencies are refused', async () => {
    const path = await folder.file('a.csv', bill(row('05', '1'), row('05', '1').replace('USD', 'EUR')));
    await expect(folder.take('charges', [path])).rejects.toThrow(/more than one currency/);
  });

  it('in a typed file enter through the shortest text of their floats', async () => {
    const path = await folder.file('a.parquet');
    const csv = await folder.file('a.csv', bill(row('05', '0.1'), row('05', '0.2'), row('05', '0.0000160599')));
    await folder.engine
      .run(`COPY (SELECT * REPLACE (CAST(EffectiveCost AS DOUBLE) AS EffectiveCost) FROM read_csv('${csv}', all_varchar = true))
      TO '${path}' (FORMAT parquet)`);
    await folder.take('charges', [path]);
    expect(await folder.rows('charge', 'sum(effective) AS effective')).toEqual([{ effective: '0.300016059900000000' }]);
  });
});

describe.skipIf(!existsSync(BILLING))('real bills (../shared/data; skipped where it is missing)', () => {
  it('the FOCUS sample adds up exactly', async () => {
    const report = await folder.take('charges', [join(BILLING, 'focus_1.0_sample.csv')]);
    expect(report).toMatchObject({ rowsTaken: 1000, rowsSkipped: 0, notes: [] });
    expect(report.ignoredColumns).toContain('Id');
    expect(
      await folder.rows(
        'charge',
        'sum(billed) AS billed, sum(effective) AS effective, sum(list) AS list, count(*) FILTER (WHERE billed < 0) AS negative',
      ),
    ).toEqual([
      {
        billed: '20.520226728990000000',
        effective: '14.976514185860000000',
        list: '20.390905751190000000',
        negative: 13n,
      },
    ]);
  });

  it('the worked examples of the specification are all taken', { timeout: 240_000 }, async () => {
    const scenarios = join(BILLING, 'focus-spec-scenarios');
    const set = ['provider=Example,billing_account=1,currency=USD'];
    const outcomes = new Map<string, string>();
    for (const file of await readdir(scenarios)) {
      const outcome = await folder.take('charges', [join(scenarios, file)], { set }).then(
        ({ rowsTaken }) => (rowsTaken > 0 ? 'taken' : 'empty'),
        (failure: Error) => failure.message,
      );
      outcomes.set(basename(file, '.csv'), outcome);
    }
    expect([...new Set(outcomes.values())]).toEqual(['taken']);
    expect(outcomes.size).toBe(26);
  });

  it('hours past 23 of the specification are carried and noted', async () => {
    const file = join(BILLING, 'focus-spec-scenarios', 'commitment_discount_purchase_scenario_2.csv');
    const report = await folder.take('charges', [file], { set: ['provider=P,account=A,currency=USD'] });
    expect(report.notes).toEqual([expect.stringMatching(/hour past 23, carried into the next day: 1$/)]);
  });
});
