import { describe, expect, it } from 'vitest';
import { DAY_S, daysOf, FROM, machineOf, poolOf, providerOf, scopeOf, worldOf } from './hand-made-days.ts';
import { FX_HEADER, fxLines, ownedMicros, RATE_HEADER, rateLines } from './rates.ts';

describe('stated rates', () => {
  const own = poolOf({ name: 'own', purchase: 'owned', price_per_gpu_hour: 1.1 });
  const rent = poolOf();
  const late = machineOf(own, 'own-2', { from: FROM + DAY_S + 5000 });
  const days = daysOf(worldOf([providerOf()], [own, rent]), scopeOf(2), [
    machineOf(own, 'own-1'),
    late,
    machineOf(rent, 'rented'),
  ]);

  it('one for each owned machine, on the day it appears, from the hour it does', () => {
    expect(RATE_HEADER).toBe('node_id,valid_from,usd_per_gpu_hour,rate_source\n');
    expect(days.map((day) => rateLines(day))).toEqual([
      ['own-1,2026-10-29T00:00:00Z,1.1,stated by finance\n'],
      ['own-2,2026-10-30T01:00:00Z,1.1,stated by finance\n'],
    ]);
  });

  it.each([
    ['an hour', 1_100_000_000, 3600, 1_100_000],
    ['half a micro is rounded up', 500, 3600, 1],
    ['less is not', 499, 3600, 0],
    ['a second', 1_350_000_000, 1, 375],
    ['a rate no product of doubles could hold', 999_999_999_999_999, 3599, 999_722_222_222],
  ])('%s', (_, nanos, seconds, want) => {
    expect(ownedMicros(nanos, seconds)).toBe(want);
    expect(BigInt(want)).toBe((BigInt(nanos) * BigInt(seconds) + 1_800_000n) / 3_600_000n);
  });
});

describe('exchange rates', () => {
  it('one for each currency but the dollar, dated at the beginning of the window', () => {
    const [euro, kroner] = [
      { currency: 'EUR', usd_per_unit: 1.0853 },
      { currency: 'DKK', usd_per_unit: 0.15 },
    ];
    const providers = [providerOf(), providerOf({ name: 'E', ...euro }), providerOf({ name: 'F', ...euro })];
    const world = worldOf([...providers, providerOf({ name: 'D', ...kroner })], [poolOf()]);
    expect(FX_HEADER).toBe('currency,as_of,usd_per_unit\n');
    expect(fxLines(world, scopeOf(1))).toEqual([
      'EUR,2026-10-29T00:00:00Z,1.0853\n',
      'DKK,2026-10-29T00:00:00Z,0.15\n',
    ]);
  });
});
