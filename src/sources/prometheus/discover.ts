import { GPU_METRICS, gpuMetricOf, type GpuMetric } from '../gpu-metrics/metric-columns.ts';
import type { PrometheusApi } from './api/prometheus-api.ts';
import { oneOf, selector } from './selector.ts';

/** What of interest this server has, as far as its index tells. */
export interface Discovery {
  readonly metrics: readonly GpuMetric[];
  /** Names of kube-state-metrics it has. */
  readonly kube: ReadonlySet<string>;
  /**
   * Scrape targets (`instance`) that have a label `pod` of their own, so that Prometheus renames the exporter's. One server may have
   * both kinds: it is a setting of each scrape job.
   */
  readonly podTargets: ReadonlySet<string>;
  /** Some series name the pod that has the GPU. */
  readonly namesPods: boolean;
  /** The label that tells GPUs apart; undefined where they go by their place. */
  readonly deviceLabel: string | undefined;
}

export const KUBE_METRICS = [
  'kube_pod_container_resource_requests',
  'kube_pod_info',
  'kube_pod_owner',
  'kube_pod_labels',
  'kube_pod_created',
  'kube_pod_start_time',
  'kube_pod_status_scheduled_time',
  'kube_pod_completion_time',
  'kube_pod_deletion_timestamp',
  'kube_pod_status_phase',
  'kube_pod_status_reason',
  'kube_pod_status_unschedulable',
  'kube_replicaset_owner',
  'kube_job_owner',
  'kube_node_info',
  'kube_node_labels',
  'kube_node_created',
  'kube_node_status_capacity',
] as const;
export type KubeMetric = (typeof KUBE_METRICS)[number];

const DEVICE_LABELS = ['UUID', 'uuid', 'gpu_uuid', 'exported_uuid', 'serial_number'];

/** Which of the metrics we know does the server have between these moments, and how are they labelled? */
export async function discover(
  api: PrometheusApi,
  matchers: string | undefined,
  fromMs: number,
  untilMs: number,
  signal: AbortSignal,
): Promise<Discovery> {
  const names = await namesBetween(
    api,
    [...GPU_METRICS.map(({ metric }) => metric), ...KUBE_METRICS],
    matchers,
    fromMs,
    untilMs,
    signal,
  );
  const metrics = [...names].flatMap((name) => gpuMetricOf(name) ?? []);
  const renamed = selector(
    undefined,
    `__name__=~${oneOf(metrics.map(({ metric }) => metric))}`,
    'exported_pod!=""',
    matchers,
  );
  const labels =
    metrics.length === 0 ? new Set<string>() : await labelNames(api, metrics, matchers, fromMs, untilMs, signal);
  return {
    metrics: metrics.toSorted((a, b) => GPU_METRICS.indexOf(a) - GPU_METRICS.indexOf(b)),
    kube: new Set([...names].filter((name) => gpuMetricOf(name) === undefined)),
    podTargets: new Set(
      labels.has('exported_pod') ? await labelValues(api, 'instance', renamed, fromMs, untilMs, signal) : [],
    ),
    namesPods: labels.has('exported_pod') || labels.has('pod') || labels.has('pod_name'),
    deviceLabel: DEVICE_LABELS.find((label) => labels.has(label)),
  };
}

/** Which of these metrics have series between these moments? Asks the index only; it may know blocks better than moments. */
export async function namesBetween(
  api: PrometheusApi,
  names: readonly string[],
  matchers: string | undefined,
  fromMs: number,
  untilMs: number,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  if (names.length === 0) return new Set();
  const match = selector(undefined, `__name__=~${oneOf(names)}`, matchers);
  const span = spanOf(fromMs, untilMs);
  const data = await api.data('label/__name__/values', [['match[]', match], ...span], signal);
  if (data !== undefined) return new Set(strings(data).filter((name) => names.includes(name)));
  const found = await api.vector(`count by (__name__) (${match})`, untilMs, signal);
  return new Set(found.flatMap(({ labels }) => labels['__name__'] ?? []));
}

async function labelNames(
  api: PrometheusApi,
  metrics: readonly GpuMetric[],
  matchers: string | undefined,
  fromMs: number,
  untilMs: number,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const match = selector(undefined, `__name__=~${oneOf(metrics.map(({ metric }) => metric))}`, matchers);
  const data = await api.data('labels', [['match[]', match], ...spanOf(fromMs, untilMs)], signal);
  if (data !== undefined) return new Set(strings(data));
  const [one] = await api.vector(`topk(1, ${match})`, untilMs, signal);
  return new Set(Object.keys(one?.labels ?? {}));
}

/** The values of a label of these metrics, in order. */
export async function labelValues(
  api: PrometheusApi,
  label: string,
  match: string,
  fromMs: number,
  untilMs: number,
  signal: AbortSignal,
): Promise<string[]> {
  const data = await api.data(
    `label/${encodeURIComponent(label)}/values`,
    [['match[]', match], ...spanOf(fromMs, untilMs)],
    signal,
  );
  return strings(data).toSorted((a, b) => (a < b ? -1 : 1));
}

function spanOf(fromMs: number, untilMs: number): [string, string][] {
  return [
    ['start', (fromMs / 1000).toFixed(3)],
    ['end', (untilMs / 1000).toFixed(3)],
  ];
}

function strings(data: unknown): string[] {
  return Array.isArray(data) ? data.filter((each) => typeof each === 'string') : [];
}

/** Nobody kept GPU metrics in a Prometheus before this. */
const FIRST_MS = Date.parse('2018-01-01T00:00:00Z');

/**
 * How far back do these metrics reach? Undefined if there are none.
 *
 * Asks the index by halves: whether anything lies before a moment changes once. A server that knows only blocks gives a moment
 * that is too early, never one too late; the empty hours until the first sample cost a small question each.
 */
export async function earliestMs(
  api: PrometheusApi,
  names: readonly string[],
  matchers: string | undefined,
  nowMs: number,
  signal: AbortSignal,
): Promise<number | undefined> {
  const isAnyBefore = async (atMs: number) =>
    (await namesBetween(api, names, matchers, FIRST_MS - 1000, atMs, signal)).size > 0;
  if (!(await isAnyBefore(nowMs))) return undefined;
  let [without, withAny] = [FIRST_MS, nowMs];
  while (withAny - without > 3_600_000) {
    const middle = Math.floor((without + withAny) / 2);
    if (await isAnyBefore(middle)) withAny = middle;
    else without = middle;
  }
  return without;
}

/** What people write as an interval; counting the samples of ten minutes comes within a tenth of it. */
const USUAL_DISTANCES_S = [1, 2, 5, 10, 15, 20, 30, 60, 120, 300];

/** How far apart the samples of a metric are, in seconds, about; undefined if it has none just before the moment. */
export async function scrapeDistanceS(
  api: PrometheusApi,
  metric: string,
  matchers: string | undefined,
  atMs: number,
  signal: AbortSignal,
): Promise<number | undefined> {
  const [one] = await api.vector(`quantile(0.9, count_over_time(${selector(metric, matchers)}[10m]))`, atMs, signal);
  if (one === undefined || !(one.value >= 1)) return undefined;
  const about = 600 / one.value;
  return USUAL_DISTANCES_S.find((usual) => Math.abs(about - usual) <= usual / 10) ?? Math.max(1, Math.round(about));
}
