import type { ApiResponse } from './openapi-document.ts';
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
    when: 'The token may not see or do this',
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

/** The errors every route may answer with, described once. */
export function problemResponses(): Record<string, ApiResponse> {
  return Object.fromEntries(
    Object.entries(EXAMPLES).map(([status, { when, title, detail, code, hint }]) => [
      `Problem${status}`,
      {
        description: when,
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
