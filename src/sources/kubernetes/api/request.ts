import { request as httpRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { OperationError } from '../../../facts/operation-error.ts';
import type { Connection } from './connection.ts';
import { connectionProblem, notKubernetes, statusProblem, tooMuch, tooSlow } from './problem.ts';

export interface Ask {
  /** `/api/v1/pods`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** For messages: `list pods`. */
  readonly what: string;
  readonly accept?: string;
  readonly signal: AbortSignal;
  /** Until the answer begins, and between two pieces of it. */
  readonly silenceMsMax?: number;
}

export interface Answer {
  readonly status: number;
  readonly body: unknown;
  /** How far the server's clock is ahead of ours, from its Date header. */
  readonly aheadMs?: number;
}

const SILENCE_MS_MAX = 30_000;
/** A whole answer, a watch apart, comes within this. */
const BODY_MS_MAX = 120_000;
const BODY_BYTES_MAX = 128 * 1_048_576;
const ERROR_BYTES_MAX = 65_536;

/** One answer of the API server as JSON. Throws for every status but 200 and those asked for. */
export async function get(connection: Connection, ask: Ask, alsoFine: readonly number[] = []): Promise<Answer> {
  const response = await open(connection, ask);
  const status = response.statusCode ?? 0;
  const isFine = status === 200;
  const body = await bodyOf(connection, ask, response);
  if (!isFine && !alsoFine.includes(status)) throw statusProblem(connection, ask.what, status, body);
  if (isFine && (typeof body !== 'object' || body === null)) throw notKubernetes(connection, ask.what);
  const aheadMs = clockDifference(response);
  return { status, body, ...(aheadMs !== undefined && { aheadMs }) };
}

/** The answer once its head is here; a status other than 200 is the caller's to judge. */
export function open(connection: Connection, ask: Ask): Promise<IncomingMessage> {
  const url = new URL(connection.baseUrl);
  url.pathname = `${url.pathname.replace(/\/$/, '')}${ask.path}`;
  for (const [name, value] of Object.entries(ask.query ?? {})) url.searchParams.set(name, value);
  const silenceMsMax = ask.silenceMsMax ?? SILENCE_MS_MAX;
  const headers = { ...connection.headers, Accept: ask.accept ?? 'application/json', 'User-Agent': 'bursar' };
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'http:' ? httpRequest : httpsRequest;
    let answered: IncomingMessage | undefined;
    const sent = send(url, { ...connection.options, headers, method: 'GET', signal: ask.signal }, (response) => {
      answered = response;
      resolve(response);
    });
    // Of a socket's silence Node only tells; it goes on waiting.
    sent.setTimeout(silenceMsMax, () => (answered ?? sent).destroy(tooSlow(connection, ask.what, silenceMsMax)));
    sent.on('error', (cause) => reject(ask.signal.aborted ? stopped(ask) : connectionProblem(connection, cause)));
    sent.end();
  });
}

/** The caller's own stop, which is no trouble of the cluster's; the reason it gave is the cause. */
export function stopped({ what, signal }: Ask): OperationError {
  return new OperationError('aborted', `stopped while asking to ${what}`, { cause: signal.reason });
}

/** The answer as JSON; undefined if it is none, since an HTML page under an error status is still that error. */
export async function bodyOf(connection: Connection, ask: Ask, response: IncomingMessage): Promise<unknown> {
  const bytesMax = response.statusCode === 200 ? BODY_BYTES_MAX : ERROR_BYTES_MAX;
  const text = await textOf(connection, ask, response, bytesMax);
  try {
    return JSON.parse(text);
  } catch (cause) {
    if (cause instanceof SyntaxError) return undefined;
    throw cause;
  }
}

async function textOf(connection: Connection, ask: Ask, body: IncomingMessage, bytesMax: number): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  // Silence alone is no limit: a server that sends a byte now and then is never silent.
  const limit = setTimeout(() => body.destroy(tooSlow(connection, ask.what, BODY_MS_MAX)), BODY_MS_MAX);
  try {
    for await (const piece of body as AsyncIterable<Buffer>) {
      bytes += piece.length;
      if (bytes > bytesMax) throw tooMuch(connection, ask.what, `${Math.round(bytesMax / 1_048_576)} MiB`);
      pieces.push(piece);
    }
  } catch (cause) {
    body.destroy();
    throw ask.signal.aborted ? stopped(ask) : connectionProblem(connection, cause);
  } finally {
    clearTimeout(limit);
  }
  return Buffer.concat(pieces).toString('utf8');
}

function clockDifference({ headers }: IncomingMessage): number | undefined {
  const ms = Date.parse(headers.date ?? '');
  return Number.isFinite(ms) ? ms - Date.now() : undefined;
}
