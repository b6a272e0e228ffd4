import { listAt, textAt } from './json-shape.ts';
import type { Connection } from './connection.ts';
import { notKubernetes, tooMuch, tooSlow } from './problem.ts';
import { get } from './request.ts';

export interface ListAsk {
  readonly path: string;
  readonly what: string;
  readonly signal: AbortSignal;
  /** Gets each page as it comes; items are not kept here. */
  readonly onItems: (items: readonly unknown[]) => void;
}

const PAGE_ITEMS = 500;
const PAGES_MAX = 2000;
const TIME_MS_MAX = 180_000;

/**
 * Reads a whole collection in pages, and gives the version to watch from.
 *
 * A token to continue with lives for some minutes; if it dies in between (410) the list is begun again, once, without pages.
 */
export async function listAll(connection: Connection, ask: ListAsk): Promise<string> {
  const begun = Date.now();
  let next: string | undefined;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    if (Date.now() - begun > TIME_MS_MAX) throw tooSlow(connection, `${ask.what} as a whole`, TIME_MS_MAX);
    const query = { limit: String(PAGE_ITEMS), ...(next !== undefined && { continue: next }) };
    const answer = await get(connection, { ...ask, query }, next === undefined ? [] : [410]);
    if (answer.status === 410) return await listAtOnce(connection, ask);
    ask.onItems(listAt(answer.body, 'items'));
    next = textAt(answer.body, 'metadata', 'continue');
    if (next === undefined) return versionOf(connection, ask, answer.body);
  }
  throw tooMuch(connection, ask.what, `${PAGES_MAX} pages`);
}

async function listAtOnce(connection: Connection, ask: ListAsk): Promise<string> {
  const { body } = await get(connection, ask);
  ask.onItems(listAt(body, 'items'));
  return versionOf(connection, ask, body);
}

function versionOf(connection: Connection, ask: ListAsk, body: unknown): string {
  const resourceVersion = textAt(body, 'metadata', 'resourceVersion');
  if (resourceVersion === undefined) throw notKubernetes(connection, ask.what);
  return resourceVersion;
}
