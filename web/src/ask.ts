import { useQuery } from '@tanstack/react-query';
import type { UseQueryResult } from '@tanstack/react-query';

export type Query = Readonly<Record<string, string | undefined>>;

const GONE = 'gone';
const BAD_REQUEST = 400;

/** What the server says when it cannot answer (RFC 9457), with what to do about it. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly status: number;
  readonly hint: string | null;
  /** How long the server asks to wait before another try; null where it does not say. */
  readonly retryAfterMs: number | null;
  /** The kind of trouble, as programs know it. */
  readonly code: string | null;

  constructor(
    status: number,
    title: string,
    hint: string | null,
    retryAfterMs: number | null = null,
    code: string | null = null,
  ) {
    super(title);
    this.status = status;
    this.hint = hint;
    this.retryAfterMs = retryAfterMs;
    this.code = code;
  }

  /** It is being worked on, and the words say how far it is. */
  get isOnItsWay(): boolean {
    return this.code === 'still-checking';
  }

  /** The server is there, and nothing was ever brought in: every page would say the same. */
  get hasNoData(): boolean {
    return this.code === 'no-data';
  }

  /** The address asks what nobody can answer: every part of the page would say the same. */
  get isOfTheQuestion(): boolean {
    return this.status === BAD_REQUEST;
  }

  /** Nothing answered: the frame says so once, over the page. */
  get isGone(): boolean {
    return this.code === GONE;
  }
}

export interface Answer<Reply> {
  readonly data: Reply;
  /** The same figures on the command line. */
  readonly command: string | null;
  /** The state of the ledger it was answered from. */
  readonly generation: string | null;
}

/** An address of the API, without what is not said. */
export function apiAddress(path: string, query: Query = {}): string {
  const said = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const search = new URLSearchParams(said.toSorted(([a], [b]) => (a < b ? -1 : 1))).toString();
  return `/api/v1${path}${search === '' ? '' : `?${search}`}`;
}

/** The same answer as a file for a spreadsheet. */
export function csvAddress(path: string, query: Query = {}): string {
  return apiAddress(path, { ...query, format: 'csv' });
}

export async function ask<Reply>(address: string, init: RequestInit = {}): Promise<Answer<Reply>> {
  const response = await answerOf(address, init);
  return {
    data: (await response.json().catch(sayGone)) as Reply,
    command: commandOf(response),
    generation: response.headers.get('x-bursar-generation'),
  };
}

/** Names in a command may be of any script; a header may not. */
function commandOf(response: Response): string | null {
  const words = response.headers.get('x-bursar-command');
  return words === null ? null : decodeURIComponent(words);
}

/** Bytes, for what would be too long as text. */
export async function askBytes(address: string): Promise<ArrayBuffer> {
  return (await answerOf(address, {})).arrayBuffer().catch(sayGone);
}

/** Each browser has its own words for a connection that fails, and none says what it means here. */
function sayGone(failure: unknown): never {
  if (!(failure instanceof TypeError)) throw failure;
  throw new Problem(
    0,
    'Bursar does not answer.',
    'What was to be changed may not have been: look again when it is back.',
    null,
    GONE,
  );
}

async function answerOf(address: string, init: RequestInit): Promise<Response> {
  const response = await fetch(address, init).catch(sayGone);
  if (response.ok) return response;
  const said = response.headers.get('content-type')?.includes('json') ? ((await response.json()) as object) : {};
  const {
    title = `the server answered ${response.status}`,
    detail,
    hint = null,
    code = null,
  } = said as {
    title?: string;
    detail?: string;
    hint?: string | null;
    code?: string | null;
  };
  throw new Problem(response.status, detail ?? title, hint, retryAfterOf(response), code);
}

/** Retry-After in seconds; a date in it, which nobody sends here, counts as not said. */
function retryAfterOf(response: Response): number | null {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : null;
}

/**
 * Asks, and keeps the last good answer on screen while another one is on its way (`isPlaceholderData`: it is marked). What answers of
 * another thing, another job or team for one, is never kept.
 */
export function useAnswer<Reply>(
  path: string,
  query: Query = {},
  options: { readonly enabled?: boolean } = {},
): UseQueryResult<Answer<Reply>, Problem> {
  const address = apiAddress(path, query);
  return useQuery<Answer<Reply>, Problem>({
    queryKey: ['answer', address],
    queryFn: ({ signal }) => ask<Reply>(address, { signal }),
    placeholderData: (last, before) =>
      String(before?.queryKey[1]).split('?')[0] === address.split('?')[0] ? last : undefined,
    ...options,
  });
}

/** Asks the server to change something of its own, as the command of the same name does. */
export async function tell<Reply>(path: string, body: object): Promise<Answer<Reply>> {
  return ask<Reply>(apiAddress(path), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}
