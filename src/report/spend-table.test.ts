import { expect, test } from 'vitest';
import type { Spend, SpendRow } from './spend-table.ts';
import { spendCsv, spendJson, spendText, staleText } from './spend-table.ts';

const HOUR_UNITS = 63_000n * 3600n;

const row = (values: (string | null)[], costUsdMicros: bigint | null, hours: bigint, unpriced = 0n): SpendRow => ({
  values,
  step: undefined,
  costUsdMicros,
  heldUnits: hours * HOUR_UNITS,
  unpricedUnits: unpriced * HOUR_UNITS,
});

const spend = (rows: SpendRow[], rest: Partial<Spend> = {}): Spend => {
  const costs = rows.flatMap(({ costUsdMicros }) => (costUsdMicros === null ? [] : [costUsdMicros]));
  return {
    by: ['team', 'class'],
    window: { from: new Date('2026-11-01T00:00:00Z'), until: new Date('2026-11-03T00:00:00Z') },
    stepSeconds: undefined,
    filter: '',
    price: 'amortised',
    unknownValues: [],
    rows,
    totalUsdMicros: costs.length === 0 && rows.length > 0 ? null : costs.reduce((a, b) => a + b, 0n),
    heldUnits: rows.reduce((sum, { heldUnits }) => sum + heldUnits, 0n),
    unpricedUnits: rows.reduce((sum, { unpricedUnits }) => sum + unpricedUnits, 0n),
    usdMicrosByBasis: new Map([['billed', costs.reduce((a, b) => a + b, 0n)]]),
    ...rest,
  };
};

const THIRDS = [
  row(['nlp', 'training'], 100_333_333n, 30n),
  row(['asr', null], 100_333_333n, 20n),
  row([null, null], 100_333_334n, 10n, 4n),
];

test('the table for people: whole dollars that add up, nobody’s money named so, time without a price beside', () => {
  expect(spendText(spend(THIRDS, { filter: 'cluster=a' }))).toEqual([
    'Spend by team, class, 2026-11-01 00:00 to 2026-11-03 00:00 UTC, only cluster=a',
    '',
    'team          class         cost        GPU-hours  unpriced',
    'nlp           training      $100  33 %       30.0',
    'asr           unattributed  $100  33 %       20.0',
    'unattributed  unattributed  $101  34 %       10.0       4.0',
    'total                       $301             60.0       4.0',
    '',
    'effective cost: $301 billed',
    '4.0 GPU-hours have no price and are in no sum: bursar import rates FILE, or a bill',
  ]);
});

test('marginal prices say what they are', () => {
  const lines = spendText(spend(THIRDS, { price: 'marginal' }));
  expect(lines[0]).toBe('Spend by team, class at marginal prices, 2026-11-01 00:00 to 2026-11-03 00:00 UTC');
  expect(lines.at(-2)).toBe(
    'part of what the bills would fall by; what is committed or owned costs nothing more: $301 billed',
  );
});

test('a sum without dimensions is one line, and nothing is said to be nothing', () => {
  const one = spendText(spend([row([], 3_250_000n, 2n)], { by: [] }));
  expect(one.slice(0, 4)).toEqual([
    'Spend, 2026-11-01 00:00 to 2026-11-03 00:00 UTC',
    '',
    ' cost         GPU-hours',
    '$3.25  100 %        2.0',
  ]);
  expect(spendText(spend([])).at(-1)).toBe('nothing in this window');
});

test('what has no price is never shown as $0', () => {
  const lines = spendText(spend([row(['nlp', 'training'], null, 2n, 2n)]));
  expect(lines.join('\n')).toContain('no price');
  expect(lines.join('\n')).not.toContain('$0');
});

test('a thousandth of the whole is not 1 %, however many of them there are', () => {
  const rows = Array.from({ length: 1000 }, (_, index) => row([`job ${index}`, null], 7_000_000n, 1n));
  const lines = spendText(spend(rows));
  expect(lines.filter((line) => line.includes('<1 %'))).toHaveLength(1000);
});

test('JSON has the shape others build on', () => {
  const step = new Date('2026-11-02T00:00:00Z');
  const rows = [
    { ...row(['nlp', null], 1_234_567n, 1n), step },
    { ...row(['odd', 'x'], null, 1n, 1n), step, heldUnits: 63_001n },
  ];
  expect(spendJson(spend(rows, { stepSeconds: 86_400 }))).toEqual({
    window: { from: '2026-11-01T00:00:00Z', until: '2026-11-03T00:00:00Z' },
    price: 'amortised',
    rows: [
      {
        step: '2026-11-02T00:00:00Z',
        team: 'nlp',
        class: null,
        costUsdMicros: '1234567',
        heldSeconds: 3600,
        unpricedSeconds: 0,
      },
      {
        step: '2026-11-02T00:00:00Z',
        team: 'odd',
        class: 'x',
        costUsdMicros: null,
        heldSeconds: 1,
        unpricedSeconds: 3600,
      },
    ],
    totalUsdMicros: '1234567',
  });
  expect(spendJson(spend([row(['nlp', null], null, 1n, 1n)]))).toMatchObject({ totalUsdMicros: null });
});

test('CSV is quoted, and a spreadsheet runs nothing of it', () => {
  const rows = [row(['=HYPERLINK("x")', 'a,b'], -5n, 1n), row([null, 'say "hi"'], null, 1n, 1n)];
  expect(spendCsv(spend(rows))).toBe(
    [
      'team,class,costUsdMicros,heldSeconds,unpricedSeconds',
      `"'=HYPERLINK(""x"")","a,b",-5,3600,0`,
      ',"say ""hi""",,3600,3600',
      '',
    ].join('\n'),
  );
});

test('names from files are shown, never obeyed', () => {
  expect(spendText(spend([row(['\u001b[2Jnlp\nx', null], 1n, 1n)])).join('\n')).not.toContain('\u001b');
});

test('an answer that is not of the newest facts says so', () => {
  expect(staleText(0)).toBeUndefined();
  expect(staleText(1200)).toBe('1,200 rows of facts are not in the ledger yet: bursar derive');
});
