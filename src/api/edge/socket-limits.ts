import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { OperationError } from '../../facts/operation-error.ts';
import { clientOf } from './client-address.ts';
import { problemText } from './problem.ts';

/** What a client may cost: slow ones are cut, and one cannot take all places. */
export interface SocketLimits {
  readonly headersMs: number;
  readonly requestMs: number;
  /** How long a connection may be open between two requests. */
  readonly keepAliveMs: number;
  /** How long nothing at all may go through it while something is asked or answered. */
  readonly idleMs: number;
  readonly connections: number;
  /** Connections of one address. */
  readonly perAddress: number;
  /** An answer that is taken more slowly than this, after so long, is not taken. */
  readonly drainBytesPerSecond: number;
  readonly drainGraceMs: number;
  readonly checkMs: number;
}

export const SOCKET_LIMITS: SocketLimits = {
  headersMs: 10_000,
  requestMs: 20_000,
  keepAliveMs: 10_000,
  idleMs: 75_000,
  connections: 512,
  perAddress: 128,
  drainBytesPerSecond: 16 * 1024,
  drainGraceMs: 20_000,
  checkMs: 1000,
};

const FULL = problemText(
  new OperationError('too-many-connections', 'too many connections of this address', {
    hint: 'Close some of them; one connection takes any number of questions, one after the other.',
  }),
);

/** Refuses connections of an address that has its share. Those above `connections` are dropped by the server itself. */
export function sharePlaces(server: Server, { perAddress }: SocketLimits): void {
  const held = new Map<string, number>();
  server.prependListener('connection', (socket: Socket) => {
    const address = clientOf(socket.remoteAddress ?? 'unknown');
    const count = (held.get(address) ?? 0) + 1;
    held.set(address, count);
    socket.once('close', () => {
      const left = (held.get(address) ?? 1) - 1;
      if (left === 0) held.delete(address);
      else held.set(address, left);
    });
    if (count <= perAddress) return;
    socket.end(FULL);
    socket.destroySoon();
  });
}

/**
 * Cuts clients that take their answers so slowly that they only hold a place. A socket counts a byte every minute as life; here an answer
 * has the time it needs at the least rate, and what is pending of a stream of events as well.
 *
 * @returns what ends the watch.
 */
export function watchReaders(server: Server, { drainBytesPerSecond, drainGraceMs, checkMs }: SocketLimits): () => void {
  const pending = new Map<ServerResponse, { since: number; bytes: number } | undefined>();
  server.on('request', (_, response) => {
    pending.set(response, undefined);
    response.once('close', () => pending.delete(response));
  });
  const timer = setInterval(() => {
    const now = performance.now();
    for (const [response, before] of pending) {
      const bytes = response.socket?.writableLength ?? 0;
      const waits =
        bytes === 0 ? undefined : { since: before?.since ?? now, bytes: Math.max(before?.bytes ?? 0, bytes) };
      pending.set(response, waits);
      if (waits === undefined) continue;
      const allowedMs = drainGraceMs + (waits.bytes / drainBytesPerSecond) * 1000;
      if (now - waits.since > allowedMs) response.destroy();
    }
  }, checkMs);
  timer.unref();
  return () => clearInterval(timer);
}
