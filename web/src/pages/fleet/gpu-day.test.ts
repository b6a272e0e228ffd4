import { expect, it } from 'vitest';
import { isFree } from './gpu-day.tsx';

const stay = (isHeld: boolean, from: string, until: string) => ({
  isHeld,
  from: `2026-10-31T${from}:00Z`,
  until: `2026-10-31T${until}:00Z`,
  source: null,
  allocationId: null,
  job: null,
  team: null,
  user: null,
  activePermille: null,
  costUsdMicros: null,
  unpricedSeconds: 0,
});

it.each([
  ['held for all of it', [stay(true, '00:00', '12:00')], false],
  ['held for its first half', [stay(true, '00:00', '09:31'), stay(false, '09:31', '23:00')], false],
  ['held by nobody', [stay(true, '00:00', '09:00'), stay(false, '09:00', '23:00')], true],
  ['of which nobody says who held it', [], false],
])('an hour %s is drawn as one that nobody had: %s', (_, holders, want) =>
  expect(isFree({ holders }, '2026-10-31T09:00:00Z')).toBe(want),
);
