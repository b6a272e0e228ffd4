import { describe, expect, it } from 'vitest';
import type { Course } from '../organisation.ts';
import type { Span } from '../timeline.ts';
import type { Notebook } from '../world/habit-schema.ts';
import { courseOf } from './course.ts';
import { always, DAY, HOUR, livesOf, MONDAY, NOTEBOOK, requestFor, secondsByReason, type Asked } from './small-work.ts';

const live = (habit: Partial<Notebook>, asked: Asked = {}): Course =>
  courseOf(requestFor({ ...NOTEBOOK, ...habit }, asked));
const lives = (habit: Partial<Notebook>, asked: Asked = {}) =>
  livesOf(requestFor({ ...NOTEBOOK, ...habit }, asked), courseOf);
const hoursOf = (course: Course) =>
  Object.fromEntries(
    Object.entries(secondsByReason(course.spansOfDevice[0]!)).map(([reason, seconds]) => [reason, seconds / HOUR]),
  );
const reasonAt = (course: Course, moment: number) =>
  course.spansOfDevice[0]!.find((span) => span.from <= moment && moment < span.until)?.parts[0]!.reason;

const FRIDAY = MONDAY + 4 * DAY;

describe('a session', () => {
  it('of three days is used by day, left on for two nights and closed on the third evening', () => {
    const course = live({});
    expect(course).toMatchObject({ outcome: expect.stringMatching(/completed|cancelled/), progress: { done: 3 } });
    expect(course.asksAgainAt).toBeUndefined();
    expect(Math.abs(course.until - (MONDAY + 2 * DAY + 18 * HOUR))).toBeLessThanOrEqual(2700);
    const hours = hoursOf(course);
    expect(Object.keys(hours).sort()).toEqual(['debugging', 'left-overnight', 'thinking']);
    expect(hours['left-overnight']).toBeGreaterThan(2 * 14);
    expect(hours['left-overnight']).toBeLessThan(2 * 18);
    expect(hours['thinking']! / hours['debugging']!).toBeCloseTo(2, 0);
  });

  it('holds its memory while nobody is there', () => {
    const isBusy = ({ parts }: Span) => parts[0]!.reason === 'debugging';
    const spans = live({}).spansOfDevice[0]!;
    const { memory } = spans.find(isBusy)!.levels;
    const quiet = spans.filter((span) => !isBusy(span));
    expect(memory).toBeGreaterThan(0);
    expect(new Set(quiet.map(({ levels }) => `${levels.engine} ${levels.memory}`))).toEqual(new Set([`0 ${memory}`]));
  });

  it('closed every evening has a life a day, each begun in the morning', () => {
    const days = lives({ closed_at_night_percent: 100 });
    expect(days.map(({ progress }) => progress.done)).toEqual([1, 2, 3]);
    const morning = MONDAY + DAY + 9 * HOUR;
    expect(days[0]!.asksAgainAt).toBeGreaterThanOrEqual(morning);
    expect(days[0]!.asksAgainAt).toBeLessThan(morning + 2 * HOUR);
    expect(days.every((day) => hoursOf(day)['left-overnight'] === undefined)).toBe(true);
  });

  it('left on Friday and found again on Monday was left, not forgotten', () => {
    const course = live({ days_used: always(2) }, { from: FRIDAY + 10 * HOUR });
    expect(reasonAt(course, FRIDAY + 2 * DAY)).toBe('left-overnight');
    expect(reasonAt(course, FRIDAY + 3 * DAY + 14 * HOUR)).toMatch(/debugging|thinking/);
    expect(hoursOf(course)['left-overnight']).toBeGreaterThan(2 * 24 + 14);
  });

  it('whose owner goes away on Friday for good is forgotten for nine days', () => {
    const course = live({ days_used: always(1), forgotten_percent: 100 }, { from: FRIDAY + 10 * HOUR });
    expect(hoursOf(course)).toMatchObject({ forgotten: 9 * 24 });
    expect(hoursOf(course)).not.toHaveProperty('left-overnight');
    expect(course.asksAgainAt).toBeUndefined();
  });

  it('ends as it would have, had nobody forgotten it', () => {
    const outcomes = (percent: number) =>
      Array.from({ length: 300 }, (_, serial) => {
        const course = live({ days_used: always(1), forgotten_percent: percent }, { serial });
        expect(Object.keys(hoursOf(course)).includes('forgotten')).toBe(percent === 100);
        return course.outcome;
      });
    expect(outcomes(100)).toEqual(outcomes(0));
    const cancelled = outcomes(0).filter((outcome) => outcome === 'cancelled').length;
    expect(new Set(outcomes(0))).toEqual(new Set(['completed', 'cancelled']));
    expect(cancelled).toBeGreaterThan(40);
    expect(cancelled).toBeLessThan(80);
  });

  it('is stopped by the platform two hours after the last thing ran, and asked for again in the morning', () => {
    const course = live({ stopped_idle_hours: 2 });
    const ran = course.spansOfDevice[0]!.findLast(({ parts }) => parts[0]!.reason === 'debugging')!;
    expect(course).toMatchObject({ outcome: 'cancelled', until: ran.until + 2 * HOUR, progress: { done: 1 } });
    expect(course.asksAgainAt! - (MONDAY + DAY + 9 * HOUR)).toBeLessThan(2 * HOUR);
    expect(lives({ stopped_idle_hours: 2 })).toHaveLength(3);
  });

  it('is stopped in a long pause, too', () => {
    const course = live({ stopped_idle_hours: 1, pause_minutes: always(90) });
    expect(hoursOf(course)).toEqual({ debugging: 1 / 6, thinking: 1 });
  });

  it('forgotten costs two hours where the platform stops what is idle', () => {
    const course = live({ days_used: always(1), forgotten_percent: 100, stopped_idle_hours: 2 });
    expect(hoursOf(course)['forgotten']).toBeLessThanOrEqual(2);
    expect(course.asksAgainAt).toBeUndefined();
  });

  it('that the queue lets in at night waits for its owner, without anything in its memory', () => {
    const course = live({ days_used: always(1) }, { from: MONDAY + 22 * HOUR });
    const [night, first] = course.spansOfDevice[0]!;
    expect(night).toMatchObject({ parts: [{ reason: 'left-overnight' }], levels: { memory: 0 } });
    expect(first!.from).toBeGreaterThanOrEqual(MONDAY + DAY + 9 * HOUR);
    expect(course.progress.done).toBe(1);
  });

  it('works by its team’s clock', () => {
    // Ten in the morning in London is seven in the evening in Tokyo.
    const course = live({ days_used: always(1) }, { team: { utc_offset_hours: 9 } });
    expect(reasonAt(course, MONDAY + 12 * HOUR)).toBe('left-overnight');
    expect(reasonAt(course, MONDAY + DAY + 4 * HOUR)).toMatch(/debugging|thinking/);
  });

  it('whose machine breaks is asked for again in the morning, while days are left', () => {
    const machineLost = { at: MONDAY + 14 * HOUR, by: 'node-fail' } as const;
    const course = live({}, { machineLost });
    expect(course).toMatchObject({ outcome: 'node-fail', until: machineLost.at, progress: { done: 1 } });
    expect(course.asksAgainAt).toBeGreaterThanOrEqual(MONDAY + DAY + 9 * HOUR);
    expect(live({ days_used: always(1) }, { machineLost }).asksAgainAt).toBeUndefined();
  });

  it('whose machine breaks at night has not used the day to come', () => {
    const course = live({}, { machineLost: { at: MONDAY + DAY + 3 * HOUR, by: 'preempted' } });
    expect(course).toMatchObject({ outcome: 'preempted', progress: { done: 1 } });
    expect(course.asksAgainAt! - (MONDAY + DAY + 9 * HOUR)).toBeLessThan(2 * HOUR);
  });

  it('of a year is still running a day past the window', () => {
    const course = live({ days_used: always(200) });
    expect(course).toMatchObject({ outcome: 'running', until: MONDAY + 31 * DAY });
    expect(course.asksAgainAt).toBeUndefined();
  });
});
