import { OperationError } from '../../facts/operation-error.ts';
import type { SourceHealth } from '../../facts/source.ts';
import { shownUrl } from '../http/http-failure.ts';
import { adviceFor } from './advice.ts';
import { prometheusApi, type PrometheusApi } from './api/prometheus-api.ts';
import { discover, earliestMs, scrapeDistanceS, type Discovery } from './discover.ts';
import { DAY_MS, dayName, nothingHere } from './pull-context.ts';
import type { PrometheusOptions } from './prometheus-options.ts';
import { extraMatchers, selector } from './selector.ts';

const CHECK_MS = 20_000;
/** What was exported within these days counts as exported. */
const RECENT_MS = 2 * DAY_MS;

/** How is this Prometheus, what does it have, and what would sharpen the answers? Never throws for what the outside world does. */
export async function checkPrometheus(
  options: PrometheusOptions,
  now: Date,
  signal: AbortSignal,
): Promise<SourceHealth> {
  const limitMs = Math.min(CHECK_MS, options.timeoutMs ?? CHECK_MS);
  const limit = AbortSignal.timeout(limitMs);
  try {
    const api = prometheusApi({ ...options, retryPausesMs: [], timeoutMs: limitMs / 2 });
    return await healthOf(api, options, now.getTime(), AbortSignal.any([signal, limit]));
  } catch (error) {
    if (!(error instanceof OperationError)) throw error;
    if (error.code === 'aborted' && limit.aborted) {
      const says = `${shownUrl(options.url)} did not answer all questions within ${limitMs / 1000} s`;
      return { state: 'down', says, todo: 'it may be overloaded; look at its log, and try again', advice: [] };
    }
    return { state: 'down', says: error.message, advice: [], ...(error.hint !== undefined && { todo: error.hint }) };
  }
}

async function healthOf(
  api: PrometheusApi,
  options: PrometheusOptions,
  nowMs: number,
  signal: AbortSignal,
): Promise<SourceHealth> {
  const matchers = extraMatchers(options.matchers);
  const version = await versionOf(api, signal);
  const discovery = await discover(api, matchers, nowMs - RECENT_MS, nowMs, signal);
  const names = discovery.metrics.map(({ metric }) => metric);
  const [first] = names;
  if (first === undefined) {
    const older = await olderThan(api, matchers, nowMs, signal);
    if (older !== undefined) return older;
    const failure = nothingHere(api.shown, matchers);
    return { state: 'down', says: failure.message, advice: adviceFor(discovery), todo: failure.hint ?? '' };
  }
  const gpus = await gpuCount(api, first, discovery, matchers, nowMs, signal);
  const stepS = await scrapeDistanceS(api, first, matchers, nowMs, signal);
  const sinceMs = await earliestMs(api, names, matchers, nowMs, signal);
  const pods = discovery.kube.has('kube_pod_container_resource_requests') ? ', kube-state-metrics' : '';
  const since = sinceMs === undefined ? '' : `, since ${dayName(sinceMs)}`;
  const advice = adviceFor(discovery);
  if (gpus === 0 || stepS === undefined) {
    return {
      state: 'partial',
      says: `${version}, GPU metrics${pods}${since}, but none in the last minutes`,
      todo: 'look at the targets page of the server: is the exporter down?',
      gpus,
      advice,
    };
  }
  const seesActivity = discovery.metrics.some(({ column }) => /^(engine|sm|util)_permille$/.test(column));
  return {
    state: seesActivity ? 'ok' : 'partial',
    says: `${version}, ${gpus} GPU${gpus === 1 ? '' : 's'}, samples every ${stepS} s${pods}${since}`,
    ...(!seesActivity && { todo: 'no metric tells idle from working; see the advice' }),
    gpus,
    advice,
  };
}

/** Only Prometheus itself tells its version; the others speak its API all the same. */
async function versionOf(api: PrometheusApi, signal: AbortSignal): Promise<string> {
  const data = await api.data('status/buildinfo', [], signal).catch((error: unknown) => {
    if (error instanceof OperationError && /^(http-4\d\d|not-prometheus)$/.test(error.code)) return undefined;
    throw error;
  });
  const version = typeof data === 'object' && data !== null && 'version' in data ? data.version : undefined;
  return typeof version === 'string' && /^v?\d+(\.\d+)*[\w.+-]*$/.test(version)
    ? `Prometheus ${version.slice(0, 40)}`
    : 'a server of the Prometheus API';
}

async function olderThan(
  api: PrometheusApi,
  matchers: string | undefined,
  nowMs: number,
  signal: AbortSignal,
): Promise<SourceHealth | undefined> {
  const { metrics } = await discover(api, matchers, 0, nowMs, signal);
  if (metrics.length === 0) return undefined;
  return {
    state: 'partial',
    says: `${api.shown} has GPU metrics, but none of the last ${RECENT_MS / DAY_MS} days`,
    todo: 'look at the targets page of the server: is the exporter down?',
    advice: [],
  };
}

async function gpuCount(
  api: PrometheusApi,
  metric: string,
  { deviceLabel }: Discovery,
  matchers: string | undefined,
  nowMs: number,
  signal: AbortSignal,
): Promise<number> {
  const by = deviceLabel ?? 'instance, gpu';
  const [one] = await api.vector(`count(count by (${by}) (${selector(metric, matchers)}))`, nowMs, signal);
  return one?.value ?? 0;
}
