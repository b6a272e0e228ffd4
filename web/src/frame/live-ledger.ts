import { useQueryClient } from '@tanstack/react-query';
import type { QueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { ask, Problem } from '../ask.ts';
import type { Answer } from '../ask.ts';

const STATUS = '/api/v1/status';
const EVENTS = '/api/v1/events';
const [FIRST_TRY_MS, LAST_TRY_MS] = [2000, 30_000];
/** Pages of many people do not ask all at once. */
const SPREAD_MS = 2000;

export interface Live {
  /** When the server last answered, while it does not; undefined while it does. */
  readonly goneSince: number | undefined;
  /** Tries now, and does not wait for the next try. */
  readonly tryNow: () => void;
}

/**
 * Promise: the page follows new data without a reload. The server says when the ledger has a new generation, and when a decision or
 * bursar.yaml has changed; answers are then asked for again, and stay on screen until the new ones are there.
 *
 * The stream is closed while nobody looks: a browser has six connections to a server, and six tabs would have used them all up.
 * Where it cannot be had although the server answers (a proxy, too many listeners), the server is asked for its generation instead.
 */
export function useLiveLedger(): Live {
  const client = useQueryClient();
  const [goneSince, setGone] = useState<number | undefined>();
  const follower = useRef<Follower>(undefined);
  useEffect(() => {
    const own = follow(client, setGone);
    follower.current = own;
    return own.stop;
  }, [client]);
  return { goneSince, tryNow: () => follower.current?.tryNow() };
}

interface Follower {
  readonly tryNow: () => void;
  readonly stop: () => void;
}

function follow(client: QueryClient, setGone: (since: number | undefined) => void): Follower {
  const later = laterOf(client);
  let events: EventSource | undefined;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let waitMs = FIRST_TRY_MS;
  let wasAway = false;
  let heardAt = Date.now();

  const heard = (): void => {
    heardAt = Date.now();
    waitMs = FIRST_TRY_MS;
    setGone(undefined);
  };
  const close = (): void => {
    clearTimeout(retry);
    events?.close();
    events = undefined;
  };
  const open = (): void => {
    close();
    if (document.visibilityState === 'hidden') return;
    const stream = new EventSource(EVENTS);
    events = stream;
    stream.addEventListener('generation', (event) => later.askAnew(isOfAnother(generationOf(event))));
    stream.addEventListener('state', () => later.askAnew(() => true));
    stream.addEventListener('open', () => {
      heard();
      // What changed meanwhile, and what failed, is asked for; the first time there is nothing older.
      if (wasAway) later.askAnew(() => true);
      wasAway = false;
    });
    stream.addEventListener('error', () => void lost());
  };
  const lost = async (): Promise<void> => {
    close();
    wasAway = true;
    const own = setTimeout(open, waitMs);
    retry = own;
    waitMs = Math.min(LAST_TRY_MS, waitMs * 2);
    // Is the server gone, or only its stream? Where a token is no longer good this answer says so, and the page asks for one.
    const status = await statusOf(client);
    if (retry !== own) return;
    if (status === undefined) setGone(heardAt);
    else {
      heardAt = Date.now();
      setGone(undefined);
      if (status !== 'no data') later.askAnew(isOfAnother(status.generation));
    }
  };
  const look = (): void => {
    if (document.visibilityState === 'visible') open();
    else {
      wasAway = true;
      close();
    }
  };
  // A question may meet a dead connection before the stream does.
  const forget = listenToGone(client, () => (events === undefined ? undefined : void lost()));
  document.addEventListener('visibilitychange', look);
  open();
  return {
    tryNow: () => {
      later.askNow();
      open();
    },
    stop: () => {
      forget();
      document.removeEventListener('visibilitychange', look);
      later.stop();
      close();
    },
  };
}

/** By a key of its own: the page's question after the status is asked until there is an answer. */
function statusOf(client: QueryClient): Promise<Answer<object> | 'no data' | undefined> {
  const query = { queryKey: ['alive'], queryFn: () => ask<object>(STATUS), staleTime: 0, retry: false };
  return client
    .fetchQuery(query)
    .catch((failure: unknown) => (failure instanceof Problem && failure.hasNoData ? 'no data' : undefined));
}

/** Hears of every question that met no server. */
function listenToGone(client: QueryClient, tell: () => void): () => void {
  return client.getQueryCache().subscribe((event) => {
    if (event.type !== 'updated' || event.action.type !== 'failed') return;
    const { error } = event.action;
    if (error instanceof Problem && error.isGone) tell();
  });
}

type IsOld = (answer: Answer<unknown> | undefined) => boolean;

/** What was answered from another state of the ledger, or not at all. */
function isOfAnother(generation: string | null): IsOld {
  return (answer) => answer === undefined || (answer.generation !== null && answer.generation !== generation);
}

function generationOf(event: Event): string | null {
  const { generation } = JSON.parse((event as MessageEvent<string>).data) as { generation?: number };
  return generation === undefined ? null : String(generation);
}

interface Later {
  /** A moment later; what is told in between is asked for together. */
  readonly askAnew: (isOld: IsOld) => void;
  /** At once, because somebody wants it. */
  readonly askNow: () => void;
  readonly stop: () => void;
}

/** Asks again for answers that are old, and for what failed. */
function laterOf(client: QueryClient): Later {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let tests: IsOld[] = [];
  const run = (): void => {
    const isOld: IsOld = (answer) => tests.some((test) => test(answer));
    void client.invalidateQueries({
      queryKey: ['answer'],
      predicate: ({ state }) => state.status === 'error' || isOld(state.data as Answer<unknown> | undefined),
    });
    timer = undefined;
    tests = [];
  };
  return {
    askAnew: (isOld) => {
      tests.push(isOld);
      timer ??= setTimeout(run, Math.random() * SPREAD_MS);
    },
    askNow: () => {
      clearTimeout(timer);
      tests = [() => true];
      run();
    },
    stop: () => clearTimeout(timer),
  };
}
