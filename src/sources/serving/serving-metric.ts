import type { HOW_UNITS, SERVING_UNITS } from '../../facts/work.ts';

/** Model servers whose counters are read, those that count tokens first: where two speak of one process the first is believed. */
const FAMILIES = ['vllm', 'sglang', 'tgi', 'triton'] as const;
export type ServingFamily = (typeof FAMILIES)[number];

/** What a counter of a model server counts. */
export interface ServingMetric {
  readonly family: ServingFamily;
  readonly unit: (typeof SERVING_UNITS)[number] | (typeof HOW_UNITS)[number];
  /** Values × this are whole: seconds are counted in thousandths. */
  readonly factor: number;
}

/** Decimals of what is counted in thousandths. */
const SECOND_DIGITS = 3;
const OF_SECONDS = 10 ** SECOND_DIGITS;
const OF_MICROSECONDS = OF_SECONDS / 1_000_000;

const VLLM = ['vllm:', 'vllm_', 'ray_vllm:', 'ray_vllm_'];
const SGLANG = ['sglang:', 'sglang_'];

/** Names without prefix and without the `_total` that OpenMetrics adds to what is no sum of a histogram. */
const COUNTERS: readonly (readonly [
  family: ServingFamily,
  prefixes: readonly string[],
  name: string,
  unit: ServingMetric['unit'],
  factor?: number,
])[] = [
  ['vllm', VLLM, 'prompt_tokens', 'prompt_token'],
  ['vllm', VLLM, 'generation_tokens', 'generation_token'],
  ['vllm', VLLM, 'request_success', 'request'],
  ['vllm', VLLM, 'e2e_request_latency_seconds_sum', 'request_second', OF_SECONDS],
  ['vllm', VLLM, 'request_queue_time_seconds_sum', 'queue_second', OF_SECONDS],
  ['vllm', VLLM, 'time_to_first_token_seconds_sum', 'first_token_second', OF_SECONDS],
  ['vllm', VLLM, 'prefix_cache_queries', 'prefix_query_token'],
  ['vllm', VLLM, 'prefix_cache_hits', 'prefix_hit_token'],
  // What the same counters were called until 0.9.
  ['vllm', VLLM, 'gpu_prefix_cache_queries', 'prefix_query_token'],
  ['vllm', VLLM, 'gpu_prefix_cache_hits', 'prefix_hit_token'],
  ['vllm', VLLM, 'num_preemptions', 'preemption'],
  ['sglang', SGLANG, 'prompt_tokens', 'prompt_token'],
  ['sglang', SGLANG, 'generation_tokens', 'generation_token'],
  ['sglang', SGLANG, 'num_requests', 'request'],
  ['sglang', SGLANG, 'e2e_request_latency_seconds_sum', 'request_second', OF_SECONDS],
  ['sglang', SGLANG, 'queue_time_seconds_sum', 'queue_second', OF_SECONDS],
  ['sglang', SGLANG, 'time_to_first_token_seconds_sum', 'first_token_second', OF_SECONDS],
  ['sglang', SGLANG, 'cached_tokens', 'prefix_hit_token'],
  ['tgi', ['tgi_'], 'request_input_length_sum', 'prompt_token'],
  ['tgi', ['tgi_'], 'request_generated_tokens_sum', 'generation_token'],
  ['tgi', ['tgi_'], 'request_success', 'request'],
  ['tgi', ['tgi_'], 'request_duration_sum', 'request_second', OF_SECONDS],
  ['tgi', ['tgi_'], 'request_queue_duration_sum', 'queue_second', OF_SECONDS],
  ['triton', ['nv_'], 'inference_request_success', 'request'],
  ['triton', ['nv_'], 'inference_count', 'inference'],
  ['triton', ['nv_'], 'inference_exec_count', 'execution'],
  ['triton', ['nv_'], 'inference_request_duration_us', 'request_second', OF_MICROSECONDS],
  ['triton', ['nv_'], 'inference_queue_duration_us', 'queue_second', OF_MICROSECONDS],
];

const BY_NAME: ReadonlyMap<string, ServingMetric> = new Map(
  COUNTERS.flatMap(([family, prefixes, name, unit, factor = 1]) =>
    prefixes.flatMap((prefix) =>
      (name.endsWith('_sum') ? [''] : ['', '_total']).map(
        (suffix) => [`${prefix}${name}${suffix}`, { family, unit, factor }] as const,
      ),
    ),
  ),
);

/** What a counter grew by, as the facts write quantities. */
export function grownText({ factor }: ServingMetric, grown: number): string {
  return factor === 1 ? String(grown) : (grown / OF_SECONDS).toFixed(SECOND_DIGITS);
}

/** Every name a counter that we read may have. */
export const SERVING_METRICS: readonly string[] = [...BY_NAME.keys()];

/** What this metric counts; undefined for anything that is no counter of work. */
export function servingMetricOf(name: string): ServingMetric | undefined {
  return BY_NAME.get(name);
}

/** Which of two families is believed where both count the same thing of one process: the lower. */
export function familyRank(family: ServingFamily): number {
  return FAMILIES.indexOf(family);
}

/** One counter of one process, as its labels tell. */
export interface ServingSeries extends ServingMetric {
  /** The same for the same counter, whoever scraped it and under whichever of its names. */
  readonly key: string;
  /** The process: its pod, else its address. */
  readonly place: string;
  readonly workId: string;
  readonly modelName?: string;
  readonly cluster?: string;
  readonly namespace?: string;
  readonly pod?: string;
  /** Where there is no pod. */
  readonly nodeId?: string;
}

/**
 * Labels by which a process tells its own counters apart. Others (job, service, prometheus_replica, …) are of whoever scrapes it: two scrapes
 * of one process differ in them, and must not be added up.
 */
const OWN_LABELS = [
  'engine',
  'finished_reason',
  'version',
  'gpu_uuid',
  'engine_type',
  'dp_rank',
  'tp_rank',
  'pp_rank',
  'lora_name',
  'WorkerId',
  'ReplicaId',
  'deployment',
  'application',
];

/** Labels of its own that newer servers have, in the key only where they are there: counters keep the keys they had. */
const NEWER_LABELS = ['is_streaming', 'cache_source'];

type Labels = Readonly<Record<string, string>>;

const first = (labels: Labels, names: readonly string[]): string | undefined =>
  names.map((name) => labels[name]).find((value) => value !== undefined && value !== '');

/** Which counter is this series? Undefined if it counts no work, or names no process. */
export function servingSeries(
  name: string,
  labels: Labels,
  target: { readonly instance?: string; readonly nodeId?: string } = {},
): ServingSeries | undefined {
  const metric = servingMetricOf(name);
  if (metric === undefined) return undefined;
  const namespace = first(labels, ['namespace', 'kubernetes_namespace']);
  const pod = first(labels, ['pod', 'kubernetes_pod_name', 'pod_name']);
  const instance = target.instance ?? first(labels, ['instance', 'NodeAddress']) ?? '';
  const place = pod === undefined ? instance : `${namespace ?? ''}/${pod}`;
  if (place === '') return undefined;
  const modelName = first(labels, ['model_name', 'model', 'model_id']);
  const cluster = first(labels, ['cluster']);
  const nodeId = target.nodeId ?? first(labels, ['node']) ?? instance.replace(/:\d+$/, '');
  const workId = [place, ...(pod === undefined ? [] : [instance]), modelName ?? '']
    .filter((part) => part !== '')
    .join(' ');
  return {
    ...metric,
    key: JSON.stringify([
      metric.family,
      metric.unit,
      workId,
      ...OWN_LABELS.map((label) => labels[label] ?? ''),
      ...NEWER_LABELS.flatMap((label) => (labels[label] === undefined ? [] : [`${label}=${labels[label]}`])),
    ]),
    place,
    workId,
    ...(modelName !== undefined && { modelName }),
    ...(cluster !== undefined && { cluster }),
    ...(namespace !== undefined && { namespace }),
    ...(pod === undefined ? nodeId !== '' && { nodeId } : { pod }),
  };
}
