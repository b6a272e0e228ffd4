import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cell, partText, placed, settledOn, take } from '../../../test/settled-on.ts';
import type { Cell, Outcome } from '../../../test/settled-on.ts';
import type { Take } from '../../facts/detector.ts';
import type { Question } from '../../lake/ask.ts';
import { openEngine, quote } from '../../lake/engine.ts';
import type { Engine, LoadColumns } from '../../lake/engine.ts';
import type { FindingPart } from '../../report/finding-explanation.ts';
import type { PlacedClaim } from '../../waste/settle.ts';
import { partsOf, savedParts, saveParts } from './settle-claims.ts';

let engine: Engine;
beforeAll(async () => {
  engine = await openEngine({ threads: 1, memoryLimitMb: 200 });
});
afterAll(() => engine.close());

const settled = (claims: readonly PlacedClaim[], cells: readonly Cell[]) => settledOn(engine, claims, cells);
const moneyOf = async (claims: readonly PlacedClaim[], cells: readonly Cell[]) =>
  Object.fromEntries(Object.entries(await settled(claims, cells)).map(([about, { usdMicros }]) => [about, usdMicros]));

const live = ({ claim, ...rest }: PlacedClaim): PlacedClaim => ({
  ...rest,
  claim: { ...claim, liveSince: new Date('2026-03-02T00:00:00Z') },
});

describe('an hour of a GPU that goes on is the rate of one claim', () => {
  const HOUR = 63_000n * 3600n;
  const [a, b] = [
    cell({ day: '2026-03-03', deviceId: 'a', gpuUnits: HOUR }),
    cell({ day: '2026-03-03', deviceId: 'b', gpuUnits: HOUR }),
  ];
  const box = { subject: 'node n1', day: '2026-03-03' };
  const cases: Record<string, { claims: PlacedClaim[]; cells: Cell[]; want: Record<string, bigint | null> }> = {
    'the one whose turn comes first': {
      claims: [
        live(placed('untouched', [take({ permille: 500 })], { place: 1 })),
        live(placed('finished', [take({ deviceId: 'a', permille: 500 })])),
        placed('over', [take()], { place: 2 }),
      ],
      cells: [a, b],
      want: { finished: 360_000n, untouched: 360_000n, over: null },
    },
    'and once, whatever its hours are called': {
      claims: [live(placed('one', [take(), take({ category: 'lost' })]))],
      cells: [a, { ...a, category: 'lost', usdMicros: 20n }],
      want: { one: 120n * 3600n },
    },
    'of what goes on, and not of the runs of that day that are over': {
      claims: [live(placed('script', [take(), take({ subject: 'job s/2/0' })]))],
      cells: [
        { ...a, endedAt: '2026-03-03 01:00:00' },
        { ...a, subject: 'job s/2/0', usdMicros: 7n },
      ],
      want: { script: 7n * 3600n },
    },
    'one whose end lies after now goes on': {
      claims: [live(placed('script', [take()]))],
      cells: [{ ...a, usdMicros: 7n, endedAt: '2026-03-04 01:00:00' }],
      want: { script: 7n * 3600n },
    },
    // Two hours of it were free for $100, and one second was held, nobody knows by whom, for $7.
    'of a machine that was free and held, each has its own part by its own time': {
      claims: [
        live(placed('free', [take({ subject: 'node n1', category: 'unallocated' })])),
        live(placed('held', [take({ subject: 'node n1', category: 'unknown' })], { place: 1 })),
      ],
      cells: [
        cell({ ...box, category: 'unallocated', gpuUnits: 2n * HOUR }),
        cell({ ...box, category: 'unknown', usdMicros: 7n, gpuUnits: 63_000n }),
      ],
      want: { free: 50n, held: 7n * 3600n },
    },
  };
  it.each(Object.entries(cases))('%s', async (_, { claims, cells, want }) => {
    const rates = Object.entries(await settled(claims, cells)).map(([of, told]) => [of, told.usdMicrosPerHour]);
    expect(Object.fromEntries(rates)).toEqual(want);
  });
});

describe('a machine is freed where all that is held of it is in one claim', () => {
  const other = { subject: 'job s/2/0' };
  const cases: Record<string, { takes: Take[]; cells: Cell[]; want: bigint }> = {
    'its one device': { takes: [take()], cells: [cell()], want: 40n },
    'its device, and what stands beside it': {
      takes: [take()],
      cells: [cell(), cell({ deviceId: null, marginalUsdMicros: 5n })],
      want: 45n,
    },
    'a device that two have, both': { takes: [take(), take(other)], cells: [cell(), cell(other)], want: 80n },
    'not by one of the two': { takes: [take()], cells: [cell(), cell(other)], want: 0n },
  };
  it.each(Object.entries(cases))('%s', async (_, { takes, cells, want }) => {
    expect((await settled([placed('one', takes)], cells))['one']?.freedUsdMicros).toBe(want);
  });
});

it('rows that were saved are those of each claim, by its name', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'saved-parts-'));
  try {
    await settled(
      [placed('a', [take({ permille: 300 })]), placed('b', [take()], { place: 1 })],
      [cell(), cell({ day: '2026-03-03', usdMicros: null })],
    );
    const path = join(folder, 'rows.parquet');
    const space = {
      load: (table: string, columns: LoadColumns) => engine.load(table, columns),
      save: (to: string, { sql }: Question) => engine.run(`COPY (${sql}) TO ${quote(to)} (FORMAT parquet)`),
      ask: <Row>({ sql, params }: Question) =>
        engine.rows<Row>(sql.replace('saved_part', `read_parquet(${quote(path)})`), params),
    };
    await saveParts(space, path, [
      { claimNo: 0, key: 'first' },
      { claimNo: 1, key: 'second' },
    ]);
    const tables = { ...space, make: async () => undefined };
    expect(await savedParts(space, path, 'first')).toEqual(await partsOf(tables, 0));
    expect(await savedParts(space, path, 'second')).toEqual(await partsOf(tables, 1));
    expect((await savedParts(space, path, 'second')).map(({ permille }) => permille)).toEqual([700, 700]);
    expect(await savedParts(space, path, 'nobody')).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

describe('who gets a dollar that two claims speak of', () => {
  const cases: { name: string; claims: PlacedClaim[]; cells?: Cell[]; want: Record<string, bigint | null> }[] = [
    {
      name: 'the detector that stands first in the list gets it, the other nothing',
      claims: [placed('second', [take()], { place: 1 }), placed('first', [take()])],
      want: { first: 100n, second: null },
    },
    {
      name: 'nobody gets it where the sensors were silent that day',
      cells: [cell({ isSilent: true }), cell({ deviceId: 'b', usdMicros: 7n })],
      claims: [placed('first', [take()])],
      want: { first: 7n },
    },
    {
      name: 'of one detector the dearer claim gets it',
      claims: [placed('all', [take()]), placed('a small one', [take({ permille: 10 })])],
      want: { all: 100n, 'a small one': null },
    },
    {
      name: 'what a claim has to itself counts for how dear it is',
      cells: [cell(), cell({ subject: 'job s/2/0' })],
      claims: [
        placed('a', [take()]),
        placed('b', [take({ permille: 500 }), take({ subject: 'job s/2/0', permille: 900 })]),
      ],
      want: { a: 50n, b: 140n },
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
      name: 'parts of a row add up to it: 1/3, 1/3 and what is left of 7 micros',
      cells: [cell({ usdMicros: 7n })],
      claims: [
        placed('a', [take({ permille: 333 })]),
        placed('b', [take({ permille: 333 })]),
        placed('c', [take({ permille: 334 })], { place: 1 }),
      ],
      want: { a: 2n, b: 2n, c: 3n },
    },
    {
      name: 'takes of one claim that meet are no more than the row',
      claims: [placed('twice', [take({ permille: 700 }), take({ permille: 700 })])],
      want: { twice: 100n },
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
      name: 'nor by two who share it',
      cells: [cell({ usdMicros: -500n })],
      claims: [placed('a', [take({ permille: 400 })]), placed('b', [take()], { place: 1 })],
      want: { a: 0n, b: 0n },
    },
    {
      name: 'a question claims nothing, and leaves it to others',
      claims: [placed('asks', [take()], { isQuestion: true }), placed('claims', [take()], { place: 1 })],
      want: { asks: null, claims: 100n },
    },
    {
      name: 'names are text: quotes and words of SQL stay what they are',
      cells: [cell({ subject: `job '; DROP TABLE claim; --` })],
      claims: [placed(`it's "it"`, [take({ subject: `job '; DROP TABLE claim; --` })])],
      want: { [`it's "it"`]: 100n },
    },
  ];
  it.each(cases)('$name', async ({ claims, cells = [cell()], want }) =>
    expect(await moneyOf(claims, cells)).toEqual(want),
  );

  it('a part that is no part is refused', async () => {
    await expect(settled([placed('odd', [take({ permille: 1001 })])], [cell()])).rejects.toThrow(RangeError);
    await expect(settled([placed('odd', [take({ permille: Number.NaN })])], [cell()])).rejects.toThrow(RangeError);
  });
});

describe('for any claims on any rows', () => {
  // Few of each, so that claims meet.
  const categories = ['unallocated', 'unknown', 'idle'] as const;
  const subjects = ['job s/1/0', 'node n1'];
  const days = ['2026-03-01', '2026-03-02', '2026-03-03'];
  const amount = fc.oneof(fc.constant(null), fc.bigInt({ min: -50n, max: 10n ** 12n }));
  const cells = fc.uniqueArray(
    fc.record({
      day: fc.constantFrom(...days),
      subject: fc.constantFrom(...subjects),
      deviceId: fc.constantFrom('a', 'b', null),
      nodeId: fc.constantFrom('n1', 'n2', null),
      category: fc.constantFrom(...categories),
      reason: fc.constantFrom(null, 'parked'),
      usdMicros: amount,
      marginalUsdMicros: amount,
      gpuUnits: fc.bigInt({ min: 0n, max: 10n ** 9n }),
    }),
    {
      maxLength: 24,
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
        reason: fc.constant('parked'),
        permille: fc.integer({ min: 0, max: 1000 }),
      },
      { requiredKeys: ['subject', 'firstDay', 'lastDay', 'category'] },
    ),
    { maxLength: 5 },
  );
  const claims = fc
    .array(fc.record({ takes, place: fc.integer({ min: 0, max: 2 }), category: fc.constantFrom(...categories) }), {
      maxLength: 8,
    })
    .map((all) =>
      all.map((each, index) =>
        placed(`claim ${index}`, each.takes as Take[], { place: each.place, category: each.category }),
      ),
    );
  const SOME = { numRuns: 25 };

  it('each gets what it gets when claims are served one after the other, row by row', async () => {
    await fc.assert(
      fc.asyncProperty(claims, cells, async (all, ledger) => {
        expect(await settled(all, ledger)).toEqual(servedInTurn(all, ledger));
      }),
      SOME,
    );
  });

  it('together they get no more than there is, and the order in which they come changes nothing', async () => {
    await fc.assert(
      fc.asyncProperty(claims, cells, async (all, ledger) => {
        const once = await settled(all, ledger);
        expect(await settled(all.toReversed(), ledger.toReversed())).toEqual(once);
        const sum = (amounts: readonly (bigint | null)[]): bigint =>
          amounts.reduce<bigint>((total, each) => total + (each !== null && each > 0n ? each : 0n), 0n);
        const got = Object.values(once);
        expect(sum(got.map(({ usdMicros }) => usdMicros))).toBeLessThanOrEqual(sum(ledger.map((c) => c.usdMicros)));
        expect(sum(got.map(({ gpuUnits }) => gpuUnits))).toBeLessThanOrEqual(sum(ledger.map((c) => c.gpuUnits)));
        expect(sum(got.map((each) => each.cashUsdMicros))).toBeLessThanOrEqual(
          sum(ledger.map((c) => c.marginalUsdMicros)),
        );
        for (const { freedUsdMicros, cashUsdMicros } of got) expect(freedUsdMicros).toBeLessThanOrEqual(cashUsdMicros);
      }),
      SOME,
    );
  });
});

/** The same in the plainest words: a table of what is gone, and a loop. */
function servedInTurn(claims: readonly PlacedClaim[], cells: readonly Cell[]): Record<string, Outcome> {
  const order = ['stranded', 'unallocated', 'unknown', 'idle', 'starved', 'lost', 'computing'];
  const slice = (of: bigint | null, before: number, after: number): bigint | null =>
    of === null ? null : of <= 0n ? 0n : (of * BigInt(after)) / 1000n - (of * BigInt(before)) / 1000n;
  const wanted = ({ claim }: PlacedClaim) =>
    claim.takes.flatMap((each) =>
      cells
        .filter((c) => c.subject === each.subject && c.category === each.category)
        .filter((c) => c.day >= each.firstDay && c.day <= each.lastDay)
        .filter((c) => each.deviceId === undefined || c.deviceId === each.deviceId)
        .filter((c) => each.reason === undefined || c.reason === each.reason)
        .map((of) => ({ of, permille: each.permille ?? 1000 })),
    );
  const gross = (each: PlacedClaim): bigint =>
    wanted(each).reduce((sum, { of, permille }) => sum + (slice(of.usdMicros, 0, permille) ?? 0n), 0n);
  const inTurn = claims.toSorted(
    (a, b) =>
      order.indexOf(a.category) - order.indexOf(b.category) ||
      a.place - b.place ||
      (gross(a) === gross(b) ? 0 : gross(a) > gross(b) ? -1 : 1) ||
      (a.claim.about < b.claim.about ? -1 : 1),
  );
  const gone = new Map<Cell, number>();
  return Object.fromEntries(
    inTurn.map((each) => {
      const parts = wanted(each).flatMap(({ of, permille }) => {
        const before = gone.get(of) ?? 0;
        const after = Math.min(1000, before + permille);
        gone.set(of, after);
        const cut = (whole: bigint | null): bigint | null => slice(whole, before, after);
        const amounts = { usdMicros: cut(of.usdMicros), marginalUsdMicros: cut(of.marginalUsdMicros) };
        const part = { ...of, permille: after - before, ...amounts, gpuUnits: cut(of.gpuUnits) ?? 0n };
        return after === before ? [] : [part];
      });
      return [each.claim.about, outcomeOf(parts, cells)];
    }),
  );
}

/** All of the time where no bill falls, none where it falls by all, else by the money it does not fall by. */
function unpaidOf({ usdMicros, marginalUsdMicros, gpuUnits }: Cell): bigint {
  const [paid, falls] = [usdMicros ?? 0n, marginalUsdMicros ?? 0n];
  if (falls <= 0n) return gpuUnits;
  return falls >= paid ? 0n : (gpuUnits * (paid - falls)) / paid;
}

function outcomeOf(parts: readonly (Cell & FindingPart)[], cells: readonly Cell[]): Outcome {
  const isHeld = (c: Cell): boolean => c.category !== 'stranded' && c.category !== 'unallocated' && c.deviceId !== null;
  const pairs = (of: readonly Cell[], on: Cell): number =>
    new Set(
      of
        .filter((c) => isHeld(c) && c.day === on.day && c.nodeId === on.nodeId)
        .map((c) => `${c.subject} ${c.deviceId}`),
    ).size;
  const priced = parts.flatMap(({ usdMicros }) => usdMicros ?? []);
  const paid = parts.filter(({ marginalUsdMicros }) => (marginalUsdMicros ?? 0n) > 0n);
  const cash = (of: readonly Cell[]): bigint => of.reduce((sum, c) => sum + (c.marginalUsdMicros ?? 0n), 0n);
  const units = (of: readonly Cell[]): bigint => of.reduce((sum, { gpuUnits }) => sum + gpuUnits, 0n);
  return {
    usdMicros: priced.length === 0 ? null : priced.reduce((a, b) => a + b, 0n),
    gpuUnits: units(parts),
    cashUsdMicros: cash(paid),
    freedUsdMicros: cash(paid.filter((part) => part.nodeId === null || pairs(paid, part) === pairs(cells, part))),
    unpaidUnits: parts.reduce((sum, part) => sum + unpaidOf(part), 0n),
    usdMicrosPerHour: null,
    unsaidUsdMicros: parts.reduce((sum, c) => sum + (c.marginalUsdMicros === null ? (c.usdMicros ?? 0n) : 0n), 0n),
    isUnknown: parts.every(({ category }) => category === 'unknown'),
    parts: parts.map(partText).toSorted(),
  };
}
