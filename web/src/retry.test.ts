import { describe, expect, it } from 'vitest';
import { Problem } from './ask.ts';
import { isWorthAnother, waitMs } from './retry.ts';

const problem = (status: number, retryAfterMs: number | null = null): Problem =>
  new Problem(status, 'x', null, retryAfterMs);

describe('another try', () => {
  it.each([
    ['a wrong question is asked once', problem(400), [false, false, false]],
    ['a token that is not good is not tried again', problem(401), [false, false, false]],
    ['a mistake of the server gets one more try', problem(500), [true, false, false]],
    ['what is no answer at all gets one more try', new SyntaxError('no JSON'), [true, false, false]],
    [
      'a folder without data is not asked again: the frame looks',
      new Problem(503, 'x', null, null, 'no-data'),
      [false, false, false],
    ],
    ['too many requests are tried later, three times', problem(429), [true, true, true]],
    ['a server that cannot just now is tried later, three times', problem(503), [true, true, true]],
  ])('%s', (_, failure, worth) => {
    expect([0, 1, 2].map((tries) => isWorthAnother(tries, failure))).toEqual(worth);
    expect(isWorthAnother(3, failure)).toBe(false);
  });

  it('what is on its way is asked for until it is there', () => {
    const onItsWay = new Problem(503, '3 of 90 days so far', null, 1000, 'still-checking');
    expect([0, 3, 100].map((tries) => isWorthAnother(tries, onItsWay))).toEqual([true, true, true]);
  });

  it('a server that is gone is asked until it is back, at the same pace', () => {
    const gone = new Problem(0, 'Bursar does not answer.', null, null, 'gone');
    expect([0, 3, 100].map((tries) => isWorthAnother(tries, gone))).toEqual([true, true, true]);
    expect([0, 3, 100].map((tries) => waitMs(tries, gone, 0))).toEqual([2000, 2000, 2000]);
  });

  it.each([
    ['as long as the server says', 0, problem(429, 5000), 5000],
    ['at most a minute', 0, problem(503, 3_600_000), 60_000],
    ['a second where it says nothing', 0, problem(503), 1000],
    ['and longer each time', 2, problem(503), 4000],
  ])('waits %s', (_, tries, failure, least) => {
    expect(waitMs(tries, failure, 0)).toBe(least);
    expect(waitMs(tries, failure, 1)).toBe(least + 1000);
  });
});
