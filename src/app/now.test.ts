import { describe, expect, it } from 'vitest';
import { decideNow, lastKnownMoment } from './now.ts';

const at = (time: string): Date => new Date(`2026-03-02T${time}:00Z`);

describe('now', () => {
  const cases: Record<string, { asked?: Date; horizon?: Date; want: ReturnType<typeof decideNow> }> = {
    'is what the user says': { asked: at('03:00'), horizon: at('01:00'), want: { at: at('03:00'), by: 'asked' } },
    'is the newest fact if that is old': { horizon: at('10:59'), want: { at: at('10:59'), by: 'newest fact' } },
    'is the clock if it is not': { horizon: at('11:00'), want: { at: at('12:00'), by: 'clock' } },
    'is the clock if facts lie ahead of it': { horizon: at('13:00'), want: { at: at('12:00'), by: 'clock' } },
    'is the clock without facts': { want: { at: at('12:00'), by: 'clock' } },
  };
  for (const [name, { asked, horizon, want }] of Object.entries(cases)) {
    it(name, () => expect(decideNow(asked, horizon, at('12:00'))).toEqual(want));
  }

  it('is spoken for by facts of the last hour', () => {
    expect(lastKnownMoment(at('12:00'), at('11:30'))).toEqual(at('11:30'));
    expect(lastKnownMoment(at('12:00'), at('15:00'))).toEqual(at('12:00'));
    expect(lastKnownMoment(at('12:00'), at('10:30'))).toBeUndefined();
  });
});
