import type { Api, ServerParts } from '../src/api/http.ts';
import { apiOf } from '../src/api/http.ts';
import { listen } from '../src/api/listen.ts';
import type { Reply } from '../src/api/edge/answer.ts';
import { openServing } from '../src/app/serve/open-serving.ts';

/** A server over a data folder: as `bursar serve` puts it together, without a signal to wait for. */
export interface RunningServer {
  /** Without a slash at its end. */
  readonly url: string;
  readonly api: Api;
  /** The same server once more, with fresh limits. */
  again(): Api;
  close(): Promise<void>;
}

const GRACE_MS = 2000;

export async function runServer(
  dataDir: string,
  options: Partial<Pick<ServerParts, 'needsToken' | 'routes' | 'deeds'>> = {},
): Promise<RunningServer> {
  const mistakes: unknown[] = [];
  const now = (): Date => new Date();
  const serving = await openServing<Reply>({
    dataDir,
    collect: false,
    now,
    onTurn: () => undefined,
    onTrouble: (failure) => mistakes.push(failure),
    progress: () => undefined,
  });
  const parts: ServerParts = {
    dataDir,
    desk: serving.desk,
    standing: serving.standing,
    writer: () => serving.keeper.state(),
    webDir: 'nowhere',
    isLoopback: true,
    needsToken: false,
    hosts: [],
    now,
    onMistake: (failure) => mistakes.push(failure),
    ...options,
  };
  const api = apiOf(parts);
  const listening = await listen({ fetch: api.app.fetch, host: '127.0.0.1', port: 0 });
  return {
    url: `http://127.0.0.1:${listening.address.port}`,
    api,
    again: () => apiOf(parts),
    async close() {
      api.events.close();
      await listening.stop(GRACE_MS);
      await serving.close();
      if (mistakes.length > 0) throw new AggregateError(mistakes, 'the server made mistakes');
    },
  };
}
