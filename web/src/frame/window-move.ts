import { useAddress } from '../address.ts';
import { useAnswer } from '../ask.ts';
import type { StatusReply } from '../../../src/api/routes/sources/status.ts';

const DAY_MS = 86_400_000;

interface Span {
  readonly from: string;
  readonly until: string;
}

/** The midnight that ends the day of the newest fact, or of the moment that is asked for where it is earlier; undefined without facts. */
export function factsEnd(newestFactAt: string | null | undefined, asOf: string | undefined): number | undefined {
  if (newestFactAt == null) return undefined;
  const asked = Date.parse(asOf ?? '');
  const at = Math.min(Date.parse(newestFactAt), Number.isNaN(asked) ? Infinity : asked);
  return Math.ceil(at / DAY_MS) * DAY_MS;
}

export function useFactsEnd(): number | undefined {
  const { words } = useAddress();
  return factsEnd(useAnswer<StatusReply>('/status').data?.data.newestFactAt, words['asOf']);
}

/** A window moved by its own length, and never past the newest fact; undefined where there is nothing to move to. */
export function movedWindow({ from, until }: Span, direction: -1 | 1, end: number | undefined): string | undefined {
  const [first, last] = [Date.parse(from), Date.parse(until)];
  if (Number.isNaN(first) || Number.isNaN(last)) return undefined;
  const length = Math.max(1, Math.ceil((last - first) / DAY_MS)) * DAY_MS;
  const begin = Math.min(first + direction * length, (end ?? Infinity) - length);
  if (direction === 1 && begin <= first) return undefined;
  const date = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
  return `${date(begin)}/${date(begin + length)}`;
}

/** Which key leads from a window without facts to some: those that are newer lie after it. */
export function keyToFacts({ until }: Pick<Span, 'until'>, end: number | undefined): '[' | ']' {
  return end !== undefined && Date.parse(until) < end ? ']' : '[';
}
