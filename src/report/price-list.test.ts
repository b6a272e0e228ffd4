import { describe, expect, test } from 'vitest';
import { ACCELERATORS } from '../facts/accelerators.ts';
import { acceleratorPage, acceleratorTable } from './accelerator-list.ts';
import { priceImportReport } from './price-import-report.ts';
import { priceListPage, priceText } from './price-list.ts';

test.each([
  [6_880_000_000n, '$6.88'],
  [526_000_000n, '$0.5260'],
  [1n, '$0.0000'],
  [98_320_000_000n, '$98.32'],
  [1_234_567_890_000n, '$1,234.57'],
  [-500_000_000n, '−$0.5000'],
  [null, ''],
])('%s nano-dollars read %s', (nanos, want) => expect(priceText(nanos)).toBe(want));

const offer = {
  provider: 'aws',
  region: 'us-east-1',
  zones: 3n,
  instanceType: 'p5.48xlarge',
  accelerator: 'H100',
  acceleratorCount: '8',
  purchase: 'on-demand',
  covers: 'instance',
  usdNanosPerHour: 55_040_000_000n,
  usdNanosPerAcceleratorHour: 6_880_000_000n,
  asOf: '2026-08-22 00:00:00',
  source: 'v7_aws_vms.csv',
  ageSeconds: 864_000n,
  flag: null,
};

describe('prices on the screen', () => {
  const list = {
    at: new Date('2026-09-01T00:00:00Z'),
    offers: [offer],
    offersFound: 1,
    flagged: [],
    flaggedFound: 0,
    builtIn: [],
  };

  test('come with source, date and age', () => {
    expect(priceListPage(list)).toEqual([
      'Prices known at 2026-09-01 00:00 UTC, cheapest first: 1 offer',
      '$/GPU-h     $/h  provider  region     machine      accelerators  purchase   as of        age  source',
      '  $6.88  $55.04  aws       us-east-1  p5.48xlarge  8×H100        on-demand  2026-08-22  10 d  v7_aws_vms.csv',
    ]);
  });

  test('what is not believed stands apart, with the reason', () => {
    const flagged = { ...offer, usdNanosPerHour: 80_000_000n, flag: 'far-off-median' };
    const lines = priceListPage({ ...list, offers: [], offersFound: 0, flagged: [flagged], flaggedFound: 1 });
    expect(lines.slice(-2)).toEqual([
      'Kept and not used: 1 price',
      '  $0.0800 aws us-east-1 p5.48xlarge on-demand, 2026-08-22: more than 5 × off what others ask for this accelerator',
    ]);
  });

  test('names are text, never what a terminal obeys', () => {
    const rude = { ...offer, region: '\u001b[31mred', source: 'a\nb' };
    expect(priceListPage({ ...list, offers: [rude] }).join('\n')).not.toContain('\u001b');
  });

  test('without any price the built-in one and the command are told', () => {
    const builtIn = [{ model: 'H100', usdPerGpuHour: '6.88', source: 'AWS p5.48xlarge ÷ 8', asOf: '2026-08-22' }];
    expect(priceListPage({ ...list, offers: [], offersFound: 0, builtIn })).toEqual([
      'No price known at 2026-09-01 00:00 UTC.',
      'Built-in list price of H100: $6.88 a GPU-hour (AWS p5.48xlarge ÷ 8, 2026-08-22); used where no list and no rate speaks.',
      'Bring some in: bursar import prices FILE|DIR',
    ]);
  });
});

test('an import says what became of every row', () => {
  const feed = {
    file: 'v8_vast_vms.csv',
    shape: 'SkyPilot catalog',
    provider: 'vast',
    asOf: '2026-08-22 00:00:00',
    rows: 66,
    taken: 1,
    withoutPrice: 0,
    flagged: 64,
    skipped: [{ reason: 'Price is not a number', rows: 1, example: 'row 3 x' }],
    prices: 130,
    flags: [{ flag: 'not-positive', prices: 64, example: 'x spot $0' }],
    notes: [],
  };
  const report = {
    dryRun: false,
    files: [feed],
    notPriceLists: [{ file: 'images.csv', reason: 'is no price list' }],
    rowsReplaced: 0,
  };
  expect(priceImportReport(report)).toEqual([
    'prices: 130 prices from 66 rows of 1 file taken',
    '  v8_vast_vms.csv (SkyPilot catalog, vast, 2026-08-22): 66 rows = 1 taken + 0 without a price + 64 flagged + 1 skipped',
    '    skipped 1 row: Price is not a number, e.g. row 3 x',
    '    flagged 64 prices, kept and not used: zero or negative, e.g. x spot $0',
    '  left out images.csv: is no price list',
    'Next: bursar prices --model H100',
  ]);
});

test('what nobody said of an accelerator is a dash or a word, never a zero', () => {
  const k80 = ACCELERATORS.filter(({ id }) => id === 'K80');
  expect(acceleratorTable(k80)[2]).toMatch(/^K80 +24 +480 +300 +2\.91 +8\.73 +– +– +–/);
  expect(k80.flatMap(acceleratorPage).join('\n')).toMatch(
    /fp8, dense +not known[\s\S]*source +NVIDIA Tesla K80 data sheet/,
  );
});
