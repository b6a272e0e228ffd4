import { describe, expect, it } from 'vitest';
import type { Batch, Snapshot } from '../../facts/manifest.ts';
import type { Scope } from '../../lake/scope.ts';
import { decideNow } from '../now.ts';
import { clockOf, DEMO_BATCH, demoMark } from './demo-mark.ts';

const spaceOf = (origins: readonly string[], horizon?: Date) => ({
  snapshot: { batches: origins.map((origin) => ({ origin }) as Batch) } as unknown as Snapshot,
  scope: horizon === undefined ? undefined : ({ horizon } as Scope),
});
const AHEAD = new Date('2097-01-01T00:00:00Z');
const LONG_AGO = new Date('2001-01-01T00:00:00Z');

describe('data of a demo', () => {
  it('is marked as soon as one batch of it is there', () => {
    expect(demoMark(spaceOf([]).snapshot)).toBe('');
    expect(demoMark(spaceOf(['nodes.csv']).snapshot)).toBe('');
    expect(demoMark(spaceOf(['mine.csv', `${DEMO_BATCH}nodes.csv`]).snapshot)).toBe('DEMO  ');
  });

  it('is history wherever the clock stands', () => {
    for (const horizon of [AHEAD, LONG_AGO]) {
      const space = spaceOf([`${DEMO_BATCH}nodes.csv`], horizon);
      expect(decideNow(undefined, horizon, clockOf(space))).toEqual({ at: horizon, by: 'newest fact' });
    }
  });

  it('alone has a clock of its own', () => {
    const before = Date.now();
    for (const space of [spaceOf(['mine.csv'], AHEAD), spaceOf([`${DEMO_BATCH}nodes.csv`])]) {
      expect(clockOf(space).getTime()).toBeGreaterThanOrEqual(before);
      expect(clockOf(space).getTime()).toBeLessThan(AHEAD.getTime());
    }
  });
});
