import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Grade, InputState, JudgedInput, VerdictInputs } from './verdict.ts';
import { FINE_LIMITS, verdictOf } from './verdict.ts';

const FINE: VerdictInputs = {
  computedPermille: 650,
  computedBeforePermille: 640,
  unknownPermille: 20,
  unattributedPermille: 30,
  unpricedPermille: 0,
  books: { bills: 2, differenceUsdMicros: 0n, notPosted: 0, staleRows: 0 },
  sources: { all: 3, stale: 0 },
};

interface Case {
  readonly given: Partial<VerdictInputs>;
  readonly want: readonly [Grade, name: JudgedInput['name'], InputState];
}

const CASES: Readonly<Record<string, Case>> = {
  'everything is well': { given: {}, want: ['fine', 'computed', 'good'] },
  'just enough computed': {
    given: { computedPermille: 600, computedBeforePermille: 600 },
    want: ['fine', 'computed', 'good'],
  },
  'half of it computed': {
    given: { computedPermille: 599, computedBeforePermille: 599 },
    want: ['mostly-fine', 'computed', 'warn'],
  },
  'little computed': {
    given: { computedPermille: 399, computedBeforePermille: 399 },
    want: ['not-fine', 'computed', 'bad'],
  },
  'nobody knows what computed: silence is no good news': {
    given: { computedPermille: null },
    want: ['not-known', 'computed', 'none'],
  },
  'five points less than before': { given: { computedBeforePermille: 700 }, want: ['mostly-fine', 'trend', 'warn'] },
  'a little less than before': { given: { computedBeforePermille: 699 }, want: ['fine', 'trend', 'good'] },
  'nothing to compare with counts for nothing': {
    given: { computedBeforePermille: null },
    want: ['fine', 'trend', 'none'],
  },
  'a dead exporter': { given: { unknownPermille: 51 }, want: ['mostly-fine', 'unknown', 'warn'] },
  'a quarter unknown': { given: { unknownPermille: 250 }, want: ['not-fine', 'unknown', 'bad'] },
  'a tenth is nobody’s': { given: { unattributedPermille: 100 }, want: ['mostly-fine', 'unattributed', 'warn'] },
  'a fifth and more is nobody’s': { given: { unattributedPermille: 201 }, want: ['not-fine', 'unattributed', 'bad'] },
  'a single hour without a price': { given: { unpricedPermille: 1 }, want: ['mostly-fine', 'unpriced', 'warn'] },
  'much without a price': { given: { unpricedPermille: 51 }, want: ['not-fine', 'unpriced', 'bad'] },
  'a micro-dollar between ledger and bill': {
    given: { books: { ...FINE.books, differenceUsdMicros: 1n } },
    want: ['not-fine', 'books', 'bad'],
  },
  'a bill without an exchange rate': {
    given: { books: { ...FINE.books, notPosted: 1 } },
    want: ['mostly-fine', 'books', 'warn'],
  },
  'no bill at all is not known': {
    given: { books: { bills: 0, differenceUsdMicros: null, notPosted: 0, staleRows: 0 } },
    want: ['fine', 'books', 'none'],
  },
  'one source is silent': { given: { sources: { all: 3, stale: 1 } }, want: ['mostly-fine', 'sources', 'warn'] },
  'all sources are silent': { given: { sources: { all: 3, stale: 3 } }, want: ['not-fine', 'sources', 'bad'] },
  'wrong outweighs attention': {
    given: { unknownPermille: 100, unattributedPermille: 500 },
    want: ['not-fine', 'unknown', 'warn'],
  },
};

describe('are we fine', () => {
  it.each(Object.entries(CASES))('%s', (_, { given, want: [grade, name, state] }) => {
    const verdict = verdictOf({ ...FINE, ...given });
    expect([verdict.grade, verdict.inputs.find((input) => input.name === name)?.state]).toEqual([grade, state]);
  });

  it('of one team nobody asks what is unattributed', () => {
    const { inputs } = verdictOf({ ...FINE, unattributedPermille: undefined });
    expect(inputs.map(({ name }) => name)).not.toContain('unattributed');
  });

  it('docs/FINE.md publishes every input with its limits', () => {
    const page = readFileSync(new URL('../../../docs/FINE.md', import.meta.url), 'utf8');
    const rows = new Map(
      page
        .split('\n')
        .filter((line) => line.startsWith('| '))
        .map((line) => line.split('|').map((cell) => cell.trim()))
        .map(([, name = '', ...cells]) => [name, cells.join(' | ')]),
    );
    const percent = (permille: number): string => `${permille / 10}%`;
    const limits: Readonly<Record<string, readonly string[]>> = {
      computed: [
        `from ${percent(FINE_LIMITS.computedGoodPermille)}`,
        `below ${percent(FINE_LIMITS.computedBadPermille)}`,
      ],
      trend: [`falls by ${FINE_LIMITS.computedFallPermille / 10} points`],
      unknown: [
        `up to ${percent(FINE_LIMITS.unknownGoodPermille)}`,
        `above ${percent(FINE_LIMITS.unknownBadPermille)}`,
      ],
      unattributed: [
        `up to ${percent(FINE_LIMITS.unattributedGoodPermille)}`,
        `above ${percent(FINE_LIMITS.unattributedBadPermille)}`,
      ],
      unpriced: [`above ${percent(FINE_LIMITS.unpricedBadPermille)}`],
    };
    for (const { name } of verdictOf(FINE).inputs) {
      expect(rows.get(name), name).toBeDefined();
      for (const limit of limits[name] ?? []) expect(rows.get(name)).toContain(limit);
    }
  });
});
