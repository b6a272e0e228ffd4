import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { servedWaiting } from './served-waiting.ts';
import type { IdleHour, WaitingHour } from './served-waiting.ts';

/** Unit-seconds of so many GPU-hours. */
const hours = (count: number): bigint => BigInt(Math.round(count * 3600)) * 63_000n;

const idle = (count: number, rest: Partial<IdleHour> = {}): IdleHour => ({
  hour: '2026-03-02T09:00:00Z',
  cluster: 'a',
  model: 'NVIDIA H100 80GB HBM3',
  units: hours(count),
  usdMicros: BigInt(Math.round(count * 2_000_000)),
  unpricedUnits: 0n,
  ...rest,
});
const waits = (count: number, rest: Partial<WaitingHour> = {}): WaitingHour => ({
  hour: '2026-03-02T09:00:00Z',
  cluster: 'a',
  model: null,
  gpus: 1n,
  units: hours(count),
  ...rest,
});

const cases: Record<
  string,
  { idle: IdleHour[]; waiting: WaitingHour[]; want: number; usd?: number | null; unpriced?: number }
> = {
  'less waits than is idle: all that waits': { idle: [idle(4)], waiting: [waits(1.5)], want: 1.5, usd: 3 },
  'less is idle than waits: all that is idle': { idle: [idle(0.5)], waiting: [waits(3)], want: 0.5, usd: 1 },
  'in another hour': { idle: [idle(4)], waiting: [waits(2, { hour: '2026-03-02T10:00:00Z' })], want: 0, usd: 0 },
  'in another cluster': { idle: [idle(4)], waiting: [waits(2, { cluster: 'b' })], want: 0, usd: 0 },
  'for any cluster': { idle: [idle(4)], waiting: [waits(2, { cluster: null })], want: 2, usd: 4 },
  'for another model': { idle: [idle(4)], waiting: [waits(2, { model: 'T4' })], want: 0, usd: 0 },
  'for this model, by its short name': { idle: [idle(4)], waiting: [waits(2, { model: 'h100' })], want: 2, usd: 4 },
  'on GPUs of which nobody knows the model': {
    idle: [idle(4, { model: null })],
    waiting: [waits(1, { model: 'H100' }), waits(1)],
    want: 1,
    usd: 2,
  },
  'more GPUs than stood idle': { idle: [idle(4)], waiting: [waits(8, { gpus: 8n })], want: 0, usd: 0 },
  'as many GPUs as stood idle': { idle: [idle(8)], waiting: [waits(8, { gpus: 8n })], want: 8, usd: 16 },
  'who takes anything leaves the rare one to who needs it': {
    idle: [idle(1), idle(1, { model: 'T4', usdMicros: 300_000n })],
    waiting: [waits(1), waits(1, { model: 'H100' })],
    want: 2,
    usd: 2.3,
  },
  'without a price the time counts and the money is unknown': {
    idle: [idle(1, { usdMicros: null, unpricedUnits: hours(1) })],
    waiting: [waits(1)],
    want: 1,
    usd: null,
    unpriced: 1,
  },
  'half of it without a price': {
    idle: [idle(2, { usdMicros: 2_000_000n, unpricedUnits: hours(1) })],
    waiting: [waits(2)],
    want: 2,
    usd: 2,
    unpriced: 1,
  },
};

test.each(Object.entries(cases))('%s', (_, { idle: there, waiting, want, usd, unpriced = 0 }) => {
  const served = servedWaiting(there, waiting);
  expect(served.servedUnits).toBe(hours(want));
  expect(served.unpricedUnits).toBe(hours(unpriced));
  expect(served.usdMicros).toBe(usd === null ? null : BigInt(Math.round((usd ?? 0) * 1_000_000)));
});

describe('whatever is idle and waits', () => {
  const name = fc.constantFrom('a', 'b', null);
  const hour = fc.constantFrom('2026-03-02T09:00:00Z', '2026-03-02T10:00:00Z');
  const idles = fc.array(
    fc.record({
      hour,
      cluster: name,
      model: fc.constantFrom('H100', 'T4', null),
      count: fc.double({ min: 0, max: 9, noNaN: true }),
    }),
    { maxLength: 6 },
  );
  const waitings = fc.array(
    fc.record({
      hour,
      cluster: name,
      model: fc.constantFrom('H100', 'T4', null),
      gpus: fc.bigInt(1n, 8n),
      count: fc.double({ min: 0, max: 20, noNaN: true }),
    }),
    { maxLength: 6 },
  );
  test('no more is served than was idle, than waited, and than it cost', () => {
    fc.assert(
      fc.property(idles, waitings, (there, asked) => {
        const all = there.map(({ count, ...rest }) => idle(count, rest));
        const served = servedWaiting(
          all,
          asked.map(({ count, ...rest }) => waits(count, rest)),
        );
        expect(served.servedUnits <= served.idleUnits).toBe(true);
        expect(served.servedUnits <= served.waitingUnits).toBe(true);
        expect(served.servedUnits >= 0n).toBe(true);
        const cost = all.reduce((sum, { usdMicros }) => sum + (usdMicros ?? 0n), 0n);
        expect((served.usdMicros ?? 0n) <= cost).toBe(true);
      }),
    );
  });
});
