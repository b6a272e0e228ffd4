/** A table of the page in whose rows `j` and `k` move. */
export interface Walked {
  readonly size: number;
  /** Which row is chosen; -1 without one. */
  readonly place: number;
  readonly choose: (place: number) => void;
  /** Another table has the chosen row now. */
  readonly leave: () => void;
}

/** One row on or back, and past the last row of a table into the next that has rows. The tables come in the order of the page. */
export function walk(tables: readonly Walked[], by: -1 | 1): void {
  const filled = tables.filter(({ size }) => size > 0);
  const at = filled.findIndex(({ place }) => place >= 0);
  const current = filled[at];
  const next = (current?.place ?? -1) + by;
  if (current !== undefined && next >= 0 && next < current.size) {
    current.choose(next);
    return;
  }
  const other = current === undefined ? filled.at(by === 1 ? 0 : -1) : at + by < 0 ? undefined : filled[at + by];
  if (other === undefined) return;
  current?.leave();
  other.choose(by === 1 ? 0 : other.size - 1);
}

const walked = new Map<Element, () => Walked>();

export function joinWalk(body: Element, table: () => Walked): () => void {
  walked.set(body, table);
  return () => walked.delete(body);
}

/** Moves in the tables of the page, from its top to its end. */
export function walkPage(by: -1 | 1): void {
  const isAfter = (a: Element, b: Element): number =>
    a.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1;
  const tables = [...walked].toSorted(([a], [b]) => isAfter(a, b)).map(([, table]) => table());
  walk(tables, by);
}
