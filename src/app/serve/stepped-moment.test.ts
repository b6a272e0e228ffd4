import { describe, expect, it } from 'vitest';
import { decideNow } from '../now.ts';
import { steppedMoment } from './stepped-moment.ts';

const at = (time: string): Date => new Date(`2026-03-${time}Z`);

describe('the moment of a question', () => {
  it.each([
    { name: 'live: the minute begins', horizon: '02T10:00:20', clock: '02T10:05:59', want: '02T10:05:00' },
    { name: 'live: never before the newest fact', horizon: '02T10:05:30', clock: '02T10:05:59', want: '02T10:05:30' },
    {
      name: 'an hour after the newest fact is still live',
      horizon: '02T09:05:59',
      clock: '02T10:05:59',
      want: '02T10:05:00',
    },
  ])('$name', ({ horizon, clock, want }) => {
    const told = steppedMoment(at(horizon), at(clock), undefined);
    expect(told).toEqual({ now: { at: at(want), by: 'clock' }, clock: at(want) });
  });

  it.each([
    { name: 'days later', horizon: '02T10:00:00', clock: '09T14:30:00' },
    { name: 'on the same day', horizon: '02T10:00:00', clock: '02T14:30:00' },
    { name: 'just over an hour later', horizon: '02T10:00:00', clock: '02T11:00:01' },
    { name: 'on the next day, when that has just begun', horizon: '02T23:30:00', clock: '03T00:45:00' },
  ])('history is asked as of the newest fact, and stays history by the stepped clock: $name', ({ horizon, clock }) => {
    const told = steppedMoment(at(horizon), at(clock), undefined);
    expect(told.now).toEqual({ at: at(horizon), by: 'newest fact' });
    expect(decideNow(undefined, at(horizon), told.clock)).toEqual(told.now);
    expect(told.clock <= at(clock)).toBe(true);
  });

  it('history has one answer a day: the clock of ten minutes later is the same', () => {
    const clocks = ['09T00:00:00', '09T14:30:00', '09T14:40:00', '09T23:59:59'];
    const told = clocks.map((clock) => steppedMoment(at('02T10:00:00'), at(clock), undefined).clock.toISOString());
    expect(new Set(told)).toEqual(new Set(['2026-03-09T00:00:00.000Z']));
    expect(steppedMoment(at('02T10:00:00'), at('10T00:00:00'), undefined).clock).toEqual(at('10T00:00:00'));
  });

  it('who says as of when is told so', () => {
    const asked = at('02T04:00:00');
    expect(steppedMoment(at('02T10:00:00'), at('02T10:05:59'), asked).now).toEqual({ at: asked, by: 'asked' });
  });
});
