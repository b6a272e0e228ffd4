import { describe, expect, it } from 'vitest';
import { chanceOf } from '../chance.ts';
import { always, TRAINING } from './small-work.ts';
import { checkpointsOf, wayOf, type WayRequest } from './training-phases.ts';

const habit = { ...TRAINING, validation_hours: 0.5, validation_minutes: always(1) };
const way = (request: Partial<WayRequest>) =>
  wayOf(chanceOf('x'), habit, {
    from: 0,
    startedAt: 100,
    limit: Infinity,
    doneS: 0,
    goalS: 4000,
    pace: {
      stepping: 500,
      allReduce: 0,
      waiting: 500,
    },
    checkpoints: undefined,
    ...request,
  });
const told = (request: Partial<WayRequest>) => way(request).phases.map(({ kind, until }) => [kind, until]);

describe('the phases of a life', () => {
  it('validations come after so much work, which a starved run does in twice the time', () => {
    expect(told({})).toEqual([
      ['starting-up', 100],
      ['training', 3700],
      ['validating-on-cpu', 3760],
      ['training', 7360],
      ['validating-on-cpu', 7420],
      ['training', 8220],
    ]);
  });

  it('a life that goes on from an hour of work meets its validation where the first would have', () => {
    expect(told({ doneS: 1700 }).slice(0, 3)).toEqual([
      ['starting-up', 100],
      ['training', 300],
      ['validating-on-cpu', 360],
    ]);
  });

  it('it does not validate what it had validated before', () => {
    expect(told({ doneS: 3600 })).toEqual([
      ['starting-up', 100],
      ['training', 900],
    ]);
  });

  it('who starts at once has no start', () => {
    expect(told({ startedAt: 0, goalS: 1 })).toEqual([['training', 2]]);
  });

  it('what stops it stops it in the middle of a phase', () => {
    expect(way({ limit: 3730 })).toMatchObject({ until: 3730, reachedGoal: false, kept: { at: 100, doneS: 0 } });
    expect(told({ limit: 3730 }).at(-1)).toEqual(['validating-on-cpu', 3730]);
    expect(told({ limit: 40 })).toEqual([['starting-up', 40]]);
  });

  it('checkpoints keep what was done before them', () => {
    const checkpoints = checkpointsOf({ ...habit, checkpoint_minutes: 10, checkpoint_s: 20 })!;
    expect(checkpoints).toEqual({ stepS: 600, writeS: 20 });
    expect(way({ checkpoints, limit: 100 + 2 * 620 + 610 }).kept).toEqual({ at: 100 + 2 * 620, doneS: 600 });
    // Six stretches of ten minutes with five writes between them, then the one before the validation.
    expect(way({ checkpoints, limit: 3850 }).kept).toEqual({ at: 100 + 3600 + 6 * 20, doneS: 1800 });
  });

  it('who writes none has none', () => {
    expect(checkpointsOf(habit)).toBeUndefined();
  });
});
