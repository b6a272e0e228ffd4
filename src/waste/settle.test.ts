import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Claim, Take, WasteCategory } from '../facts/detector.ts';
import type { Cell, PlacedClaim } from './settle.ts';
import { settle } from './settle.ts';

const cell = (over: Partial<Cell> = {}): Cell => ({
  day: '2026-03-02',
  subject: 'job s/1/0',
  deviceId: 'a',
  nodeId: 'n1',
  category: 'idle',
  reason: null,
  usdMicros: 100n,
  marginalUsdMicros: 40n,
  gpuUnits: 1000n,
  ...over,
});
const take = (over: Partial<Take> = {}): Take => ({
  subject: 'job s/1/0',
  firstDay: '2026-03-01',
  lastDay: '2026-03-03',
  category: 'idle',
  ...over,
});
const placed = (about: string, takes: readonly Take[], over: Partial<PlacedClaim> & { isQuestion?: boolean } = {}) => {
  const { isQuestion = false, ...rest } = over;
  const claim: Claim = { about, ownerSubject: null, what: '', because: [], fix: [], unless: '', takes, isQuestion };
  return { detector: 'd', place: 0, category: 'idle' as WasteCategory, claim, ...rest };
};
const moneyOf = (claims: readonly PlacedClaim[], cells: readonly Cell[]): Record<string, bigint | null> =>
  Object.fromEntries(settle(claims, cells).map((each) => [each.placed.claim.about, each.usdMicros]));

describe('who gets a dollar that two claims speak of', () => {
  const cases: { name: string; claims: PlacedClaim[]; cells?: Cell[]; want: Record<string, bigint | null> }[] = [
    {
      name: 'the detector that stands first in the list gets it, the other nothing',
      claims: [placed('second', [take()], { place: 1 }), placed('first', [take()])],
      want: { first: 100n, second: null },
    },
    {
      name: 'of one detector the dearer claim gets it',
      claims: [placed('small', [take({ permille: 10 })]), placed('all', [take()])],
      want: { all: 100n, small: null },
    },
    {
      name: 'a category that comes earlier in the waterfall goes first, whatever the order of detectors',
      claims: [
        placed('lost', [take()], { category: 'lost', place: 0 }),
        placed('stranded', [take({ permille: 600 })], { category: 'stranded', place: 9 }),
      ],
      want: { stranded: 60n, lost: 40n },
    },
    {
      name: 'parts of a cell add up to it: 1/3, 1/3 and what is left of 7 micros',
      cells: [cell({ usdMicros: 7n })],
      claims: [
        placed('a', [take({ permille: 333 })]),
        placed('b', [take({ permille: 333 })]),
        placed('c', [take({ permille: 334 })], { place: 1 }),
      ],
      want: { a: 2n, b: 2n, c: 3n },
    },
    {
      name: 'other days, devices, categories and reasons are not touched',
      claims: [
        placed('day', [take({ firstDay: '2026-03-03' })]),
        placed('device', [take({ deviceId: 'b' })]),
        placed('category', [take({ category: 'lost' })]),
        placed('reason', [take({ reason: 'parked' })]),
        placed('subject', [take({ subject: 'job s/2/0' })]),
      ],
      want: { day: null, device: null, category: null, reason: null, subject: null },
    },
    {
      name: 'what is below zero is claimed by nobody, and what has no price stays without one',
      cells: [cell({ usdMicros: -5n }), cell({ deviceId: 'b', usdMicros: null })],
      claims: [placed('credit', [take({ deviceId: 'a' })]), placed('priceless', [take({ deviceId: 'b' })])],
      want: { credit: 0n, priceless: null },
    },
    {
      name: 'a question claims nothing, and leaves it to others',
      claims: [placed('asks', [take()], { isQuestion: true }), placed('claims', [take()], { place: 1 })],
      want: { asks: null, claims: 100n },
    },
  ];
  it.each(cases)('$name', ({ claims, cells = [cell()], want }) => expect(moneyOf(claims, cells)).toEqual(want));

  it('a part that is no part is refused', () => {
    expect(() => settle([placed('odd', [take({ permille: 1001 })])], [cell()])).toThrow(RangeError);
    expect(() => settle([placed('odd', [take({ permille: Number.NaN })])], [cell()])).toThrow(RangeError);
  });
});

describe('for any claims on any cells', () => {
  const categories = ['stranded', 'unallocated', 'idle', 'starved', 'lost'] as const;
  const subjects = ['job s/1/0', 'job s/2/0', 'node n1'];
  const days = ['2026-03-01', '2026-03-02', '2026-03-03'];
  const amount = fc.oneof(fc.constant(null), fc.bigInt({ min: -50n, max: 10n ** 12n }));
  const cells = fc.uniqueArray(
    fc.record({
      day: fc.constantFrom(...days),
      subject: fc.constantFrom(...subjects),
      deviceId: fc.constantFrom('a', 'b', null),
      nodeId: fc.constant('n1'),
      category: fc.constantFrom(...categories),
      reason: fc.constantFrom(null, 'parked'),
      usdMicros: amount,
      marginalUsdMicros: amount,
      gpuUnits: fc.bigInt({ min: 0n, max: 10n ** 9n }),
    }),
    {
      maxLength: 20,
      selector: (each) => JSON.stringify([each.day, each.subject, each.deviceId, each.category, each.reason]),
    },
  );
  const takes = fc.array(
    fc.record(
      {
        subject: fc.constantFrom(...subjects),
        firstDay: fc.constantFrom(...days),
        lastDay: fc.constantFrom(...days),
        category: fc.constantFrom(...categories),
        deviceId: fc.constantFrom('a', 'b'),
        permille: fc.integer({ min: 0, max: 1000 }),
      },
      { requiredKeys: ['subject', 'firstDay', 'lastDay', 'category'] },
    ),
    { maxLength: 4 },
  );
  const claims = fc
    .array(fc.record({ takes, place: fc.integer({ min: 0, max: 3 }), category: fc.constantFrom(...categories) }), {
      maxLength: 8,
    })
    .map((all) =>
      all.map((each, index) =>
        placed(`claim ${index}`, each.takes as Take[], { place: each.place, category: each.category }),
      ),
    );

  it('no cell gives more than it has, and nothing negative is claimed', () => {
    fc.assert(
      fc.property(claims, cells, (all, ledger) => {
        const parts = settle(all, ledger).flatMap((each) => each.parts);
        for (const each of ledger) {
          const own = parts.filter((part) => part.cell === each);
          const sum = (of: (part: (typeof own)[number]) => bigint | null): bigint =>
            own.reduce((total, part) => total + (of(part) ?? 0n), 0n);
          const most = (has: bigint | null): bigint => (has === null || has < 0n ? 0n : has);
          expect(sum((part) => part.usdMicros)).toBeLessThanOrEqual(most(each.usdMicros));
          expect(sum((part) => part.marginalUsdMicros)).toBeLessThanOrEqual(most(each.marginalUsdMicros));
          expect(sum((part) => part.gpuUnits)).toBeLessThanOrEqual(each.gpuUnits);
          const isWhole = own.reduce((total, part) => total + part.permille, 0) === 1000;
          const usdMicros = isWhole ? sum((part) => part.usdMicros) : most(each.usdMicros);
          expect(usdMicros).toBe(most(each.usdMicros));
        }
        for (const part of parts) {
          expect((part.usdMicros ?? 0n) >= 0n && (part.marginalUsdMicros ?? 0n) >= 0n && part.gpuUnits >= 0n).toBe(
            true,
          );
        }
      }),
    );
  });

  it('the order in which claims and cells come in changes nothing', () => {
    fc.assert(
      fc.property(claims, cells, (all, ledger) => {
        expect(moneyOf(all.toReversed(), ledger.toReversed())).toEqual(moneyOf(all, ledger));
      }),
    );
  });

  it('what a claim gets is the sum of its parts', () => {
    fc.assert(
      fc.property(claims, cells, (all, ledger) => {
        for (const { usdMicros, parts } of settle(all, ledger))
          expect(usdMicros ?? 0n).toBe(parts.reduce((sum, part) => sum + (part.usdMicros ?? 0n), 0n));
      }),
    );
  });
});
