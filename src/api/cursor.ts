import { createHash } from 'node:crypto';
import { z } from 'zod';
import { OperationError } from '../facts/operation-error.ts';

/** Rows of the longest page. */
export const ROWS_MAX = 100_000;

/** How a list is asked for in pages; routes spread it into their query. */
export const Paging = {
  limit: z.coerce.number().int().min(1).max(ROWS_MAX).default(1000).meta({ description: 'Rows of one page' }),
  cursor: z.string().max(1000).optional().meta({ description: 'nextCursor of the page before' }),
};

export interface Paged<Row> {
  readonly rows: readonly Row[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
  readonly totalRows: number;
}

export interface PageRequest<Row> {
  readonly limit: number;
  readonly cursor: string | undefined;
  /** `questionOf` the query: a cursor of another one is refused. */
  readonly question: string;
  /** What tells a row from all others, the same in every generation. */
  readonly keyOf: (row: Row) => string;
}

/** Longer keys are told by their hash: names may be of any length, and every cursor that is given is taken back. */
const KEY_LENGTH_MAX = 100;

const Cursor = z.object({ q: z.string(), after: z.string(), place: z.number().int().min(0) });

/** What a question is, by which its cursors are known: all of it but which page. */
export function questionOf(query: Readonly<Record<string, unknown>>): string {
  const asked = Object.entries(query).filter(([name]) => name !== 'limit' && name !== 'cursor');
  const words = JSON.stringify(asked.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return createHash('sha256').update(words).digest('base64url').slice(0, 12);
}

/**
 * One page of a list. A cursor names the last row of the page before: in a newer generation the next page begins after that row, wherever it
 * stands now; if it is gone, the reader is told to begin anew rather than to miss rows.
 */
export function pageOf<Row>(rows: readonly Row[], { limit, cursor, question, keyOf }: PageRequest<Row>): Paged<Row> {
  const begin = cursor === undefined ? 0 : placeAfter(rows, cursor, question, keyOf);
  const page = rows.slice(begin, begin + limit);
  const last = page.at(-1);
  const place = begin + page.length;
  const isLast = last === undefined || place >= rows.length;
  return {
    rows: page,
    nextCursor: isLast ? null : writeCursor(question, markOf(keyOf(last)), place),
    totalRows: rows.length,
  };
}

function placeAfter<Row>(rows: readonly Row[], cursor: string, question: string, keyOf: (row: Row) => string): number {
  const { after, place } = readCursor(cursor, question);
  const before = rows[place - 1];
  if (before !== undefined && markOf(keyOf(before)) === after) return place;
  const found = rows.findIndex((row) => markOf(keyOf(row)) === after);
  if (found >= 0) return found + 1;
  throw new OperationError('cursor-gone', 'the list has changed, and the row of this cursor is gone', {
    hint: 'Begin anew without cursor.',
  });
}

/** What a cursor says of a key. */
function markOf(key: string): string {
  return key.length <= KEY_LENGTH_MAX ? key : createHash('sha256').update(key).digest('hex');
}

/** Where the page after this row begins; `after` is its key, or its hash where names make it long. */
export function writeCursor(question: string, after: string, place = 0): string {
  const cursor: z.infer<typeof Cursor> = { q: question, after, place };
  return Buffer.from(JSON.stringify(cursor)).toString('base64url');
}

/** The row after which a page begins; refused where the cursor is of another question. */
export function readCursor(cursor: string, question: string): { readonly after: string; readonly place: number } {
  const { q, ...read } = parsed(cursor);
  if (q === question) return read;
  throw new OperationError('cursor-gone', 'this cursor is of another question', { hint: 'Begin anew without cursor.' });
}

function parsed(text: string): z.infer<typeof Cursor> {
  try {
    return Cursor.parse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8')));
  } catch (cause) {
    throw new OperationError('bad-query', 'cursor: not one of ours', {
      hint: 'Use nextCursor of the page before as it stands, or begin anew without cursor.',
      cause,
    });
  }
}
