import { describe, expect, it } from 'vitest';
import type { Node, Scope } from '../organisation.ts';
import type { Provider, World } from '../world/world-schema.ts';
import { CHARGE_HEADER, createBooks } from './books.ts';
import { cellsOf, DAY_S, daysOf, FROM, machineOf, poolOf, providerOf, scopeOf, worldOf } from './hand-made-days.ts';

const HOUR_S = 3600;

function billed(world: World, scope: Scope, nodes: readonly Node[]) {
  const books = createBooks(world, scope);
  return daysOf(world, scope, nodes)
    .flatMap((day) => books.day(day).charges)
    .map((charge) => ({ ...charge, cells: cellsOf(CHARGE_HEADER, charge.line) }));
}

const rent = poolOf();
const oneProvider = (changes: Partial<Provider> = {}, pool = rent) => worldOf([providerOf(changes)], [pool]);
const total = (rows: readonly { usdMicros: number }[]) => rows.reduce((sum, { usdMicros }) => sum + usdMicros, 0);

describe('what a machine is charged', () => {
  const day = scopeOf(1);
  const cases: Record<string, { node: Node; world?: World; want: readonly (readonly string[])[] }> = {
    'an hour of two GPUs at $2.50': {
      node: machineOf(rent, 'a', { until: FROM + HOUR_S }),
      want: [['2026-10-29T00:00:00Z', '2026-10-29T01:00:00Z', '5', '5', '1']],
    },
    'hours begin on the hour, the first and last are as long as it was there': {
      node: machineOf(rent, 'a', { from: FROM + 1800, until: FROM + HOUR_S + 900 }),
      want: [
        ['2026-10-29T00:30:00Z', '2026-10-29T01:00:00Z', '2.5', '2.5', '0.5'],
        ['2026-10-29T01:00:00Z', '2026-10-29T01:15:00Z', '1.25', '1.25', '0.25'],
      ],
    },
    'a broken machine is paid for as well': {
      node: machineOf(rent, 'a', { until: FROM + HOUR_S, states: [[FROM + 60, 'down']] }),
      want: [['2026-10-29T00:00:00Z', '2026-10-29T01:00:00Z', '5', '5', '1']],
    },
    'one second is rounded to the micro': {
      node: machineOf(rent, 'a', { until: FROM + 1 }),
      want: [['2026-10-29T00:00:00Z', '2026-10-29T00:00:01Z', '0.001389', '0.001389', '0.000278']],
    },
    'by the day it is one row': {
      node: machineOf(rent, 'a', { from: FROM + HOUR_S }),
      world: oneProvider({ bills_by: 'day' }),
      want: [['2026-10-29T01:00:00Z', '2026-10-30T00:00:00Z', '115', '115', '23']],
    },
    'euros are whole cents': {
      node: machineOf(rent, 'a', { until: FROM + 1000 }),
      world: oneProvider({ currency: 'EUR', usd_per_unit: 1.0853 }),
      want: [['2026-10-29T00:00:00Z', '2026-10-29T00:16:40Z', '1.39', '1.39', '0.277778']],
    },
  };
  it.each(Object.entries(cases))('%s', (_, { node, world = oneProvider(), want }) => {
    const rows = billed(world, day, [node]).map(({ cells }) => [
      cells['ChargePeriodStart'],
      cells['ChargePeriodEnd'],
      cells['BilledCost'],
      cells['EffectiveCost'],
      cells['ConsumedQuantity'],
    ]);
    expect(rows).toEqual(want);
  });

  it('the row says whose it is, what it was and what it would cost at list', () => {
    const [row] = billed(oneProvider(), day, [machineOf(rent, 'a')]);
    expect(row?.cells).toMatchObject({
      ProviderName: 'Cloud',
      BillingAccountId: 'C-1',
      BillingPeriodStart: '2026-10-01T00:00:00Z',
      BillingPeriodEnd: '2026-11-01T00:00:00Z',
      ChargeCategory: 'Usage',
      ChargeClass: '',
      PricingCategory: 'Standard',
      ListCost: '8',
      ServiceCategory: 'Compute',
      SkuId: 'big.2-on-demand',
      RegionId: 'north-1',
      ResourceId: 'i-a',
      ResourceType: 'big.2',
      CommitmentDiscountId: '',
      Tags: '{"team":"nlp"}',
    });
  });

  it('owned machines are on no bill', () => {
    const own = poolOf({ purchase: 'owned' });
    expect(billed(oneProvider({}, own), day, [machineOf(own, 'a')])).toEqual([]);
  });
});

describe('spot', () => {
  const spot = poolOf({ purchase: 'spot', price_per_gpu_hour: 1 });
  const scope = scopeOf(200);
  const rows = billed(oneProvider({ bills_by: 'day' }, spot), scope, [machineOf(spot, 'a', { until: scope.until })]);
  const prices = rows.map(({ usdMicros }) => usdMicros / 48);

  it('moves from day to day, in whole micros, around its mean', () => {
    expect(rows.every(({ cells }) => cells['PricingCategory'] === 'Dynamic')).toBe(true);
    expect(new Set(prices).size).toBeGreaterThan(50);
    expect(prices.every((price) => Number.isInteger(price) && price >= 800_000 && price <= 1_200_000)).toBe(true);
    const mean = prices.reduce((sum, price) => sum + price, 0) / prices.length;
    expect(Math.abs(mean - 1_000_000)).toBeLessThan(30_000);
  });

  it('all machines of one type in one region pay the same', () => {
    const world = worldOf([providerOf()], [spot, { ...spot, name: 'other' }]);
    const both = billed(world, scopeOf(2), [machineOf(spot, 'a'), machineOf(world.pools[1]!, 'b')]);
    const of = (id: string) => both.filter(({ cells }) => cells['ResourceId'] === id).map(({ usdMicros }) => usdMicros);
    expect(of('i-a')).toEqual(of('i-b'));
  });
});

describe('a commitment', () => {
  const signed = poolOf({ purchase: 'committed', commitment_used_percent: 50 });
  const rows = billed(oneProvider({}, signed), scopeOf(5), [
    machineOf(signed, 'a'),
    machineOf(signed, 'b', { until: FROM + HOUR_S + 600 }),
  ]);
  const inHour = (from: string) => rows.filter(({ cells }) => cells['ChargePeriodStart'] === from);

  it('costs the same in every hour, used and unused together', () => {
    for (let hour = FROM; hour < FROM + 5 * DAY_S; hour += HOUR_S) {
      const start = `${new Date(hour * 1000).toISOString().slice(0, 19)}Z`;
      const usage = inHour(start).filter(({ cells }) => cells['ChargeCategory'] === 'Usage');
      expect(total(usage), start).toBe(8 * 2_500_000);
    }
  });

  it('used hours are not billed again, and unused ones are no machine’s', () => {
    const [a, , unused] = inHour('2026-10-29T00:00:00Z');
    const used = { BilledCost: '0', EffectiveCost: '5', ListCost: '8', PricingCategory: 'Committed' };
    const commitment = { CommitmentDiscountId: 'commitment-rent', SkuId: 'big.2-committed' };
    expect(a?.cells).toMatchObject({ ...used, ...commitment, CommitmentDiscountStatus: 'Used', ResourceId: 'i-a' });
    expect(unused?.cells).toMatchObject({
      ...commitment,
      BilledCost: '0',
      EffectiveCost: '10',
      CommitmentDiscountStatus: 'Unused',
      ResourceId: '',
      ServiceCategory: 'Compute',
      Tags: '',
    });
  });

  it('its fee is what its hours come to, month by month', () => {
    const fees = rows.filter(({ cells }) => cells['ChargeCategory'] === 'Purchase');
    expect(fees.map(({ month, cells }) => [month, cells['BilledCost'], cells['EffectiveCost']])).toEqual([
      ['2026-10', String(3 * 24 * 20), '0'],
      ['2026-11', String(2 * 24 * 20), '0'],
    ]);
  });

  it('that is all used has no unused row, even where euros round', () => {
    const full = poolOf({ purchase: 'committed', commitment_used_percent: 100, price_per_gpu_hour: 0.333 });
    const nodes = ['a', 'b', 'c'].map((name) => machineOf(full, name));
    const euro = billed(oneProvider({ currency: 'EUR', usd_per_unit: 1.1 }, full), scopeOf(1), nodes);
    expect(euro.filter(({ cells }) => cells['CommitmentDiscountStatus'] === 'Unused')).toEqual([]);
    expect(euro.at(-1)?.cells).toMatchObject({ ChargeCategory: 'Purchase', BilledCost: '48.24' });
  });
});

describe('what stands beside machines on a bill', () => {
  const world = oneProvider({ storage_percent: 4, egress_percent: 1.5, unlisted_percent: 0.5 });
  const rows = billed(world, scopeOf(2), [machineOf(rent, 'a', { from: FROM + DAY_S, until: FROM + DAY_S + HOUR_S })]);

  it('a machine no list knows, at the price of its type, that says it is a GPU', () => {
    const known = rows.find(({ cells }) => cells['ServiceCategory'] === 'Compute');
    const [unlisted, ...others] = rows.filter(
      ({ cells }) => cells['ServiceCategory'] === 'Compute' && cells['ResourceId'] !== known?.cells['ResourceId'],
    );
    expect(others).toEqual([]);
    // Half a percent of $5 buys eleven seconds at the list price of $8 an hour.
    expect(unlisted?.cells).toMatchObject({
      EffectiveCost: '0.024444',
      ChargePeriodStart: '2026-10-30T09:00:00Z',
      ChargePeriodEnd: '2026-10-30T09:00:11Z',
      SkuId: known?.cells['SkuId'],
    });
    expect(unlisted?.cells['ChargeDescription']).toMatch(/2 x .* GPU/);
  });

  it('storage and what is sent out, by the day, and none on a day without machines', () => {
    const daily = rows.filter(({ cells }) => /Storage|Networking/.test(cells['ServiceCategory'] ?? ''));
    expect(
      daily.map(({ cells }) => [cells['ChargePeriodStart'], cells['ServiceCategory'], cells['EffectiveCost']]),
    ).toEqual([
      ['2026-10-30T00:00:00Z', 'Storage', '0.2'],
      ['2026-10-30T00:00:00Z', 'Networking', '0.075'],
    ]);
    expect(daily[0]?.cells['ResourceId']).toMatch(/^vol-/);
    expect(daily[1]?.cells['ChargeDescription']).toBe('data transfer out');
  });
});

describe('corrected rows', () => {
  it('stand twice, and a third time to take one back', () => {
    const rows = billed(oneProvider({ corrected_hours: 1 }), scopeOf(3), [machineOf(rent, 'a'), machineOf(rent, 'b')]);
    const back = rows.filter(({ cells }) => cells['ChargeClass'] === 'Correction');
    expect(back).toHaveLength(1);
    const { ResourceId, ChargePeriodStart } = back[0]!.cells;
    const same = rows.filter(
      ({ cells }) => cells['ResourceId'] === ResourceId && cells['ChargePeriodStart'] === ChargePeriodStart,
    );
    expect(same.map(({ cells }) => cells['EffectiveCost'])).toEqual(['5', '5', '-5']);
    expect(total(rows)).toBe(3 * 24 * 2 * 5_000_000);
  });

  it('are so many in each month', () => {
    const rows = billed(oneProvider({ corrected_hours: 4 }), scopeOf(20), [machineOf(rent, 'a')]);
    const back = rows.filter(({ cells }) => cells['ChargeClass'] === 'Correction').map(({ month }) => month);
    expect(back.sort((a, b) => (a < b ? -1 : 1))).toEqual([
      ...Array.from({ length: 4 }, () => '2026-10'),
      ...Array.from({ length: 4 }, () => '2026-11'),
    ]);
  });
});
