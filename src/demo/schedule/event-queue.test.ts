import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventQueue } from './event-queue.ts';

describe('events happen', () => {
  it('by time, then by rank, then as they were put in', () => {
    const event = fc.record({ at: fc.integer({ min: 0, max: 20 }), rank: fc.integer({ min: 0, max: 2 }) });
    fc.assert(
      fc.property(fc.array(event), (events) => {
        const queue = new EventQueue<(typeof events)[number]>();
        for (const put of events) queue.put(put.at, put.rank, put);
        const taken = events.map(() => {
          const at = queue.nextAt();
          const next = queue.take();
          expect(next.at).toBe(at);
          return next;
        });
        // Sorting keeps the order of equals, and compares by identity what a record alone would not tell apart.
        const want = [...events].sort((a, b) => a.at - b.at || a.rank - b.rank);
        expect(taken.every((next, index) => next === want[index])).toBe(true);
        expect(queue.nextAt()).toBe(Infinity);
      }),
    );
  });
});
