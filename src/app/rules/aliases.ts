import { quote } from '../../lake/engine.ts';
import type { Alias } from './rule.ts';

/** The names a value goes by in the end, on each day, as SQL over an expression and the column `day`. */
export function aliasedSql(aliases: readonly Alias[], value: string): string {
  const cases = aliases.flatMap(({ from }) =>
    datesOf(aliases).map((date) => {
      const active = aliases.filter(({ since }) => since === undefined || (date !== undefined && since <= date));
      const day = date === undefined ? '' : ` AND day >= DATE ${quote(date)}`;
      return `WHEN ${value} = ${quote(from)}${day} THEN ${quote(finalName(active, from))}`;
    }),
  );
  return cases.length === 0 ? value : `CASE ${cases.join(' ')} ELSE ${value} END`;
}

/** Days on which names change, newest first; undefined stands for before the first. */
function datesOf(aliases: readonly Alias[]): (string | undefined)[] {
  const dates = new Set(aliases.flatMap(({ since }) => since ?? []));
  return [...[...dates].toSorted((a, b) => (a < b ? 1 : -1)), undefined];
}

/** Where a chain of names ends. Circles are refused before anybody asks. */
function finalName(aliases: readonly Alias[], name: string): string {
  const seen = new Set<string>();
  let current = name;
  for (;;) {
    const next = aliases.find(({ from }) => from === current)?.to;
    if (next === undefined || seen.has(current)) return current;
    seen.add(current);
    current = next;
  }
}

/** Names that lead back to themselves: `nlp → speech → nlp`. */
export function circleFrom(aliases: readonly Alias[], name: string): readonly string[] | undefined {
  const way = [name];
  for (let next = targetOf(aliases, name); next !== undefined; next = targetOf(aliases, next)) {
    way.push(next);
    if (next === name) return way;
    if (way.indexOf(next) < way.length - 1) return undefined;
  }
  return undefined;
}

function targetOf(aliases: readonly Alias[], name: string): string | undefined {
  return aliases.find(({ from }) => from === name)?.to;
}
