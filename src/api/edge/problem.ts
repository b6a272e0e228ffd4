import { STATUS_CODES } from 'node:http';
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { OperationError } from '../../facts/operation-error.ts';

/** What went wrong, as RFC 9457 has it, with what to do about it. */
export interface Problem {
  /** `urn:bursar:` and the code: the same for every problem of a kind. */
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly hint: string | null;
  readonly code: string;
}

/** The server's answer to a failure. Whatever is not named here is a bad request. */
const STATUSES: Readonly<Record<number, readonly string[]>> = {
  401: ['no-token', 'bad-token'],
  403: ['forbidden', 'holds-others', 'other-origin', 'other-team', 'role-too-low'],
  404: [
    'no-such-finding',
    'no-such-route',
    'no-such-file',
    'no-such-page',
    'unknown-job',
    'unknown-gpu',
    'unknown-team',
    'unknown-user',
    'no-team',
  ],
  405: ['wrong-method'],
  409: [
    'locked',
    'already-closed',
    'closed-meanwhile',
    'ledger-changed',
    'earlier-month-open',
    'token-exists',
    'finding-changed',
  ],
  410: ['cursor-gone'],
  413: ['body-too-large'],
  415: ['not-json-body'],
  421: ['unknown-host'],
  422: ['bad-body', 'ambiguous-job', 'month-not-over', 'not-closed', 'no-data-in-month', 'not-the-newest'],
  429: ['too-many-requests'],
  503: [
    'no-data',
    'busy',
    'slow',
    'stopping',
    'interrupted',
    'withdrawn',
    'out-of-memory',
    'damaged-file',
    'damaged',
    'disk-full',
    'disk-error',
    'read-only',
    'newer-format',
    'not-a-data-folder',
    'stale-ledger',
    'still-checking',
    'writer-trouble',
    'too-many-connections',
    'too-many-listeners',
    'bad-config',
  ],
};

const TITLES: Readonly<Record<number, string>> = {
  400: 'The question is not understood',
  401: 'A token is needed',
  403: 'Not allowed',
  404: 'There is no such thing',
  405: 'Not with this method',
  409: 'Something else has changed',
  410: 'No longer there',
  413: 'Too large',
  415: 'Not JSON',
  421: 'Not a name of this server',
  422: 'It cannot be done as asked',
  429: 'Too many requests',
  500: 'A mistake of ours',
  503: 'Not now',
};

const RETRY_AFTER_S = 5;
/** What goes on only while somebody asks is asked for at once. */
const RETRY_AT_ONCE_S = 1;

export function statusOf(code: string): number {
  const found = Object.entries(STATUSES).find(([, codes]) => codes.includes(code));
  return found === undefined ? 400 : Number(found[0]);
}

/** A failure as a problem. What we did not expect is not told: its words may name files and people. */
export function problemOf(failure: unknown): Problem {
  if (!(failure instanceof OperationError)) {
    return {
      type: 'urn:bursar:unexpected',
      title: TITLES[500] ?? '',
      status: 500,
      detail: 'Something went wrong that was not expected.',
      hint: 'The log of the server says where.',
      code: 'unexpected',
    };
  }
  const status = statusOf(failure.code);
  return {
    type: `urn:bursar:${failure.code}`,
    title: TITLES[status] ?? '',
    status,
    detail: failure.message,
    hint: failure.hint ?? null,
    code: failure.code,
  };
}

export function problemReply(context: Context, failure: unknown): Response {
  const problem = problemOf(failure);
  return context.body(JSON.stringify(problem), problem.status as ContentfulStatusCode, headersOf(problem));
}

/** A problem as it goes over a connection of which nothing is read. */
export function problemText(failure: OperationError): string {
  const problem = problemOf(failure);
  const body = JSON.stringify(problem);
  const headers = { ...headersOf(problem), Connection: 'close', 'Content-Length': Buffer.byteLength(body) };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? ''}\r\n${lines.join('')}\r\n${body}`;
}

function headersOf({ status, code }: Problem): Record<string, string> {
  return {
    'Content-Type': 'application/problem+json',
    'Cache-Control': 'no-store',
    ...(status === 401 && { 'WWW-Authenticate': 'Bearer realm="bursar"' }),
    ...((status === 503 || status === 429) && {
      'Retry-After': String(code === 'still-checking' ? RETRY_AT_ONCE_S : RETRY_AFTER_S),
    }),
  };
}
