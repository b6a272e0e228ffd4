import { mkdir, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { PRICE_FLAGS } from '../../facts/price.ts';
import { deriveLedger, withReader, withWriter } from '../workspace.ts';
import { takeIn } from '../take-in.ts';
import { priceList } from './price-list.ts';
import { priceOf } from './price-of.ts';
import { takeInPrices } from './take-in-prices.ts';
import type { TakeInPricesRequest } from './take-in-prices.ts';
import type { PriceImportReport } from './import-prices.ts';

let folder: string;
let dataDir: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bursar-prices-test-'));
  dataDir = join(folder, 'data');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function file(name: string, text: string | Buffer): Promise<string> {
  const path = join(folder, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  return path;
}

const take = (paths: readonly string[], options: Partial<TakeInPricesRequest> = {}): Promise<PriceImportReport> =>
  takeInPrices({ dataDir, paths, ...options });

/** `taken without flagged skipped` of the first file, which must be all of its rows. */
function tally({ files }: PriceImportReport): string {
  const [feed] = files;
  if (feed === undefined) return 'no file';
  const skipped = feed.skipped.reduce((sum, { rows }) => sum + rows, 0);
  expect(feed.taken + feed.withoutPrice + feed.flagged + skipped).toBe(feed.rows);
  return `${feed.taken} ${feed.withoutPrice} ${feed.flagged} ${skipped}`;
}

const flagsOf = ({ files }: PriceImportReport): string[] => files.flatMap(({ flags }) => flags.map(({ flag }) => flag));

const SKYPILOT =
  'InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,SpotPrice,Region,AvailabilityZone';
const sky = (...lines: readonly string[]): string => `${[SKYPILOT, ...lines].join('\n')}\n`;

interface Case {
  readonly lines: readonly string[];
  readonly want: string;
  readonly flags?: readonly (keyof typeof PRICE_FLAGS)[];
}

// Rows of a SkyPilot catalog; `want` is taken, without a price, flagged, skipped.
const cases: Readonly<Record<string, Case>> = {
  'a machine with both prices': {
    lines: ['p5.48xlarge,H100,8,192,2048,55.04,24.9,us-east-1,use1-az1'],
    want: '1 0 0 0',
  },
  'an empty price is unknown, never zero': {
    lines: ['p5.48xlarge,H100,8,192,2048,,,us-east-1,use1-az1'],
    want: '0 1 0 0',
  },
  'one of the two is a price': { lines: ['p5.48xlarge,H100,8,192,2048,,24.9,us-east-1,use1-az1'], want: '1 0 0 0' },
  'zero is a slip': { lines: ['x,RTX5090,1,32,64,0.44,0.00,DK,'], want: '0 0 1 0', flags: ['not-positive'] },
  'so is a negative price': { lines: ['x,,,32,64,-0.44,,DK,'], want: '0 0 1 0', flags: ['not-positive'] },
  'and a hundred thousand dollars an hour': {
    lines: ['x,,,32,64,100001,,DK,'],
    want: '0 0 1 0',
    flags: ['beyond-reason'],
  },
  'spot at 1.5 times on demand is dear': { lines: ['x,,,2,4,1,1.5,r,'], want: '1 0 0 0' },
  'above that it is not believed': { lines: ['x,,,2,4,1,1.51,r,'], want: '0 0 1 0', flags: ['spot-too-high'] },
  'a tenth of on demand, rounded, is what AWS asks at least': { lines: ['x,,,2,4,3.3752,0.3375,r,'], want: '1 0 0 0' },
  'below that it is not believed': { lines: ['x,,,2,4,3.3752,0.33,r,'], want: '0 0 1 0', flags: ['spot-too-low'] },
  'an H100 for a cent is a slip': { lines: ['x,H100,8,8,64,0.08,,r,'], want: '0 0 1 0', flags: ['far-off-median'] },
  'so is one for twenty dollars': { lines: ['x,H100,8,8,64,160,,r,'], want: '0 0 1 0', flags: ['far-off-median'] },
  'what too few offer for a median is held against the list price': {
    lines: [',MI300X,1,,,0.2,,r,'],
    want: '0 0 1 0',
    flags: ['far-off-median'],
  },
  'on both sides, ten times off': { lines: [',MI300X,1,,,24,,r,'], want: '0 0 1 0', flags: ['far-off-median'] },
  'and nine times off is believed': { lines: [',MI300X,1,,,21,,r,', ',MI300X,1,,,0.3,,q,'], want: '2 0 0 0' },
  'spot without a price on demand is held against it too': {
    lines: [',H100,1,,,,0.02,r,', ',H100,1,,,,40,q,', ',H100,1,,,,0.9,p,'],
    want: '1 0 2 0',
    flags: ['far-off-median'],
  },
  'one small GPU in a large host is not': { lines: ['g6.16xlarge,L4,1,64,256,4.92,,eu-x,'], want: '1 0 0 0' },
  'the same again is left out': { lines: ['x,,,2,4,1,,r,z', 'x,,,2,4,1,,r,z'], want: '1 0 0 1' },
  'a number that is none is told': { lines: ['x,,,2,4,cheap,,r,z'], want: '0 0 0 1' },
  'a row of nothing is told': { lines: [',,,2,4,1.0,,r,z'], want: '0 0 0 1' },
  'fields that are not those of the header are told': {
    lines: ['x,,,2,4,1.0,,r,z', 'x,1.0', 'x,,,2,4,1.0,,r,z,more'],
    want: '1 0 0 2',
  },
  'a slice of a TPU is as many chips': { lines: [',tpu-v6e-8,1,,,21.6,5.2,us-central1,a'], want: '1 0 0 0' },
};

describe('a catalog', () => {
  test.each(Object.entries(cases))('%s', async (_, { lines, want, flags = [] }) => {
    const report = await take([await file('v8_aws_vms.csv', sky(...lines))], { asOf: new Date('2026-08-22') });
    expect(tally(report)).toBe(want);
    expect(flagsOf(report)).toEqual(flags);
  });

  test('columns come in any order, the provider from the name, the day from the folder', async () => {
    const path = await file('catalog-2026-08-22/v8_somecloud_vms.csv', 'Price,Region,InstanceType\n$1.25,r1,big\n');
    const { files, batches } = await take([path]);
    expect(files[0]).toMatchObject({ provider: 'somecloud', asOf: '2026-08-22 00:00:00', taken: 1 });
    expect(batches).toEqual(['somecloud v8_somecloud_vms.csv@2026-08-22']);
  });

  test('a folder is read whole, and what is no price list is named', async () => {
    await file('all/aws/vms.csv', sky('p5.48xlarge,H100,8,192,2048,55.04,24.9,us-east-1,'));
    await file('all/aws/images.csv', 'Tag,Region,OS\nx,y,z\n');
    await file(
      'all/gcp/vms.csv.gz',
      gzipSync(sky('a2-highgpu-1g,,,12,85,0.95,0.57,us-central1,a', ',A100,1,,,2.93,1.69,us-central1,a')),
    );
    const { files, notPriceLists } = await take([join(folder, 'all')]);
    expect(files.map(({ provider, prices }) => [provider, prices])).toEqual([
      ['aws', 2],
      ['gcp', 4],
    ]);
    expect(notPriceLists).toMatchObject([{ file: join(folder, 'all/aws/images.csv') }]);
    const covers = await withReader(dataDir, (space) =>
      space.ask<{ what: string }>({
        tables: [{ table: 'price' }],
        sql: `SELECT DISTINCT provider || ' ' || covers AS what FROM price ORDER BY what`,
      }),
    );
    expect(covers.map(({ what }) => what)).toEqual(['aws instance', 'gcp accelerator', 'gcp host']);
  });

  test.each([
    ['nobody knows whose prices they are', 'prices.csv', 'InstanceType,Price\nx,1\n', 'no-provider'],
    ['a file that is no price list, but was named', 'aws.csv', 'Tag,OS\nx,y\n', 'not-a-price-list'],
    ['a page instead of a file', 'aws.csv', '<html>', 'not-a-table'],
    ['JSON of something else', 'aws.json', '{"a": 1}', 'not-a-price-list'],
  ])('%s', async (_, name, text, code) => {
    await expect(take([await file(name, text)])).rejects.toMatchObject({
      code,
      hint: expect.stringMatching(/./) as string,
    });
  });
});

describe('a feed', () => {
  const catalog = (count: number): string => sky(...Array.from({ length: count }, (_, i) => `m${i},,,2,4,1.0,,r1,`));

  test('that lost more than half of its rows says so, and what is missing keeps its price and its age', async () => {
    await take([await file('1/v8_lambda_vms.csv', catalog(10))], { asOf: new Date('2026-08-01') });
    const report = await take([await file('2/v8_lambda_vms.csv', catalog(4))], { asOf: new Date('2026-08-21') });
    expect(report.files[0]?.notes).toEqual([
      'the feed lost more than half: 4 prices, 10 on 2026-08-01; what is missing keeps its last known price',
    ]);
    const at = new Date('2026-08-22');
    const offer = await withReader(dataDir, (space) =>
      priceOf(space, { provider: 'lambda', instanceType: 'm9', purchase: 'on-demand', at }),
    );
    expect(offer).toMatchObject({
      usdNanosPerHour: 1_000_000_000n,
      asOf: '2026-08-01 00:00:00',
      ageSeconds: 21n * 86_400n,
    });
  });

  test('that is empty replaces nothing', async () => {
    const path = await file('v8_lambda_vms.csv', catalog(10));
    await take([path], { asOf: new Date('2026-08-01') });
    await writeFile(path, catalog(0));
    const report = await take([path], { asOf: new Date('2026-08-21') });
    expect(report.files[0]).toMatchObject({
      rows: 0,
      notes: ['the feed is empty: the prices of 2026-08-01 stay, with their age'],
    });
    const { offersFound } = await withReader(dataDir, (space) =>
      priceList(space, { instanceType: 'm3', at: new Date('2026-08-22'), limit: 5 }),
    );
    expect(offersFound).toBe(1);
  });

  const changes = (...lines: readonly string[]): string =>
    `${['observed_at,event,instance_type,accelerator,accelerator_count,region,zone,price_usd_hr,spot_price_usd_hr', ...lines].join('\n')}\n`;
  const set = (day: string, type: string): string => `2026-0${day}T00:00:00Z,set,${type},A10,1.0,r1,,0.75,`;
  const gone = (day: string, type: string): string => `2026-0${day}T00:00:00Z,gone,${type},A10,1.0,r1,,,`;

  test('that breaks is told from a price that vanished', async () => {
    const all = ['a', 'b', 'c', 'd'];
    const text = changes(
      ...all.map((type) => set('1-01', type)),
      gone('2-01', 'd'),
      ...['a', 'b', 'c'].map((type) => gone('3-01', type)),
      ...['a', 'b', 'c'].map((type) => set('3-05', type)),
    );
    const report = await take([await file('lambda_price_changes.csv', text)]);
    expect(tally(report)).toBe('7 0 4 0');
    expect(report.files[0]?.flags).toMatchObject([
      { flag: 'feed-lost', prices: 3 },
      { flag: 'vanished', prices: 1 },
    ]);
    const at = new Date('2026-03-02');
    const known = await withReader(dataDir, (space) => priceList(space, { provider: 'lambda', at, limit: 9 }));
    expect(known.offers.map(({ instanceType, asOf }) => `${instanceType} ${asOf}`)).toEqual([
      'a 2026-01-01 00:00:00',
      'b 2026-01-01 00:00:00',
      'c 2026-01-01 00:00:00',
    ]);
    expect(known.flagged).toMatchObject([{ instanceType: 'd', flag: 'vanished', usdNanosPerHour: 750_000_000n }]);
  });
});

describe('the price', () => {
  beforeEach(async () => {
    const dated = (lines: readonly string[]): string =>
      `${['timestamp,region,instance_type,on_demand,spot_price', ...lines].join('\n')}\n`;
    await take([
      await file(
        'aws.csv',
        dated([
          '2026-01-01T00:00:00Z,us-east-1,p5.48xlarge,98.32,40',
          '2026-06-01T02:00:00+02:00,us-east-1,p5.48xlarge,55.04,20',
          '2026-06-01T00:00:00Z,eu-north-1,p5.48xlarge,60,',
        ]),
      ),
    ]);
  });

  test.each([
    ['is the newest that was known', '2026-07-01', 55_040_000_000n, '2026-06-01 00:00:00'],
    ['is the one from before, a second earlier', '2026-05-31T23:59:59Z', 98_320_000_000n, '2026-01-01 00:00:00'],
    ['is not known before the first', '2025-12-31', undefined, undefined],
  ])('%s', async (_, at, usdNanosPerHour, asOf) => {
    const offer = await withReader(dataDir, (space) =>
      priceOf(space, {
        provider: 'AWS',
        region: 'us-east-1',
        instanceType: 'p5.48xlarge',
        purchase: 'on-demand',
        at: new Date(at),
      }),
    );
    expect(offer?.usdNanosPerHour).toBe(usdNanosPerHour);
    expect(offer?.asOf).toBe(asOf);
  });

  test('of a spot machine is judged by the on-demand price of another file', async () => {
    await take([
      await file(
        'aws_spot.csv',
        'timestamp,region,instance_type,spot_price\n2026-07-01T00:00:00Z,us-east-1,p5.48xlarge,1.5\n',
      ),
    ]);
    const list = await withReader(dataDir, (space) =>
      priceList(space, { instanceType: 'p5.48xlarge', purchase: 'spot', at: new Date('2026-07-02'), limit: 5 }),
    );
    expect(list.flagged).toMatchObject([{ flag: 'spot-too-low', usdNanosPerHour: 1_500_000_000n }]);
  });

  test('reaches the ledger, and only the days it changes', async () => {
    const nodes =
      'node_id,present_from,present_until,provider,region,instance_type,gpu_count,model\nn1,2026-05-31T12:00:00Z,2026-06-02T00:00:00Z,AWS,us-east-1,p5.48xlarge,8,H100\n';
    await takeIn({ dataDir, table: 'nodes', files: [await file('nodes.csv', nodes)] });
    const nanos = (): Promise<{ hour: string; by: string; nanos: bigint }[]> =>
      withReader(dataDir, (space) =>
        space.ask({
          tables: [{ table: 'estimate_hour' }],
          sql: `SELECT CAST(min(hour_start) AS VARCHAR) AS hour, priced_by AS by, usd_nanos_per_hour AS nanos FROM estimate_hour
            GROUP BY priced_by, usd_nanos_per_hour ORDER BY hour`,
        }),
      );
    expect(await nanos()).toEqual([
      { hour: '2026-05-31 12:00:00', by: 'catalog', nanos: 12_290_000_000n },
      { hour: '2026-06-01 00:00:00', by: 'catalog', nanos: 6_880_000_000n },
    ]);
    const later =
      'timestamp,region,instance_type,on_demand\n2026-06-01T12:00:00Z,us-east-1,p5.48xlarge,80\n2026-06-01T12:00:00Z,us-east-1,g5.xlarge,1\n';
    await take([await file('later/aws.csv', later)], { batch: 'later' });
    const { computed } = await withWriter(dataDir, 'test', (space) => deriveLedger(space));
    expect(computed['estimate_hour']).toBe(1);
    expect((await nanos()).map(({ nanos: each }) => each)).toEqual([12_290_000_000n, 6_880_000_000n, 10_000_000_000n]);
  });
});

test('a list without a date is dated by its file, and says so', async () => {
  const path = await file('aws.csv', 'InstanceType,Price\nx,1\n');
  await utimes(path, new Date('2026-02-03'), new Date('2026-02-03'));
  const { files } = await take([path]);
  expect(files[0]).toMatchObject({
    asOf: '2026-02-03 00:00:00',
    notes: ['dated by when the file was written, 2026-02-03; --as-of DATE says otherwise'],
  });
});

test('a dry run takes nothing', async () => {
  const report = await take([await file('aws.csv', 'InstanceType,Price\nx,1\n')], { dryRun: true });
  expect(report).toMatchObject({ dryRun: true, files: [{ taken: 1 }] });
  await expect(readFile(join(dataDir, 'state.sqlite'))).rejects.toMatchObject({ code: 'ENOENT' });
});

test('prices import the same in any order', async () => {
  const a = await file(
    'aws_a.csv',
    'timestamp,region,instance_type,price\n2026-01-01T00:00:00Z,r,x,1\n2026-02-01T00:00:00Z,r,x,2\n',
  );
  const b = await file('aws_b.csv', 'timestamp,region,instance_type,price\n2026-02-01T00:00:00Z,r,x,3\n');
  const newest = async (...order: readonly string[]): Promise<bigint | undefined> => {
    await rm(dataDir, { recursive: true, force: true });
    for (const path of order) await take([path]);
    const found = await withReader(dataDir, (space) =>
      priceOf(space, { provider: 'aws', instanceType: 'x', purchase: 'on-demand', at: new Date('2026-03-01') }),
    );
    return found?.usdNanosPerHour;
  };
  expect(await newest(a, b)).toBe(await newest(b, a, b));
});
