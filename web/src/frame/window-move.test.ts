import { expect, it } from 'vitest';
import { factsEnd, keyToFacts, movedWindow } from './window-move.ts';

const END = Date.parse('2026-11-01T00:00:00Z');
const span = (from: string, until: string) => ({ from: `${from}T00:00:00Z`, until: `${until}T00:00:00Z` });

it.each([
  ['midnight after the newest fact', '2026-10-31T14:00:00Z', undefined, '2026-11-01T00:00:00.000Z'],
  ['which may be the fact itself', '2026-11-01T00:00:00Z', undefined, '2026-11-01T00:00:00.000Z'],
  ['or what was asked for', '2026-11-01T00:00:00Z', '2026-10-10T09:00:00Z', '2026-10-11T00:00:00.000Z'],
])('facts end at %s', (_, newest, asOf, want) =>
  expect(new Date(factsEnd(newest, asOf) ?? 0).toISOString()).toBe(want),
);

it('without facts nothing ends', () => expect(factsEnd(null, undefined)).toBeUndefined());

it.each([
  ['back by its own length', span('2026-10-02', '2026-11-01'), -1, '2026-09-02/2026-10-02'],
  ['on by its own length', span('2026-10-01', '2026-10-08'), 1, '2026-10-08/2026-10-15'],
  ['on to the newest fact and no further', span('2026-10-22', '2026-10-29'), 1, '2026-10-25/2026-11-01'],
  ['not on from the newest fact', span('2026-10-02', '2026-11-01'), 1, undefined],
  ['not on from after it', span('2026-12-01', '2026-12-31'), 1, undefined],
  ['from long after it back to it', span('2030-01-01', '2030-01-31'), -1, '2026-10-02/2026-11-01'],
  ['not where it says no days', { from: 'abc', until: '' }, 1, undefined],
] as const)('a window moves %s', (_, window, direction, want) =>
  expect(movedWindow(window, direction, END)).toBe(want),
);

it('moves freely where nobody says up to when there are facts', () =>
  expect(movedWindow(span('2026-10-02', '2026-11-01'), 1, undefined)).toBe('2026-11-01/2026-12-01'));

it.each([
  ['before the first fact', span('2026-08-01', '2026-08-31'), ']'],
  ['after the newest', span('2026-11-05', '2026-11-06'), '['],
  ['of the newest', span('2026-10-31', '2026-11-01'), '['],
])('from a window %s %s leads to facts', (_, window, want) => expect(keyToFacts(window, END)).toBe(want));
