import assert from 'node:assert/strict';
import type { Context } from 'hono';
import { z } from 'zod';
import { ROLES } from '../facts/viewer.ts';
import type { Access } from './route.ts';

/** A path the server answers by itself, without a question to the ledger: health, its own description, its metrics. */
export interface ServicePath {
  readonly method: 'get' | 'post' | 'delete';
  readonly path: string;
  readonly name: string;
  readonly summary: string;
  readonly access: Access;
  /** What a good answer is, by its status. */
  readonly answers: Readonly<
    Record<string, { readonly what: string; readonly contentType?: string; readonly reply?: z.ZodType }>
  >;
  readonly body?: z.ZodType;
  /** How it may refuse beside what all may. */
  readonly refusals?: readonly string[];
  /** True: whoever looks whether it lives comes under any name. */
  readonly isUnderAnyName?: true;
}

/** Answers a path of the list, after its rule was applied. */
export type Serves = (name: string, answer: (context: Context) => Response | Promise<Response>) => void;

/** What a sign-in takes. */
export const SignIn = z.object({
  token: z.string().min(1).max(200).meta({ description: 'bursar token create makes one' }),
});

/** Who one is here. */
const Session = z.object({
  name: z.string(),
  role: z.enum(ROLES),
  team: z.string().nullable().meta({ description: 'The one team it sees; null for all' }),
  signedIn: z.boolean().meta({ description: 'False where no token is needed' }),
});
export type SessionReply = z.infer<typeof Session>;

const EVERYBODY: Access = { role: 'viewer', sees: 'open' };

/** Listed like the routes, so that no path is outside the document or without a rule. */
export const SERVICE_PATHS: readonly ServicePath[] = [
  {
    method: 'get',
    path: '/api',
    name: 'getReference',
    summary: 'This reference, to read',
    access: { role: 'viewer', sees: 'totals' },
    answers: { 200: { what: 'A page', contentType: 'text/html' } },
  },
  {
    method: 'get',
    path: '/api/openapi.json',
    name: 'getOpenApi',
    summary: 'This reference, for programs: OpenAPI 3.1',
    access: { role: 'viewer', sees: 'totals' },
    answers: { 200: { what: 'The document', contentType: 'application/json' } },
  },
  {
    method: 'get',
    path: '/api/reference.css',
    name: 'getReferenceStyle',
    summary: 'How the reference looks',
    access: EVERYBODY,
    answers: { 200: { what: 'A style sheet', contentType: 'text/css' } },
  },
  {
    method: 'get',
    path: '/api/v1/events',
    name: 'followEvents',
    summary: 'Tells when there is new data: server-sent events',
    access: { role: 'viewer', sees: 'totals' },
    answers: { 200: { what: 'Events named generation', contentType: 'text/event-stream' } },
  },
  {
    method: 'get',
    path: '/api/v1/session',
    name: 'getSession',
    summary: 'Who am I here?',
    access: { role: 'viewer', sees: 'totals' },
    answers: { 200: { what: 'Name, role and team', contentType: 'application/json', reply: Session } },
  },
  {
    method: 'post',
    path: '/api/v1/session',
    name: 'signIn',
    summary: 'Sign in with a token, for browsers',
    access: EVERYBODY,
    body: SignIn,
    refusals: ['401'],
    answers: { 200: { what: 'A cookie is set', contentType: 'application/json', reply: Session } },
  },
  {
    method: 'delete',
    path: '/api/v1/session',
    name: 'signOut',
    summary: 'Sign out',
    access: EVERYBODY,
    answers: { 204: { what: 'The cookie is gone' } },
  },
  {
    method: 'get',
    path: '/metrics',
    name: 'getMetrics',
    summary: 'The health of the server and the money of the fleet, for Prometheus',
    access: { role: 'viewer', sees: 'fleet' },
    answers: { 200: { what: 'Prometheus text format 0.0.4', contentType: 'text/plain' } },
  },
  {
    method: 'get',
    path: '/healthz',
    name: 'getHealth',
    summary: 'Is the process alive?',
    access: EVERYBODY,
    isUnderAnyName: true,
    answers: { 200: { what: 'It is' } },
  },
  {
    method: 'get',
    path: '/readyz',
    name: 'getReadiness',
    summary: 'Can it answer from the ledger?',
    access: EVERYBODY,
    isUnderAnyName: true,
    answers: { 200: { what: 'It can' } },
  },
];

export function servicePath(name: string): ServicePath {
  const found = SERVICE_PATHS.find((each) => each.name === name);
  assert(found, `no service path ${name}`);
  return found;
}
