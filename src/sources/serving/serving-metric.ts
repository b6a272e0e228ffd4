/** Model servers whose counters are read, those that count tokens first: where two speak of one process the first is believed. */
const FAMILIES = ['vllm', 'sglang', 'tgi', 'triton'] as const;
export type ServingFamily = (typeof FAMILIES)[number];

/** What a counter of a model server counts. */
export interface ServingMetric {
  readonly family: ServingFamily;
  readonly unit: 'prompt_token' | 'generation_token' | 'request' | 'inference';
}

/** Names without prefix and without the `_total` that OpenMetrics adds. Executions are batches, not outcomes, and are not read. */
const COUNTERS: readonly (readonly [prefixes: readonly string[], name: string, ServingMetric])[] = [
  [['vllm:', 'vllm_', 'ray_vllm:', 'ray_vllm_'], 'prompt_tokens', { family: 'vllm', unit: 'prompt_token' }],
  [['vllm:', 'vllm_', 'ray_vllm:', 'ray_vllm_'], 'generation_tokens', { family: 'vllm', unit: 'generation_token' }],
  [['vllm:', 'vllm_', 'ray_vllm:', 'ray_vllm_'], 'request_success', { family: 'vllm', unit: 'request' }],
  [['sglang:', 'sglang_'], 'prompt_tokens', { family: 'sglang', unit: 'prompt_token' }],
  [['sglang:', 'sglang_'], 'generation_tokens', { family: 'sglang', unit: 'generation_token' }],
  [['sglang:', 'sglang_'], 'num_requests', { family: 'sglang', unit: 'request' }],
  [['tgi_'], 'request_input_length_sum', { family: 'tgi', unit: 'prompt_token' }],
  [['tgi_'], 'request_generated_tokens_sum', { family: 'tgi', unit: 'generation_token' }],
  [['tgi_'], 'request_success', { family: 'tgi', unit: 'request' }],
  [['nv_'], 'inference_request_success', { family: 'triton', unit: 'request' }],
  [['nv_'], 'inference_count', { family: 'triton', unit: 'inference' }],
];

const BY_NAME: ReadonlyMap<string, ServingMetric> = new Map(
  COUNTERS.flatMap(([prefixes, name, metric]) =>
    prefixes.flatMap((prefix) => ['', '_total'].map((suffix) => [`${prefix}${name}${suffix}`, metric] as const)),
  ),
);

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
    key: JSON.stringify([metric.family, metric.unit, workId, ...OWN_LABELS.map((label) => labels[label] ?? '')]),
    place,
    workId,
    ...(modelName !== undefined && { modelName }),
    ...(cluster !== undefined && { cluster }),
    ...(namespace !== undefined && { namespace }),
    ...(pod === undefined ? nodeId !== '' && { nodeId } : { pod }),
  };
}
