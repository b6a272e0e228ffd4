import { Agent as HttpAgent, request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { OperationError } from '../../facts/operation-error.ts';
import { decodedBody } from './http-body.ts';
import {
  connectionFailure,
  firstWords,
  parseUrl,
  shownUrl,
  statusFailure,
  stopped,
  timedOut,
  webPage,
} from './http-failure.ts';

export interface HttpOptions {
  /** Names in any case. `Authorization` goes only to the host it was meant for. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly connectTimeoutMs?: number;
  /** The longest silence: until the answer begins, and between its pieces. A slow reader is not silence. */
  readonly idleTimeoutMs: number;
  readonly totalTimeoutMs?: number;
  /** Of the body, counted after decompression. */
  readonly bytesMax: number;
  readonly method?: 'GET' | 'POST';
  readonly body?: string;
  /** A Unix socket to speak through; host and port of the URL are then only words. */
  readonly socketPath?: string;
  /** False where the way is short: decompression costs more than the bytes. */
  readonly compressed?: boolean;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Read it to its end or leave the loop: both free the connection. */
  readonly body: AsyncIterable<Buffer>;
}

const CONNECT_TIMEOUT_MS = 10_000;
const REDIRECTS_MAX = 3;
const ERROR_BYTES_MAX = 64 * 1024;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const agents = {
  plain: new HttpAgent({ keepAlive: true, maxSockets: 32 }),
  secure: new HttpsAgent({ keepAlive: true, maxSockets: 32 }),
};

/**
 * Promise: an HTTP answer of any status, its body as it comes in, within every limit, or an OperationError with a hint.
 *
 * Over node:http and not fetch: web streams cost more than what they carry. Credentials in the URL become a header and show
 * in no message. Redirects are followed three times; a POST stays a POST (what we post are questions), except on 303.
 */
export async function httpGet(url: string, options: HttpOptions): Promise<HttpAnswer> {
  const first = parseUrl(url);
  let target: Target = { url: withoutCredentials(first), headers: headersFor(first, options), asGet: false };
  for (let redirects = 0; ; redirects += 1) {
    const answer = await exchange(target, options);
    const location = answer.headers.location;
    if (!REDIRECTS.has(answer.statusCode ?? 0) || location === undefined) {
      return {
        status: answer.statusCode ?? 0,
        headers: answer.headers,
        body: decodedBody(answer, shownUrl(target.url), options),
      };
    }
    answer.destroy();
    if (redirects === REDIRECTS_MAX) {
      throw new OperationError('redirects', `${shownUrl(first)} redirects more than ${REDIRECTS_MAX} times`, {
        hint: 'open it in a browser and use the address where you end up',
      });
    }
    target = redirected(target, location, answer.statusCode ?? 0);
  }
}

/** Promise: the text of a good answer; another status is an error with the first words of what it said. */
export async function httpText(url: string, options: HttpOptions & { readonly expects?: string }): Promise<string> {
  const shown = shownUrl(url);
  const answer = await httpGet(url, options);
  if (answer.status < 200 || answer.status > 299) {
    throw statusFailure(shown, answer.status, await beginningOf(answer));
  }
  const chunks: Buffer[] = [];
  for await (const chunk of answer.body) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString('utf8');
  if (looksLikeWebPage(answer, text)) throw webPage(shown, options.expects ?? 'text');
  return text;
}

/** Promise: what a good answer says in JSON, unchecked. */
export async function httpJson(
  url: string,
  options: HttpOptions & { readonly expects?: string },
): Promise<{ readonly value: unknown }> {
  const text = await httpText(url, { expects: 'JSON', ...options });
  try {
    return { value: JSON.parse(text) };
  } catch (cause) {
    throw new OperationError(
      'not-json',
      `${shownUrl(url)} answers with something that is not JSON: ${firstWords(text)}`,
      {
        hint: 'check the address and its path',
        cause,
      },
    );
  }
}

/** What an error says about itself: its first words, of a web page nothing. Ends the connection. */
async function beginningOf(answer: HttpAnswer): Promise<string> {
  const text = await errorText(answer);
  return looksLikeWebPage(answer, text) ? 'a web page' : firstWords(text);
}

/** The text of an error, at most 64 kB of it. Ends the connection. */
export async function errorText(answer: HttpAnswer): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of answer.body) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= ERROR_BYTES_MAX) break;
    }
  } catch (error) {
    // The status is the news; of a body that breaks off we say what came.
    if (!(error instanceof OperationError)) throw error;
  }
  return Buffer.concat(chunks).toString('utf8');
}

export function looksLikeWebPage(answer: Pick<HttpAnswer, 'headers'>, text: string): boolean {
  const type = answer.headers['content-type'];
  if (typeof type === 'string' && /^text\/html\b/i.test(type)) return true;
  return /^\s*<(!doctype html|html|head|body)\b/i.test(text.slice(0, 1000));
}

interface Target {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly asGet: boolean;
}

function headersFor(url: URL, options: HttpOptions): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(options.headers ?? {})) headers[name.toLowerCase()] = value;
  if (url.username !== '' && headers['authorization'] === undefined) {
    headers['authorization'] =
      `Basic ${Buffer.from(`${unescaped(url.username)}:${unescaped(url.password)}`).toString('base64')}`;
  }
  return headers;
}

/** A password may hold a percent sign that escapes nothing. */
function unescaped(text: string): string {
  return text.replaceAll(/(?:%[\da-f]{2})+/gi, (escaped) =>
    Buffer.from(escaped.replaceAll('%', ''), 'hex').toString('utf8'),
  );
}

function withoutCredentials(url: URL): URL {
  const bare = new URL(url);
  bare.username = '';
  bare.password = '';
  return bare;
}

/** Headers of the caller may be secrets: they go on only to the same host, never from https back to http. */
function redirected(from: Target, location: string, status: number): Target {
  const shown = shownUrl(from.url);
  if (!URL.canParse(location, from.url.href)) {
    throw new OperationError('redirects', `${shown} redirects to something that is not an address`);
  }
  const url = withoutCredentials(parseUrl(new URL(location, from.url.href).href));
  const upgraded =
    from.url.protocol === 'http:' && from.url.port === '' && url.protocol === 'https:' && url.port === '';
  const same = url.hostname === from.url.hostname && (upgraded || url.origin === from.url.origin);
  const kept = Object.entries(from.headers).filter(([name]) => same || name === 'accept' || name === 'content-type');
  return { url, headers: Object.fromEntries(kept), asGet: from.asGet || status === 303 };
}

/** One request and the head of its answer. A kept connection that died meanwhile is tried once more on a new one. */
async function exchange(target: Target, options: HttpOptions, again = false): Promise<IncomingMessage> {
  if (options.signal.aborted) throw stopped(shownUrl(target.url), options.signal);
  const sent = send(target, options, again);
  try {
    return await answerHead(sent, target, options);
  } catch (error) {
    const stale = sent.reusedSocket && !again && error instanceof OperationError && error.code === 'cut-off';
    if (stale) return exchange(target, options, true);
    throw error;
  }
}

function send(target: Target, options: HttpOptions, onNewConnection: boolean): ClientRequest {
  const secure = target.url.protocol === 'https:';
  const body = target.asGet ? undefined : options.body;
  const request = (secure ? httpsRequest : httpRequest)(target.url, {
    method: target.asGet ? 'GET' : (options.method ?? 'GET'),
    agent: onNewConnection ? false : secure ? agents.secure : agents.plain,
    ...(options.socketPath === undefined ? {} : { socketPath: options.socketPath }),
    headers: {
      'user-agent': 'bursar',
      'accept-encoding': options.compressed === false ? 'identity' : 'gzip, deflate',
      ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
      ...target.headers,
    },
  });
  request.end(body);
  return request;
}

function answerHead(request: ClientRequest, target: Target, options: HttpOptions): Promise<IncomingMessage> {
  const shown = shownUrl(target.url);
  const connectMs = options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS;
  return new Promise((resolve, reject) => {
    let waiting = setTimeout(() => request.destroy(timedOut(shown, 'no connection', connectMs)), connectMs);
    const total =
      options.totalTimeoutMs === undefined
        ? undefined
        : setTimeout(
            () => request.destroy(timedOut(shown, 'no complete answer', options.totalTimeoutMs ?? 0)),
            options.totalTimeoutMs,
          );
    const abort = () => request.destroy(stopped(shown, options.signal));
    options.signal.addEventListener('abort', abort, { once: true });
    const connected = () => {
      clearTimeout(waiting);
      const limitMs = options.idleTimeoutMs;
      waiting = setTimeout(() => request.destroy(timedOut(shown, 'no answer', limitMs)), limitMs);
    };
    request.on('socket', (socket) => {
      if (!socket.connecting) connected();
      else socket.once(target.url.protocol === 'https:' ? 'secureConnect' : 'connect', connected);
    });
    request.on('response', (answer) => {
      clearTimeout(waiting);
      // A request that is destroyed takes its answer along, but without the reason; whoever reads the body is told it then.
      request.removeAllListeners('error');
      request.on('error', (error) => answer.destroy(error));
      answer.on('error', () => undefined);
      resolve(answer);
    });
    request.on('error', (error) => reject(connectionFailure(shown, error)));
    request.on('close', () => {
      clearTimeout(waiting);
      clearTimeout(total);
      options.signal.removeEventListener('abort', abort);
    });
  });
}
