import { setTimeout as delay } from 'node:timers/promises';
import { OperationError } from '../../../facts/operation-error.ts';
import { firstWords, parseUrl, shownUrl, statusFailure, stopped, webPage } from '../../http/http-failure.ts';
import { errorText, httpGet, looksLikeWebPage, type HttpAnswer } from '../../http/http-get.ts';
import { labelsOf, MatrixReader, type MatrixEnd, type MatrixSeries, type OnLabels } from './matrix-reader.ts';

export interface ApiOptions {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Pauses before another try of what failed for a moment; as many tries as there are pauses. */
  readonly retryPausesMs?: readonly number[];
  /** How long a question may take, the server's thinking included. */
  readonly timeoutMs?: number;
  /** How long a question may take with all its tries: a server that is stuck must not hold up the ledger. */
  readonly patienceMs?: number;
  /** The largest answer taken in; a question whose answer is larger has to be asked in parts. */
  readonly answerBytesMax?: number;
  /** True asks for gzip: fewer bytes for much more work on both sides. Undefined: where the address is https. */
  readonly compressed?: boolean;
}

/** One series of a small answer. */
export interface VectorSample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface AnswerEnd extends MatrixEnd {
  readonly tookMs: number;
}

/** What speaks the Prometheus API: Prometheus, Thanos, Mimir, VictoriaMetrics. Only questions, never a change. */
export interface PrometheusApi {
  /** The address without its secrets. */
  readonly shown: string;
  /** A server that has answered nothing for so long is stuck. */
  readonly patienceMs: number;
  /** Series of an instant question, each as it comes in. After a try that failed they come once more from the first. */
  series(
    query: string,
    timeMs: number,
    signal: AbortSignal,
    onSeries: (series: MatrixSeries) => void,
    onLabels?: OnLabels,
  ): Promise<AnswerEnd>;
  /** The last value of each series of an instant question, for answers of thousands, not of millions. */
  vector(query: string, timeMs: number, signal: AbortSignal): Promise<VectorSample[]>;
  /** What a path under /api/v1 gives as `data`; undefined where the server does not have the path. */
  data(path: string, params: readonly [string, string][], signal: AbortSignal): Promise<unknown>;
}

const RETRY_PAUSES_MS = [500, 2000, 5000] as const;
const RETRY_AFTER_MAX_MS = 30_000;
const TIMEOUT_MS = 60_000;
const PATIENCE_MS = 300_000;
/** A gateway that gives up after so many of a question's time has waited for the server: the same question would wait again. */
const GATEWAY_SHARE = 6;
const ANSWER_BYTES_MAX = 256 * 1024 * 1024;
const SMALL_ANSWER_BYTES_MAX = 32 * 1024 * 1024;
const VECTOR_SERIES_MAX = 200_000;
/** What passes by itself. A server that refuses the connection may just be restarting. */
const PASSING = new Set([
  'http-408',
  'http-429',
  'http-500',
  'http-502',
  'http-503',
  'http-504',
  'timeout',
  'cut-off',
  'unreachable',
]);
const TOO_MUCH = /too many samples|exceed|maximum|too large|limit|timed? ?out|timeout|memory|try .*(shorter|fewer)/i;

/** The API behind an address, however it was pasted: with a path before /api, or from the browser. */
export function prometheusApi(options: ApiOptions): PrometheusApi {
  const base = parseUrl(options.url);
  const prefix = base.pathname.replace(/\/(api(\/v1(\/.*)?)?|graph|query|targets)?\/?$/, '');
  const shown = shownUrl(new URL(prefix === '' ? '/' : prefix, base));
  const ask = (path: string, params: readonly [string, string][], signal: AbortSignal, leftMs: number): Asked => {
    const url = new URL(base);
    url.pathname = `${prefix}/api/v1/${path}`;
    return {
      url: url.href,
      body: new URLSearchParams(params).toString(),
      signal,
      leftMs,
    };
  };
  return {
    shown,
    patienceMs: patienceOf(options),
    series: (query, timeMs, signal, onSeries, onLabels) =>
      again(options, shown, signal, (leftMs) =>
        askSeries(ask('query', questionOf(query, timeMs, options), signal, leftMs), shown, options, onSeries, onLabels),
      ),
    vector: (query, timeMs, signal) =>
      again(options, shown, signal, async (leftMs) => {
        const samples: VectorSample[] = [];
        const asked = ask('query', questionOf(query, timeMs, options), signal, leftMs);
        await askSeries(asked, shown, options, (series) => {
          if (samples.length >= VECTOR_SERIES_MAX) throw tooMuch(shown, 'more than 200,000 series');
          const value = series.values[series.count - 1];
          if (series.count > 0 && value !== undefined) samples.push({ labels: labelsOf(series), value });
        });
        return samples;
      }),
    data: (path, params, signal) =>
      again(options, shown, signal, (leftMs) => askData(ask(path, params, signal, leftMs), shown, options)),
  };
}

interface Asked {
  readonly url: string;
  readonly body: string;
  readonly signal: AbortSignal;
  /** What is left of the time for all tries. */
  readonly leftMs: number;
}

function patienceOf({ patienceMs, timeoutMs = TIMEOUT_MS }: ApiOptions): number {
  return patienceMs ?? Math.max(PATIENCE_MS, timeoutMs);
}

/**
 * Thanos and VictoriaMetrics give half an answer when a part of them is down, unless told not to: half an answer would be
 * kept as the whole truth.
 */
function questionOf(query: string, timeMs: number, options: ApiOptions): [string, string][] {
  return [
    ['query', query],
    ['time', (timeMs / 1000).toFixed(3)],
    ['timeout', `${Math.round((options.timeoutMs ?? TIMEOUT_MS) / 1000)}s`],
    ['partial_response', 'false'],
    ['deny_partial_response', '1'],
  ];
}

async function askSeries(
  asked: Asked,
  shown: string,
  options: ApiOptions,
  onSeries: (series: MatrixSeries) => void,
  onLabels?: OnLabels,
): Promise<AnswerEnd> {
  const begun = performance.now();
  const answer = await post(asked, options, options.answerBytesMax ?? ANSWER_BYTES_MAX);
  await refuseFailure(answer, shown);
  const reader = new MatrixReader(onSeries, onLabels);
  for await (const chunk of answer.body) reader.push(chunk);
  const end = reader.finish();
  if (end.status !== 'success') throw queryFailure(shown, 200, end.errorType ?? '', end.error ?? 'no success');
  return { ...end, tookMs: performance.now() - begun };
}

async function askData(asked: Asked, shown: string, options: ApiOptions): Promise<unknown> {
  const url = `${asked.url}?${asked.body}`;
  const answer = await httpGet(url, { ...limits(asked, options), bytesMax: SMALL_ANSWER_BYTES_MAX });
  if (answer.status === 404 || answer.status === 405) {
    await errorText(answer);
    return undefined;
  }
  await refuseFailure(answer, shown);
  const chunks: Buffer[] = [];
  for await (const chunk of answer.body) chunks.push(chunk);
  const value = parsed(Buffer.concat(chunks).toString('utf8'));
  if (value === undefined || value.status !== 'success') {
    throw new OperationError('not-prometheus', `${shown} does not speak the Prometheus API`, {
      hint: 'check the address: it is the one under which /api/v1/query answers',
    });
  }
  return value.data;
}

function post(asked: Asked, options: ApiOptions, bytesMax: number): Promise<HttpAnswer> {
  return httpGet(asked.url, {
    ...limits(asked, options),
    bytesMax,
    method: 'POST',
    body: asked.body,
    headers: { ...options.headers, 'content-type': 'application/x-www-form-urlencoded' },
  });
}

function limits(asked: Asked, options: ApiOptions) {
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
  return {
    signal: asked.signal,
    // The server is asked to give up first: its own words say more than our silence.
    idleTimeoutMs: timeoutMs + Math.min(5000, timeoutMs / 2),
    totalTimeoutMs: Math.min(timeoutMs * 5, asked.leftMs),
    compressed: options.compressed ?? asked.url.startsWith('https:'),
    ...(options.headers !== undefined && { headers: options.headers }),
  };
}

async function refuseFailure(answer: HttpAnswer, shown: string): Promise<void> {
  if (answer.status >= 200 && answer.status <= 299) {
    if (looksLikeWebPage(answer, '')) {
      await errorText(answer);
      throw webPage(shown, 'the Prometheus API');
    }
    return;
  }
  const retryAfterMs = Number(answer.headers['retry-after']) * 1000;
  const text = await errorText(answer);
  const value = parsed(text);
  if (typeof value?.error === 'string') {
    const type = typeof value.errorType === 'string' ? value.errorType : '';
    throw queryFailure(shown, answer.status, type, value.error);
  }
  const words = looksLikeWebPage(answer, text) ? 'a web page' : firstWords(text);
  const failure = statusFailure(shown, answer.status, words);
  throw Number.isFinite(retryAfterMs) ? Object.assign(failure, { retryAfterMs }) : failure;
}

function parsed(text: string): { status?: unknown; data?: unknown; error?: unknown; errorType?: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function queryFailure(shown: string, status: number, type: string, error: string): OperationError {
  const words = firstWords(error);
  if (type === 'unavailable' || status === 429 || status === 502 || (status === 503 && type !== 'timeout')) {
    return statusFailure(shown, status, words);
  }
  if (TOO_MUCH.test(error) || type === 'timeout') return tooMuch(shown, words);
  return new OperationError('query-refused', `${shown} refuses the question: ${words}`, {
    hint: 'look at its log; if the source has extra matchers, check how they are written',
  });
}

/** The answer is larger than the server or we can take: the caller asks in smaller parts. */
export function tooMuch(shown: string, words: string): OperationError {
  return new OperationError('too-many-samples', `${shown}: too much at once: ${words}`, {
    hint: 'narrow the source with matchers, such as cluster="a", or raise --query.max-samples of the server',
  });
}

/** Would a smaller question be answered? A gateway that gives up on the server behind it says so too. */
export function isTooMuch(error: unknown): boolean {
  return error instanceof OperationError && /^(too-many-samples|too-large|http-504)$/.test(error.code);
}

/** Promise: what `work` gives, at the latest try before the patience ends, or its failure. It is told how much time is left. */
async function again<Result>(
  options: ApiOptions,
  shown: string,
  signal: AbortSignal,
  work: (leftMs: number) => Promise<Result>,
): Promise<Result> {
  const pausesMs = options.retryPausesMs ?? RETRY_PAUSES_MS;
  const patienceMs = patienceOf(options);
  const begunMs = performance.now();
  const leftMs = () => Math.max(1, Math.ceil(patienceMs - (performance.now() - begunMs)));
  for (let tries = 0; ; tries += 1) {
    const triedMs = performance.now();
    try {
      return await work(leftMs());
    } catch (error) {
      const pauseMs = pausesMs[tries];
      if (!(error instanceof OperationError) || !PASSING.has(error.code) || pauseMs === undefined) throw error;
      const hasWaited = performance.now() - triedMs >= (options.timeoutMs ?? TIMEOUT_MS) / GATEWAY_SHARE;
      if (error.code === 'http-504' && hasWaited) throw error;
      const askedMs = 'retryAfterMs' in error ? Number(error.retryAfterMs) : 0;
      const waitMs = Math.max(pauseMs, Math.min(askedMs, RETRY_AFTER_MAX_MS));
      if (waitMs >= leftMs()) throw givenUp(error, patienceMs, tries + 1);
      await pause(waitMs, shown, signal);
    }
  }
}

function givenUp({ code, message, hint, cause }: OperationError, patienceMs: number, tries: number): OperationError {
  const after = `${Math.round(patienceMs / 100) / 10} s and ${tries === 1 ? 'one try' : `${tries} tries`}`;
  return new OperationError(code, `${message}; given up after ${after}, the next run goes on from here`, {
    ...(hint !== undefined && { hint }),
    ...(cause !== undefined && { cause }),
  });
}

/** Waits, unless the signal comes first. */
export async function pause(ms: number, shown: string, signal: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, { signal });
  } catch (error) {
    if (signal.aborted) throw stopped(shown, signal);
    throw error;
  }
}
