import type { FactRow, FactRows, Haul, PullRequest, Source } from '../../facts/source.ts';

/** A source of which only the last days count; `again` tells what it told once more, with fewer of them. */
export interface LastDays {
  readonly source: Source;
  /** Undefined where it told of no machine and no open holding. */
  readonly again: (since: Date) => Source | undefined;
}

/**
 * A source of which only the last days count, for a first look: machines and open holdings begin with them at the earliest.
 *
 * A node that is three years old would else make a ledger of three years, of which nobody asked for and nothing is known; and
 * time of which nobody read who held what would look as if nobody had. Only rows that the next collection replaces whole are
 * cut: lists of machines, and holdings that are not over.
 */
export function lastDaysOf(source: Source, since: Date): LastDays {
  const { name, kind, reads, priority, pollS } = source;
  const told = new Map<string, FactRows>();
  let last: Haul | undefined;
  const passing = (pull: Source['pull']): Source => ({
    name,
    kind,
    reads,
    priority,
    pollS,
    check: (signal) => source.check(signal),
    pull,
  });
  return {
    source: passing(async function* pull(cursor: unknown, request: PullRequest) {
      for await (const haul of source.pull(cursor, request)) {
        for (const facts of haul.facts.filter(isCut)) told.set(`${facts.table} ${facts.batch}`, facts);
        last = haul;
        yield { ...haul, facts: haul.facts.map((facts) => cutFacts(facts, since)) };
      }
    }),
    again: (later) => {
      const haul = last;
      if (haul === undefined || told.size === 0) return undefined;
      const { cursor, coveredUntil, gpus } = haul;
      const facts = [...told.values()].map((each) => cutFacts(each, later));
      return passing(async function* pull() {
        yield { facts, cursor, coveredUntil, ...(gpus !== undefined && { gpus }) };
      });
    },
  };
}

const BEGINS: Readonly<Record<string, readonly [from: string, until: string]>> = {
  node: ['present_from', 'present_until'],
  device: ['present_from', 'present_until'],
  allocation: ['held_from', 'held_until'],
};

function isCut({ table, mode }: FactRows): boolean {
  return mode === 'replace' && BEGINS[table] !== undefined;
}

function cutFacts(facts: FactRows, since: Date): FactRows {
  const ends = BEGINS[facts.table];
  if (ends === undefined || !isCut(facts)) return facts;
  const [from, until] = ends;
  const rows = facts.rows.map((row): FactRow => {
    const begins = row[from];
    const isOpen = row[until] === undefined || row[until] === null;
    return isOpen && begins instanceof Date && begins < since ? { ...row, [from]: since } : row;
  });
  return { ...facts, rows };
}
