import type { FactRow } from '../../../facts/source.ts';
import type { PrometheusApi } from '../api/prometheus-api.ts';
import type { MachineRow } from '../samples/machines.ts';
import { isThereAtEnd, KubeLabels, lastSaid, said, sightings, type KubeWindow, type Labels } from './kube-reading.ts';
import { podLabels } from './read-pods.ts';

const PROVIDERS: Readonly<Record<string, string>> = { aws: 'aws', gce: 'gcp', azure: 'azure' };
const SPOT = [
  ['karpenter_sh_capacity_type', 'spot'],
  ['eks_amazonaws_com_capacityType', 'SPOT'],
  ['eks_amazonaws_com_capacity_type', 'SPOT'],
  ['cloud_google_com_gke_spot', 'true'],
  ['cloud_google_com_gke_preemptible', 'true'],
  ['kubernetes_azure_com_scalesetpriority', 'spot'],
] as const;
const ON_DEMAND = new Set(['on-demand', 'ON_DEMAND', 'regular', 'false']);

/** A row of the table `node`, with what the reading of samples needs of it. */
export type NodeRow = FactRow & {
  readonly node_id: string;
  readonly present_from: Date;
  readonly present_until: Date | undefined;
};

export interface KubeNodes {
  readonly rows: readonly NodeRow[];
  /** How often each GPU of a machine is handed out, where that is more than once. */
  readonly replicas: ReadonlyMap<string, number>;
  /** Machines that offer slices: what they count is not GPUs. */
  readonly sliced: ReadonlySet<string>;
  /** The first that was heard of any machine in the window. */
  readonly heardS?: number;
}

export const NO_NODES: KubeNodes = { rows: [], replicas: new Map(), sliced: new Set() };

/** Which machines with GPUs does kube-state-metrics list in the window, and what is known of them? */
export async function readKubeNodes(
  api: PrometheusApi,
  window: KubeWindow,
  options: { readonly cluster: string | undefined; readonly gpuNodes: ReadonlySet<string> },
): Promise<KubeNodes> {
  const seen = await sightings(api, 'kube_node_info', window, ['exported_node', 'node']);
  if (seen.length === 0) return NO_NODES;
  const read = new KubeLabels(seen);
  const nodeOf = (labels: Labels) => read.get(labels, 'node') ?? '';
  const resources = 'resource=~"nvidia_com_.*|amd_com_gpu.*|cpu|memory"';
  const capacity = new Map<string, Map<string, number>>();
  const capacityQuery = lastSaid('kube_node_status_capacity', window, resources);
  for (const { labels, value } of await said(api, 'kube_node_status_capacity', capacityQuery, window)) {
    const own = capacity.get(nodeOf(labels)) ?? new Map<string, number>();
    capacity.set(nodeOf(labels), own.set(labels['resource'] ?? '', value));
  }
  const created = new Map<string, number>();
  for (const { labels, value } of await said(api, 'kube_node_created', lastSaid('kube_node_created', window), window)) {
    created.set(nodeOf(labels), value);
  }
  const labelled = new Map<string, Record<string, string>>();
  for (const { labels } of await said(api, 'kube_node_labels', lastSaid('kube_node_labels', window), window)) {
    labelled.set(nodeOf(labels), podLabels(labels));
  }
  const latest = new Map<string, (typeof seen)[number]>();
  for (const each of seen.toSorted((a, b) => a.lastS - b.lastS)) latest.set(nodeOf(each.labels), each);
  const replicas = new Map<string, number>();
  const rows = [...latest].flatMap(([nodeId, each]) => {
    const own = capacity.get(nodeId) ?? new Map<string, number>();
    const tags = labelled.get(nodeId) ?? {};
    const gpuCount = gpusOf(own, tags);
    const times = replicasOf(own, tags);
    if (times > 1) replicas.set(nodeId, times);
    const presence = presenceOf(each, created.get(nodeId), window);
    // It left in a silence that began on the day before, whose row has ended by itself.
    if (presence.present_until !== undefined && presence.present_until <= presence.present_from) return [];
    if (nodeId === '' || ((gpuCount ?? 0) === 0 && !offersSlices(own) && !options.gpuNodes.has(nodeId))) return [];
    return [
      {
        node_id: nodeId,
        ...presence,
        ...machineOf(read.get(each.labels, 'provider_id'), tags),
        cluster: options.cluster,
        gpu_count: gpuCount,
        vcpu: wholeOf(own.get('cpu')),
        memory_bytes: wholeOf(own.get('memory')),
        presence: 'inventory',
        tags,
        observed_at: new Date(window.untilMs),
      },
    ];
  });
  const sliced = new Set([...capacity].filter(([, own]) => offersSlices(own)).map(([nodeId]) => nodeId));
  return { rows, replicas, sliced, heardS: Math.min(...seen.map(({ firstS }) => firstS)) };
}

function replicasOf(capacity: ReadonlyMap<string, number>, tags: Labels): number {
  const labelled = Number(tags['nvidia_com_gpu_replicas']);
  const isShared =
    /^(time-slicing|mps)$/.test(tags['nvidia_com_gpu_sharing_strategy'] ?? '') ||
    tags['nvidia_com_gpu_product']?.endsWith('-SHARED') === true;
  if (isShared && labelled > 1) return labelled;
  const offered = capacity.get('nvidia_com_gpu_shared') ?? 0;
  return Math.round(offered / (gpusOf(capacity, tags) ?? Infinity));
}

/** A node whose creation is not told is cut at the ends of the day, so that each day's row begins where the last one ended. */
function presenceOf(
  { firstS, lastS }: { readonly firstS: number; readonly lastS: number },
  createdS: number | undefined,
  window: KubeWindow,
): Pick<NodeRow, 'present_from' | 'present_until'> {
  const windowFromS = window.fromMs / 1000;
  const seenS = firstS - windowFromS <= 2 * window.stepS ? windowFromS : firstS;
  const isThere = isThereAtEnd(lastS, window);
  const isDayOver = window.untilMs % 86_400_000 === 0;
  const untilS = !isThere
    ? lastS + window.stepS
    : createdS === undefined && isDayOver
      ? window.untilMs / 1000
      : undefined;
  return {
    present_from: new Date(Math.round(createdS ?? seenS) * 1000),
    present_until: untilS === undefined ? undefined : new Date(Math.round(untilS) * 1000),
  };
}

/** The machines as they stand, with the count of GPUs that no reading of theirs may exceed. */
export function machineRows(rows: readonly NodeRow[], sliced: ReadonlySet<string>): readonly MachineRow[] {
  return rows.map((row) => ({
    ...row,
    gpus: typeof row['gpu_count'] === 'number' && !sliced.has(row.node_id) ? row['gpu_count'] : undefined,
  }));
}

/** What a device plugin offers of a shared GPU is more than is in the machine; the label has the true count. */
function gpusOf(capacity: ReadonlyMap<string, number>, tags: Labels): number | undefined {
  const labelled = Number(tags['nvidia_com_gpu_count']);
  if (Number.isInteger(labelled) && labelled > 0) return labelled;
  const whole = (capacity.get('nvidia_com_gpu') ?? 0) + (capacity.get('amd_com_gpu') ?? 0);
  return whole > 0 ? Math.round(whole) : undefined;
}

function offersSlices(capacity: ReadonlyMap<string, number>): boolean {
  return [...capacity].some(([resource, count]) => resource.startsWith('nvidia_com_mig') && count > 0);
}

function machineOf(providerId: string | undefined, tags: Labels): FactRow {
  const [, scheme = '', path = ''] = /^([a-z]+):\/\/(.*)$/.exec(providerId ?? '') ?? [];
  const spot = SPOT.find(([label, value]) => tags[label]?.toLowerCase() === value.toLowerCase());
  const isOnDemand = SPOT.some(([label]) => ON_DEMAND.has(tags[label] ?? ''));
  return {
    resource_id: path.split('/').findLast((segment) => segment !== ''),
    provider: PROVIDERS[scheme],
    region: tags['topology_kubernetes_io_region'],
    zone: tags['topology_kubernetes_io_zone'],
    instance_type: tags['node_kubernetes_io_instance_type'] ?? tags['beta_kubernetes_io_instance_type'],
    purchase: spot !== undefined ? 'spot' : isOnDemand ? 'on-demand' : undefined,
    model: tags['nvidia_com_gpu_product']?.replace(/-SHARED$/, ''),
  };
}

function wholeOf(value: number | undefined): number | undefined {
  return value === undefined ? undefined : Math.round(value);
}
