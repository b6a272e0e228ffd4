import type { Node } from '../../src/demo/organisation.ts';
import type { Seconds } from '../../src/demo/timeline.ts';
import { addressOf, type Play } from './play.ts';
import type { Pod } from './pod.ts';
import { labelText, steady, type Series } from './series.ts';

const PHASES = ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'] as const;
/** A pod that is told to go has so long to do so. */
const GRACE_S = 30;
const MEMORY_PER_CPU_BYTES = 8 * 1024 ** 3;

/** Question: what does kube-state-metrics say of the machines and pods of the clusters Kubernetes runs? */
export function kubeStateSeries({ nodes, pods, world }: Play, target: Readonly<Record<string, string>>): Series[] {
  const kubeNodes = nodes.filter(({ pool }) => pool.scheduler === 'kubernetes');
  return [
    ...kubeNodes.flatMap((node) => nodeSeries(node, world.gpus[node.pool.gpu]?.model ?? '', target)),
    ...pods.flatMap((pod) => podSeries(pod, target)),
    ...replicaSetSeries(pods, target),
  ];
}

/** What Prometheus adds when it scrapes kube-state-metrics with honor_labels, as its chart is set up to. */
export const KUBE_STATE_TARGET = { instance: '10.0.0.9:8080', job: 'kube-state-metrics' };

function nodeSeries(node: Node, model: string, target: Readonly<Record<string, string>>): Series[] {
  const { pool, presentFrom, presentUntil, states } = node;
  const all = (metric: string, labels: Readonly<Record<string, string>>, value = 1): Series =>
    steady(metric, labelText({ ...target, node: node.id, ...labels }), presentFrom, presentUntil, value);
  const capacity = (resource: string, unit: string, value: number): Series =>
    all('kube_node_status_capacity', { resource, unit }, value);
  const vcpu = pool.gpus_per_node * pool.cpus_per_gpu;
  const profiles = pool.sharing === 'mig' ? (pool.mig_profiles ?? []) : [];
  const slices = new Map(profiles.map((profile) => [profile, profiles.filter((each) => each === profile).length]));
  return [
    all('kube_node_info', {
      kubelet_version: 'v1.34.4',
      internal_ip: addressOf(node.id),
      provider_id: node.resourceId === '' ? '' : `aws:///${pool.region}a/${node.resourceId}`,
    }),
    all('kube_node_created', {}, presentFrom),
    all('kube_node_labels', nodeLabels(node, model)),
    capacity('cpu', 'core', vcpu),
    capacity('memory', 'byte', vcpu * MEMORY_PER_CPU_BYTES),
    ...(slices.size === 0 ? [capacity(gpuResource(pool.sharing), 'integer', gpusToGive(node))] : []),
    ...[...slices].map(([profile, count]) => capacity(migResource(profile), 'integer', count * pool.gpus_per_node)),
    ...states.flatMap(({ from, until, state }) => stateSeries(node, target, from, until, state)),
  ];
}

function stateSeries(
  node: Node,
  target: Readonly<Record<string, string>>,
  from: Seconds,
  until: Seconds,
  state: Node['states'][number]['state'],
): Series[] {
  const ready = (status: string, value: number): Series =>
    steady(
      'kube_node_status_condition',
      labelText({ ...target, node: node.id, condition: 'Ready', status }),
      from,
      until,
      value,
    );
  const isReady = state !== 'down';
  return [
    ready('true', isReady ? 1 : 0),
    ready('false', 0),
    ready('unknown', isReady ? 0 : 1),
    steady(
      'kube_node_spec_unschedulable',
      labelText({ ...target, node: node.id }),
      from,
      until,
      state === 'drained' ? 1 : 0,
    ),
  ];
}

function gpusToGive({ pool }: Node): number {
  return pool.gpus_per_node * (pool.sharing === 'time-slice' ? (pool.time_slices ?? 1) : 1);
}

function gpuResource(sharing: Node['pool']['sharing']): string {
  return sharing === 'time-slice' ? 'nvidia_com_gpu_shared' : 'nvidia_com_gpu';
}

function migResource(profile: string): string {
  return `nvidia_com_mig_${profile.replaceAll('.', '_')}`;
}

function nodeLabels({ pool }: Node, model: string): Readonly<Record<string, string>> {
  const spot = pool.purchase === 'spot';
  return {
    label_node_kubernetes_io_instance_type: pool.instance_type,
    label_topology_kubernetes_io_region: pool.region,
    label_topology_kubernetes_io_zone: `${pool.region}a`,
    ...(pool.purchase !== 'owned' && { label_karpenter_sh_capacity_type: spot ? 'spot' : 'on-demand' }),
    label_nvidia_com_gpu_product: model.replaceAll(' ', '-'),
    label_nvidia_com_gpu_count: String(pool.gpus_per_node),
  };
}

function podSeries(pod: Pod, target: Readonly<Record<string, string>>): Series[] {
  const { from, until, createdAt, goneAt, node, owner } = pod;
  const id = { ...target, namespace: pod.namespace, pod: pod.name, uid: pod.uid };
  const own = (metric: string, more: Readonly<Record<string, string>>, since = createdAt, value = 1): Series =>
    steady(metric, labelText({ ...id, ...more }), since, goneAt, value);
  const info = (nodeId: string): Readonly<Record<string, string>> => ({
    created_by_kind: owner.kind,
    created_by_name: owner.name,
    node: nodeId,
    pod_ip: nodeId === '' ? '' : addressOf(pod.uid),
  });
  return [
    // Until it has a machine there is another series, without one.
    ...(createdAt < from ? [steady('kube_pod_info', labelText({ ...id, ...info('') }), createdAt, from)] : []),
    own('kube_pod_info', info(node.id), from),
    own('kube_pod_owner', { owner_kind: owner.kind, owner_name: owner.name, owner_is_controller: 'true' }),
    own('kube_pod_labels', labelNames(pod.labels)),
    own('kube_pod_created', {}, createdAt, createdAt),
    ...requestSeries(pod, id),
    ...phaseSeries(pod, id),
    own('kube_pod_status_scheduled_time', {}, from, from),
    own('kube_pod_start_time', {}, from, from),
    ...(pod.end === 'deleted'
      ? [steady('kube_pod_deletion_timestamp', labelText(id), Math.max(from, until - GRACE_S), until, until)]
      : [own('kube_pod_completion_time', {}, until, until)]),
  ];
}

function requestSeries(pod: Pod, id: Readonly<Record<string, string>>): Series[] {
  const { createdAt, from, goneAt, devices, attempt } = pod;
  const request = (resource: string, unit: string, value: number): Series[] => {
    const labels = (node: string): string => labelText({ ...id, container: pod.container, node, resource, unit });
    const metric = 'kube_pod_container_resource_requests';
    const assigned = steady(metric, labels(pod.node.id), from, goneAt, value);
    return createdAt < from ? [steady(metric, labels(''), createdAt, from, value), assigned] : [assigned];
  };
  const cores = attempt.cpusPerGpu * devices.length;
  const profiles = [...new Set(devices.map(({ migProfile }) => migProfile))];
  return [
    ...request('cpu', 'core', cores),
    ...request('memory', 'byte', Math.round(cores * MEMORY_PER_CPU_BYTES)),
    ...profiles.flatMap((profile) =>
      request(
        profile === undefined ? gpuResource(pod.node.pool.sharing) : migResource(profile),
        'integer',
        devices.filter(({ migProfile }) => migProfile === profile).length,
      ),
    ),
  ];
}

/** All phases at all times, one of them 1. */
function phaseSeries({ createdAt, from, until, goneAt, end }: Pod, id: Readonly<Record<string, string>>): Series[] {
  const stretches = [
    { phase: 'Pending', since: createdAt, to: from },
    { phase: 'Running', since: from, to: until },
    { phase: end, since: until, to: goneAt },
  ];
  return stretches
    .filter(({ since, to }) => since < to)
    .flatMap(({ phase, since, to }) =>
      PHASES.map((each) =>
        steady('kube_pod_status_phase', labelText({ ...id, phase: each }), since, to, each === phase ? 1 : 0),
      ),
    );
}

/** A replica set is there as long as one of its pods. */
function replicaSetSeries(pods: readonly Pod[], target: Readonly<Record<string, string>>): Series[] {
  return pods
    .filter(({ owner }) => owner.kind === 'ReplicaSet')
    .map(({ owner, namespace, createdAt, goneAt, attempt }) =>
      steady(
        'kube_replicaset_owner',
        labelText({
          ...target,
          namespace,
          replicaset: owner.name,
          owner_kind: 'Deployment',
          owner_name: attempt.job.name,
          owner_is_controller: 'true',
        }),
        createdAt,
        goneAt,
      ),
    );
}

/** `app.kubernetes.io/name` is written `label_app_kubernetes_io_name`. */
function labelNames(labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(labels).map(([name, value]) => [`label_${name.replaceAll(/[^a-zA-Z0-9_]/g, '_')}`, value]),
  );
}
