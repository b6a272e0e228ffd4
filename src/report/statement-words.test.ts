import { describe, expect, it } from 'vitest';
import type { StatementLine } from '../facts/statement-record.ts';
import type { StatementAnswer } from './statement-answer.ts';
import { advice, aheadWords, factDaysWords, isAheadOfFacts, periodWords } from './statement-words.ts';

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

it.each([
  [
    'half a month',
    { from: '2026-10-01T00:00:00Z', until: '2026-11-01T00:00:00Z', missingDays: 17 },
    ' (14 of 31 days with facts)',
  ],
  [
    'a running month',
    { from: '2026-10-01T00:00:00Z', until: '2026-10-03T09:30:00Z', missingDays: 1 },
    ' (2 of 3 days with facts)',
  ],
  ['a whole month', { from: '2026-10-01T00:00:00Z', until: '2026-11-01T00:00:00Z', missingDays: 0 }, ''],
  ['one that was closed before this was counted', { from: '2026-10-01T00:00:00Z', until: '2026-11-01T00:00:00Z' }, ''],
])('says of how many days it knows anything: %s', (_, answer, want) => expect(factDaysWords(answer)).toBe(want));

describe('what has no class', () => {
  const USD = 1_000_000n;
  const amount = { usdMicros: 0n, gpuUnits: 0n, unpricedUnits: 0n };
  const line = (category: string, usd: bigint): StatementLine => ({
    project: null,
    class: null,
    component: 'gpu',
    basis: 'billed',
    gpuUnits: 0n,
    category,
    usdMicros: usd * USD,
  });
  const told = (lines: readonly StatementLine[]) => {
    const usdMicros = lines.reduce((sum, each) => sum + (each.usdMicros ?? 0n), 0n);
    const part = { ...amount, usdMicros, name: null, beforeUsdMicros: null, computeSharePermille: null };
    const answer = {
      team: 'research',
      month: '2026-10',
      amountCents: usdMicros / 10_000n,
      total: amount,
      lines,
      classes: [part],
      categories: { idle: amount, unknown: amount },
    };
    return advice(answer as unknown as StatementAnswer, '').map(({ what }) => what);
  };
  it('gets one by rules where somebody held it', () => {
    expect(told([line('idle', 7n), line('unallocated', 15_494n)])).toEqual(['$7.00 of no class: rules']);
  });
  it('gets none where nobody did', () => {
    expect(told([line('unallocated', 15_494n), line('stranded', 3n), line('beside', 2n)])).toEqual([]);
  });
});
