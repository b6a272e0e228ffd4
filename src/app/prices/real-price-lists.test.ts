import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fileURLToPath } from 'node:url';
import { withReader } from '../workspace.ts';
import { priceList } from './price-list.ts';
import { priceOf } from './price-of.ts';
import { takeInPrices } from './take-in-prices.ts';
import type { PriceImportReport } from './import-prices.ts';

const PRICES = fileURLToPath(new URL('../../../../shared/data/prices', import.meta.url));
const CATALOGS = join(PRICES, 'skypilot-catalog-2026-08-22');
const isThere = existsSync(CATALOGS);
if (!isThere) console.warn(`no real price lists at ${PRICES}: their tests are skipped`);

let folder: string;
let report: PriceImportReport;

/** Rows of each file: `rows = taken + without + flagged + skipped`. */
const tallies = (): string[] =>
  report.files.map(({ file, rows, taken, withoutPrice, flagged, skipped }) => {
    const left = skipped.reduce((sum, each) => sum + each.rows, 0);
    const name = file.slice(file.lastIndexOf('/') + 1);
    return `${name} ${rows} ${rows === taken + withoutPrice + flagged + left ? 'adds up' : 'does not add up'}`;
  });

describe.skipIf(!isThere)('the catalogs of 24 clouds', { timeout: 120_000 }, () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bursar-catalogs-'));
    report = await takeInPrices({ dataDir: folder, paths: [CATALOGS] });
  }, 120_000);
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test('are read to the last row', () => {
    expect(report.files.reduce((sum, { rows }) => sum + rows, 0)).toBe(112_207);
    expect(tallies().filter((line) => !line.endsWith('adds up') || line.includes('does not'))).toEqual([]);
    expect(report.notPriceLists).toEqual([]);
  });

  test('an empty price is counted, never zero', () => {
    const without = (name: string): number | undefined =>
      report.files.find(({ file }) => file.endsWith(name))?.withoutPrice;
    expect([without('v7_aws_vms.csv'), without('v8_azure_vms.csv'), without('v8_gcp_vms.csv')]).toEqual([125, 66, 0]);
  });

  test('what cannot be is flagged: free spot GPUs, an A100 for a cent', async () => {
    const flagged = await withReader(folder, (space) =>
      priceList(space, { model: 'A100', at: new Date('2026-08-23'), limit: 1000 }),
    );
    expect(flagged.flagged.map(({ provider, flag }) => `${provider} ${flag}`)).toContain('mithril far-off-median');
    expect(report.files.find(({ provider }) => provider === 'vast')?.flags).toMatchObject([
      { flag: 'not-positive', prices: 64 },
      { flag: 'far-off-median' },
    ]);
  });

  test('on GCP the GPU and its host are separate', async () => {
    const ask = (thing: { model?: string; instanceType?: string }) =>
      withReader(folder, (space) =>
        priceOf(space, {
          provider: 'gcp',
          region: 'us-central1',
          purchase: 'on-demand',
          at: new Date('2026-08-23'),
          ...thing,
        }),
      );
    expect(await ask({ instanceType: 'a2-highgpu-8g' })).toMatchObject({
      covers: 'host',
      usdNanosPerHour: 5_915_820_000n,
    });
    const bare = await ask({ model: 'A100' });
    expect(bare?.covers).toBe('accelerator');
    expect(Number(bare?.usdNanosPerAcceleratorHour) / 1e9).toBeCloseTo(2.9339, 4);
  });
});

const OTHERS = [
  'aws-gpu-reserved.json',
  'gcp-pricing-2026-07-30.yml.gz',
  'lambda_price_changes.csv.gz',
  'aws_big_gpu_price_changes_dev.csv.gz',
];

describe.skipIf(!isThere)('lists of other shapes', { timeout: 240_000 }, () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bursar-price-lists-'));
    report = await takeInPrices({ dataDir: folder, paths: OTHERS.map((name) => join(PRICES, name)) });
  }, 240_000);
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test('are recognised and read to the last row', () => {
    expect(report.files.map(({ shape, provider }) => `${shape}: ${provider}`)).toEqual([
      'machines by region: aws',
      'GCP price list: gcp',
      'price changes: lambda',
      'price changes: aws',
    ]);
    expect(tallies()).toEqual([
      'aws-gpu-reserved.json 1162 adds up',
      'gcp-pricing-2026-07-30.yml.gz 17720 adds up',
      'lambda_price_changes.csv.gz 5267 adds up',
      'aws_big_gpu_price_changes_dev.csv.gz 192284 adds up',
    ]);
  });

  test('a reserved p4d.24xlarge costs what it did', async () => {
    const price = (purchase: 'on-demand' | 'committed-1y') =>
      withReader(folder, (space) =>
        priceOf(space, {
          provider: 'aws',
          region: 'us-east-1',
          instanceType: 'p4d.24xlarge',
          purchase,
          at: new Date('2030-01-01'),
        }),
      );
    expect((await price('on-demand'))?.usdNanosPerHour).toBe(21_957_642_000n);
    expect((await price('committed-1y'))?.usdNanosPerHour).toBe(13_921_094_000n);
  });

  test('a spot price of GCP below a tenth of on demand is flagged, one of three fifths is not', async () => {
    const { offers, flagged } = await withReader(folder, (space) =>
      priceList(space, {
        instanceType: 'a2-highgpu-1g',
        provider: 'gcp',
        purchase: 'spot',
        at: new Date('2026-08-01'),
        limit: 99,
      }),
    );
    expect(flagged.find(({ region }) => region === 'asia-east2')?.flag).toBe('spot-too-low');
    expect(offers.find(({ region }) => region === 'asia-northeast1')?.usdNanosPerHour).toBe(2_429_675_000n);
  });

  test('when Lambda’s feed was empty its prices were as old as they were, not gone', async () => {
    for (const at of ['2025-06-12', '2026-05-07T03:00:00Z']) {
      const { offers } = await withReader(folder, (space) =>
        priceList(space, { model: 'H100', provider: 'lambda', at: new Date(at), limit: 500 }),
      );
      expect(offers.length).toBeGreaterThan(20);
    }
    expect(report.files.find(({ provider }) => provider === 'lambda')?.flags).toContainEqual(
      expect.objectContaining({ flag: 'feed-lost', prices: 578 }),
    );
  });

  test('an AWS price is the one of its day', async () => {
    const price = (at: string) =>
      withReader(folder, (space) =>
        priceOf(space, {
          provider: 'aws',
          region: 'us-east-1',
          instanceType: 'p5.48xlarge',
          purchase: 'on-demand',
          at: new Date(at),
        }),
      );
    expect((await price('2024-06-01'))?.usdNanosPerHour).toBe(98_320_000_000n);
    expect((await price('2025-06-29'))?.usdNanosPerHour).toBe(55_040_000_000n);
  });
});
