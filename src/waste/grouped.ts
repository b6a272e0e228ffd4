/** Rows by what they have in common, both in the order in which they come. */
export function grouped<Each, Key>(
  all: readonly Each[],
  keyOf: (each: Each) => Key,
): ReadonlyMap<Key, readonly Each[]> {
  const groups = new Map<Key, Each[]>();
  for (const each of all) {
    const key = keyOf(each);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [each]);
    else group.push(each);
  }
  return groups;
}
