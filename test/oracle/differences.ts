/** Rows that only one side has, as a multiset. */
export function differences(got: readonly string[], want: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const row of want) counts.set(row, (counts.get(row) ?? 0) + 1);
  for (const row of got) counts.set(row, (counts.get(row) ?? 0) - 1);
  return [...counts]
    .filter(([, count]) => count !== 0)
    .map(([row, count]) => `${count > 0 ? 'missing' : 'extra'} ${row}`);
}
