import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { shortModel } from './model-word.ts';
import { barsWords, bucketsOf, computedPermille, jobMoney, lettersRuns, verdictOf } from './verdict.ts';

const seconds = (parts: Record<string, number>) => ({
  gpuSeconds: Object.values(parts).reduce((sum, part) => sum + part, 0),
  categories: Object.fromEntries(
    Object.entries(parts).map(([category, gpuSeconds]) => [category, { usdMicros: null, gpuSeconds }]),
  ),
});

describe('the verdict on a job', () => {
  const cases: Record<string, { parts: Record<string, number>; want: string; category?: string }> = {
    'most of its time it computed': { parts: { computing: 95, starved: 5 }, want: 'Computed' },
    'a third of its time it waited': {
      parts: { computing: 60, starved: 30, idle: 10 },
      want: 'Starved',
      category: 'starved',
    },
    'more than half of its time it did nothing': {
      parts: { computing: 30, idle: 70 },
      want: 'Mostly idle',
      category: 'idle',
    },
    'a fifth of its time it did nothing': { parts: { computing: 80, idle: 20 }, want: 'Partly idle', category: 'idle' },
    'what it did came to nothing': { parts: { computing: 10, lost: 90 }, want: 'Work lost', category: 'lost' },
    'nobody measured most of it: nothing is said of the rest': {
      parts: { computing: 1, idle: 39, unknown: 60 },
      want: 'Mostly not measured',
      category: 'unknown',
    },
    'it held no GPU': { parts: {}, want: 'Held no GPU' },
  };
  test.each(Object.entries(cases))('%s', (_, { parts, want, category }) => {
    expect(verdictOf(seconds(parts))).toMatchObject({ word: want, category });
  });
});

describe('money over time', () => {
  test('however long a job was, its bars add up to its money and are at most 96', () => {
    const hour = fc.record({ at: fc.integer({ min: 0, max: 3000 }), micros: fc.bigInt({ min: -5n, max: 10n ** 12n }) });
    fc.assert(
      fc.property(fc.array(hour, { minLength: 1, maxLength: 60 }), (all) => {
        const time = (at: number): string => new Date(at * 3_600_000).toISOString();
        const last = Math.max(...all.map(({ at }) => at));
        const hours = all.map(({ at, micros }) => ({
          hour: time(at),
          category: 'idle',
          costUsdMicros: String(micros),
          gpuSeconds: 3600,
          unpricedSeconds: 0,
        }));
        const { buckets } = bucketsOf(hours, time(0), time(last + 1));
        const sum = buckets.reduce((total, { micros }) => total + (micros.get('idle') ?? 0n), 0n);
        expect(sum).toBe(all.reduce((total, { micros }) => total + micros, 0n));
        expect(buckets.length).toBeLessThanOrEqual(96);
      }),
    );
  });

  test('what has no price is in no bar, and is told beside it', () => {
    const hour = { hour: '2026-03-02T08:00:00Z', category: 'idle', costUsdMicros: null };
    const [bucket] = bucketsOf(
      [{ ...hour, gpuSeconds: 3600, unpricedSeconds: 3600 }],
      '2026-03-02T08:00:00Z',
      '2026-03-02T09:00:00Z',
    ).buckets;
    expect(bucket?.micros.size).toBe(0);
    expect(bucket?.unpriced.get('idle')).toBe(3600);
  });
});

test.each([
  [{ computingSeconds: 76, idleSeconds: 10, starvedSeconds: 7, lostSeconds: 7 }, 760],
  [{ computingSeconds: 0, idleSeconds: 0, starvedSeconds: 0, lostSeconds: 9 }, 0],
  [{ computingSeconds: 0, idleSeconds: 0, starvedSeconds: 0, lostSeconds: 0 }, null],
])('of a GPU’s seconds %j a share of %s computed: lost work did not', (device, want) => {
  expect(computedPermille(device)).toBe(want);
});

test.each([
  ['2026-03-06T00:00:00Z', null],
  ['2026-03-12T00:00:00Z', 'steps of 3 h'],
  ['2026-05-20T00:00:00Z', 'steps of 24 h'],
])('the bars of a job until %s are of one hour, or say of how many', (until, want) => {
  const activity = { from: '2026-03-02T00:00:00Z', until, stepSeconds: 3600, rows: [] };
  expect(barsWords({ hours: [], activity })).toBe(want);
});

test('runs of a row cover it from end to end', () => {
  expect(lettersRuns('--0066x')).toEqual([
    { letter: '-', from: 0, until: 2 },
    { letter: '0', from: 2, until: 4 },
    { letter: '6', from: 4, until: 6 },
    { letter: 'x', from: 6, until: 7 },
  ]);
});

test.each([
  ['NVIDIA H100 80GB HBM3', 'H100'],
  ['NVIDIA A100-SXM4-80GB', 'A100'],
  ['Tesla T4', 'T4'],
  ['AMD Instinct MI300X', 'MI300X'],
  ['Zorg', 'Zorg'],
])('%s is called %s', (model, want) => {
  expect(shortModel(model)).toBe(want);
});

test('the parts of a job’s money add up as they are shown, in the order of the waterfall', () => {
  const hour = (category: string, costUsdMicros: string | null) => ({
    hour: '2026-10-03T02:00:00Z',
    category,
    costUsdMicros,
    gpuSeconds: 3600,
    unpricedSeconds: costUsdMicros === null ? 3600 : 0,
  });
  const { total, steps } = jobMoney({
    hours: [
      hour('computing', '100400000'),
      hour('starved', '100400000'),
      hour('lost', '100400000'),
      hour('unknown', '0'),
    ],
  });
  const shown = steps.map(({ step, shown: amount }) => [step.category, Number(amount.replace('$', ''))] as const);
  expect(shown.map(([category]) => category)).toEqual(['starved', 'lost', 'computing']);
  expect(`$${shown.reduce((sum, [, amount]) => sum + amount, 0)}`).toBe(total);

  const half = jobMoney({ hours: [hour('computing', '100400000'), hour('computing', null), hour('idle', null)] });
  expect(half.total).toBe('≥ $100');
  expect(half.steps.map(({ step, shown: amount }) => [step.category, amount])).toEqual([
    ['idle', 'no price'],
    ['computing', '≥ $100'],
  ]);
});
