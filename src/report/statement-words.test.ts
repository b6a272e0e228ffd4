import { describe, expect, it } from 'vitest';
import { aheadWords, isAheadOfFacts, periodWords } from './statement-words.ts';

describe('the days a statement is of', () => {
  it.each([
    ['a month that is over', '2026-11-01T00:00:00Z', '2026-10-01 to 2026-10-31 (UTC)'],
    ['a running month, up to its newest fact', '2026-10-03T09:30:00Z', '2026-10-01 to 2026-10-03 (UTC)'],
    ['a month that no fact has reached', '2026-09-20T00:00:00Z', 'from 2026-10-01 (UTC)'],
  ])('%s', (_, until, want) => expect(periodWords({ from: '2026-10-01T00:00:00Z', until })).toBe(want));
});

describe('a month that no fact has reached', () => {
  it.each([
    ['is not known while it runs', 'running', '2026-10-03T00:00:00Z', true],
    ['is not known at its first second', 'running', '2026-11-01T00:00:00Z', true],
    ['is known from its first fact on', 'running', '2026-11-01T00:10:00Z', false],
    ['is what was stated once it is closed', 'closed', '2026-10-03T00:00:00Z', false],
  ] as const)('%s', (_, status, asOf, want) => expect(isAheadOfFacts({ status, asOf, month: '2026-11' })).toBe(want));

  it('says how far facts reach', () => {
    expect(aheadWords({ asOf: '2026-10-03T00:00:00Z', month: '2026-11' })).toBe(
      'Nothing is known of November 2026 yet: facts reach to 2026-10-03 00:00 UTC',
    );
  });
});
