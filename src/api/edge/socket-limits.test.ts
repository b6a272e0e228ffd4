import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { sharePlaces, SOCKET_LIMITS, watchReaders } from './socket-limits.ts';
import type { SocketLimits } from './socket-limits.ts';

/** More than the buffers of both sides hold. */
const LARGE_BYTES = 32 * 2 ** 20;
const GET = 'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** A server that answers with so many bytes. */
async function serve(bytes: number, limits: Partial<SocketLimits>): Promise<{ server: Server; port: number }> {
  const server = createServer((_, response) => response.end(Buffer.alloc(bytes, 'x')));
  const inForce = { ...SOCKET_LIMITS, ...limits };
  sharePlaces(server, inForce);
  ends.push(
    watchReaders(server, inForce),
    () => server.closeAllConnections(),
    () => server.close(),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port };
}

function client(port: number, localAddress = '127.0.0.1'): Socket {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  socket.on('error', () => undefined);
  ends.push(() => socket.destroy());
  return socket;
}

async function told(socket: Socket): Promise<number> {
  let bytes = 0;
  socket.on('data', (some: Buffer) => (bytes += some.byteLength));
  await once(socket, 'close');
  return bytes;
}

describe('a reader', () => {
  it('that takes nothing of its answer is cut, long before its socket counts as idle', async () => {
    const { server, port } = await serve(LARGE_BYTES, { drainGraceMs: 50, drainBytesPerSecond: 2 ** 30, checkMs: 10 });
    const asked = once(server, 'request') as Promise<[unknown, ServerResponse]>;
    const slow = client(port).pause();
    slow.write(GET);
    const [, response] = await asked;
    await once(response, 'close');
    slow.resume();
    expect(await told(slow)).toBeLessThan(LARGE_BYTES);
  });

  it('that takes it at the least rate is not', async () => {
    const { port } = await serve(LARGE_BYTES, { drainGraceMs: 0, drainBytesPerSecond: 2 ** 20, checkMs: 5 });
    const steady = client(port);
    steady.write(GET);
    expect(await told(steady)).toBeGreaterThan(LARGE_BYTES);
  });
});

describe('one address', () => {
  it('has so many connections and no more, and others have theirs', async () => {
    const { server, port } = await serve(1, { perAddress: 3 });
    const gone = new Map<number | undefined, Promise<void>>();
    server.on('connection', (socket) => {
      gone.set(socket.remotePort, new Promise((done) => socket.once('close', () => done())));
    });
    const hoard = [client(port), client(port), client(port)];
    await Promise.all(hoard.map(async (socket) => once(socket, 'connect')));
    const fourth = client(port);
    let said = '';
    fourth.setEncoding('utf8').on('data', (some: string) => (said += some));
    await once(fourth, 'connect');
    const fourthPort = fourth.localPort;
    await once(fourth, 'close');
    const [head = '', body = ''] = said.split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 503[^]*Content-Type: application\/problem\+json\r\n/);
    expect(head).toContain(`Content-Length: ${Buffer.byteLength(body)}`);
    expect(JSON.parse(body)).toMatchObject({
      type: 'urn:bursar:too-many-connections',
      status: 503,
      hint: expect.stringMatching(/Close some/) as unknown,
    });
    const other = client(port, '127.0.0.2');
    other.write(GET);
    expect(await told(other)).toBeGreaterThan(0);
    const [first] = hoard;
    const firstPort = first?.localPort;
    first?.destroy();
    expect([...gone.keys()]).toEqual(expect.arrayContaining([firstPort, fourthPort]));
    // What the server has not seen closed still has its place.
    await Promise.all([gone.get(firstPort), gone.get(fourthPort)]);
    const again = client(port);
    let answered = '';
    again.setEncoding('utf8').on('data', (some: string) => (answered += some));
    again.write(GET);
    await once(again, 'close');
    expect(answered).toMatch(/^HTTP\/1\.1 200/);
  });
});
