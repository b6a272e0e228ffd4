import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OperationError } from '../../facts/operation-error.ts';
import { httpGet, httpJson, httpText, type HttpOptions } from './http-get.ts';

/** What the test server does at each path. It hangs, lies and breaks off like the outside world. */
const replies: Record<string, (request: IncomingMessage, response: ServerResponse) => void> = {
  '/json': (_, response) => response.setHeader('content-type', 'application/json').end('{"a": [1, "ü"]}'),
  '/not-json': (_, response) => response.end('a: 1\u001b[31m'),
  '/gzip': (_, response) => response.setHeader('content-encoding', 'gzip').end(gzipSync('packed')),
  '/deflate': (_, response) => response.setHeader('content-encoding', 'deflate').end(deflateSync('packed')),
  '/brotli': (_, response) => response.setHeader('content-encoding', 'br').end('x'),
  '/bomb': (_, response) => response.setHeader('content-encoding', 'gzip').end(gzipSync(Buffer.alloc(20_000_000))),
  '/half-gzip': (_, response) =>
    response.setHeader('content-encoding', 'gzip').end(gzipSync('packed and cut in two').subarray(0, 25)),
  '/large': (_, response) => response.end(Buffer.alloc(3_000_000, 'x')),
  '/silent': () => undefined,
  '/drip': (_, response) => response.write('one piece, then nothing'),
  '/broken': (_, response) => {
    response.writeHead(200, { 'content-length': '100' });
    response.write('half', () => response.destroy());
  },
  '/hang-up': (request) => request.socket.destroy(),
  '/busy': (_, response) => response.writeHead(503).end('too many\nqueries'),
  '/login': (_, response) => response.setHeader('content-type', 'text/html').end('<html>Sign in</html>'),
  '/page': (_, response) => response.end('\n<!DOCTYPE html><title>hello'),
  '/denied-page': (_, response) => response.writeHead(403, { 'content-type': 'text/html' }).end('<html>No</html>'),
  '/echo': (request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => response.end(JSON.stringify({ method: request.method, headers: request.headers, body })));
  },
  '/moved': (_, response) => response.writeHead(308, { location: '/echo' }).end(),
  '/see-other': (_, response) => response.writeHead(303, { location: '/echo' }).end(),
  '/around': (_, response) => response.writeHead(302, { location: '/around' }).end(),
  '/elsewhere': (request, response) =>
    response.writeHead(302, { location: `http://localhost:${request.socket.localPort}/echo` }).end(),
  '/to-file': (_, response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
};

let server: Server;
let base: string;

beforeAll(async () => {
  server = createServer((request, response) => {
    const reply = replies[new URL(request.url ?? '', 'http://x').pathname];
    if (reply === undefined) response.writeHead(404).end();
    else reply(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => server.closeAllConnections());

const options = (more: Partial<HttpOptions> = {}): HttpOptions => ({
  signal: new AbortController().signal,
  idleTimeoutMs: 30_000,
  bytesMax: 1_000_000,
  ...more,
});

async function failure(doing: Promise<unknown>): Promise<OperationError> {
  const error = await doing.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(OperationError);
  return error as OperationError;
}

describe('what comes back', () => {
  const texts: Record<string, { path: string; want: string }> = {
    'plain text': { path: '/json', want: '{"a": [1, "ü"]}' },
    'gzip is unpacked': { path: '/gzip', want: 'packed' },
    'deflate is unpacked': { path: '/deflate', want: 'packed' },
  };
  it.each(Object.entries(texts))('%s', async (_, { path, want }) => {
    expect(await httpText(base + path, options())).toBe(want);
  });

  it('JSON is parsed', async () => {
    expect(await httpJson(`${base}/json`, options())).toEqual({ value: { a: [1, 'ü'] } });
  });

  it('the bare answer has any status, and its body', async () => {
    const answer = await httpGet(`${base}/busy`, options());
    const pieces: Buffer[] = [];
    for await (const piece of answer.body) pieces.push(piece);
    expect([answer.status, Buffer.concat(pieces).toString()]).toEqual([503, 'too many\nqueries']);
  });

  it('a reader slower than the time limit for silence is not silence', async () => {
    const answer = await httpGet(`${base}/large`, options({ bytesMax: 4_000_000, idleTimeoutMs: 150 }));
    let bytes = 0;
    let first = true;
    for await (const piece of answer.body) {
      bytes += piece.length;
      if (first) await new Promise((resolve) => setTimeout(resolve, 300));
      first = false;
    }
    expect(bytes).toBe(3_000_000);
  });
});

describe('what goes wrong is said, with what to do', () => {
  const cases: Record<string, { path: string; want: [code: string, message: RegExp]; more?: Partial<HttpOptions> }> = {
    'an error status, with its first words on one line': {
      path: '/busy',
      want: ['http-503', /answers 503: too many q/],
    },
    'a path that is not there': { path: '/nothing', want: ['http-404', /404/] },
    'a login page': { path: '/login', want: ['web-page', /web page, not with JSON$/] },
    'a web page that does not say it is one': { path: '/page', want: ['web-page', /web page/] },
    'a web page that is an error': { path: '/denied-page', want: ['http-403', /403: a web page$/] },
    'no JSON, and nothing a terminal would obey': { path: '/not-json', want: ['not-json', /not JSON: a: 1 \[31m$/] },
    'a body beyond its limit': { path: '/large', want: ['too-large', /larger than 1 MB/] },
    'a small body that unpacks beyond its limit': { path: '/bomb', want: ['too-large', /larger than 1 MB/] },
    'packed data that end early': { path: '/half-gzip', want: ['cut-off', /ended before/] },
    'an encoding nobody asked for': { path: '/brotli', want: ['unknown-encoding', /encoding br/] },
    'an answer that never begins': {
      path: '/silent',
      want: ['timeout', /no answer within 50 ms/],
      more: { idleTimeoutMs: 50 },
    },
    'an answer that stops in the middle': { path: '/drip', want: ['timeout', /silence/], more: { idleTimeoutMs: 50 } },
    'an answer that takes too long in all': {
      path: '/drip',
      want: ['timeout', /no complete answer within 80 ms/],
      more: { totalTimeoutMs: 80 },
    },
    'an answer shorter than announced': { path: '/broken', want: ['cut-off', /ended before/] },
    'a connection closed without a word': { path: '/hang-up', want: ['cut-off', /closed the connection/] },
    'redirects in a circle': { path: '/around', want: ['redirects', /more than 3 times/] },
    'a redirect to a file': { path: '/to-file', want: ['bad-url', /file:/] },
    'a signal': { path: '/silent', want: ['aborted', /stopped/], more: { signal: AbortSignal.timeout(40) } },
    'a signal in the body': { path: '/drip', want: ['aborted', /stopped/], more: { signal: AbortSignal.timeout(60) } },
    'a signal before the beginning': {
      path: '/json',
      want: ['aborted', /stopped/],
      more: { signal: AbortSignal.abort() },
    },
  };
  it.each(Object.entries(cases))('%s', async (_, { path, want, more }) => {
    const error = await failure(httpJson(base + path, options(more)));
    expect(error.code).toBe(want[0]);
    expect(error.message).toMatch(want[1]);
    expect(error.hint ?? (error.code === 'aborted' ? 'none needed' : undefined)).toBeTruthy();
  });

  it('nothing listens', async () => {
    const unused = createTcpServer();
    await new Promise<void>((resolve) => unused.listen(0, '127.0.0.1', resolve));
    const { port } = unused.address() as AddressInfo;
    await new Promise((resolve) => unused.close(resolve));
    const error = await failure(httpText(`http://127.0.0.1:${port}/x`, options()));
    expect([error.code, error.message]).toEqual(['unreachable', expect.stringContaining('nothing listens there')]);
  });

  it('https spoken to a port of http', async () => {
    const error = await failure(httpText(`${base.replace('http:', 'https:')}/json`, options()));
    expect([error.code, error.hint]).toEqual(['tls', expect.stringContaining('http://')]);
  });

  it('something that does not speak HTTP', async () => {
    const ssh = createTcpServer((socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'));
    await new Promise<void>((resolve) => ssh.listen(0, '127.0.0.1', resolve));
    const error = await failure(httpText(`http://127.0.0.1:${(ssh.address() as AddressInfo).port}`, options()));
    ssh.close();
    expect(error.code).toBe('not-http');
  });

  it.each(['prometheus:9090', 'nothing at all', 'ftp://x', ''])('%j is not an address', async (url) => {
    expect((await failure(httpText(url, options()))).code).toBe('bad-url');
  });

  it('an answer nobody reads, and that fails meanwhile, harms nobody', async () => {
    const stop = new AbortController();
    const answer = await httpGet(`${base}/drip`, options({ signal: stop.signal }));
    stop.abort();
    await new Promise((resolve) => setImmediate(resolve));
    const read = async () => {
      for await (const _ of answer.body) continue;
    };
    expect((await failure(read())).code).toBe('aborted');
  });
});

describe('secrets', () => {
  const echo = async (path: string, more: Partial<HttpOptions> = {}, from = base) =>
    (await httpJson(from + path, options(more))).value as {
      method: string;
      headers: Record<string, string>;
      body: string;
    };

  it('credentials of the URL become a header', async () => {
    const { headers } = await echo('/echo', {}, base.replace('//', '//kim:p%40ss%25w@'));
    expect(headers['authorization']).toBe(`Basic ${Buffer.from('kim:p@ss%w').toString('base64')}`);
  });

  it('and show in no message', async () => {
    const error = await failure(httpText(`${base.replace('//', '//kim:secret@')}/busy?token=hidden`, options()));
    expect(`${error.message} ${error.hint}`).not.toMatch(/secret|kim|hidden/);
  });

  it('go along to the same host, and a question stays a question', async () => {
    const more = { headers: { Authorization: 'Bearer x' }, method: 'POST' as const, body: 'query=up' };
    const { method, headers, body } = await echo('/moved', more);
    expect([method, headers['authorization'], body]).toEqual(['POST', 'Bearer x', 'query=up']);
  });

  it('“see other” is a GET', async () => {
    const { method, body } = await echo('/see-other', { method: 'POST', body: 'query=up' });
    expect([method, body]).toEqual(['GET', '']);
  });

  it('do not go along to another host', async () => {
    const { headers } = await echo('/elsewhere', { headers: { authorization: 'Bearer x', 'X-Scope-OrgID': 'a' } });
    expect([headers['authorization'], headers['x-scope-orgid']]).toEqual([undefined, undefined]);
  });
});
