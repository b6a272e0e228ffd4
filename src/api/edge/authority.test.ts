import { Hono } from 'hono';
import { expect, it } from 'vitest';
import { hashOf } from '../../app/serve/tokens.ts';
import { OperationError } from '../../facts/operation-error.ts';
import type { TokenRecord } from '../../facts/token-record.ts';
import { authorityOf } from './authority.ts';
import { memorySessions, SESSION_COOKIE } from './sessions.ts';

const NOW = new Date('2026-03-02T08:00:00Z');
const NIA: TokenRecord = {
  number: 1,
  name: 'nia',
  role: 'viewer',
  team: 'nlp',
  createdAt: NOW.toISOString(),
  expiresAt: null,
  revokedAt: null,
};

it.each([
  { name: 'nobody has signed in: whoever sits at this machine', token: undefined, want: 'loopback admin' },
  { name: 'the token behind a session is in force: its bearer', token: NIA, want: 'nia viewer' },
  {
    name: 'the token was revoked: nobody, and no admin by sitting here',
    token: { ...NIA, revokedAt: NOW.toISOString() },
    want: 'no-token',
  },
  { name: 'the token has expired: nobody', token: { ...NIA, expiresAt: NOW.toISOString() }, want: 'no-token' },
])('on a server that needs no token, where $name', async ({ token, want }) => {
  const sessions = memorySessions(() => NOW);
  const authority = authorityOf({
    needsToken: false,
    trustsProxy: false,
    tokens: async () => ({ records: () => [], byHash: (hash) => (hash === hashOf('bsr_nia') ? token : undefined) }),
    sessions,
    now: () => NOW,
    passedMs: () => 0,
  });
  const app = new Hono().get('/', async (context) => {
    try {
      const { viewer } = await authority.identify(context);
      return context.text(`${viewer.name} ${viewer.role}`);
    } catch (failure) {
      return context.text(failure instanceof OperationError ? failure.code : 'a mistake of ours');
    }
  });
  const cookie = token === undefined ? '' : `${SESSION_COOKIE}=${sessions.open(hashOf('bsr_nia'))}`;
  const reply = await app.request('/', { headers: { host: '127.0.0.1:4600', cookie } });
  expect(await reply.text()).toBe(want);
});
