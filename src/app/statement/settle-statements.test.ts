import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OperationError } from '../../facts/operation-error.ts';
import type { IssuedStatement, StatementClosing, StatementStore } from '../../facts/statement-record.ts';
import { loadSqlite } from '../../state/database.ts';
import { createStatementTables, statementStore } from '../../state/statement-store.ts';
import { monthPlus } from './month.ts';
import {
  centsByTeam,
  checkClosable,
  checkReopenable,
  dueAdjustments,
  inForce,
  nextNumbers,
  statedMonths,
} from './settle-statements.ts';

const closing = (month: string, withdrawnAt: string | null = null): StatementClosing => ({
  month,
  closedAt: `${month}-28T00:00:00Z`,
  generation: 1,
  ledgerHash: '',
  bills: {},
  withdrawnAt,
  statements: [
    { number: `${month}-001`, team: 'nlp', usdMicros: 10n, adjustments: [] },
    { number: `${month}-002`, team: null, usdMicros: 5n, adjustments: [] },
  ],
});

/** The code of what was refused, which must come with what to do; undefined where nothing was. */
function refusal(work: () => void): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (error instanceof OperationError && error.hint !== undefined) return error.code;
    throw error;
  }
}

describe('a month that cannot be closed', () => {
  const usual = { clock: new Date('2026-04-10T00:00:00Z'), ledgerMonths: ['2026-01', '2026-02', '2026-03', '2026-04'] };
  const cases: Record<
    string,
    { month: string; closings: StatementClosing[]; isFirst?: boolean; want: string | undefined }
  > = {
    'the first month with data': { month: '2026-01', closings: [], want: undefined },
    'the month after the newest closed': { month: '2026-02', closings: [closing('2026-01')], want: undefined },
    'the same month again': { month: '2026-01', closings: [closing('2026-01')], want: 'already-closed' },
    'one that was withdrawn may be closed anew': {
      month: '2026-01',
      closings: [closing('2026-01', '2026-02-01T00:00:00Z')],
      want: undefined,
    },
    'the running month': { month: '2026-04', closings: [closing('2026-03')], want: 'month-not-over' },
    'the future': { month: '2027-01', closings: [], want: 'month-not-over' },
    'before an earlier one that is open': {
      month: '2026-03',
      closings: [closing('2026-01')],
      want: 'earlier-month-open',
    },
    'as the first, though there are earlier ones': { month: '2026-02', closings: [], want: 'earlier-month-open' },
    'as the first, on purpose': { month: '2026-02', closings: [], isFirst: true, want: undefined },
    'a gap cannot be made on purpose later': {
      month: '2026-03',
      closings: [closing('2026-01')],
      isFirst: true,
      want: 'earlier-month-open',
    },
    'one before the newest closed': { month: '2026-01', closings: [closing('2026-02')], want: 'out-of-order' },
    'a month without data': { month: '2025-12', closings: [], want: 'no-data-in-month' },
  };
  it.each(Object.entries(cases))('%s', (_, { month, closings, isFirst = false, want }) => {
    expect(refusal(() => checkClosable({ ...usual, month, closings, isFirst }))).toBe(want);
  });
});

describe('a month that cannot be reopened', () => {
  const closings = [closing('2026-01'), closing('2026-02'), closing('2026-03', '2026-04-02T00:00:00Z')];
  const cases: Record<string, { month: string; want: string | undefined }> = {
    'the newest that is in force can be': { month: '2026-02', want: undefined },
    'an earlier one': { month: '2026-01', want: 'not-the-newest' },
    'one that was withdrawn': { month: '2026-03', want: 'not-closed' },
    'one that never was closed': { month: '2026-05', want: 'not-closed' },
  };
  it.each(Object.entries(cases))('%s', (_, { month, want }) => {
    expect(refusal(() => checkReopenable(month, closings))).toBe(want);
  });
});

describe('numbers', () => {
  it('begin with 001 and go on after every number that was ever used', () => {
    expect(nextNumbers('2026-01', 2, [])).toEqual(['2026-01-001', '2026-01-002']);
    expect(nextNumbers('2026-01', 1, [closing('2026-01', '2026-02-01T00:00:00Z')])).toEqual(['2026-01-003']);
  });
});

describe('cents', () => {
  it('of teams add up to the month', () => {
    const sums = new Map<string | null, bigint>([
      ['asr', 3_333n],
      ['nlp', 3_333n],
      [null, 3_334n],
    ]);
    expect([...centsByTeam(sums)]).toEqual([
      ['asr', 0n],
      ['nlp', 0n],
      [null, 1n],
    ]);
  });
});

describe('what stands on the next statement', () => {
  it('is what the ledger says now less what was stated, also for a team that appears later and a month in between', () => {
    const closings = [closing('2026-01'), closing('2026-03')];
    const ledger = new Map([
      [
        '2026-01',
        new Map<string | null, bigint>([
          ['nlp', 8n],
          ['asr', 7n],
        ]),
      ],
      ['2026-02', new Map<string | null, bigint>([['nlp', 1n]])],
      [
        '2026-03',
        new Map<string | null, bigint>([
          ['nlp', 10n],
          [null, 5n],
        ]),
      ],
    ]);
    expect(dueAdjustments(ledger, closings)).toEqual([
      { month: '2026-01', team: 'asr', usdMicros: 7n },
      { month: '2026-01', team: 'nlp', usdMicros: -2n },
      { month: '2026-01', team: null, usdMicros: -5n },
      { month: '2026-02', team: 'nlp', usdMicros: 1n },
    ]);
  });
});

/** A ledger that changes as it likes: month → team → micros. */
type Ledger = Map<string, Map<string | null, bigint>>;
const FIRST = '2026-01';
const CLOCK = new Date('2027-06-01T00:00:00Z');

const step = fc.oneof(
  fc.record({
    kind: fc.constant('fact' as const),
    month: fc.integer({ min: 0, max: 6 }),
    team: fc.constantFrom<string | null>('nlp', 'asr', 'vision', null),
    micros: fc.bigInt({ min: -(10n ** 13n), max: 10n ** 13n }),
  }),
  fc.record({
    kind: fc.constant('move' as const),
    month: fc.integer({ min: 0, max: 6 }),
    from: fc.constantFrom<string | null>('nlp', 'asr', 'vision', null),
    to: fc.constantFrom<string | null>('nlp', 'asr', 'vision', null),
  }),
  fc.record({ kind: fc.constant('close' as const), month: fc.integer({ min: 0, max: 6 }), isNext: fc.boolean() }),
  fc.record({ kind: fc.constant('close' as const), month: fc.constant(0), isNext: fc.constant(true) }),
  fc.record({ kind: fc.constant('reopen' as const) }),
);

function close(store: StatementStore, ledger: Ledger, month: string): void {
  const closings = store.closings();
  checkClosable({ month, clock: CLOCK, ledgerMonths: [...ledger.keys()].toSorted(), closings, isFirst: true });
  const due = dueAdjustments(ledger, closings);
  const own = ledger.get(month) ?? new Map<string | null, bigint>();
  const teams = [...new Set([...own.keys(), ...due.map(({ team }) => team)])];
  const numbers = nextNumbers(month, teams.length, closings);
  const statements = teams.map((team, index): IssuedStatement => ({
    number: numbers[index] ?? '',
    team,
    kind: 'showback',
    costCentre: null,
    accountCode: null,
    usdMicros: own.get(team) ?? 0n,
    adjustments: due
      .filter((each) => each.team === team)
      .map(({ month: about, usdMicros }) => ({ month: about, usdMicros, reason: 'test' })),
    lines: [],
    answerJson: '{}',
  }));
  store.close({ month, closedAt: 'now', generation: 1, ledgerHash: '', bills: {} }, statements);
}

/** The law: statements in force and what is pending add up to the ledger of the stated months, for each team and in all. */
function checkLaw(store: StatementStore, ledger: Ledger): void {
  const closings = store.closings();
  const months = statedMonths(closings);
  const teams = new Set<string | null>(['nlp', 'asr', 'vision', null]);
  const due = dueAdjustments(ledger, closings);
  for (const team of teams) {
    const stated = inForce(closings)
      .flatMap(({ statements }) => statements.filter((each) => each.team === team))
      .reduce(
        (sum, { usdMicros, adjustments }) => adjustments.reduce((all, each) => all + each.usdMicros, sum + usdMicros),
        0n,
      );
    const pending = due.filter((each) => each.team === team).reduce((sum, { usdMicros }) => sum + usdMicros, 0n);
    const says = months.reduce((sum, month) => sum + (ledger.get(month)?.get(team) ?? 0n), 0n);
    expect(stated + pending).toBe(says);
  }
  const numbers = closings.flatMap(({ statements }) => statements.map(({ number }) => number));
  expect(new Set(numbers).size).toBe(numbers.length);
}

describe('the sum of statements', () => {
  it('equals the ledger after any sequence of facts, closings, reopenings and corrections', async () => {
    const open = await loadSqlite();
    const folder = mkdtempSync(join(tmpdir(), 'bursar-statements-'));
    let runs = 0;
    try {
      fc.assert(
        fc.property(fc.array(step, { minLength: 5, maxLength: 40 }), (steps) => {
          const database = open(join(folder, `${(runs += 1)}.sqlite`), { mode: 'write', busyTimeoutMs: 1000 });
          try {
            database.exec('PRAGMA synchronous = OFF');
            createStatementTables(database);
            const store = statementStore((work) => work(database));
            const ledger: Ledger = new Map();
            for (const each of steps) {
              apply(store, ledger, each);
              checkLaw(store, ledger);
            }
          } finally {
            database.close();
          }
        }),
        { numRuns: 60 },
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
    // The steps must really have closed something, or nothing was shown.
    expect(closed).toBeGreaterThan(50);
  });
});

let closed = 0;

function apply(
  store: StatementStore,
  ledger: Ledger,
  each: typeof step extends fc.Arbitrary<infer Step> ? Step : never,
): void {
  if (each.kind === 'reopen') {
    const newest = inForce(store.closings()).at(-1)?.month;
    if (newest === undefined) return;
    checkReopenable(newest, store.closings());
    store.withdraw(newest, 'later');
    return;
  }
  const month = monthPlus(FIRST, each.month);
  if (each.kind === 'close') {
    const newest = inForce(store.closings()).at(-1)?.month ?? '';
    const next = [...ledger.keys()].toSorted().find((open) => open > newest);
    closeOrRefuse(store, ledger, each.isNext ? (next ?? month) : month);
    return;
  }
  const teams = ledger.get(month) ?? new Map<string | null, bigint>();
  if (each.kind === 'fact') teams.set(each.team, each.micros);
  else {
    const moved = teams.get(each.from) ?? 0n;
    teams.set(each.from, 0n);
    teams.set(each.to, (teams.get(each.to) ?? 0n) + moved);
  }
  ledger.set(month, teams);
}

/** What is refused leaves nothing behind; what is closed leaves nothing over. */
function closeOrRefuse(store: StatementStore, ledger: Ledger, month: string): void {
  const before = store.closings().length;
  if (refusal(() => close(store, ledger, month)) !== undefined) {
    if (store.closings().length !== before) throw new Error('a refused closing left something behind');
    return;
  }
  closed += 1;
  if (dueAdjustments(ledger, store.closings()).length > 0) throw new Error('a closing left something over');
}
