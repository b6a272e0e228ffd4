import { describe, expect, it } from 'vitest';
import { DAY, HOUR, MONDAY, SERVING } from './small-work.ts';
import { neededReplicas, servingHour, trafficAt } from './traffic.ts';

const NOON = MONDAY + 12 * HOUR;
const NIGHT = MONDAY + 2 * HOUR;
const SATURDAY_NOON = NOON + 5 * DAY;

describe('traffic', () => {
  it.each([
    ['by day', NOON, 1],
    ['by night', NIGHT, 0.25],
    ['on Saturday', SATURDAY_NOON, 0.5],
    ['in the last second before the day', MONDAY + 8 * HOUR - 1, 0.25],
  ])('%s', (_, moment, want) => {
    expect(trafficAt(SERVING, moment)).toBe(want);
  });

  it('of a service nobody calls is none', () => {
    expect(trafficAt({ ...SERVING, requests_by_hour: Array.from({ length: 24 }, () => 0) }, NOON)).toBe(0);
  });

  it.each([
    ['by day all are', 10, NOON, 10],
    ['by night a quarter, and some distance to full', 10, NIGHT, 3],
    ['on Saturday half, and some distance', 10, SATURDAY_NOON, 6],
    ['one is always', 1, NIGHT, 1],
  ])('replicas needed: %s', (_, replicas, moment, want) => {
    expect(neededReplicas(SERVING, replicas, moment)).toBe(want);
  });
});

describe('an hour of a replica', () => {
  const hour = (habit: Partial<typeof SERVING>, replicas: number, inService: number, moment: number) => {
    const { parts, traffic } = servingHour({ ...SERVING, ...habit }, replicas, inService, moment, 1);
    return { ...Object.fromEntries(parts.map(({ reason, permille }) => [reason, permille])), ...traffic };
  };

  it('in the busiest hour is as full as planned', () => {
    expect(hour({}, 10, 10, NOON)).toMatchObject({ serving: 500, 'between-requests': 500, perHour: 900, busyS: 2 });
  });

  it('is serving only while its swells last: nobody can be busier than all the time', () => {
    const none = { p0: 0, p25: 0, p50: 0, p75: 2, p90: 2, p99: 2, p100: 2 };
    const hours = Array.from({ length: 240 }, (_, of) =>
      servingHour({ ...SERVING, burst: { ...SERVING.burst, ...none }, peak_load_percent: 80 }, 10, 10, NOON, of),
    );
    const serving = hours.map(({ parts }) => parts.find(({ reason }) => reason === 'serving')?.permille ?? 0);
    expect(Math.max(...serving)).toBeLessThanOrEqual(1000);
    expect(serving.reduce((sum, part) => sum + part, 0) / serving.length).toBeLessThan(600);
    expect(hours.every(({ traffic }) => traffic.perHour === hours[0]?.traffic.perHour)).toBe(true);
  });

  it('by night has a quarter of the requests, and seven of ten replicas are too many', () => {
    expect(hour({}, 10, 10, NIGHT)).toMatchObject({
      serving: 125,
      'sized-for-peak': 700,
      'between-requests': 175,
      perHour: 225,
    });
  });

  it('with three of ten in service, each has more than three times as many requests', () => {
    const want = { serving: 417, 'between-requests': 583, perHour: 750 };
    expect(hour({}, 10, 3, NIGHT)).toMatchObject({ ...want, perHour: expect.closeTo(want.perHour) });
    expect(hour({}, 10, 3, NIGHT)).not.toHaveProperty('sized-for-peak');
  });

  it('batches by day: requests follow the hours, and a busy second answers more of them when there are more', () => {
    const [noon, night] = [hour({ batch: 9 }, 10, 10, NOON), hour({ batch: 9 }, 10, 10, NIGHT)];
    expect(noon).toMatchObject({ serving: 500, perHour: expect.closeTo(900 * 5), busyS: expect.closeTo(2 / 5) });
    expect(night.perHour).toBeCloseTo(noon.perHour / 4);
    expect(night.busyS).toBeGreaterThan(noon.busyS);
    expect(night).toMatchObject({ serving: expect.toSatisfy((permille: number) => permille > 125 && permille < 500) });
  });

  it('what sensors will see busy is what is called serving', () => {
    for (const batch of [1, 4, 32]) {
      for (const moment of [NOON, NIGHT, SATURDAY_NOON]) {
        const { parts, traffic } = servingHour({ ...SERVING, batch }, 7, 7, moment, 1);
        const serving = parts.find(({ reason }) => reason === 'serving')!.permille;
        expect(Math.abs((traffic.perHour * traffic.busyS) / 3.6 - serving)).toBeLessThan(1);
      }
    }
  });

  it('is never busier than all the time', () => {
    expect(hour({ peak_load_percent: 100 }, 10, 1, NOON)).toMatchObject({ serving: 1000 });
  });

  it('without a request is idle between requests', () => {
    expect(hour({ peak_load_percent: 0 }, 1, 1, NOON)).toMatchObject({ 'between-requests': 1000, perHour: 0 });
  });
});
