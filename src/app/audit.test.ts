import { expect, it } from 'vitest';
import { firstKnown, isLeftBehind } from './audit.ts';

const SINCE = new Date('2026-03-01T00:00:00Z');

it.each([
  { name: 'a notebook nobody has used for weeks', detector: 'idle-sessions', liveSince: SINCE, want: true },
  { name: 'a habit of leaving notebooks on at night', detector: 'idle-sessions', liveSince: null, want: false },
  { name: 'a job that is done and still holds its GPUs', detector: 'finished-holders', liveSince: SINCE, want: true },
  { name: 'jobs that did so and ended', detector: 'finished-holders', liveSince: null, want: false },
  { name: 'a pool that stands empty', detector: 'empty-nodes', liveSince: null, want: true },
  { name: 'a run that waits for its data', detector: 'starved-runs', liveSince: SINCE, want: false },
  {
    name: 'a standby that may be needed',
    detector: 'forgotten-resources',
    kind: 'question',
    liveSince: SINCE,
    want: false,
  },
  {
    name: 'money of nobody, which is asked about',
    detector: 'untagged-spend',
    kind: 'question',
    liveSince: null,
    want: true,
  },
] as const)('of $name: $want', ({ want, ...finding }) =>
  expect(isLeftBehind({ kind: 'capacity', ...finding })).toBe(want),
);

it.each([
  {
    name: 'of a window that begins before there is a fact, since the first fact',
    firstDay: '2026-03-09',
    want: '03-09',
  },
  { name: 'of facts that are older, since the window begins', firstDay: '2026-02-01', want: '03-01' },
  { name: 'of no facts at all, since the window begins', firstDay: undefined, want: '03-01' },
])('what is of nobody is so $name', ({ firstDay, want }) =>
  expect(firstKnown({ from: SINCE }, firstDay)).toEqual(new Date(`2026-${want}T00:00:00Z`)),
);
