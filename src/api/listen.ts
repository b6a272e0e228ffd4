import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { OperationError } from '../facts/operation-error.ts';
import { isLoopbackAddress } from './edge/guard.ts';
import { sharePlaces, SOCKET_LIMITS, watchReaders } from './edge/socket-limits.ts';
import type { SocketLimits } from './edge/socket-limits.ts';

export interface Address {
  readonly host: string;
  readonly port: number;
}

export interface ListenOptions extends Address {
  readonly fetch: (request: Request, env: unknown) => Response | Promise<Response>;
  readonly limits?: Partial<SocketLimits>;
}

const HEADER_BYTES_MAX = 16 * 1024;

export interface Listening {
  readonly address: Address;
  /** Takes no more requests, waits for those that run up to `graceMs`, then cuts what is left. */
  stop(graceMs: number): Promise<void>;
}

/** `127.0.0.1:4600`, `[::1]:4600`, `0.0.0.0:4600`, `4600`. */
export function parseListen(text: string): Address {
  const match = /^(?:(?:\[([0-9a-f:.]+)\]|([a-z0-9.-]+)):)?(\d{1,5})$/i.exec(text.trim());
  const port = Number(match?.[3]);
  if (match === null || port > 65_535) {
    throw new OperationError('bad-option', `--listen: "${text}" is no address`, {
      hint: 'For example --listen 127.0.0.1:4600, or --listen 0.0.0.0:4600 for others too.',
    });
  }
  return { host: match[1] ?? match[2] ?? '127.0.0.1', port };
}

export function isLoopback({ host }: Address): boolean {
  return host === 'localhost' || isLoopbackAddress(host);
}

/** Opens the socket. */
export async function listen({ fetch, host, port, limits = {} }: ListenOptions): Promise<Listening> {
  const inForce: SocketLimits = { ...SOCKET_LIMITS, ...limits };
  const { headersMs, requestMs, keepAliveMs, idleMs, connections } = inForce;
  const server = createServer(
    {
      headersTimeout: headersMs,
      requestTimeout: requestMs,
      keepAliveTimeout: keepAliveMs,
      connectionsCheckingInterval: Math.min(1000, headersMs),
      maxHeaderSize: HEADER_BYTES_MAX,
    },
    getRequestListener(fetch),
  );
  server.maxConnections = connections;
  sharePlaces(server, inForce);
  // A client keeps its connection for a next request, which a server that stops does not take.
  server.on('request', ({ socket }, response) => {
    response.once('close', () => {
      if (!server.listening) socket.destroySoon();
    });
  });
  const endWatch = watchReaders(server, inForce);
  // Whoever neither sends nor takes anything for this long is gone; pages that listen get a sign of life meanwhile.
  server.setTimeout(idleMs);
  await new Promise<void>((listening, fail) => {
    server.once('error', (failure: NodeJS.ErrnoException) => fail(cannotListen(failure, { host, port })));
    server.listen({ host, port }, listening);
  });
  const bound = server.address() as AddressInfo;
  return {
    address: { host, port: bound.port },
    async stop(graceMs) {
      const closed = new Promise<void>((done) => server.close(() => done()));
      server.closeIdleConnections();
      const timer = setTimeout(() => server.closeAllConnections(), graceMs);
      await closed;
      clearTimeout(timer);
      endWatch();
    },
  };
}

export function urlOf({ host, port }: Address): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}/`;
}

function cannotListen(failure: NodeJS.ErrnoException, address: Address): OperationError {
  const { host, port } = address;
  if (failure.code === 'EADDRINUSE') {
    return new OperationError('port-taken', `something else listens on ${host}:${port}`, {
      hint: `Perhaps another bursar serve: open ${urlOf(address)}, or choose another port: --listen ${host}:${port + 1}`,
      cause: failure,
    });
  }
  if (failure.code === 'EACCES') {
    return new OperationError('no-permission', `port ${port} may not be opened`, {
      hint: 'Choose one above 1023: --listen 127.0.0.1:4600',
      cause: failure,
    });
  }
  return new OperationError('bad-address', `cannot listen on ${host}:${port}: ${failure.code ?? failure.message}`, {
    hint: 'Use an address of this machine: 127.0.0.1, 0.0.0.0 or one of `hostname -I`.',
    cause: failure,
  });
}
