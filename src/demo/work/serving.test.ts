import { describe, expect, it } from 'vitest';
import type { Course } from '../organisation.ts';
import type { Serving } from '../world/habit-schema.ts';
import { atFullPace, holdingMemory, kernelOf } from './activity.ts';
import { asksFirstAt, courseOf } from './course.ts';
import { DAY, HOUR, livesOf, MONDAY, requestFor, secondsByReason, SERVING, type Asked } from './small-work.ts';

const request = (habit: Partial<Serving>, asked: Asked = {}) =>
  requestFor({ ...SERVING, ...habit }, { from: MONDAY, place: { index: 0, of: 10 }, ...asked });
const live = (habit: Partial<Serving>, asked: Asked = {}): Course => courseOf(request(habit, asked));
const replica = (index: number) => ({ place: { index, of: 10 } });

describe('a replica', () => {
  it('sized for the peak runs on through the night', () => {
    const course = live({}, { scope: { seed: 7, gpus: 8, from: MONDAY, until: MONDAY, stepS: 300 } });
    expect(course).toMatchObject({ outcome: 'running', until: MONDAY + DAY });
    expect(course.spansOfDevice[0]).toHaveLength(24);
    // Twelve hours half full; twelve with a quarter of that, when three of ten would do.
    expect(secondsByReason(course.spansOfDevice[0]!)).toEqual({
      serving: 12 * 1800 + 12 * 450,
      'sized-for-peak': 12 * 7 * 360,
      'between-requests': 12 * 1800 + 12 * 630,
    });
  });

  it('shows its kernel at full pace beside its traffic, and holds its memory', () => {
    const [first] = live({}).spansOfDevice[0]!;
    expect(first!.levels).toEqual(atFullPace(kernelOf(request({}))));
    expect(first!.traffic).toMatchObject({ perHour: 225, busyS: 2 });
  });

  it.each([
    ['kept warm for a failover', 'standby'],
    ['of people who have left', 'abandoned'],
  ] as const)('%s does nothing, in memory', (_, purpose) => {
    const course = live({ purpose, autoscaled: true });
    expect(secondsByReason(course.spansOfDevice[0]!)).toEqual({ [purpose]: 31 * DAY });
    expect(course.spansOfDevice[0]![0]!.levels).toEqual(holdingMemory(kernelOf(request({}))));
  });

  it('is replaced every week, a quarter of them at a time', () => {
    const lives = livesOf(request({ days_between_rollouts: 7 }), courseOf);
    expect(lives.map(({ until }) => Math.floor((until - MONDAY) / DAY))).toEqual([7, 14, 21, 28, 31]);
    expect(new Set(lives.slice(0, -1).map(({ until }) => until % DAY)).size).toBe(1);
    expect(lives.map(({ outcome }) => outcome)).toEqual([...Array.from({ length: 4 }, () => 'completed'), 'running']);
    expect(lives[0]!.asksAgainAt).toBe(lives[0]!.until);
    expect(live({ days_between_rollouts: 7 }, replica(9)).until).toBe(lives[0]!.until + 900);
  });

  it('is replaced at an hour and a minute of its service, while people are at work', () => {
    const untils = Array.from({ length: 50 }, (_, number) =>
      [1, 6.5, 7].flatMap((days) =>
        [0, 9].flatMap((index) =>
          livesOf(request({ name: `api-${number}`, days_between_rollouts: days }, replica(index)), courseOf)
            .slice(0, -1)
            .map(({ until }) => until % DAY),
        ),
      ),
    );
    expect(Math.min(...untils.flat())).toBeGreaterThanOrEqual(8 * HOUR);
    expect(Math.max(...untils.flat())).toBeLessThan(17 * HOUR);
    expect(untils.map((times) => new Set(times).size)).toEqual(Array.from({ length: 50 }, () => 2));
    expect(new Set(untils.map(([first]) => first)).size).toBeGreaterThan(40);
    const reseeded = { ...request({}).scope, seed: 8 };
    expect(live({ days_between_rollouts: 7 }, { scope: reseeded }).until).not.toBe(
      live({ days_between_rollouts: 7 }).until,
    );
  });

  it('of a window that begins at noon is replaced by day, too', () => {
    const scope = { seed: 7, gpus: 8, from: MONDAY + 12 * HOUR, until: MONDAY + 30 * DAY, stepS: 300 };
    const [first] = livesOf(request({ days_between_rollouts: 6 }, { scope, from: scope.from }), courseOf);
    expect(Math.floor((first!.until - MONDAY) / DAY)).toBe(6);
    expect(first!.until % DAY).toBeGreaterThanOrEqual(8 * HOUR);
  });

  it('replaced several times a day is replaced by night, too', () => {
    const lives = livesOf(request({ days_between_rollouts: 0.25 }), courseOf);
    const gaps = lives.slice(1, -1).map(({ until }, place) => until - lives[place]!.until);
    expect(new Set(gaps)).toEqual(new Set([6 * HOUR]));
  });

  it('that follows the traffic comes in the morning and goes in the evening', () => {
    const scaled = { autoscaled: true };
    const day = { from: MONDAY + 8 * HOUR, ...replica(9) };
    expect(live(scaled, day)).toMatchObject({
      outcome: 'completed',
      until: MONDAY + 20 * HOUR,
      asksAgainAt: MONDAY + DAY + 8 * HOUR,
    });
    expect(secondsByReason(live(scaled, day).spansOfDevice[0]!)).not.toHaveProperty('sized-for-peak');
    // Ten of ten are not needed on a weekend.
    const friday = live(scaled, { ...day, from: MONDAY + 4 * DAY + 8 * HOUR });
    expect(friday.asksAgainAt).toBe(MONDAY + 7 * DAY + 8 * HOUR);
    expect(live(scaled, replica(0))).toMatchObject({ outcome: 'running' });
  });

  it('that comes too late is taken back', () => {
    const course = live({ autoscaled: true }, { from: MONDAY + 21 * HOUR + 5, ...replica(9) });
    expect(course).toMatchObject({ until: MONDAY + 21 * HOUR + 65, asksAgainAt: MONDAY + DAY + 8 * HOUR });
    expect(secondsByReason(course.spansOfDevice[0]!)).toHaveProperty('sized-for-peak');
  });

  it('whose machine is lost asks again, if it is needed then', () => {
    const machineLost = { at: MONDAY + 5 * HOUR, by: 'preempted' } as const;
    expect(live({}, { machineLost })).toMatchObject({ outcome: 'preempted', asksAgainAt: machineLost.at + 60 });
    const evening = { at: MONDAY + 20 * HOUR - 10, by: 'node-fail' } as const;
    const asked = { from: MONDAY + 8 * HOUR, machineLost: evening, ...replica(9) };
    expect(live({ autoscaled: true }, asked)).toMatchObject({
      outcome: 'node-fail',
      until: evening.at,
      asksAgainAt: MONDAY + DAY + 8 * HOUR,
    });
  });
});

describe('when a replica first asks', () => {
  const first = (habit: Partial<Serving>, asked: Asked) => {
    const { world, scope, job } = request(habit, asked);
    return asksFirstAt(world, scope, job);
  };

  it.each([
    ['at the beginning of the window', {}, {}, MONDAY],
    ['before it, if it was there before', {}, { from: MONDAY - DAY }, MONDAY - DAY],
    ['at the beginning, if it is one of the few of the night', { autoscaled: true }, replica(2), MONDAY],
    ['in the morning, if it is one of the many of the day', { autoscaled: true }, replica(3), MONDAY + 8 * HOUR],
  ])('%s', (_, habit, asked, want) => {
    expect(first(habit, asked)).toBe(want);
  });

  it('past the window, if nothing ever needs it', () => {
    const requestsByHour = Array.from({ length: 24 }, () => 0);
    const at = first({ autoscaled: true, requests_by_hour: requestsByHour }, replica(1));
    expect(at).toBeGreaterThan(MONDAY + 30 * DAY);
  });
});
