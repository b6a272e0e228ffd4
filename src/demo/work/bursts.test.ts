import { describe, expect, it } from 'vitest';
import { chanceOf } from '../chance.ts';
import { NOTHING } from '../timeline.ts';
import { allOf, bursts } from './bursts.ts';
import { always, NOTEBOOK } from './small-work.ts';

const busy = { ...NOTHING, engine: 900 };
const told = (until: number, tempo = NOTEBOOK) =>
  [...bursts(chanceOf('x'), tempo, { from: 0, until, busy, resting: NOTHING })].map((span) => [
    span.from,
    span.until,
    span.parts[0]!.reason,
    span.levels.engine,
  ]);

describe('somebody at work', () => {
  it('runs, reads and runs again until they go', () => {
    expect(told(2000)).toEqual([
      [0, 600, 'debugging', 900],
      [600, 1800, 'thinking', 0],
      [1800, 2000, 'debugging', 900],
    ]);
  });

  it('takes some seconds even where the world says none', () => {
    expect(told(25, { ...NOTEBOOK, burst_minutes: always(0), pause_minutes: always(0) })).toHaveLength(3);
  });

  it('who goes at once does nothing', () => {
    expect(told(0)).toEqual([]);
  });

  it('spans of one reason share their parts', () => {
    expect(allOf('thinking')).toBe(allOf('thinking'));
    expect(allOf('thinking')).toEqual([{ reason: 'thinking', permille: 1000 }]);
  });
});
