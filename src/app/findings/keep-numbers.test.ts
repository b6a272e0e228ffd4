import { describe, expect, it } from 'vitest';
import type { Scope } from '../../lake/scope.ts';
import type { Now } from '../now.ts';
import { ledgerWindow } from '../window.ts';
import { isFullLook } from './keep-numbers.ts';

const days = Array.from({ length: 28 }, (_, place) => `2026-02-${String(place + 1).padStart(2, '0')}`);
/** Four weeks of facts, up to noon of the last day. */
const SCOPE: Scope = {
  horizon: new Date('2026-02-28T12:00:00Z'),
  begin: new Date('2026-02-01T00:00:00Z'),
  days,
  spoken: '*',
  heard: '',
  bills: [],
};
const clock = (time: string): Now => ({ at: new Date(`2026-02-28T${time}Z`), by: 'clock' });

describe('only a look at everything up to now may say that something is fixed', () => {
  it.each([
    { name: 'the usual one does', window: '30d', now: clock('12:30:00'), want: true },
    { name: 'and one at all there is', window: 'all', now: clock('12:00:00'), want: true },
    { name: 'not one at a few days', window: '7d', now: clock('12:30:00'), want: false },
    { name: 'nor at days that are over', window: '2026-02-01/2026-02-20', now: clock('12:30:00'), want: false },
    {
      name: 'nor one that was asked for a moment',
      window: '30d',
      now: { at: SCOPE.horizon, by: 'asked' } satisfies Now,
      want: false,
    },
    { name: 'nor one by a clock that is behind the newest fact', window: '30d', now: clock('11:59:59'), want: false },
    { name: 'nor that one at all there is', window: 'all', now: clock('11:59:59'), want: false },
  ])('$name', ({ window, now, want }) =>
    expect(isFullLook({ scope: SCOPE }, ledgerWindow(window, now.at, SCOPE), now)).toBe(want),
  );

  it('and none where there are no facts', () => {
    const now = clock('12:00:00');
    expect(isFullLook({ scope: undefined }, ledgerWindow('30d', now.at, undefined), now)).toBe(false);
  });
});
