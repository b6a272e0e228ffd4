import type { ApiHeader, ApiResponse } from './openapi-document.ts';
import type { JsonSchema } from './openapi-schema.ts';

/** What a problem+json body says (RFC 9457), and what to do about it. */
const PROBLEM_SCHEMA: JsonSchema = {
  type: 'object',
  properties: {
    type: { type: 'string', description: 'urn:bursar: and the code' },
    title: { type: 'string', description: 'What kind of problem it is' },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'What is wrong, in a sentence' },
    hint: { type: ['string', 'null'], description: 'What to do about it' },
    code: { type: 'string', description: 'A word for programs; it stays the same' },
  },
  required: ['type', 'title', 'status', 'detail', 'hint', 'code'],
};

interface Example {
  readonly when: string;
  readonly title: string;
  readonly detail: string;
  readonly code: string;
  readonly hint: string;
}

const EXAMPLES: Readonly<Record<string, Example>> = {
  400: {
    when: 'The question is not understood',
    title: 'The question is not understood',
    detail: '"13 moons" is not a window',
    code: 'bad-window',
    hint: 'For example 30d, all, 2026-11-01 or 2026-11-01/2026-11-08.',
  },
  401: {
    when: 'No token, or one that is not known, expired or revoked',
    title: 'A token is needed',
    detail: 'the token is unknown, has expired or was revoked',
    code: 'bad-token',
    hint: 'An admin makes a new one: bursar token create --name NAME --role viewer',
  },
  403: {
    when: 'The token may not see or do this, or a page of another site asks',
    title: 'Not allowed',
    detail: 'grafana sees the team nlp, and no other',
    code: 'other-team',
    hint: 'Leave team out, or say team=nlp.',
  },
  404: {
    when: 'There is no such thing',
    title: 'There is no such thing',
    detail: 'there is no finding F-4711',
    code: 'no-such-finding',
    hint: 'bursar findings lists them.',
  },
  409: {
    when: 'Somebody has changed it meanwhile',
    title: 'Something else has changed',
    detail: 'F-12 has changed meanwhile: kim says dismissed',
    code: 'finding-changed',
    hint: 'Look at it again, and decide then.',
  },
  410: {
    when: 'The row after which the page begins is gone',
    title: 'No longer there',
    detail: 'the list has changed, and the row of this cursor is gone',
    code: 'cursor-gone',
    hint: 'Begin anew without cursor.',
  },
  413: {
    when: 'The body is too large',
    title: 'Too large',
    detail: 'the body is larger than 64 kB',
    code: 'body-too-large',
    hint: 'Nothing that can be asked for here needs as much.',
  },
  415: {
    when: 'The body is not sent as JSON',
    title: 'Not JSON',
    detail: 'the body is not sent as JSON',
    code: 'not-json-body',
    hint: 'Send Content-Type: application/json.',
  },
  421: {
    when: 'It is asked under a name that is not its own',
    title: 'Not a name of this server',
    detail: 'this server is not called "rebound.example"',
    code: 'unknown-host',
    hint: 'Say --allow-host NAME when it is started, or use its address.',
  },
  422: {
    when: 'It is understood, and cannot be done or told as asked',
    title: 'It cannot be done as asked',
    detail: 'reason: say why: whoever reads this later has to know',
    code: 'bad-body',
    hint: 'The reference at /api says what can be written.',
  },
  429: {
    when: 'Too many requests; Retry-After says how long to wait',
    title: 'Too many requests',
    detail: 'too many requests in a short time',
    code: 'too-many-requests',
    hint: 'Ask again in a few seconds.',
  },
  500: {
    when: 'A mistake of the server',
    title: 'A mistake of ours',
    detail: 'Something went wrong that was not expected.',
    code: 'unexpected',
    hint: 'The log of the server says where.',
  },
  503: {
    when: 'It cannot answer now; Retry-After says how long to wait',
    title: 'Not now',
    detail: 'there are no facts yet',
    code: 'no-data',
    hint: 'bursar import, bursar collect, or bursar demo to try it out.',
  },
};

const RETRY_AFTER: Readonly<Record<string, ApiHeader>> = {
  'Retry-After': { description: 'So many seconds to wait', schema: { type: 'integer' } },
};

const HEADERS: Readonly<Record<string, Readonly<Record<string, ApiHeader>>>> = {
  401: { 'WWW-Authenticate': { description: 'Bearer, and for what', schema: { type: 'string' } } },
  429: RETRY_AFTER,
  503: RETRY_AFTER,
};

/** The errors every route may answer with, described once. */
export function problemResponses(): Record<string, ApiResponse> {
  return Object.fromEntries(
    Object.entries(EXAMPLES).map(([status, { when, title, detail, code, hint }]) => [
      `Problem${status}`,
      {
        description: when,
        ...(HEADERS[status] !== undefined && { headers: HEADERS[status] }),
        content: {
          'application/problem+json': {
            schema: PROBLEM_SCHEMA,
            example: { type: `urn:bursar:${code}`, title, status: Number(status), detail, hint, code },
          },
        },
      },
    ]),
  );
}
