import { describe, expect, it } from 'vitest';
import type { Course } from '../organisation.ts';
import type { Sweep } from '../world/habit-schema.ts';
import { courseOf } from './course.ts';
import { HOUR, livesOf, MONDAY, requestFor, secondsByReason, SWEEP, type Asked } from './small-work.ts';

const FIRST_STEP = MONDAY + 10 * HOUR + 300;
const lost = (at: number, by: 'preempted' | 'node-fail') => ({ machineLost: { at: FIRST_STEP + at, by } });
const loser = { winners_percent: 0 };

interface Case {
  readonly habit?: Partial<Sweep>;
  readonly asked?: Asked;
  readonly outcome?: Course['outcome'];
  readonly want: ReturnType<typeof secondsByReason>;
}

const cases: Record<string, Case> = {
  'a winner steps to its end': { want: { 'starting-up': 300, stepping: 3 * HOUR } },
  'a loser is one from a third of the way on': {
    habit: loser,
    want: { 'starting-up': 300, stepping: HOUR, 'sweep-loser': 2 * HOUR },
  },
  'one that is stopped then has wasted nothing': {
    habit: { ...loser, stopped_early_percent: 100 },
    outcome: 'cancelled',
    want: { 'starting-up': 300, stepping: HOUR },
  },
  'a slow loader starves winners': {
    habit: { load_ms: 200 },
    want: { 'starting-up': 300, stepping: 3 * HOUR, 'waiting-for-data': 3 * HOUR },
  },
  'and losers alike': {
    habit: { ...loser, load_ms: 200 },
    want: { 'starting-up': 300, stepping: HOUR, 'sweep-loser': 2 * HOUR, 'waiting-for-data': 3 * HOUR },
  },
  'a trial whose machine is taken away has nothing to go on from': {
    habit: loser,
    asked: lost(2 * HOUR, 'preempted'),
    outcome: 'preempted',
    want: { 'starting-up': 300, preempted: 2 * HOUR },
  },
  'nor has one whose machine breaks': {
    asked: lost(HOUR, 'node-fail'),
    outcome: 'node-fail',
    want: { 'starting-up': 300, 'lost-since-checkpoint': HOUR },
  },
  'a machine lost while it starts up': {
    asked: lost(-200, 'node-fail'),
    outcome: 'node-fail',
    want: { 'starting-up': 100 },
  },
};

describe('a trial of a sweep', () => {
  it.each(Object.entries(cases))('%s', (_, { habit = {}, asked = {}, outcome = 'completed', want }) => {
    const course = courseOf(requestFor({ ...SWEEP, ...habit }, asked));
    expect(secondsByReason(course.spansOfDevice[0]!)).toEqual(want);
    expect(course.outcome).toBe(outcome);
  });

  it('begins anew after a loss, and then is over', () => {
    const lives = livesOf(requestFor(SWEEP), courseOf, (life, from) => ({
      at: life === 0 ? from + HOUR : Infinity,
      by: 'preempted',
    }));
    expect(lives.map(({ outcome }) => outcome)).toEqual(['preempted', 'completed']);
    expect(secondsByReason(lives[1]!.spansOfDevice[0]!)['stepping']).toBe(3 * HOUR);
  });

  it('wins as often as the world says', () => {
    const habit = { ...SWEEP, winners_percent: 25, stopped_early_percent: 100 };
    const won = Array.from({ length: 400 }, (_, serial) => courseOf(requestFor(habit, { serial })).outcome).filter(
      (outcome) => outcome === 'completed',
    ).length;
    expect(won).toBeGreaterThan(70);
    expect(won).toBeLessThan(130);
  });
});
