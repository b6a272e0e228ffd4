import type { Context } from 'hono';
import type { Standing, StandingKeeper } from '../../app/serve/standing.ts';
import { OperationError } from '../../facts/operation-error.ts';

export interface EventOptions {
  readonly standing: StandingKeeper;
  /** False once whoever listens may no longer: a token was revoked. */
  readonly isAllowed: (tokenHash: string) => Promise<boolean>;
  readonly pollMs?: number;
  readonly heartbeatMs?: number;
  readonly listenersMax?: number;
  readonly listenersMaxEach?: number;
}

/** What a page is told when the figures it shows have been replaced. */
export interface GenerationEvent {
  readonly generation: number;
  readonly committedAt: string;
  readonly horizon: string | null;
  readonly staleRows: number;
}

export interface EventHub {
  /** A stream of what changes, for one page of `who`, which has so many at most. */
  listen(context: Context, who: string, tokenHash: string | undefined): Promise<Response>;
  listeners(): number;
  close(): void;
}

interface Listener {
  readonly who: string;
  readonly tokenHash: string | undefined;
  readonly send: (text: string) => void;
  readonly end: () => void;
}

const POLL_MS = 250;
const HEARTBEAT_MS = 15_000;
const LISTENERS_MAX = 100;
/** A browser opens six connections at most; a token that a few people share has some more. */
const LISTENERS_MAX_EACH = 20;
/** What a page has not taken in by then it will not miss. */
const BACKLOG_MAX = 64;
const ENCODER = new TextEncoder();

/**
 * Tells pages of a new generation as soon as it is in force (`generation`), and of changes beside the lake (`state`): findings that were
 * accepted, a bursar.yaml that was edited.
 */
export function eventHub(options: EventOptions): EventHub {
  const { standing, isAllowed, pollMs = POLL_MS, heartbeatMs = HEARTBEAT_MS } = options;
  const { listenersMax = LISTENERS_MAX, listenersMaxEach = LISTENERS_MAX_EACH } = options;
  const listeners = new Set<Listener>();
  let told: { readonly generation: string; readonly state: string } | undefined;
  let timer: NodeJS.Timeout | undefined;
  let lastBeatMs = performance.now();
  let isClosed = false;

  const sendAll = (text: string): void => {
    for (const each of listeners) each.send(text);
  };
  const look = async (): Promise<void> => {
    for (const each of listeners) {
      if (each.tokenHash !== undefined && !(await isAllowed(each.tokenHash))) each.end();
    }
    const now = await standing.current();
    const [generation, state] = [eventOf(now), stateOf(now)];
    if (told !== undefined && told.generation !== generation) sendAll(generation);
    if (told !== undefined && told.state !== state) sendAll(`event: state\ndata: {}\n\n`);
    told = { generation, state };
    if (performance.now() - lastBeatMs < heartbeatMs) return;
    lastBeatMs = performance.now();
    sendAll(': still here\n\n');
  };
  const goOn = (): void => {
    if (isClosed || listeners.size === 0) {
      timer = undefined;
      told = undefined;
      return;
    }
    timer = setTimeout(() => {
      // A folder that cannot be read just now is told to whoever asks a question.
      look()
        .catch(() => undefined)
        .finally(goOn);
    }, pollMs);
  };

  return {
    async listen(context, who, tokenHash) {
      const now = await standing.current();
      // From here on nothing waits: who was counted has its place.
      const own = [...listeners].filter((each) => each.who === who).length;
      if (isClosed || listeners.size >= listenersMax || own >= listenersMaxEach) throw tooMany();
      const first = eventOf(now);
      const isNews = context.req.header('last-event-id') !== String(now.snapshot.generation);
      const stream = streamOf(`retry: 2000\n\n${isNews ? first : ''}`, { who, tokenHash }, listeners);
      told ??= { generation: first, state: stateOf(now) };
      if (timer === undefined) goOn();
      return context.body(stream, 200, {
        'Content-Type': 'text/event-stream',
        'Cache-Control': 'no-store',
        'X-Accel-Buffering': 'no',
      });
    },
    listeners: () => listeners.size,
    close() {
      isClosed = true;
      clearTimeout(timer);
      for (const each of listeners) each.end();
    },
  };
}

function streamOf(
  first: string,
  whose: Pick<Listener, 'who' | 'tokenHash'>,
  listeners: Set<Listener>,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let own: Listener | undefined;
  const leave = (): void => {
    if (own !== undefined) listeners.delete(own);
  };
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      const end = (): void => {
        if (own === undefined || !listeners.delete(own)) return;
        controller.close();
      };
      const send = (text: string): void => {
        if ((controller.desiredSize ?? 0) < -BACKLOG_MAX) end();
        else controller.enqueue(ENCODER.encode(text));
      };
      own = { ...whose, send, end };
      listeners.add(own);
      send(first);
    },
    cancel: leave,
  });
}

function eventOf({ snapshot, scope, staleRows }: Standing): string {
  const event: GenerationEvent = {
    generation: snapshot.generation,
    committedAt: snapshot.committedAt,
    horizon: scope?.horizon.toISOString() ?? null,
    staleRows,
  };
  return `id: ${snapshot.generation}\nevent: generation\ndata: ${JSON.stringify(event)}\n\n`;
}

function stateOf({ stamp, configStamp }: Standing): string {
  return JSON.stringify([stamp.findings, stamp.statements, configStamp]);
}

function tooMany(): OperationError {
  return new OperationError('too-many-listeners', 'too many pages listen for news', {
    hint: 'Close some of them; a page without news shows what it showed, and asks anew when it is reloaded.',
  });
}
