import type { Advice } from '../../facts/source.ts';
import type { Discovery } from './discover.ts';

/** A DCGM field, what it would sharpen, and its line in the counter list of dcgm-exporter. */
const FIELDS: readonly (readonly [field: string, column: string, sharpens: string, help: string])[] = [
  [
    'DCGM_FI_PROF_GR_ENGINE_ACTIVE',
    'engine_permille',
    'tells idle from working: a kernel that only waits counts as full utilisation',
    'share of time the graphics engine is active',
  ],
  [
    'DCGM_FI_PROF_SM_ACTIVE',
    'sm_permille',
    'tells a GPU that is starved of input from one that computes',
    'share of time the multiprocessors have work',
  ],
  [
    'DCGM_FI_PROF_PIPE_TENSOR_ACTIVE',
    'tensor_permille',
    'shows work that leaves the tensor cores unused',
    'share of time the tensor pipe is active',
  ],
  [
    'DCGM_FI_PROF_DRAM_ACTIVE',
    'dram_permille',
    'shows work that is bound by memory, which a cheaper GPU may serve as well',
    'share of time device memory is read or written',
  ],
  ['DCGM_FI_DEV_GPU_UTIL', 'util_permille', 'doubts an idle reading while a profiler runs', 'utilisation in percent'],
  [
    'DCGM_FI_DEV_FB_USED',
    'fb_used_mib',
    'shows a job that would fit on a smaller GPU or a slice',
    'memory used in MiB',
  ],
  ['DCGM_FI_DEV_POWER_USAGE', 'power_w', 'doubts an idle reading of a GPU that draws power', 'power in watts'],
  [
    'DCGM_FI_PROF_PCIE_TX_BYTES',
    'pcie_mb_s',
    'shows data loading that holds a GPU up',
    'bytes a second sent over PCIe',
  ],
  [
    'DCGM_FI_PROF_PCIE_RX_BYTES',
    'pcie_mb_s',
    'shows data loading that holds a GPU up',
    'bytes a second received over PCIe',
  ],
  [
    'DCGM_FI_DEV_XID_ERRORS',
    'xid',
    'tells work that failed with its GPU from work that failed by itself',
    'last XID error',
  ],
  [
    'DCGM_FI_DEV_CLOCK_THROTTLE_REASONS',
    'throttle',
    'shows GPUs that are slowed by heat or power',
    'why clocks are held back',
  ],
];
/** Newer releases of DCGM call it otherwise. */
const SAME_AS: Readonly<Record<string, string>> = {
  DCGM_FI_DEV_CLOCK_THROTTLE_REASONS: 'DCGM_FI_DEV_CLOCKS_EVENT_REASONS',
};

/** What does this server lack that would sharpen answers, and what exactly is to be done? */
export function adviceFor(discovery: Discovery): Advice[] {
  return [...fieldAdvice(discovery), ...kubeAdvice(discovery)];
}

function fieldAdvice({ metrics }: Discovery): Advice[] {
  const names = new Set(metrics.map(({ metric }) => metric));
  if (!metrics.some(({ exporter }) => exporter === 'dcgm')) return [];
  return FIELDS.filter(([field]) => !names.has(field) && !names.has(SAME_AS[field] ?? '')).map(
    ([field, , sharpens, help]) => ({
      missing: `${field} is not exported`,
      sharpens,
      todo: `add to the counter list of dcgm-exporter: ${field}, gauge, ${help}`,
    }),
  );
}

function kubeAdvice({ kube, namesPods, metrics }: Discovery): Advice[] {
  const advice: Advice[] = [];
  const isKubernetes = kube.size > 0 || namesPods;
  if (!isKubernetes) return advice;
  if (!kube.has('kube_pod_container_resource_requests')) {
    advice.push({
      missing: 'kube-state-metrics is not scraped',
      sharpens: 'tells whose a pod is, what it asked for and who waits; without it only the labels of GPUs name pods',
      todo: 'helm install kube-state-metrics prometheus-community/kube-state-metrics',
    });
    return advice;
  }
  if (!kube.has('kube_pod_labels')) {
    advice.push({
      missing: 'kube_pod_labels is not exported',
      sharpens: 'gives a pod to its team by its labels',
      todo: 'start kube-state-metrics with --metric-labels-allowlist=pods=[*]',
    });
  }
  if (!kube.has('kube_node_labels')) {
    advice.push({
      missing: 'kube_node_labels is not exported',
      sharpens: 'prices machines by type, zone, and spot or on demand',
      todo: 'start kube-state-metrics with --metric-labels-allowlist=nodes=[*]',
    });
  }
  if (metrics.length > 0 && !namesPods) {
    advice.push({
      missing: 'GPU metrics do not name pods',
      sharpens: 'tells which GPU of a machine a pod has',
      todo: 'set DCGM_EXPORTER_KUBERNETES=true for dcgm-exporter and give it the socket of the kubelet’s pod resources',
    });
  }
  return advice;
}
