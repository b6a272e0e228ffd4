import { expect, test } from 'vitest';
import { hiddenCostsPage, partsText } from './hidden-costs-page.ts';
import type { CostPart, HiddenCosts } from './hidden-costs-page.ts';

const usd = (dollars: number): bigint => BigInt(Math.round(dollars * 1_000_000));
const PARTS: readonly CostPart[] = [
  { part: 'gpu', usdMicros: usd(8100.4) },
  { part: 'host', usdMicros: usd(700.4) },
  { part: 'storage', usdMicros: usd(1150) },
  { part: 'transfer', usdMicros: usd(420) },
  { part: 'tax', usdMicros: usd(12) },
];
const costs = (rest: Partial<HiddenCosts> = {}): HiddenCosts => ({
  window: { asked: '30d', from: new Date('2026-10-01'), until: new Date('2026-10-31'), ledgerDays: 30 },
  filter: 'team=nlp',
  parts: PARTS,
  usdMicros: usd(10_382.8),
  unpricedUnits: 0n,
  usdMicrosByBasis: new Map([['billed', usd(10_382.8)]]),
  waiting: undefined,
  ...rest,
});

test('the parts stand in one line, without what stands apart', () => {
  expect(partsText(PARTS)).toBe('GPU $8,101, host $700, storage $1,150, egress $420');
});

test('the first line has parts, sum, scope, window and basis', () => {
  expect(hiddenCostsPage(costs(), [])).toEqual([
    'GPU $8,101, host $700, storage $1,150, egress $420: $10,371 (team=nlp, last 30 days, billed)',
    '  GPU      $8,101  78 %',
    '  host       $700   7 %',
    '  storage  $1,150  11 %',
    '  egress     $420   4 %',
    'Apart: tax $12.00.',
    'Waiting meanwhile: not known, no scheduler says who waited and since when.',
  ]);
});

test('without a host it says where the host is', () => {
  const page = hiddenCostsPage(costs({ parts: PARTS.slice(0, 1), filter: '' }), []);
  expect(page[0]).toBe('GPU $8,100 (everything, last 30 days, billed)');
  expect(page[1]).toMatch(/^The host is in the GPU’s money/);
});

test('names are data', () => {
  const page = hiddenCostsPage(costs({ filter: 'team=\u001b[31mred' }), [
    {
      component: 'storage',
      usdMicros: usd(5),
      resources: 4,
      dearest: [{ resourceId: 'b\u001b[2J', usdMicros: usd(5) }],
    },
  ]);
  expect(page.join('\n')).not.toContain('\u001b');
  expect(page.join('\n')).toContain('in 4 resources (');
});
