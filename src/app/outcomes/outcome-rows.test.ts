import { describe, expect, it } from 'vitest';
import type { Achieved } from './meet-work.ts';
import { costGrowth, outcomeRows } from './outcome-rows.ts';

const USD = 1_000_000n;

function served(usd: bigint | null, millionTokens: bigint, more: Partial<Achieved> = {}): Achieved {
  const usdMicros = usd === null ? null : usd * USD;
  return {
    modelName: 'chat-8b',
    run: undefined,
    team: 'web',
    units: new Map([['token', millionTokens * USD * USD]]),
    paid: {
      usdMicros,
      activeUsdMicros: usdMicros === null ? null : usdMicros / 2n,
      unknownUsdMicros: usdMicros === null ? null : 0n,
      gpuUnits: 1n,
      computingUnits: 0n,
      unknownUnits: 0n,
      unpricedUnits: 0n,
    },
    countedSeconds: 3600n,
    heldSeconds: 3600n,
    sharedBy: undefined,
    ...more,
  };
}

describe('serving cost that grows faster than its traffic', () => {
  const before = served(1000n, 1000n);
  const unpriced = served(2000n, 1000n);
  const cases: Record<string, { now: Achieved; before?: Achieved; want: boolean }> = {
    'twice the cost for the same traffic is an alarm': { now: served(2000n, 1000n), want: true },
    'twice the cost for twice the traffic is none': { now: served(2000n, 2000n), want: false },
    'a fifth dearer exactly is none': { now: served(1200n, 1000n), want: false },
    'a little more than a fifth is one': { now: served(1201n, 1000n), want: true },
    'the same cost for less traffic is none: the cost did not grow': { now: served(1000n, 500n), want: false },
    'traffic that stopped while the cost grew is one': { now: served(1100n, 0n), want: true },
    'below a hundred dollars nobody is woken': { now: served(199n, 10n), before: served(100n, 10n), want: false },
    'a hundred dollars exactly is enough': { now: served(200n, 10n), before: served(100n, 10n), want: true },
    'without a price there is none': { now: served(null, 1000n), want: false },
    'counters for less than nine tenths of the time say nothing': {
      now: served(2000n, 1000n, { countedSeconds: 3239n }),
      want: false,
    },
    'in the window before too': { now: served(2000n, 1000n), before: { ...before, countedSeconds: 0n }, want: false },
    'time without a price says nothing': {
      now: { ...unpriced, ...(unpriced.paid && { paid: { ...unpriced.paid, unpricedUnits: 1n } }) },
      want: false,
    },
    'a model that was not there before is new, not dearer': {
      now: served(2000n, 1000n, { modelName: 'new' }),
      want: false,
    },
  };
  it.each(Object.entries(cases))('%s', (_, { now, before: earlier = before, want }) => {
    expect(costGrowth([now], [earlier]).length === 1).toBe(want);
  });
});

describe('rows', () => {
  it('divide what was paid only by the work it did', () => {
    const rows = outcomeRows('model', [served(100n, 10n), served(50n, 0n, { modelName: 'idle' })], []);
    expect(rows.map(({ name, now }) => [name, now.quantityMillionths])).toEqual([
      ['chat-8b', 10n * USD * USD],
      ['idle', 0n],
    ]);
  });

  it('work without a cost is in no row', () => {
    expect(outcomeRows('model', [served(1n, 1n, { paid: undefined })], [])).toEqual([]);
  });

  it('runs that differ in numbers are one row by model, and two by run', () => {
    const run = (name: string): Achieved => served(1n, 1n, { modelName: undefined, run: name });
    const two = [run('sft-1'), run('sft-2')];
    expect(outcomeRows('model', two, []).map(({ name }) => name)).toEqual(['sft-#']);
    expect(outcomeRows('run', two, []).map(({ name }) => name)).toEqual(['sft-1', 'sft-2']);
  });

  it('a unit is told of so many that its price is at least a cent, the same in every row', () => {
    const steps = (usd: bigint, count: bigint, name: string): Achieved =>
      served(usd, 0n, { modelName: name, units: new Map([['step', count * USD]]) });
    const rows = outcomeRows('model', [steps(100n, 1_000_000n, 'cheap'), steps(5n, 10n, 'dear')], []);
    expect(rows.map(({ per }) => per)).toEqual([1000n, 1000n]);
  });
});
