import type { Seconds } from '../../src/demo/timeline.ts';

/** One series of an exporter that can be asked at any moment of its life. */
export interface Series {
  readonly metric: string;
  /** `a="1",b="2"`, without the braces. */
  readonly labels: string;
  readonly from: Seconds;
  readonly until: Seconds;
  readonly at: (moment: Seconds) => number;
}

/** A series that says the same as long as it is there, as most of kube-state-metrics do. */
export function steady(metric: string, labels: string, from: Seconds, until: Seconds, value = 1): Series {
  return { metric, labels, from, until, at: () => value };
}

/** Labels as exposition text. An empty value is no label, and is written all the same where the exporter does. */
export function labelText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(',');
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

/** Takes samples one by one: a page for a scraper, or a file of history. */
export interface Sink {
  /** `value` as text, because a blank of 2⁶³ has more digits than a number here keeps. */
  sample(metric: string, labels: string, value: string, moment: Seconds): void;
}

interface Family {
  readonly type: 'gauge' | 'counter';
  readonly help: string;
  /** Its values are times. */
  readonly isTime?: true;
}

/** What the families of the played exporters are, in the words of the exporters. */
export const FAMILIES: Readonly<Record<string, Family>> = {
  DCGM_FI_DEV_GPU_UTIL: { type: 'gauge', help: 'GPU utilization (in %).' },
  DCGM_FI_DEV_FB_USED: { type: 'gauge', help: 'Framebuffer memory used (in MiB).' },
  DCGM_FI_DEV_FB_FREE: { type: 'gauge', help: 'Framebuffer memory free (in MiB).' },
  DCGM_FI_DEV_POWER_USAGE: { type: 'gauge', help: 'Power draw (in W).' },
  DCGM_FI_DEV_XID_ERRORS: { type: 'gauge', help: 'Value of the last XID error encountered.' },
  DCGM_FI_DEV_CLOCK_THROTTLE_REASONS: { type: 'gauge', help: 'Why the clocks are throttled (bit mask).' },
  DCGM_FI_DEV_CLOCKS_EVENT_REASONS: { type: 'gauge', help: 'Why the clocks are throttled (bit mask).' },
  DCGM_FI_PROF_GR_ENGINE_ACTIVE: { type: 'gauge', help: 'Ratio of time the graphics engine is active.' },
  DCGM_FI_PROF_SM_ACTIVE: { type: 'gauge', help: 'Ratio of cycles an SM has a warp assigned.' },
  DCGM_FI_PROF_PIPE_TENSOR_ACTIVE: { type: 'gauge', help: 'Ratio of cycles the tensor pipe is active.' },
  DCGM_FI_PROF_DRAM_ACTIVE: { type: 'gauge', help: 'Ratio of cycles the memory interface is active.' },
  DCGM_FI_PROF_PCIE_TX_BYTES: { type: 'gauge', help: 'Bytes sent over PCIe each second.' },
  DCGM_FI_PROF_PCIE_RX_BYTES: { type: 'gauge', help: 'Bytes received over PCIe each second.' },
  DCGM_FI_PROF_NVLINK_TX_BYTES: { type: 'gauge', help: 'Bytes sent over NVLink each second.' },
  DCGM_FI_PROF_NVLINK_RX_BYTES: { type: 'gauge', help: 'Bytes received over NVLink each second.' },
  kube_node_created: { type: 'gauge', help: 'Unix creation timestamp.', isTime: true },
  kube_node_info: { type: 'gauge', help: 'Information about a node.' },
  kube_node_labels: { type: 'gauge', help: 'Labels of a node.' },
  kube_node_spec_unschedulable: { type: 'gauge', help: 'Whether a node takes new pods.' },
  kube_node_status_capacity: { type: 'gauge', help: 'What a node has.' },
  kube_node_status_condition: { type: 'gauge', help: 'The condition of a node.' },
  kube_pod_completion_time: { type: 'gauge', help: 'When a pod was done, in unix time.', isTime: true },
  kube_pod_container_resource_requests: { type: 'gauge', help: 'What a container asked for.' },
  kube_pod_created: { type: 'gauge', help: 'Unix creation timestamp.', isTime: true },
  kube_pod_deletion_timestamp: { type: 'gauge', help: 'When a pod must be gone, in unix time.', isTime: true },
  kube_pod_info: { type: 'gauge', help: 'Information about a pod.' },
  kube_pod_labels: { type: 'gauge', help: 'Labels of a pod.' },
  kube_pod_owner: { type: 'gauge', help: 'What a pod belongs to.' },
  kube_pod_start_time: { type: 'gauge', help: 'When a pod began, in unix time.', isTime: true },
  kube_pod_status_phase: { type: 'gauge', help: 'The phase of a pod.' },
  kube_pod_status_scheduled_time: { type: 'gauge', help: 'When a pod got its node, in unix time.', isTime: true },
  kube_replicaset_owner: { type: 'gauge', help: 'What a replica set belongs to.' },
  'vllm:generation_tokens_total': { type: 'counter', help: 'Number of generation tokens processed.' },
  'vllm:kv_cache_usage_perc': { type: 'gauge', help: 'KV-cache usage; 1 is full.' },
  'vllm:num_requests_running': { type: 'gauge', help: 'Requests in the model now.' },
  'vllm:num_requests_waiting': { type: 'gauge', help: 'Requests that wait.' },
  'vllm:prompt_tokens_total': { type: 'counter', help: 'Number of prefill tokens processed.' },
  'vllm:request_success_total': { type: 'counter', help: 'Requests that were answered.' },
};

/** The lines before the samples of a family. OpenMetrics calls a counter by its name without `_total`. */
export function familyHeader(metric: string, format: 'text' | 'openmetrics'): string {
  const { type, help } = FAMILIES[metric] ?? { type: 'gauge', help: metric };
  const name = format === 'openmetrics' && type === 'counter' ? metric.replace(/_total$/, '') : metric;
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
}
