import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { csv, fleetFolder } from '../../test/fleet-folder.ts';
import type { FleetFolder } from '../../test/fleet-folder.ts';
import { HOSTILE, MADE_DEEDS as deeds, MADE_ROUTES as routes } from '../../test/made-routes.ts';
import { served } from '../../test/served.ts';
import type { Served } from '../../test/served.ts';
import { SMALL_FLEET } from '../../test/small-fleet.ts';
import { createToken, revokeToken } from '../app/serve/tokens.ts';
import { csvLine } from '../report/safe-text.ts';
import { pageOf, Paging, ROWS_MAX } from './cursor.ts';
import { route } from './route.ts';
import { DEEDS, ROUTES } from './routes.ts';

let fleet: FleetFolder;
let open: Served;
let closed: Served;
const tokens: Record<string, string> = {};
beforeAll(async () => {
  fleet = await fleetFolder(SMALL_FLEET);
  for (const [name, role, team] of [
    ['ann', 'viewer'],
    ['nia', 'viewer', 'nlp'],
    ['zoe', 'viewer', 'nlpp'],
    ['olu', 'operator'],
    ['ada', 'admin'],
  ] as const) {
    const { token } = await createToken(fleet.dataDir, { name, role, ...(team && { team }) }, new Date());
    tokens[name] = token;
  }
  const configPath = join(dirname(fleet.dataDir), 'elsewhere.yaml');
  await writeFile(configPath, 'rules:\n  - when: {account: nobody}\n    set: {team: "ünï%"}\n');
  open = await served(fleet.dataDir, { routes, deeds, configPath });
  closed = await served(fleet.dataDir, { routes, deeds, needsToken: true, isLoopback: false });
});
afterAll(async () => {
  await open.close();
  await closed.close();
  await fleet.remove();
});

/** However slow this machine is, no time passes in which more would be allowed. */
const passedMs = (): number => 0;
const bearer = (name: string): Record<string, string> => ({ authorization: `Bearer ${tokens[name] ?? ''}` });
const ask = (path: string, name?: string, server = closed): Promise<Response> =>
  server.request(path, name === undefined ? {} : { headers: bearer(name) });

describe('every declared rule', () => {
  it('is there: a role and how much a team sees', () => {
    for (const { name, access } of [...ROUTES, ...DEEDS]) {
      expect({ name, ...access }).toMatchObject({
        role: expect.stringMatching(/^(viewer|operator|admin)$/) as unknown,
        sees: expect.stringMatching(/^(open|totals|team|fleet)$/) as unknown,
      });
    }
    const withoutTeam = ROUTES.filter(({ access, query }) => access.sees === 'team' && !('team' in query.shape));
    expect(withoutTeam.map(({ name }) => name)).toEqual([]);
  });
});

describe('who may ask what', () => {
  const cases: Record<string, { path: string; as?: string; status: number; code?: string }> = {
    'an open question needs no token': { path: '/api/v1/anybody', status: 200 },
    'any other does': { path: '/api/v1/totals', status: 401, code: 'no-token' },
    'what is unknown is not told to strangers': { path: '/api/v1/nothing', status: 401, code: 'no-token' },
    'a viewer sees the fleet': { path: '/api/v1/fleet', as: 'ann', status: 200 },
    'but no settings': { path: '/api/v1/settings', as: 'ann', status: 403, code: 'role-too-low' },
    'an operator neither': { path: '/api/v1/settings', as: 'olu', status: 403, code: 'role-too-low' },
    'an admin does': { path: '/api/v1/settings', as: 'ada', status: 200 },
    'a viewer of a team sees totals': { path: '/api/v1/totals', as: 'nia', status: 200 },
    'and its own money': { path: '/api/v1/money?team=nlp', as: 'nia', status: 200 },
    'not another team’s': { path: '/api/v1/money?team=asr', as: 'nia', status: 403, code: 'other-team' },
    'nor that of nobody': { path: '/api/v1/money?team=', as: 'nia', status: 403, code: 'other-team' },
    'nor the fleet': { path: '/api/v1/fleet', as: 'nia', status: 403, code: 'forbidden' },
    'a token that is none': { path: '/api/v1/totals', as: 'nobody', status: 401, code: 'bad-token' },
    'what is not there': { path: '/api/v1/nothing', as: 'ann', status: 404, code: 'no-such-route' },
  };
  it.each(Object.entries(cases))('%s', async (_, { path, as, status, code }) => {
    const reply = await ask(path, as);
    expect(reply.status).toBe(status);
    if (code === undefined) return;
    expect(reply.headers.get('content-type')).toBe('application/problem+json');
    expect(await reply.json()).toMatchObject({
      status,
      code,
      type: `urn:bursar:${code}`,
      hint: expect.any(String) as unknown,
    });
  });

  it('a viewer of a team asks about that team, also where it says nothing', async () => {
    expect(await (await ask('/api/v1/money', 'nia')).json()).toMatchObject({ team: 'nlp', sees: 'nlp' });
    expect(await (await ask('/api/v1/money', 'ann')).json()).toMatchObject({ team: null, sees: 'all' });
  });

  it('a viewer of a team nobody has is told so, and not which teams there are', async () => {
    const reply = await ask('/api/v1/money', 'zoe');
    expect(reply.status).toBe(404);
    const problem = (await reply.json()) as { code: string; hint: string };
    expect(problem.code).toBe('unknown-team');
    expect(problem.hint).not.toMatch(/nlp|asr/);
  });

  it('on loopback nobody needs a token, and a wrong one is refused all the same', async () => {
    expect((await ask('/api/v1/settings', undefined, open)).status).toBe(200);
    expect((await ask('/api/v1/settings', 'nobody', open)).status).toBe(401);
    expect((await ask('/api/v1/settings', 'ann', open)).status).toBe(403);
  });

  it('behind a proxy of this machine loopback is everybody, and a token is needed', async () => {
    const reply = await open.request('/api/v1/totals', { headers: { 'x-forwarded-for': '203.0.113.7' } });
    expect(reply.status).toBe(401);
  });

  it.each([{ 'x-real-ip': '203.0.113.7' }, { via: '1.1 proxy' }, { host: 'bursar.example.org' }])(
    'also behind one that says %o and nothing else',
    async (headers) => {
      const named = await served(fleet.dataDir, { routes, deeds, hosts: ['bursar.example.org'] });
      try {
        expect((await named.request('/api/v1/totals', { headers })).status).toBe(401);
        const known = await named.request('/api/v1/totals', { headers: { ...headers, ...bearer('ann') } });
        expect(known.status).toBe(200);
      } finally {
        await named.close();
      }
    },
  );

  it('a deed needs its role, and is told who does it', async () => {
    const act = (name: string): Promise<Response> =>
      closed.request('/api/v1/findings/F-1/accept', {
        method: 'POST',
        headers: { ...bearer(name), 'content-type': 'application/json' },
        body: '{"reason":"standby"}',
      });
    expect((await act('ann')).status).toBe(403);
    expect(await (await act('olu')).json()).toEqual({ by: 'olu', finding: 'F-1', reason: 'standby' });
  });

  it('expired and revoked tokens are refused by a server that knew them', async () => {
    const now = new Date();
    const short = await createToken(
      fleet.dataDir,
      { name: 'short', role: 'viewer', expires: '60s' },
      new Date(now.getTime() - 59_500),
    );
    const gone = await createToken(fleet.dataDir, { name: 'gone', role: 'viewer' }, now);
    tokens['short'] = short.token;
    tokens['gone'] = gone.token;
    expect((await ask('/api/v1/totals', 'gone')).status).toBe(200);
    await revokeToken(fleet.dataDir, 'gone', now);
    expect((await ask('/api/v1/totals', 'gone')).status).toBe(401);
    const past = await served(fleet.dataDir, { routes, needsToken: true, now: () => new Date(now.getTime() + 60_000) });
    expect((await ask('/api/v1/totals', 'short', past)).status).toBe(401);
    await past.close();
  });
});

describe('signing in', () => {
  const signIn = (token = '', server = closed, headers: Record<string, string> = {}): Promise<Response> =>
    server.request('/api/v1/session', {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: 'http://127.0.0.1:4600', ...headers },
      body: JSON.stringify({ token }),
    });

  it('a token becomes a cookie that scripts cannot read, until it is given back', async () => {
    const signedIn = await signIn(tokens['nia']);
    expect(await signedIn.json()).toEqual({ name: 'nia', role: 'viewer', team: 'nlp', signedIn: true });
    const set = signedIn.headers.get('set-cookie') ?? '';
    expect(set).toMatch(/^bursar_session=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/);
    expect(set).not.toContain(tokens['nia']);
    const cookie = set.split(';', 1)[0] ?? '';
    expect((await closed.request('/api/v1/money', { headers: { cookie } })).status).toBe(200);
    const out = await closed.request('/api/v1/session', {
      method: 'DELETE',
      headers: { cookie, origin: 'http://127.0.0.1:4600' },
    });
    expect(out.status).toBe(204);
    expect((await closed.request('/api/v1/money', { headers: { cookie } })).status).toBe(401);
  });

  it.each([
    ['https', true],
    ['http', false],
  ])('asked over %s, as a proxy says it, browsers send the cookie over https alone: %s', async (proto, isSecure) => {
    const signedIn = await signIn(tokens['nia'], closed, { 'x-forwarded-proto': proto });
    expect(signedIn.headers.get('set-cookie')?.split('; ').includes('Secure')).toBe(isSecure);
  });

  it('a wrong token does not, and who tries many is stopped', async () => {
    const strict = await served(fleet.dataDir, { routes, needsToken: true, passedMs });
    const tries: number[] = [];
    for (let n = 0; n < 25; n += 1) tries.push((await signIn(`bsr_wrong${n}`, strict)).status);
    const known = await strict.request('/api/v1/totals', { headers: bearer('ann') });
    await strict.close();
    expect(tries[0]).toBe(401);
    expect(tries.at(-1)).toBe(429);
    // Whoever has a token does not pay for a neighbour who guesses.
    expect(known.status).toBe(200);
  });

  it.each([
    ['are counted by the client where a proxy is trusted', true, 401],
    ['are counted by the socket where none is', false, 429],
  ])('tries behind a proxy %s', async (_, trustsProxy, status) => {
    const strict = await served(fleet.dataDir, { routes, needsToken: true, trustsProxy, passedMs });
    const guess = async (said: string): Promise<number> => {
      const headers = { authorization: 'Bearer bsr_wrong', 'x-forwarded-for': said };
      return (await strict.request('/api/v1/totals', { headers })).status;
    };
    const tries: number[] = [];
    // What stands before the last address is what the client wrote.
    for (let n = 0; n < 25; n += 1) tries.push(await guess(`198.51.100.${n}, 203.0.113.7`));
    expect(tries.at(-1)).toBe(429);
    expect(await guess('203.0.113.8')).toBe(status);
    await strict.close();
  });

  it('whoever asks for pages or health without end is slowed down', async () => {
    const busy = await served(fleet.dataDir, { routes, passedMs });
    const statuses = new Set<number>();
    for (let n = 0; n < 600; n += 1) statuses.add((await busy.request('/healthz')).status);
    expect([...statuses]).toEqual([200, 429]);
    expect((await busy.request('/')).status).toBe(429);
    expect((await busy.request('/api/v1/totals')).status).toBe(200);
    await busy.close();
  });
});

/** One row more than a file holds. */
const long = route({
  path: '/api/v1/long',
  name: 'long',
  summary: 'Tells very many rows',
  page: 'service',
  access: { role: 'viewer', sees: 'totals' },
  query: z.object({ ...Paging }),
  params: z.object({}),
  reply: z.object({ rows: z.array(z.string()), nextCursor: z.string().optional() }),
  answer: async ({ query: { limit, cursor } }) => {
    const rows = Array.from({ length: ROWS_MAX + 1 }, (_, place) => `row ${place}`);
    const page = pageOf(rows, { limit, cursor, question: 'long', keyOf: (row) => row });
    return { rows: [...page.rows], ...(page.nextCursor !== null && { nextCursor: page.nextCursor }) };
  },
  csv: ({ rows }) => rows.map((row) => csvLine([row])).join(''),
});

describe('a body that is cut off', () => {
  it.each([
    ['by who sent it is no mistake of ours', Object.assign(new Error('aborted'), { code: 'ECONNRESET' }), 422, 0],
    ['by anything else is one', new Error('unheard of'), 500, 1],
  ])('%s', async (_, failure, status, mistakes) => {
    const server = await served(fleet.dataDir);
    const body = new ReadableStream({ pull: (stream) => stream.error(failure) });
    const headers = { 'Content-Type': 'application/json', 'Content-Length': '20' };
    const reply = await server.request('/api/v1/session', {
      method: 'POST',
      headers,
      body,
      duplex: 'half',
    });
    expect([reply.status, server.mistakes.length]).toEqual([status, mistakes]);
    await server.close();
  });
});

describe('a table', () => {
  it('is whole or refused, and a page that was asked for names the next', async () => {
    const server = await served(fleet.dataDir, { routes: [long] });
    const whole = await server.request('/api/v1/long?format=csv');
    expect([whole.status, await whole.json()]).toMatchObject([400, { code: 'too-many-rows' }]);
    const page = await server.request('/api/v1/long?format=csv&limit=100000');
    expect((await page.text()).trimEnd().split('\n').length).toBe(ROWS_MAX);
    const cursor = page.headers.get('x-bursar-next-cursor') ?? '';
    const last = await server.request(`/api/v1/long?format=csv&limit=5&cursor=${cursor}`);
    expect(await last.text()).toBe(`row ${ROWS_MAX}\n`);
    expect(last.headers.get('x-bursar-next-cursor')).toBeNull();
    await server.close();
  });
});

describe('the command of a reply', () => {
  it('says the moment where now is the clock, so that it gives the same figures a minute later', async () => {
    const hour = (ago: number): string => `${new Date(Date.now() - ago * 3_600_000).toISOString().slice(0, 19)}Z`;
    const live = await fleetFolder({
      nodes: csv(`
        node_id|present_from|cluster|gpu_count|model
        n1     |${hour(3)}  |a      |1        |H100`),
      devices: 'device_id,node_id,model\nn1-0,n1,H100\n',
      samples: csv(`
        device_id|ts|step_s|engine_permille
        n1-0|${hour(0.2)}|60|900`),
    });
    const server = await served(live.dataDir);
    const commandOf = async (query: string): Promise<string> =>
      (await server.request(`/api/v1/spend?window=today${query}`)).headers.get('x-bursar-command') ?? '';
    expect(await commandOf('')).toMatch(/ --as-of \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ /);
    expect(await commandOf('&asOf=2026-01-01T00:00:00Z')).toContain(' --as-of 2026-01-01T00:00:00Z ');
    const bills = await server.request('/api/v1/bills');
    expect(bills.headers.get('x-bursar-command')).not.toContain('--as-of');
    await server.close();
    await live.remove();
  });
});

describe('a reply', () => {
  it('says its generation and the command, and is not sent twice', async () => {
    const first = await ask('/api/v1/money?team=ünï%25', undefined, open);
    const etag = first.headers.get('etag') ?? '';
    expect(first.headers.get('x-bursar-generation')).toMatch(/^\d+$/);
    expect(etag).toMatch(new RegExp(`^W/"${first.headers.get('x-bursar-generation')}-[\\w-]{22}"$`));
    expect(first.headers.get('cache-control')).toBe('private, no-cache');
    const command = decodeURIComponent(first.headers.get('x-bursar-command') ?? '');
    expect(command).toBe(`bursar spend --filter 'team=ünï%' --data ${fleet.dataDir}`);
    expect(
      (await ask('/api/v1/money?asOf=2026-03-02T00:00:00Z', undefined, open)).headers.get('x-bursar-command'),
    ).toBe(`bursar spend --filter 'team=' --as-of 2026-03-02T00:00:00Z --data ${fleet.dataDir}`);
    const again = await open.request('/api/v1/money?team=ünï%25', { headers: { 'if-none-match': `"x", ${etag}` } });
    expect([again.status, await again.text()]).toEqual([304, '']);
  });

  it('is compressed where that is understood', async () => {
    const plain = await ask('/api/v1/totals', undefined, open);
    const zipped = await open.request('/api/v1/totals', { headers: { 'accept-encoding': 'br, gzip' } });
    expect(plain.headers.get('content-encoding')).toBeNull();
    expect(zipped.headers.get('content-encoding')).toBe('gzip');
    expect(gunzipSync(await zipped.arrayBuffer()).toString()).toBe(await plain.text());
  });

  it('as CSV is a file that no spreadsheet runs', async () => {
    const reply = await ask('/api/v1/money?format=csv', undefined, open);
    expect(reply.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(reply.headers.get('content-disposition')).toBe('attachment; filename="bursar-money.csv"');
    expect(await reply.text()).toBe(`name\n'${HOSTILE}\n`);
  });

  const refused: Record<string, { path: string; status: number; says: string; hint: string }> = {
    'an unknown name, with the nearest': {
      path: 'money?teams=a',
      status: 400,
      says: '"teams" is not understood (nearest: team)',
      hint: 'team, step',
    },
    'a value that is none': { path: 'money?step=2h', status: 400, says: 'step:', hint: '1h or 1d' },
    'a name said twice': { path: 'money?team=a&team=b', status: 400, says: 'team is said 2 times', hint: 'once' },
    'a team without a name': { path: 'money?team=', status: 400, says: 'team: name one', hint: 'filter=team=' },
    'a team nobody has': {
      path: 'money?team=nlpp',
      status: 404,
      says: 'nothing here belongs to a team "nlpp"',
      hint: 'Did you mean nlp?',
    },
    'a character no name has': { path: 'money?team=a%00b', status: 400, says: 'team: has the character NUL', hint: '' },
    'a format nobody knows': { path: 'money?format=xls', status: 400, says: 'format', hint: 'json or csv' },
    'what there is not': { path: 'money?fail=unknown-job', status: 404, says: 'it failed', hint: 'do this' },
    'what another does just now': { path: 'money?fail=locked', status: 409, says: 'it failed', hint: 'do this' },
    'what cannot be done now': { path: 'money?fail=disk-full', status: 503, says: 'it failed', hint: 'do this' },
    'all else the outside world does wrong': {
      path: 'money?fail=bad-window',
      status: 400,
      says: 'it failed',
      hint: 'do this',
    },
  };
  it.each(Object.entries(refused))('refuses %s', async (_, { path, status, says, hint }) => {
    const reply = await ask(`/api/v1/${path}`, undefined, open);
    expect(reply.status).toBe(status);
    const problem = (await reply.json()) as Record<string, string>;
    expect(problem['detail']).toContain(says);
    expect(problem['hint']).toContain(hint);
  });

  it('does not tell clients of mistakes of ours, but the log', async () => {
    const reply = await ask('/api/v1/money?fail=ours', undefined, open);
    expect(reply.status).toBe(500);
    expect(await reply.text()).not.toContain(tmpdir());
    expect(String(open.mistakes.at(-1))).toContain('a secret of');
  });

  it('refuses a body that is no JSON, is not as described, or is too large', async () => {
    const send = async (body: string, type = 'application/json'): Promise<number> =>
      (await open.request('/api/v1/findings/F-1/accept', { method: 'POST', headers: { 'content-type': type }, body }))
        .status;
    expect(await send('{"reason":"a"}')).toBe(200);
    expect(await send('{"reason":"a"}', 'text/plain')).toBe(415);
    expect(await send('{"reason":')).toBe(422);
    expect(await send('{"reason":""}')).toBe(422);
    expect(await send(JSON.stringify({ reason: 'a'.repeat(70_000) }))).toBe(413);
  });
});
