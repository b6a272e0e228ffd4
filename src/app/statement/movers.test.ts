import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CubeRow } from './month-cube.ts';
import { movers } from './movers.ts';

const row = (usd: number, hours: number, more: Partial<CubeRow> = {}): CubeRow => ({
  team: 'nlp',
  project: null,
  class: 'training',
  model: 'H100',
  component: 'gpu',
  category: 'computing',
  basis: 'billed',
  rule: null,
  usdMicros: BigInt(usd) * 1_000_000n,
  gpuUnits: BigInt(hours),
  unpricedUnits: 0n,
  ...more,
});

describe('what changed and why', () => {
  const usd = (micros: bigint | null) => (micros === null ? null : Number(micros) / 1e6);
  const cases: Record<string, { before: CubeRow[]; now: CubeRow[]; want: (number | null)[][] }> = {
    'more hours at the same rate are volume': { before: [row(100, 50)], now: [row(140, 70)], want: [[40, 40, 0]] },
    'the same hours at a higher rate are price': { before: [row(100, 50)], now: [row(150, 50)], want: [[50, 0, 50]] },
    'both: volume at the old rate, price over the new hours': {
      before: [row(100, 50)],
      now: [row(240, 80)],
      want: [[140, 60, 80]],
    },
    'what is new has no rate to compare with': { before: [], now: [row(30, 10)], want: [[30, 30, 0]] },
    'so has what is gone': { before: [row(30, 10)], now: [], want: [[-30, -30, 0]] },
    'the machine around a GPU moves with it': {
      before: [row(100, 50), row(10, 0, { component: 'host' })],
      now: [row(200, 100), row(20, 0, { component: 'host' })],
      want: [[110, 110, 0]],
    },
    'storage has neither': {
      before: [row(5, 0, { component: 'storage', category: 'beside' })],
      now: [row(9, 0, { component: 'storage', category: 'beside' })],
      want: [[4, null, null]],
    },
    'what stayed is not listed': { before: [row(100, 50)], now: [row(100, 50)], want: [] },
    'time without a price moves no money': { before: [], now: [row(0, 9, { usdMicros: null })], want: [] },
    'the greatest first, whatever its direction': {
      before: [row(100, 50), row(10, 5, { model: 'L4' })],
      now: [row(20, 10), row(20, 10, { model: 'L4' })],
      want: [
        [-80, -80, 0],
        [10, 10, 0],
      ],
    },
  };
  it.each(Object.entries(cases))('%s', (_, { before, now, want }) => {
    expect(
      movers(now, before).map((mover) => [
        usd(mover.changeUsdMicros),
        usd(mover.volumeUsdMicros),
        usd(mover.priceUsdMicros),
      ]),
    ).toEqual(want);
  });

  it('adds up to the change, and volume and price to each of them', () => {
    const random = fc.record({
      usd: fc.integer({ min: -500, max: 5000 }),
      hours: fc.integer({ min: 0, max: 500 }),
      model: fc.constantFrom('H100', 'L4', null),
      class: fc.constantFrom('training', null),
      component: fc.constantFrom('gpu', 'host', 'storage'),
    });
    const rows = fc.array(random, { maxLength: 20 });
    type Random = typeof rows extends fc.Arbitrary<infer List> ? List : never;
    const made = (list: Random): CubeRow[] =>
      list.map(({ usd: cost, hours, ...more }) => row(cost, more.component === 'gpu' ? hours : 0, more));
    fc.assert(
      fc.property(rows, rows, (a, b) => {
        const [before, now] = [made(a), made(b)];
        const total = (list: readonly CubeRow[]) => list.reduce((sum, { usdMicros }) => sum + (usdMicros ?? 0n), 0n);
        const found = movers(now, before);
        expect(found.reduce((sum, { changeUsdMicros }) => sum + changeUsdMicros, 0n)).toBe(total(now) - total(before));
        for (const { changeUsdMicros, volumeUsdMicros, priceUsdMicros } of found) {
          expect((volumeUsdMicros ?? 0n) + (priceUsdMicros ?? changeUsdMicros)).toBe(changeUsdMicros);
        }
      }),
    );
  });
});
