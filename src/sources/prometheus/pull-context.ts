import { OperationError } from '../../facts/operation-error.ts';
import type { PullRequest } from '../../facts/source.ts';
import { prometheusApi, type PrometheusApi } from './api/prometheus-api.ts';
import { discover, earliestMs, KUBE_METRICS, labelValues, scrapeDistanceS, type Discovery } from './discover.ts';
import { GPU_METRICS } from '../gpu-metrics/metric-columns.ts';
import { SERVING_METRICS } from '../serving/serving-metric.ts';
import type { PrometheusOptions } from './prometheus-options.ts';
import { extraMatchers, oneOf, selector } from './selector.ts';

/** What a pull knows before it reads: what the server has, how it is labelled, which GPUs shall be read. */
export interface PullContext {
  readonly options: PrometheusOptions;
  readonly pollS: number;
  readonly api: PrometheusApi;
  readonly request: PullRequest;
  readonly nowMs: number;
  readonly discovery: Discovery;
  /** Matchers of the user, which every series has to meet. */
  readonly matchers: string | undefined;
  /** The same, and only the GPUs that were chosen. */
  readonly gpuMatchers: string | undefined;
  readonly gpus: { readonly seen: number; readonly notRead: number } | undefined;
  readonly stepS: number;
  readonly kubeStepS: number;
  /** How many series a metric has. */
  readonly seriesMax: number;
}

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
const USUAL_STEP_S = 30;

/** Where the reading begins: as far back as was asked for, and as the server reaches. */
export async function beginMs(options: PrometheusOptions, request: PullRequest): Promise<number> {
  const api = prometheusApi(options);
  const names = [
    ...GPU_METRICS.map(({ metric }) => metric),
    'kube_pod_container_resource_requests',
    ...SERVING_METRICS,
  ];
  const matchers = extraMatchers(options.matchers);
  const nowMs = request.now.getTime();
  const earliest = await earliestMs(api, names, matchers, nowMs, request.signal);
  if (earliest === undefined) throw nothingHere(api.shown, matchers);
  const asked = request.since?.getTime() ?? earliest;
  return Math.floor(Math.min(nowMs, Math.max(asked, earliest)) / HOUR_MS) * HOUR_MS;
}

/** Asks what the server has from a moment on. */
export async function pullContext(
  options: PrometheusOptions,
  pollS: number,
  request: PullRequest,
  fromMs: number,
): Promise<PullContext> {
  const api = prometheusApi(options);
  const nowMs = Math.floor(request.now.getTime() / 1000) * 1000;
  const matchers = extraMatchers(options.matchers);
  // A part that fell silent before is there all the same: a day back is as far as its last words are carried on.
  const discovery = await discover(api, matchers, fromMs - DAY_MS, nowMs, request.signal);
  const [first] = discovery.metrics;
  const stepS = first && (await scrapeDistanceS(api, first.metric, matchers, nowMs, request.signal));
  const kubeStepS =
    KUBE_METRICS.some((name) => discovery.kube.has(name)) &&
    (await scrapeDistanceS(api, 'kube_pod_info', matchers, nowMs, request.signal));
  const chosen = await chosenGpus(api, discovery, matchers, fromMs, request);
  return {
    options,
    pollS,
    api,
    request,
    nowMs,
    discovery,
    matchers,
    gpuMatchers: [matchers, chosen?.matcher].filter((each) => each !== undefined).join(', ') || undefined,
    gpus: chosen && { seen: chosen.seen, notRead: chosen.notRead },
    stepS: stepS || USUAL_STEP_S,
    kubeStepS: kubeStepS || USUAL_STEP_S,
    seriesMax: chosen === undefined ? await seriesMax(api, discovery, matchers, request) : chosen.seen - chosen.notRead,
  };
}

/** Every k-th GPU in the order of their names, where only so many are wanted. */
async function chosenGpus(
  api: PrometheusApi,
  { metrics, deviceLabel }: Discovery,
  matchers: string | undefined,
  fromMs: number,
  { gpusMax, now, signal }: PullRequest,
): Promise<{ seen: number; notRead: number; matcher: string } | undefined> {
  if (gpusMax === undefined || metrics.length === 0) return undefined;
  const label = deviceLabel ?? 'instance';
  const match = selector(undefined, `__name__=~${oneOf(metrics.map(({ metric }) => metric))}`, matchers);
  const values = await labelValues(api, label, match, fromMs, now.getTime(), signal);
  if (values.length <= gpusMax) return undefined;
  const chosen = Array.from(
    { length: gpusMax },
    (_, place) => values[Math.floor((place * values.length) / gpusMax)] ?? '',
  );
  return { seen: values.length, notRead: values.length - chosen.length, matcher: `${label}=~${oneOf(chosen)}` };
}

async function seriesMax(
  api: PrometheusApi,
  { metrics }: Discovery,
  matchers: string | undefined,
  { now, signal }: PullRequest,
): Promise<number> {
  const [first] = metrics;
  if (first === undefined) return 0;
  const [found] = await api.vector(`count(${selector(first.metric, matchers)})`, now.getTime(), signal);
  return found?.value ?? 0;
}

export function nothingHere(shown: string, matchers: string | undefined): OperationError {
  const narrowed = matchers === undefined ? '' : ` that match ${matchers}`;
  return new OperationError('no-gpu-metrics', `${shown} has no GPU metrics${narrowed}`, {
    hint: 'let it scrape dcgm-exporter (NVIDIA) or device-metrics-exporter (AMD), or point Bursar at the Prometheus that does',
  });
}

/** `2026-11-16T10` or `2026-11-16`: how batches name their time. */
export function hourName(ms: number): string {
  return new Date(ms).toISOString().slice(0, 13);
}

export function dayName(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
