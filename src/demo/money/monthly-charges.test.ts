import { describe, expect, it } from 'vitest';
import { CHARGE_HEADER, createBooks } from './books.ts';
import { cellsOf, daysOf, machineOf, poolOf, providerOf, scopeOf, worldOf } from './hand-made-days.ts';
import type { Provider } from '../world/world-schema.ts';

const rent = poolOf();

function billed(changes: Partial<Provider>, days: number) {
  const world = worldOf([providerOf(changes)], [rent]);
  const scope = scopeOf(days);
  const books = createBooks(world, scope);
  return daysOf(world, scope, [machineOf(rent, 'a')])
    .flatMap((day) => books.day(day).charges)
    .map((charge) => ({ ...charge, cells: cellsOf(CHARGE_HEADER, charge.line) }));
}

const monthly = (rows: ReturnType<typeof billed>) =>
  rows
    .filter(({ cells }) => cells['ServiceCategory'] === 'Other')
    .map(({ cells }) => [
      cells['ServiceName'],
      cells['ChargeCategory'],
      cells['ChargePeriodStart'],
      cells['ChargePeriodEnd'],
      cells['BilledCost'],
    ]);

describe('what is reckoned over a month', () => {
  // A day of the machine is $120; October has three days of the window, November one.
  const percents = { support_percent: 10, credit_percent: 5, tax_percent: 20 };

  it('support on all of it, credit on machines, tax on everything; for the part of the month in the window', () => {
    const [oct, nov, end] = ['2026-10-29T00:00:00Z', '2026-11-01T00:00:00Z', '2026-11-02T00:00:00Z'];
    expect(monthly(billed(percents, 4))).toEqual([
      ['Support Plan', 'Purchase', oct, nov, '36'],
      ['Credit', 'Credit', oct, nov, '-18'],
      ['Tax', 'Tax', oct, nov, '75.6'],
      ['Support Plan', 'Purchase', nov, end, '12'],
      ['Credit', 'Credit', nov, end, '-6'],
      ['Tax', 'Tax', nov, end, '25.2'],
    ]);
  });

  it('support and tax count storage too', () => {
    expect(monthly(billed({ support_percent: 10, storage_percent: 50 }, 1))[0]?.at(-1)).toBe('18');
  });

  it('nothing of what is zero', () => {
    expect(monthly(billed({}, 4))).toEqual([]);
  });
});

describe('a bill that is issued twice', () => {
  const rows = billed({ reissued: true, support_percent: 10, tax_percent: 20 }, 10);
  const first = rows.filter(({ inFirstIssue }) => inFirstIssue);

  it('lacks its last three days at first, and with them all that is reckoned over the month', () => {
    // October has three days in all, so that its first issue is empty; November has seven.
    expect(first.map(({ month }) => month)).toEqual(Array.from({ length: 4 * 24 }, () => '2026-11'));
    expect(first.at(-1)?.cells['ChargePeriodEnd']).toBe('2026-11-05T00:00:00Z');
    expect(monthly(first)).toEqual([]);
  });

  it('has a first issue only where the provider sends one', () => {
    expect(billed({ reissued: false }, 10).some(({ inFirstIssue }) => inFirstIssue)).toBe(false);
  });
});
