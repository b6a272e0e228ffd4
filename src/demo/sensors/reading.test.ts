import { describe, expect, it } from 'vitest';
import { meanOf } from '../chance.ts';
import { NOTHING, type Levels, type Span } from '../timeline.ts';
import { cutProbeOf, ENGINE, MEMORY, POWER, probeOf, requestsIn, SENSOR_WINDOW_S, type Probe } from './reading.ts';
import { DAY_FROM, holdingOf, hours, just, smallDay, WORK } from './small-day.ts';

const { nodes } = smallDay();
const device = nodes[0]!.devices[0]!;
const held = (...lives: readonly (readonly Span[])[]): Probe =>
  probeOf(
    lives.map((spans, number) => holdingOf(device, spans, device.node.pool, number)),
    1,
  );
const engineAt = (probe: Probe, hour: number): number => {
  probe.read(DAY_FROM + hour * 3600);
  return probe.levels[ENGINE]!;
};
const engine = (permille: number): Levels => ({ ...NOTHING, engine: permille });

describe('what a device does at a moment', () => {
  const writing = { everyS: 3600, forS: 600, reason: 'checkpointing', levels: engine(7) } as const;
  const cases: Record<string, { lives: readonly (readonly Span[])[]; at: readonly number[]; want: readonly number[] }> =
    {
      'nobody holds it': { lives: [], at: [0, 12], want: [0, 0] },
      'a span begins with its first second and ends before its last': {
        lives: [[hours(1, 2, engine(500))]],
        at: [0.9, 1, 1.9, 2],
        want: [0, 500, 500, 0],
      },
      'span after span': {
        lives: [[hours(1, 2, engine(500)), hours(2, 3, engine(0)), hours(3, 4, engine(800))]],
        at: [1, 2, 3, 4],
        want: [500, 0, 800, 0],
      },
      'spans of earlier days are passed over': {
        lives: [Array.from({ length: 100 }, (_, hour) => hours(hour - 90, hour - 89, engine(hour)))],
        at: [0, 9],
        want: [90, 99],
      },
      'life after life': {
        lives: [[hours(-5, 2, engine(500))], [hours(4, 6, engine(300))]],
        at: [1, 3, 5],
        want: [500, 0, 300],
      },
      'a pause shows the levels of the pause, at the end of each round': {
        lives: [[hours(0, 24, engine(900), { pause: writing })]],
        at: [0, 0.8, 0.84, 1, 1.9],
        want: [900, 900, 7, 900, 7],
      },
      'two that share it add up': {
        lives: [[hours(0, 5, engine(300))], [hours(2, 9, engine(400))]],
        at: [1, 3, 6],
        want: [300, 700, 400],
      },
      'no engine runs more than all the time': {
        lives: [[hours(0, 5, engine(700))], [hours(0, 5, engine(700))]],
        at: [1],
        want: [1000],
      },
    };
  it.each(Object.entries(cases))('%s', (_, { lives, at, want }) => {
    const probe = held(...lives);
    expect(at.map((hour) => engineAt(probe, hour))).toEqual(want);
  });

  it('counts who holds it', () => {
    const probe = held([hours(0, 5, WORK)], [hours(2, 9, NOTHING)]);
    const holders = [1, 3, 6, 10].map((hour) => {
      probe.read(DAY_FROM + hour * 3600);
      return probe.holders;
    });
    expect(holders).toEqual([1, 2, 1, 0]);
  });

  it('a GPU that is cut shows each slice by its share', () => {
    const whole = cutProbeOf([
      { probe: held([hours(0, 5, { ...NOTHING, power: 800, memory: 400 })]), share: 0.5 },
      { probe: held([hours(0, 5, { ...NOTHING, power: 400, memory: 1000 })]), share: 0.25 },
      { probe: held(), share: 0.25 },
    ]);
    whole.read(DAY_FROM);
    expect([whole.levels[POWER], whole.levels[MEMORY]]).toEqual([500, 450]);
  });
});

describe('traffic', () => {
  const replica = (perHour: number, busyS: number, burst = just(1)): Span[] => [
    hours(0, 24, WORK, { traffic: { perHour, busyS, burst } }),
  ];
  const shown = (spans: Span[], gauge: number): number[] => {
    const probe = held(spans);
    return Array.from({ length: 2000 }, (_, place) => {
      probe.read(DAY_FROM + place * 40);
      return probe.levels[gauge]!;
    });
  };
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

  it.each([
    ['now and then a request', 60, 1],
    ['a request every few seconds', 900, 2],
    ['many a second', 36_000, 0.05],
  ])('%s: busy as long as the requests take', (_, perHour, busyS) => {
    const want = (WORK.engine * perHour * busyS) / 3600;
    expect(Math.abs(mean(shown(replica(perHour, busyS), ENGINE)) - want)).toBeLessThan(want * 0.1);
  });

  it('no requests, no work, but the model stays in memory', () => {
    expect(new Set(shown(replica(0, 1), ENGINE))).toEqual(new Set([0]));
    expect(new Set(shown(replica(0, 1), MEMORY))).toEqual(new Set([WORK.memory]));
  });

  it('more requests than there is time keep it busy all the time', () => {
    expect(new Set(shown(replica(36_000, 100), ENGINE))).toEqual(new Set([WORK.engine]));
  });

  it('swells and ebbs by the burst of ten minutes', () => {
    const burst = { p0: 0, p10: 0, p50: 0.5, p90: 2, p99: 3, p100: 3 };
    const values = shown(replica(36_000, 0.02, burst), ENGINE);
    expect(values.filter((value) => value === 0).length).toBeGreaterThan(50);
    expect(Math.max(...values)).toBeGreaterThan(WORK.engine * 0.4);
    expect(Math.abs(mean(values) - WORK.engine * 0.2 * meanOf(burst))).toBeLessThan(WORK.engine * 0.06);
  });

  it('two GPUs of one replica work at the same time, two replicas do not', () => {
    const [spans, pool] = [replica(60, 5), device.node.pool];
    const series = (place: number, job: number): number[] => {
      const probe = probeOf([holdingOf(nodes[0]!.devices[place]!, spans, pool, job)], 1);
      return Array.from({ length: 200 }, (_, minute) => engineAt(probe, minute / 60));
    };
    expect(series(0, 5)).toEqual(series(1, 5));
    expect(series(0, 5)).not.toEqual(series(1, 6));
  });

  it.each([0.1, 2, 8, 9, 300])('of %d expected requests: whole counts, spread as Poisson counts are', (expected) => {
    const counts = Array.from({ length: 20_000 }, (_, draw) => requestsIn(expected, 77, draw * SENSOR_WINDOW_S));
    const average = mean(counts);
    const variance = mean(counts.map((count) => (count - average) ** 2));
    expect(counts.every((count) => Number.isInteger(count) && count >= 0)).toBe(true);
    expect(Math.abs(average - expected)).toBeLessThan(expected * 0.1);
    expect(variance / expected).toBeGreaterThan(0.7);
    expect(variance / expected).toBeLessThan(1.15);
  });
});
