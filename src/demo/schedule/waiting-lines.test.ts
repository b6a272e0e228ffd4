import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WaitingLines } from './waiting-lines.ts';

describe('lines by size', () => {
  it('give who came first of those small enough, as one long line would', () => {
    const step = fc.oneof(
      fc.record({ join: fc.integer({ min: 1, max: 4 }) }),
      fc.record({ takeFewerThan: fc.integer({ min: 1, max: 6 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 600, size: 'max' }), (steps) => {
        const lines = new WaitingLines<{ gpus: number }>();
        const line: { gpus: number }[] = [];
        for (const next of steps) {
          if ('join' in next) {
            const ask = { gpus: next.join };
            lines.join(ask.gpus, ask);
            line.push(ask);
            continue;
          }
          const place = line.findIndex(({ gpus }) => gpus < next.takeFewerThan);
          if (lines.first(next.takeFewerThan) !== line[place]) throw new Error('somebody was passed');
          lines.takeFirst(next.takeFewerThan);
          if (place >= 0) line.splice(place, 1);
        }
        expect(lines.first()).toBe(line[0]);
        expect(lines.all()).toEqual(line);
      }),
      { numRuns: 50 },
    );
  });
});
