import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { listen } from '../src/api/listen.ts';
import { route } from '../src/api/route.ts';
import { NoParams } from '../src/api/routes/question.ts';
import { createToken, revokeToken } from '../src/app/serve/tokens.ts';
import { fleetFolder } from './fleet-folder.ts';
import type { FleetFolder } from './fleet-folder.ts';
import { served } from './served.ts';
import type { Served } from './served.ts';
import { SMALL_FLEET } from './small-fleet.ts';

/** What only a real socket shows. */
const totals = route({
  path: '/api/v1/totals',
  name: 'totals',
  summary: 'Tells totals',
  page: 'service',
  access: { role: 'viewer', sees: 'totals' },
  query: z.object({}),
  params: NoParams,
  reply: z.object({ fine: z.boolean() }),
  answer: async () => ({ fine: true }),
});
const endless = route({
  path: '/api/v1/endless',
  name: 'endless',
  summary: 'Never ends',
  page: 'service',
  access: { role: 'viewer', sees: 'totals' },
  query: z.object({}),
  params: NoParams,
  reply: z.object({}),
  answer: async ({ space }) => {
    await space.ask({ tables: [], sql: 'SELECT count(*) FROM range(100000000000) r WHERE r.range % 7 = 3' });
    return {};
  },
});
const routes = [totals, endless];

let fleet: FleetFolder;
let open: Served;
let port = 0;
beforeAll(async () => {
  fleet = await fleetFolder(SMALL_FLEET);
  open = await served(fleet.dataDir, { routes });
  ({ port } = await open.listen({ headersMs: 400, requestMs: 600, keepAliveMs: 300, idleMs: 5000, connections: 20 }));
});
afterAll(async () => {
  await open.close();
  await fleet.remove();
});

/** All that comes back until the other side closes. */
async function told(socket: Socket): Promise<string> {
  let text = '';
  socket.setEncoding('utf8').on('data', (some: string) => (text += some));
  socket.on('error', () => undefined);
  if (!socket.closed) await once(socket, 'close');
  return text;
}

const raw = async (text: string): Promise<string> => {
  const socket = connect(port, '127.0.0.1');
  socket.write(text);
  return told(socket);
};

describe('on a real socket', () => {
  const requests: Record<string, { send: string; want: RegExp }> = {
    'a name of ours is answered': {
      send: 'GET /api/v1/totals HTTP/1.1\r\nHost: localhost:4600\r\nConnection: close\r\n\r\n',
      want: /^HTTP\/1\.1 200[\s\S]*\{"fine":true\}/,
    },
    'a proxy that speaks as nginx does by itself is not this machine': {
      send: 'GET /api/v1/totals HTTP/1.0\r\nHost: 127.0.0.1:4600\r\nConnection: close\r\n\r\n',
      want: /^HTTP\/1\.1 401[\s\S]*no-token/,
    },
    'a name that was rebound to this address is not': {
      send: 'GET /api/v1/totals HTTP/1.1\r\nHost: rebound.example\r\nConnection: close\r\n\r\n',
      want: /^HTTP\/1\.1 421[\s\S]*unknown-host/,
    },
    'nor is none at all': { send: 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n', want: /^HTTP\/1\.1 400/ },
    'nor a whole address of somebody else': {
      send: 'GET http://evil.example/api/v1/totals HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n',
      want: /^HTTP\/1\.1 4\d\d/,
    },
    'a change of another origin is refused': {
      send: `POST /api/v1/session HTTP/1.1\r\nHost: localhost\r\nOrigin: https://evil.example\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`,
      want: /^HTTP\/1\.1 403[\s\S]*other-origin/,
    },
    'headers beyond 16 kB are refused': {
      send: `GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`,
      want: /^HTTP\/1\.1 431/,
    },
    'a client that never ends its headers is cut': {
      send: 'GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow:',
      want: /^HTTP\/1\.1 408/,
    },
    'a client that keeps its connection for nothing is cut': {
      send: 'GET /api/v1/totals HTTP/1.1\r\nHost: localhost:4600\r\n\r\n',
      want: /^HTTP\/1\.1 200/,
    },
    'a client that never ends its body is cut': {
      send: 'POST /api/v1/session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"to',
      want: /^(?:HTTP\/1\.1 4\d\d|$)/,
    },
  };
  it.each(Object.entries(requests))('%s', async (_, { send, want }) => {
    const begun = performance.now();
    expect(await raw(send)).toMatch(want);
    expect(performance.now() - begun).toBeLessThan(5000);
  });

  it('a client that says nothing at all is cut when it has been silent for so long', async () => {
    const { fetch: answers } = open.api.app;
    const listening = await listen({ fetch: answers, host: '127.0.0.1', port: 0, limits: { idleMs: 50 } });
    // Its headers would be waited for longer, and their end told.
    expect(await told(connect(listening.address.port, '127.0.0.1'))).toBe('');
    await listening.stop(0);
  });

  it('no more connections are kept than there may be', async () => {
    const sockets = Array.from({ length: 40 }, () => connect(port, '127.0.0.1'));
    for (const socket of sockets) socket.on('error', () => undefined);
    const closed = sockets.map((socket) => once(socket, 'close').then(() => socket));
    const first = await Promise.race(closed);
    expect(first.bytesRead).toBe(0);
    for (const socket of sockets) socket.destroy();
    await Promise.all(closed);
    expect(await raw('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')).toMatch(/^HTTP\/1\.1 200/);
  });

  it('a port that is taken is said, with what to do', async () => {
    const taken = listen({ fetch: open.api.app.fetch, host: '127.0.0.1', port });
    await expect(taken).rejects.toMatchObject({
      code: 'port-taken',
      hint: expect.stringContaining(`--listen 127.0.0.1:${port + 1}`) as unknown,
    });
  });

  it('a revoked token is refused within a second, and what listens with it is ended', async () => {
    const { token } = await createToken(fleet.dataDir, { name: 'kim', role: 'viewer' }, new Date());
    const closed = await served(fleet.dataDir, { routes, needsToken: true });
    const { url } = await closed.listen();
    const headers = { authorization: `Bearer ${token}` };
    expect((await fetch(`${url}/api/v1/totals`, { headers })).status).toBe(200);
    const stream = await fetch(`${url}/api/v1/events`, { headers });
    await revokeToken(fleet.dataDir, 'kim', new Date());
    const begun = performance.now();
    expect((await fetch(`${url}/api/v1/totals`, { headers })).status).toBe(401);
    await stream.text();
    expect(performance.now() - begun).toBeLessThan(1000);
    await closed.close();
  });

  it('a client that leaves takes its question with it', async () => {
    const server = await served(fleet.dataDir, { routes });
    const { url } = await server.listen();
    const stop = new AbortController();
    const left = fetch(`${url}/api/v1/endless`, { signal: stop.signal }).catch(() => 'left');
    while (server.desk.state().running === 0) await new Promise(setImmediate);
    stop.abort();
    expect(await left).toBe('left');
    while (server.desk.state().running > 0) await new Promise(setImmediate);
    expect(server.mistakes).toEqual([]);
    await server.close();
  });

  it('stops within its time, though a question never ends and a page listens', async () => {
    const stopping = await served(fleet.dataDir, { routes });
    const { url } = await stopping.listen();
    const never = fetch(`${url}/api/v1/endless`).then(
      (reply) => reply.status,
      () => 'cut',
    );
    const listens = await fetch(`${url}/api/v1/events`);
    while (stopping.desk.state().running === 0) await new Promise(setImmediate);
    const begun = performance.now();
    await stopping.close();
    expect(performance.now() - begun).toBeLessThan(4000);
    expect(['cut', 503]).toContain(await never);
    expect(await listens.text()).toContain('event: generation');
    expect(stopping.api.events.listeners()).toBe(0);
  });

  it('stops at once where pages only listen: connections they would keep are closed with the stream', async () => {
    const server = await served(fleet.dataDir, { routes });
    const { fetch: answers } = server.api.app;
    const listening = await listen({ fetch: answers, host: '127.0.0.1', port: 0, limits: { keepAliveMs: 60_000 } });
    const url = `http://127.0.0.1:${listening.address.port}/api/v1/events`;
    const pages = await Promise.all([fetch(url), fetch(url)]);
    const begun = performance.now();
    server.api.events.close();
    await listening.stop(4000);
    expect(performance.now() - begun).toBeLessThan(2000);
    for (const page of pages) expect(await page.text()).toContain('event: generation');
    await server.close();
  });
});

/** Reads events until one of them is of this kind. */
async function nextEvent(reader: ReadableStreamDefaultReader<string>, kind: string): Promise<string> {
  let text = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`ended before ${kind}: ${text}`);
    text += value;
    const found = text.split('\n\n').find((event) => event.includes(`event: ${kind}`));
    if (found !== undefined) return found;
  }
}

describe('a page that listens', () => {
  it('has its place: twenty for each token, whoever asks at once, and others have theirs', async () => {
    const now = new Date();
    const tokens = await Promise.all(
      ['wall', 'desk'].map(async (name) => (await createToken(fleet.dataDir, { name, role: 'viewer' }, now)).token),
    );
    const server = await served(fleet.dataDir, { routes, needsToken: true });
    const follow = async (place: number): Promise<number> =>
      (await server.request('/api/v1/events', { headers: { authorization: `Bearer ${tokens[place] ?? ''}` } })).status;
    const statuses = await Promise.all(Array.from({ length: 30 }, async () => follow(0)));
    expect(statuses.filter((status) => status === 200).length).toBe(20);
    expect(statuses.filter((status) => status === 503).length).toBe(10);
    expect(await follow(1)).toBe(200);
    await server.close();
  });

  const events = async (url: string, last?: string): Promise<ReadableStreamDefaultReader<string>> => {
    const reply = await fetch(`${url}/api/v1/events`, last === undefined ? {} : { headers: { 'last-event-id': last } });
    expect(reply.headers.get('content-type')).toBe('text/event-stream');
    if (reply.body === null) throw new Error('no stream');
    return reply.body.pipeThrough(new TextDecoderStream()).getReader();
  };

  it('is told of a new generation once it is in force, and not twice of one it knows', async () => {
    const own = await fleetFolder(SMALL_FLEET);
    const server = await served(own.dataDir, { routes });
    const { url } = await server.listen();
    const first = await nextEvent(await events(url), 'generation');
    const id = /^id: (\d+)$/m.exec(first)?.[1] ?? '';
    expect(JSON.parse(/^data: (.*)$/m.exec(first)?.[1] ?? '')).toMatchObject({ generation: Number(id), staleRows: 0 });
    const again = await events(url, id);
    await own.import({ 'rates 2': 'model,usd_per_gpu_hour\nL4,1.00\n' });
    await own.derive();
    const second = await nextEvent(again, 'generation');
    expect(Number(/^id: (\d+)$/m.exec(second)?.[1])).toBeGreaterThan(Number(id));
    await server.close();
    await own.remove();
  });

  it('leaves no trace when it goes', async () => {
    const server = await served(fleet.dataDir, { routes });
    const { url } = await server.listen();
    const stop = new AbortController();
    await fetch(`${url}/api/v1/events`, { signal: stop.signal });
    expect(server.api.events.listeners()).toBe(1);
    stop.abort();
    while (server.api.events.listeners() > 0) await new Promise(setImmediate);
    await server.close();
  });
});
