import { describe, expect, it } from 'vitest';
import { rateLimit } from './rate-limit.ts';

/** How many of so many requests one who asks may make. */
const allowed = (limit: ReturnType<typeof rateLimit>, who: string, asked: number): number => {
  let count = 0;
  for (let turn = 0; turn < asked; turn += 1) {
    try {
      limit.take(who);
      count += 1;
    } catch (failure) {
      expect(failure).toMatchObject({ code: 'too-many-requests' });
    }
  }
  return count;
};

describe('whoever asks', () => {
  it.each([
    { name: 'has so many at once, and no more', afterMs: 0, want: 0 },
    { name: 'has some more after a while', afterMs: 1500, want: 3 },
    { name: 'has never more than so many, however long he was away', afterMs: 3_600_000, want: 5 },
  ])('$name', ({ afterMs, want }) => {
    let atMs = 0;
    const limit = rateLimit({ perSecond: 2, burst: 5 }, () => atMs);
    expect(allowed(limit, 'ann', 100)).toBe(5);
    atMs += afterMs;
    expect(allowed(limit, 'ann', 100)).toBe(want);
    expect(allowed(limit, 'ben', 1)).toBe(1);
  });

  it('is remembered among ten thousand, and of more the one who was silent longest is not', () => {
    const limit = rateLimit({ perSecond: 1, burst: 1 }, () => 0);
    for (let place = 0; place < 10_000; place += 1) limit.take(`client ${place}`);
    expect(allowed(limit, 'client 0', 1)).toBe(0);
    limit.take('one more');
    expect([allowed(limit, 'client 0', 1), allowed(limit, 'client 1', 1)]).toEqual([0, 1]);
  });
});
