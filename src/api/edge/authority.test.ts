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

/** Who asks, or why it is refused; `known` by the texts of their tokens. */
function asking(known: Readonly<Record<string, TokenRecord>>, needsToken: boolean) {
  const byHash = new Map(Object.entries(known).map(([token, record]) => [hashOf(token), record]));
  const sessions = memorySessions(() => NOW);
  const authority = authorityOf({
    needsToken,
    trustsProxy: false,
    tokens: async () => ({ records: () => [], byHash: (hash) => byHash.get(hash) }),
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
  return {
    ask: async (headers: Readonly<Record<string, string>>): Promise<string> =>
      (await app.request('/', { headers: { host: '127.0.0.1:4600', ...headers } })).text(),
    cookie: `${SESSION_COOKIE}=${sessions.open(hashOf('bsr_nia'))}`,
  };
}

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
  const { ask, cookie } = asking(token === undefined ? {} : { bsr_nia: token }, false);
  expect(await ask({ cookie: token === undefined ? '' : cookie })).toBe(want);
});

const bearer = (name: string) => ({ authorization: `Bearer bsr_${name}` });
it.each([
  { name: 'by its token', sent: () => bearer('nia'), want: 'nia viewer' },
  { name: 'by the token of its session', sent: (cookie: string) => ({ cookie }), want: 'nia viewer' },
  { name: 'by its address where it has none', sent: () => ({}), want: 'no-token' },
])('whoever asks without end is slowed down, $name, and nobody else is', async ({ sent, want }) => {
  const { ask, cookie } = asking({ bsr_nia: NIA, bsr_olu: { ...NIA, number: 2, name: 'olu' } }, true);
  const told: string[] = [];
  for (let n = 0; n < 210; n += 1) told.push(await ask(sent(cookie)));
  expect([told[0], told.at(-1)]).toEqual([want, 'too-many-requests']);
  expect(await ask(bearer('olu'))).toBe('olu viewer');
});
