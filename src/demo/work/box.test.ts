import { describe, expect, it } from 'vitest';
import type { Course } from '../organisation.ts';
import type { Box } from '../world/habit-schema.ts';
import { asksFirstAt, courseOf } from './course.ts';
import { BOX, DAY, HOUR, MONDAY, requestFor, secondsByReason, type Asked } from './small-work.ts';

const live = (habit: Partial<Box>, asked: Asked = {}): Course =>
  courseOf(requestFor({ ...BOX, ...habit }, { from: MONDAY, ...asked }));
const reasonsBetween = (course: Course, from: number, until: number) =>
  new Set(
    course.spansOfDevice[0]!.filter((span) => span.from < until && span.until > from).map(
      ({ parts }) => parts[0]!.reason,
    ),
  );

describe('somebody’s own machine', () => {
  it('is on for all of the window and beyond', () => {
    const course = live({});
    expect(course).toMatchObject({ outcome: 'running', until: MONDAY + 31 * DAY });
    expect(course.asksAgainAt).toBeUndefined();
  });

  it('is worked at by day, and left alone at night and on weekends', () => {
    const course = live({});
    expect(reasonsBetween(course, MONDAY + 11 * HOUR, MONDAY + 17 * HOUR)).toEqual(new Set(['debugging', 'thinking']));
    expect(reasonsBetween(course, MONDAY + 19 * HOUR, MONDAY + 33 * HOUR)).toEqual(new Set(['left-overnight']));
    expect(reasonsBetween(course, MONDAY + 5 * DAY, MONDAY + 7 * DAY)).toEqual(new Set(['left-overnight']));
  });

  it('used on half of the working days is used for half of the hours', () => {
    const worked = (percent: number) => {
      const { debugging = 0, thinking = 0 } = [...Array(20).keys()]
        .map((serial) => secondsByReason(live({ used_days_percent: percent }, { serial }).spansOfDevice[0]!))
        .reduce((a, b) => ({
          debugging: (a.debugging ?? 0) + (b.debugging ?? 0),
          thinking: (a.thinking ?? 0) + (b.thinking ?? 0),
        }));
      return debugging + thinking;
    };
    expect(worked(50) / worked(100)).toBeGreaterThan(0.4);
    expect(worked(50) / worked(100)).toBeLessThan(0.6);
    expect(worked(0)).toBe(0);
  });

  it('of an owner who has moved on is forgotten, on working days too', () => {
    expect(secondsByReason(live({ forgotten_percent: 100 }).spansOfDevice[0]!)).toEqual({ forgotten: 31 * DAY });
  });

  it('back from a repair goes on with the days it would have had', () => {
    const noon = MONDAY + 12 * HOUR;
    const broken = live({}, { machineLost: { at: noon, by: 'node-fail' } });
    expect(broken).toMatchObject({ outcome: 'node-fail', until: noon, asksAgainAt: noon + 60 });
    const back = live({}, { from: MONDAY + DAY });
    const tuesday = (course: Course) => course.spansOfDevice[0]!.filter(({ from }) => from > MONDAY + DAY);
    expect(tuesday(back)).toEqual(tuesday(live({})));
  });

  it('asks at the beginning', () => {
    const { world, scope, job } = requestFor(BOX);
    expect(asksFirstAt(world, scope, job)).toBe(MONDAY);
  });
});
