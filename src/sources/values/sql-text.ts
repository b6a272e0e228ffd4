/** Text as an SQL literal. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A name as an SQL identifier, whatever a file calls its columns. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** True where `ref` is none of the words. A longer NOT IN list becomes a join, which costs ten times as much a row. */
export function noneOf(ref: string, words: readonly string[]): string {
  return `(${words.map((word) => `${ref} <> ${literal(word)}`).join(' AND ')})`;
}
