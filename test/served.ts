import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Reply } from '../src/api/edge/answer.ts';
import { apiOf } from '../src/api/http.ts';
import type { Api, ServerParts } from '../src/api/http.ts';
import { listen } from '../src/api/listen.ts';
import type { SocketLimits } from '../src/api/edge/socket-limits.ts';
import { openDesk } from '../src/app/serve/desk.ts';
import type { Desk } from '../src/app/serve/desk.ts';
import { keepStanding } from '../src/app/serve/standing.ts';
import type { StandingKeeper } from '../src/app/serve/standing.ts';

export interface Asking extends Omit<RequestInit, 'headers'> {
  readonly headers?: Readonly<Record<string, string>>;
}

/** A server over a data folder as `bursar serve` has it, without its writer. */
export interface Served {
  readonly api: Api;
  readonly desk: Desk<Reply>;
  readonly standing: StandingKeeper;
  /** What it was told of mistakes of ours. */
  readonly mistakes: readonly unknown[];
  /** Asks without a socket; `host` is this machine where nothing is said. */
  request(path: string, init?: Asking): Promise<Response>;
  /** Opens a socket on a free port of this machine and says its address. */
  listen(limits?: Partial<SocketLimits>): Promise<{ readonly port: number; readonly url: string }>;
  close(): Promise<void>;
}

export interface ServedOptions extends Partial<
  Pick<
    ServerParts,
    | 'needsToken'
    | 'trustsProxy'
    | 'isLoopback'
    | 'hosts'
    | 'routes'
    | 'deeds'
    | 'webDir'
    | 'writer'
    | 'now'
    | 'passedMs'
  >
> {
  readonly configPath?: string;
  readonly runMsMax?: number;
}

export async function served(dataDir: string, options: ServedOptions = {}): Promise<Served> {
  const { configPath, runMsMax = 30_000, ...parts } = options;
  const now = options.now ?? ((): Date => new Date());
  const noWeb = await mkdtemp(join(tmpdir(), 'bursar-web-'));
  const standing = keepStanding({ dataDir, now, ...(configPath !== undefined && { configPath }) });
  const desk = await openDesk<Reply>({ standing, memoryMb: 300, keptBytesMax: 8 * 2 ** 20, runMsMax });
  const mistakes: unknown[] = [];
  const api = apiOf({
    dataDir,
    desk,
    standing,
    webDir: noWeb,
    writer: () => undefined,
    isLoopback: true,
    needsToken: false,
    hosts: [],
    now,
    onMistake: (failure) => mistakes.push(failure),
    ...parts,
  });
  const stops: (() => Promise<void>)[] = [];
  return {
    api,
    desk,
    standing,
    mistakes,
    request: async (path, init = {}) =>
      api.app.request(path, { ...init, headers: { host: '127.0.0.1:4600', ...init.headers } }),
    async listen(limits) {
      const listening = await listen({
        fetch: api.app.fetch,
        host: '127.0.0.1',
        port: 0,
        ...(limits !== undefined && { limits }),
      });
      stops.push(() => listening.stop(1000));
      const { port } = listening.address;
      return { port, url: `http://127.0.0.1:${port}` };
    },
    async close() {
      api.events.close();
      for (const stop of stops) await stop();
      await desk.close();
      standing.close();
      await rm(noWeb, { recursive: true, force: true });
    },
  };
}
