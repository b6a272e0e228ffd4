import { describe, expect, it } from 'vitest';
import { asksAgainAfter, outerEnd } from './lifetime.ts';
import { DAY, MONDAY, requestFor, TRAINING } from './small-work.ts';

const horizon = MONDAY + 31 * DAY;

describe('what ends a life from outside', () => {
  it.each([
    ['nothing: it is still running a day past the window', Infinity, { at: horizon, by: 'running' }],
    ['a machine that breaks in the window', MONDAY + 5 * DAY, { at: MONDAY + 5 * DAY, by: 'preempted' }],
    ['a machine that breaks long after it', horizon + 1, { at: horizon, by: 'running' }],
  ])('%s', (_, at, want) => {
    expect(outerEnd(requestFor(TRAINING, { machineLost: { at, by: 'preempted' } }))).toEqual(want);
  });

  it('a life that begins past everything has its second', () => {
    expect(outerEnd(requestFor(TRAINING, { from: horizon + 5 }))).toEqual({ at: horizon + 6, by: 'running' });
  });

  it('after a loss it asks again, otherwise not', () => {
    expect(asksAgainAfter('preempted', 100)).toEqual({ asksAgainAt: 160 });
    expect(asksAgainAfter('node-fail', 100)).toEqual({ asksAgainAt: 160 });
    expect(asksAgainAfter('running', 100)).toEqual({});
  });
});
