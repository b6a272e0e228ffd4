import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { FleetFolder } from '../../test/fleet-folder.ts';
import { fleetFolder } from '../../test/fleet-folder.ts';
import { SMALL_FLEET } from '../../test/small-fleet.ts';
import { parseDimensions, parseFilters } from './filter.ts';
import { spendText } from '../report/spend-table.ts';
import type { Spend } from '../report/spend-table.ts';
import { parseStep, spend } from './spend.ts';
import { ledgerWindow } from './window.ts';
import { withReader } from './workspace.ts';

const MARCH = '2026-03-01/2026-04-01';
const NOON = new Date('2026-03-02T12:00:00Z');

let fleet: FleetFolder;
beforeAll(async () => {
  fleet = await fleetFolder(SMALL_FLEET);
});
afterAll(() => fleet.remove());

interface Asked {
  readonly by: string;
  readonly filter?: string;
  readonly step?: string;
  readonly window?: string;
  readonly now?: Date;
  readonly price?: 'marginal';
}

const ask = (asked: Asked): Promise<Spend> =>
  withReader(fleet.dataDir, (space) =>
    spend(space, {
      by: parseDimensions(asked.by),
      window: ledgerWindow(asked.window ?? MARCH, asked.now ?? NOON, space.scope),
      filters: parseFilters(asked.filter === undefined ? [] : [asked.filter]),
      ...(asked.step !== undefined && { stepSeconds: parseStep(asked.step) }),
      ...(asked.price !== undefined && { price: asked.price }),
    }),
  );

/** `team/class 3.25 2h` of a row: dollars, whole GPU-hours, and unpriced ones after a bang. */
const line = (row: Spend['rows'][number]): string => {
  const hours = (units: bigint): string => `${Number(units) / 63_000 / 3600}h`;
  const name = row.values.map((value) => value ?? '–').join('/');
  const cost = row.costUsdMicros === null ? 'no price' : String(Number(row.costUsdMicros) / 1e6);
  const step = row.step === undefined ? '' : `${row.step.toISOString().slice(0, 13)} `;
  return `${step}${name} ${cost} ${hours(row.heldUnits)}${row.unpricedUnits > 0n ? ` !${hours(row.unpricedUnits)}` : ''}`;
};

describe('spend', () => {
  const cases: Record<string, Asked & { want: string[] }> = {
    'by team: jobs by account or namespace, empty GPUs by the tag of their node, the rest to nobody': {
      by: 'team',
      want: ['nlp 9.75 6h', 'asr 6.5 4h', 'vision 4 2h', 'platform 3.25 2h', '– 10.56 8h !2h'],
    },
    // Each hour two machines cost $4.00 on demand between them and nobody knows which: $1.00 a GPU, $16.00 in all. Owned ones cost nothing more.
    'at marginal prices a pool costs what is on demand in it, what is owned or unused nothing, and of what nobody says who bills it nothing is known':
      {
        by: 'team',
        price: 'marginal',
        want: ['nlp 6 6h', 'asr 4 4h', 'platform 2 2h', 'vision 0 2h', '– 4.5 8h !4h'],
      },
    'and so do single entries': {
      by: 'job',
      filter: 'team=nlp|vision',
      price: 'marginal',
      want: ['103 4 4h', '101 2 2h', '201 0 2h'],
    },
    'by category every dollar is in one place': {
      by: 'category',
      want: [
        'unknown 16.985 13h !2h',
        'unallocated 9.75 6h',
        'computing 3.0875 1.9h',
        'idle 1.625 1h',
        'beside 1.45 0h',
        'stranded 1 0h',
        'starved 0.1625 0.1h',
      ],
    },
    'by reason, which idle time without a reading of memory does not have': {
      by: 'category,reason',
      filter: 'job=101',
      want: ['idle/– 1.625 1h', 'computing/– 1.4625 0.9h', 'starved/gap 0.1625 0.1h'],
    },
    'of one reason': {
      by: 'team',
      filter: 'reason=gap|empty',
      want: ['platform 3.25 2h', 'nlp 0.1625 0.1h', '– 6.5 4h'],
    },
    'by basis': {
      by: 'basis',
      want: ['billed 28.45 16h', 'rate 4 2h', 'estimated 1.61 2h', 'unpriced no price 2h !2h'],
    },
    'by team and class': {
      by: 'team,class',
      filter: 'cluster=a,team=nlp|asr',
      want: ['nlp/training 9.75 6h', 'asr/inference 6.5 4h'],
    },
    'what nobody owns can be asked for': {
      by: 'cluster,basis',
      filter: 'team=',
      want: ['a/billed 6.5 4h', '–/billed 2.45 0h', 'c/estimated 1.61 2h', 'c/unpriced no price 2h !2h'],
    },
    'by job, which needs single entries': {
      by: 'job',
      want: ['102 6.5 4h', '103 6.5 4h', '201 4 2h', '101 3.25 2h', '– 13.81 10h !2h'],
    },
    'by node': {
      by: 'node',
      filter: 'component=gpu,basis=billed',
      want: ['a1 13 8h', 'a2 13 8h', '– 1 0h'],
    },
    'by hour, in the order of time': {
      by: 'hour,category',
      filter: 'job=101',
      want: [
        '2026-03-02T08:00:00Z/computing 1.4625 0.9h',
        '2026-03-02T08:00:00Z/starved 0.1625 0.1h',
        '2026-03-02T09:00:00Z/idle 1.625 1h',
      ],
    },
    'by day and provider': { by: 'day,provider', want: ['2026-03-02/AWS 28.45 16h', '2026-03-02/– 5.61 6h !2h'] },
    'in steps of hours from the window’s beginning': {
      by: 'team',
      filter: 'team=nlp',
      step: '2h',
      window: '2026-03-02T07:00:00Z/2026-03-02T11:00:00Z',
      want: ['2026-03-02T07 nlp 3.25 2h', '2026-03-02T09 nlp 4.875 3h'],
    },
    'in steps of days': { by: 'class', filter: 'class=training', step: '7d', want: ['2026-03-01T00 training 9.75 6h'] },
    'a window without money has no rows': {
      by: 'team',
      window: '2026-02',
      want: [],
    },
    'hours that have not begun yet do not count': {
      by: 'team',
      filter: 'team=nlp',
      now: new Date('2026-03-02T09:30:00Z'),
      want: ['nlp 6.5 4h'],
    },
    'a day that is over is answered from its sums': {
      by: 'team',
      filter: 'team=nlp',
      now: new Date('2026-03-05T00:00:00Z'),
      want: ['nlp 9.75 6h'],
    },
    'in one sum': { by: '', want: [' 34.06 22h !2h'] },
    'a value is text, whatever is in it': { by: 'team', filter: "team=x' OR 'a'='a", want: [] },
    'not even a parameter’s name': { by: 'job', filter: 'job=$windowFrom', want: [] },
  };

  test.each(Object.entries(cases))('%s', async (_, { want, ...asked }) => {
    expect((await ask(asked)).rows.map(line)).toEqual(want);
  });

  test('the total is of what has a price', async () => {
    const { totalUsdMicros, heldUnits, unpricedUnits } = await ask({ by: 'team' });
    expect([totalUsdMicros, heldUnits, unpricedUnits]).toEqual([34_060_000n, 22n * 226_800_000n, 2n * 226_800_000n]);
    expect((await ask({ by: 'team', filter: 'basis=unpriced' })).totalUsdMicros).toBeNull();
    expect((await ask({ by: 'team', filter: 'team=nobody-of-that-name' })).totalUsdMicros).toBe(0n);
  });

  const unknown: Record<string, { asked: Asked; want: string[] }> = {
    'a team by its capitals': { asked: { by: 'class', filter: 'team=NLP' }, want: ['team NLP → nlp'] },
    'a node, which only entries know, and a cluster that is there': {
      asked: { by: 'team', filter: 'node=A-1,cluster=a' },
      want: ['node A-1 → a1'],
    },
    'nothing alike': { asked: { by: 'team', filter: 'user=Zzz' }, want: ['user Zzz → ?'] },
    'each of several': {
      asked: { by: 'team', filter: 'team=nlq|visio' },
      want: ['team nlq → nlp', 'team visio → vision'],
    },
    'values that are there, only not together': { asked: { by: 'team', filter: 'team=nlp,cluster=b' }, want: [] },
    'times have no nearest': { asked: { by: 'team', filter: 'day=2026-03-09' }, want: [] },
    'nor has a question that is answered': { asked: { by: 'team', filter: 'team=nlp|asx' }, want: [] },
    'nor a window of nothing': { asked: { by: 'team', filter: 'team=nlq', window: '2026-02' }, want: [] },
  };
  test.each(Object.entries(unknown))('the nearest value: %s', async (_, { asked, want }) => {
    const { unknownValues } = await ask(asked);
    expect(unknownValues.map(({ dimension, value, nearest }) => `${dimension} ${value} → ${nearest ?? '?'}`)).toEqual(
      want,
    );
  });

  test('for people', async () => {
    expect(spendText(await ask({ by: 'class', filter: 'team=NLP|zzz' })).slice(1)).toEqual([
      'nothing in this window',
      'no team is called "NLP" in it (nearest: nlp)',
      'no team is called "zzz" in it',
    ]);
  });

  test('whole days and single entries give the same answer', async () => {
    for (const by of [
      'team',
      'class,category',
      'model',
      'purchase',
      'account',
      'region',
      'user',
      'component',
      'bill',
    ]) {
      const days = await ask({ by });
      const entries = await ask({ by: `${by},provider` });
      expect(entries.totalUsdMicros, by).toBe(days.totalUsdMicros);
      expect(new Set(entries.rows.map((row) => row.values[0])), by).toEqual(
        new Set(days.rows.map((row) => row.values[0])),
      );
    }
  });
});

test.each(['', '0d', '1w', '1.5h', '99999d', 'day'])('%j is no step of time', (text) => {
  expect(() => parseStep(text)).toThrow('is not a step of time');
});
