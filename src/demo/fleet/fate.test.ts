import { describe, expect, it } from 'vitest';
import { chanceOf } from '../chance.ts';
import type { NodeState } from '../organisation.ts';
import { poolOf } from '../schedule/small-world.ts';
import type { Pool, Quantiles } from '../world/world-schema.ts';
import { spotGapS, spotLifeS, statesOf, statesSince } from './fate.ts';

const DAY_S = 86_400;
const hours = (value: number): Quantiles => ({
  p0: value,
  p10: value,
  p50: value,
  p90: value,
  p99: value,
  p100: value,
});
const fates = (changes: Partial<Pool>, machines = 400, days = 50) =>
  Array.from({ length: machines }, (_, index) =>
    statesOf(poolOf(changes), chanceOf('fate', index), 1000, 1000 + days * DAY_S),
  );

/** Share of all machine time in a state. */
function shareIn(state: NodeState, all: ReturnType<typeof fates>): number {
  const seconds = (stretches: ReturnType<typeof statesOf>) =>
    stretches.reduce((sum, { from, until }) => sum + until - from, 0);
  return seconds(all.flat().filter((stretch) => stretch.state === state)) / seconds(all.flat());
}

describe('the fate of a machine', () => {
  it('has no gaps and no stretch of nothing, whatever goes wrong', () => {
    for (const states of fates({ days_between_failures: 3, hours_broken: hours(20), drained_percent: 20 })) {
      expect(states[0]!.from).toBe(1000);
      expect(states.at(-1)!.until).toBe(1000 + 50 * DAY_S);
      expect(states.every(({ from, until }) => until > from)).toBe(true);
      expect(states.slice(1).map(({ from }) => from)).toEqual(states.slice(0, -1).map(({ until }) => until));
      expect(states.some(({ state }, index) => state === states[index + 1]?.state)).toBe(false);
    }
  });

  it('is to be up where nothing goes wrong', () => {
    expect(fates({}, 1)).toEqual([[{ from: 1000, until: 1000 + 50 * DAY_S, state: 'up' }]]);
  });

  it('is to break as often as the world says', () => {
    // One day down after nine days up: a tenth.
    expect(shareIn('down', fates({ days_between_failures: 9, hours_broken: hours(24) }))).toBeCloseTo(0.1, 1);
  });

  it('on spot is to be taken away instead', () => {
    const pool = { purchase: 'spot', days_between_failures: 1, spot_hours_between_interruptions: 30 } as const;
    expect(shareIn('down', fates(pool))).toBe(0);
    const lives = Array.from({ length: 2000 }, (_, index) => spotLifeS(poolOf(pool), chanceOf('life', index)));
    const meanHours = lives.reduce((sum, life) => sum + life, 0) / lives.length / 3600;
    expect(meanHours).toBeGreaterThan(27);
    expect(meanHours).toBeLessThan(33);
  });

  it('on spot that nobody takes away is to stay, and a place is never filled in the same second', () => {
    expect(spotLifeS(poolOf({ purchase: 'spot' }), chanceOf('life'))).toBe(Infinity);
    expect(spotGapS(poolOf({ spot_hours_until_replaced: hours(0) }), chanceOf('gap'))).toBeGreaterThan(0);
    expect(spotGapS(poolOf({ spot_hours_until_replaced: hours(2) }), chanceOf('gap'))).toBe(7200);
  });

  it.each([[4], [30], [100]])('is to be drained %s percent of the time, the first day included', (percent) => {
    const all = fates({ drained_percent: percent }, 2000);
    expect(Math.abs(shareIn('drained', all) * 100 - percent)).toBeLessThan(percent / 6);
    const first = all.filter(([states]) => states!.state === 'drained').length / 20;
    expect(Math.abs(first - percent)).toBeLessThan(percent / 3);
  });

  it('as seen from later on begins there', () => {
    const states = [
      { from: 0, until: 10, state: 'up' },
      { from: 10, until: 20, state: 'down' },
      { from: 20, until: 30, state: 'up' },
    ] as const;
    expect(statesSince(states, 15)).toEqual([{ from: 15, until: 20, state: 'down' }, states[2]]);
    expect(statesSince(states, 20)).toEqual([states[2]]);
  });
});
