import { describe, expect, it } from 'vitest';
import { memorySessions, SESSION_SECONDS } from './sessions.ts';

describe('a session', () => {
  const begin = Date.parse('2026-03-02T08:00:00Z');
  it.each([
    { name: 'is there to its last second', seconds: SESSION_SECONDS - 1, want: 'hash' },
    { name: 'ends after twelve hours', seconds: 12 * 3600, want: undefined },
    { name: 'and stays ended', seconds: 12 * 3600 + 1, want: undefined },
  ])('$name', ({ seconds, want }) => {
    let atMs = begin;
    const sessions = memorySessions(() => new Date(atMs));
    const session = sessions.open('hash');
    atMs += seconds * 1000;
    expect(sessions.tokenHash(session)).toBe(want);
    // Once it has ended, a clock that is set back does not bring it to life.
    atMs = begin;
    expect(sessions.tokenHash(session)).toBe(want);
  });

  it('that is the oldest of more than a thousand makes room', () => {
    const sessions = memorySessions(() => new Date(begin));
    const [first = '', second = ''] = Array.from({ length: 1001 }, (_, place) => sessions.open(`hash ${place}`));
    expect([sessions.tokenHash(first), sessions.tokenHash(second)]).toEqual([undefined, 'hash 1']);
  });
});
