import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BreakdownReply } from '../../../../src/api/routes/spend/spend-breakdown.ts';
import { colourOf } from './colours.ts';
import { asShares, estimatedSpans, seriesOf, spreadLabels } from './series.ts';

const groupOf = (usdMicros: readonly string[]) => ({
  usdMicros: String(usdMicros.reduce((sum, each) => sum + BigInt(each), 0n)),
  gpuSeconds: 7200,
  unpricedSeconds: 0,
  beforeUsdMicros: null,
  computedPermille: null,
  computedBeforePermille: null,
  categories: {},
  steps: { usdMicros: [...usdMicros], gpuSeconds: usdMicros.map(() => 3600) },
});

function replyOf(
  by: string,
  groups: Readonly<Record<string, readonly string[]>>,
  others?: readonly string[],
): BreakdownReply {
  const steps = ['2026-11-01T00:00:00Z', '2026-11-02T00:00:00Z'];
  return {
    by: [by],
    window: { from: '2026-11-01T00:00:00Z', until: '2026-11-03T00:00:00Z' },
    before: { from: '2026-10-30T00:00:00Z', until: '2026-11-01T00:00:00Z', isKnown: false },
    price: 'amortised',
    filter: '',
    stepSeconds: 86_400,
    steps: steps.map((from) => ({ from, isEstimated: false })),
    stepsBefore: { usdMicros: [], gpuSeconds: [] },
    rows: Object.entries(groups).map(([value, usdMicros]) => ({
      values: { [by]: value === '' ? null : value },
      ...groupOf(usdMicros),
    })),
    others: others === undefined ? null : { groups: 3, ...groupOf(others) },
    total: groupOf([]),
  };
}

describe('layers of the chart', () => {
  it('teams have the colours of their order in the ledger, the others stand together, nobody on top', () => {
    const order = ['asr', 'nlp', 'c', 'd', 'e', 'f', 'g', 'h', 'ninth', 'tenth', null];
    const groups = {
      nlp: ['3000000', '4000000'],
      ninth: ['2000000', '1000000'],
      asr: ['1000000', '0'],
      tenth: ['1000000', '1000000'],
      '': ['5000000', '5000000'],
    };
    expect(seriesOf(replyOf('team', groups, ['500000', '500000']), 'cost', order)).toEqual([
      { key: 'is nlp', name: 'nlp', of: 'cat-2', values: [3, 4] },
      { key: 'is asr', name: 'asr', of: 'cat-1', values: [1, 0] },
      { key: 'rest', name: '5 others', of: 'cat-rest', values: [3.5, 2.5] },
      { key: 'is ', name: 'unattributed', of: 'unknown', values: [5, 5] },
    ]);
  });

  it('categories have the colours of the waterfall, and what computed lies at the bottom', () => {
    const reply = replyOf('category', { idle: ['1', '1'], computing: ['1', '1'], beside: ['1', '1'] });
    expect(seriesOf(reply, 'hours', []).map(({ name, of }) => [name, of])).toEqual([
      ['Computed', 'step-useful'],
      ['Idle', 'step-idle'],
      ['Beside the GPU', 'step-beside'],
    ]);
  });

  it('a team keeps its colour, whichever others are there', () => {
    expect(colourOf('team', 'nlp', ['asr', 'nlp'])).toBe(colourOf('team', 'nlp', ['asr', 'nlp', 'vision', null]));
    expect(colourOf('team', null, ['asr'])).toBe('unknown');
  });

  it('shares of a step add up to 100, and a step without anything has none', () => {
    const series = seriesOf(replyOf('team', { a: ['1000000', '0'], b: ['3000000', '0'] }), 'cost', ['a', 'b']);
    expect(asShares(series).map(({ values }) => values)).toEqual([
      [25, null],
      [75, null],
    ]);
  });
});

it('labels never come nearer than they are tall, while there is room', () => {
  const wanted = fc.array(fc.double({ min: 0, max: 200, noNaN: true }), { minLength: 1, maxLength: 10 });
  fc.assert(
    fc.property(wanted, (ys) => {
      const placed = spreadLabels(ys, 13, 0, 240).toSorted((a, b) => a - b);
      for (const [place, y] of placed.entries()) {
        expect(y).toBeGreaterThanOrEqual(-1e-9);
        expect(y).toBeLessThanOrEqual(240 + 1e-9);
        expect(y - (placed[place - 1] ?? -13)).toBeGreaterThanOrEqual(13 - 1e-9);
      }
    }),
  );
});

it('estimated steps next to each other have one bracket', () => {
  const steps = [false, true, true, false, true].map((isEstimated) => ({ from: '2026-11-01T00:00:00Z', isEstimated }));
  expect(estimatedSpans(steps)).toEqual([
    [1, 2],
    [4, 4],
  ]);
});
