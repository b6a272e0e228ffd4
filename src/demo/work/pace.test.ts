import { describe, expect, it } from 'vitest';
import { paceOf, partsOf, secondsForWork, workInSeconds, type Pace, type StepTimes } from './pace.ts';

const cases: Record<string, { times: StepTimes; want: Pace }> = {
  'a loader that is fast enough costs nothing': {
    times: { stepMs: 100, allReduceMs: 0, loadMs: 99 },
    want: { stepping: 1000, allReduce: 0, waiting: 0 },
  },
  'a loader four times as slow as the step leaves a quarter for it': {
    times: { stepMs: 100, allReduceMs: 0, loadMs: 400 },
    want: { stepping: 250, allReduce: 0, waiting: 750 },
  },
  'gradients are exchanged after the step': {
    times: { stepMs: 150, allReduceMs: 50, loadMs: 20 },
    want: { stepping: 750, allReduce: 250, waiting: 0 },
  },
  'the loader works ahead while gradients are exchanged': {
    times: { stepMs: 150, allReduceMs: 50, loadMs: 250 },
    want: { stepping: 600, allReduce: 200, waiting: 200 },
  },
  'the hungriest run still makes a step now and then': {
    times: { stepMs: 1, allReduceMs: 0, loadMs: 100_000 },
    want: { stepping: 1, allReduce: 0, waiting: 999 },
  },
  'an exchange that takes nearly all leaves as much': {
    times: { stepMs: 1, allReduceMs: 5000, loadMs: 0 },
    want: { stepping: 1, allReduce: 999, waiting: 0 },
  },
};

describe('the pace of a run', () => {
  it.each(Object.entries(cases))('%s', (_, { times, want }) => {
    expect(paceOf(times)).toEqual(want);
  });

  it('decides how long work takes', () => {
    const starved = paceOf({ stepMs: 100, allReduceMs: 0, loadMs: 400 });
    expect(secondsForWork(3600, starved)).toBe(14_400);
    expect(workInSeconds(14_400, starved)).toBe(3600);
    expect(secondsForWork(0, starved)).toBe(1);
  });

  it('waits stay waits, whatever became of the steps; parts of nothing are left out', () => {
    expect(partsOf({ stepping: 600, allReduce: 0, waiting: 400 }, 'cancelled-work')).toEqual([
      { reason: 'cancelled-work', permille: 600 },
      { reason: 'waiting-for-data', permille: 400 },
    ]);
  });
});
