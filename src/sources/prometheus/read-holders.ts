import type { FactRows } from '../../facts/source.ts';
import { withSilence, type KubeWindow } from './kube-state/kube-reading.ts';
import { labelHoldings } from './kube-state/label-holdings.ts';
import { NO_NODES, readKubeNodes, type KubeNodes, type NodeRow } from './kube-state/node-rows.ts';
import { podRows } from './kube-state/pod-rows.ts';
import { readGpuPods } from './kube-state/read-pods.ts';
import { dayName, type PullContext } from './pull-context.ts';

/** The day of kube-state-metrics, or what has passed of it. */
export async function dayWindow(context: PullContext, fromMs: number, untilMs: number): Promise<KubeWindow> {
  return withSilence(context.api, {
    fromMs,
    untilMs,
    stepS: context.kubeStepS,
    has: context.discovery.kube,
    matchers: context.matchers,
    signal: context.request.signal,
  });
}

/** Who held GPUs on this day: pods by kube-state-metrics, or where it is missing by the labels of the GPUs' own metrics. */
export async function readHolders(
  context: PullContext,
  window: KubeWindow,
  {
    pollS,
    replicas,
    prefix = '',
  }: { readonly pollS: number; readonly replicas: KubeNodes['replicas']; readonly prefix?: string },
): Promise<FactRows[]> {
  const { discovery, options, api, nowMs } = context;
  const batch = `${prefix}pods/${dayName(window.fromMs)}`;
  if (discovery.kube.has('kube_pod_container_resource_requests')) {
    const pods = await readGpuPods(api, window);
    const { allocations, hints, waiting } = podRows(pods, window, { cluster: options.cluster, pollS, replicas });
    // Who waited when kube-state-metrics fell silent may have begun since.
    const isToday = window.untilMs === nowMs && window.silentSinceS === undefined;
    return [
      { table: 'allocation', batch, mode: 'replace', rows: allocations, hints },
      ...(isToday ? [{ table: 'waiting', batch: `${prefix}waiting`, mode: 'replace', rows: waiting } as const] : []),
    ];
  }
  const [metric] = discovery.metrics;
  if (metric === undefined || !discovery.namesPods || options.podLabels === false) return [];
  const rows = await labelHoldings(
    api,
    metric.metric,
    { ...window, stepS: context.stepS, matchers: context.gpuMatchers },
    { cluster: options.cluster, pollS, habits: habitsOf(context), deviceLabel: discovery.deviceLabel ?? 'instance' },
  );
  return [{ table: 'allocation', batch, mode: 'replace', rows }];
}

/** The machines kube-state-metrics lists on this day. */
export async function readNodes(
  context: PullContext,
  window: KubeWindow,
  gpuNodes: ReadonlySet<string>,
): Promise<KubeNodes> {
  if (!context.discovery.kube.has('kube_node_info')) return NO_NODES;
  return readKubeNodes(context.api, window, { cluster: context.options.cluster, gpuNodes });
}

/** The machines with their true count of GPUs where slices were seen; not where only a part of the GPUs was read. */
export function countedNodes(
  { gpus }: PullContext,
  rows: readonly NodeRow[],
  gpusBesideSlices: ReadonlyMap<string, number>,
): NodeRow[] {
  if (gpus !== undefined) return [...rows];
  return rows.map((row) => {
    const count = gpusBesideSlices.get(row.node_id);
    return count === undefined ? row : { ...row, gpu_count: count };
  });
}

/** Machines that have GPUs and that Kubernetes does not list are somebody else's: no pod says that they are free. */
export function unlistedCluster({ discovery, options }: PullContext): string | undefined {
  const isListed = discovery.kube.has('kube_node_info');
  return isListed && options.cluster !== undefined ? `${options.cluster}, not in Kubernetes` : options.cluster;
}

export function habitsOf({ options, discovery }: PullContext) {
  return {
    podTargets: discovery.podTargets,
    ...(options.nodeLabel !== undefined && { nodeLabel: options.nodeLabel }),
  };
}
