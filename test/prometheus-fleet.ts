import { samplesEvery, type PastSeries } from './prometheus-history.ts';

/**
 * Two machines on a night in November as dcgm-exporter and kube-state-metrics show them to a Prometheus whose targets have labels of
 * their own, with one of each trap: a shared GPU, a slice, blanks, a GPU that changes machines, an exporter that dies, an hour in which
 * the Prometheus itself was down.
 */
export const at = (time: string): number => Date.parse(`2026-11-${time}Z`) / 1000;
export const BEGIN_S = at('14T22:00:00');
export const END_S = at('15T02:20:00');
export const SILENT_FROM_S = at('15T01:05:00');
export const SILENT_UNTIL_S = at('15T01:25:00');
const STEP_S = 30;

export const GPU = {
  held: 'GPU-aaaaaaaa-0000-4000-8000-000000000000',
  shared: 'GPU-aaaaaaaa-0000-4000-8000-000000000001',
  quiet: 'GPU-bbbbbbbb-0000-4000-8000-000000000000',
  cut: 'GPU-bbbbbbbb-0000-4000-8000-000000000001',
  moved: 'GPU-cccccccc-0000-4000-8000-000000000000',
} as const;

interface Shown {
  readonly uuid: string;
  readonly node: string;
  readonly gpu: number;
  readonly pod?: string;
  readonly slice?: readonly [instance: string, profile: string];
  readonly spans: readonly (readonly [fromS: number, untilS: number])[];
}

const SHOWN: readonly Shown[] = [
  { uuid: GPU.held, node: 'gpu-a', gpu: 0, pod: 'train-0', spans: [[BEGIN_S + 300, at('15T00:30:00')]] },
  {
    uuid: GPU.held,
    node: 'gpu-a',
    gpu: 0,
    spans: [
      [BEGIN_S, BEGIN_S + 300],
      [at('15T00:30:00'), END_S],
    ],
  },
  { uuid: GPU.shared, node: 'gpu-a', gpu: 1, pod: 'notebook-1', spans: [[BEGIN_S, END_S]] },
  { uuid: GPU.shared, node: 'gpu-a', gpu: 1, pod: 'notebook-2', spans: [[BEGIN_S, END_S]] },
  {
    uuid: GPU.quiet,
    node: 'gpu-b',
    gpu: 0,
    spans: [
      [BEGIN_S, at('14T23:10:00')],
      [at('14T23:50:00'), END_S],
    ],
  },
  { uuid: GPU.cut, node: 'gpu-b', gpu: 1, pod: 'slice-0', slice: ['3', '1g.10gb'], spans: [[BEGIN_S, END_S]] },
  { uuid: GPU.moved, node: 'gpu-a', gpu: 7, spans: [[BEGIN_S, at('14T23:30:00')]] },
  { uuid: GPU.moved, node: 'gpu-b', gpu: 7, spans: [[at('14T23:40:00'), END_S]] },
];

/** What the engine of a GPU does at a second; the fleet's one rule, so that tests can say it again. */
export function engineAt(uuid: string, second: number): number {
  return ((second / STEP_S) % 7) / 10 + uuid.charCodeAt(4) / 1000;
}

const isSilent = (second: number) => second >= SILENT_FROM_S && second < SILENT_UNTIL_S;

function gpuSeries(metric: string, value: (uuid: string, second: number) => number): PastSeries[] {
  return SHOWN.map(({ uuid, node, gpu, pod, slice, spans }) => ({
    metric,
    labels: {
      UUID: uuid,
      Hostname: node,
      gpu: String(gpu),
      device: `nvidia${gpu}`,
      modelName: 'NVIDIA H100 80GB HBM3',
      instance: `${node}:9400`,
      job: 'dcgm',
      // The target's own labels: without exported_pod the GPU is nobody's.
      pod: `dcgm-exporter-${node}`,
      namespace: 'gpu-operator',
      ...(pod !== undefined && { exported_pod: pod, exported_namespace: 'nlp' }),
      ...(slice !== undefined && { GPU_I_ID: slice[0], GPU_I_PROFILE: slice[1] }),
    },
    samples: spans.flatMap(([fromS, untilS]) =>
      samplesEvery(STEP_S, fromS, untilS, (second) => value(uuid, second)).filter(([second]) => !isSilent(second)),
    ),
  }));
}

const KUBE_TARGET = { instance: 'ksm:8080', job: 'kube-state-metrics' };

function kube(
  metric: string,
  labels: Readonly<Record<string, string>>,
  value: number,
  fromS = BEGIN_S,
  untilS = END_S,
): PastSeries {
  return {
    metric,
    labels: { ...KUBE_TARGET, ...labels },
    samples: samplesEvery(STEP_S, fromS, untilS, () => value).filter(([second]) => !isSilent(second)),
  };
}

interface PastPod {
  readonly name: string;
  readonly uid: string;
  readonly node: string;
  readonly resource: string;
  readonly gpus: number;
  readonly phase: string;
  readonly scheduledS?: number;
  readonly completedS?: number;
  readonly listed: readonly [fromS: number, untilS: number];
  readonly owner: readonly [kind: string, name: string];
}

const PODS: readonly PastPod[] = [
  {
    name: 'train-0',
    uid: 'uid-train',
    node: 'gpu-a',
    resource: 'nvidia_com_gpu',
    gpus: 1,
    phase: 'Running',
    scheduledS: BEGIN_S + 290,
    listed: [BEGIN_S + 300, at('15T00:30:00')],
    owner: ['ReplicaSet', 'train-5d9c7'],
  },
  ...[1, 2].map((place): PastPod => ({
    name: `notebook-${place}`,
    uid: `uid-notebook-${place}`,
    node: 'gpu-a',
    resource: 'nvidia_com_gpu_shared',
    gpus: 1,
    phase: 'Running',
    scheduledS: BEGIN_S - 9000,
    listed: [BEGIN_S, END_S],
    owner: ['StatefulSet', `notebook-${place}`],
  })),
  {
    name: 'slice-0',
    uid: 'uid-slice',
    node: 'gpu-b',
    resource: 'nvidia_com_mig_1g_10gb',
    gpus: 1,
    phase: 'Running',
    scheduledS: BEGIN_S - 60,
    listed: [BEGIN_S, END_S],
    owner: ['Job', 'nightly-1794'],
  },
  {
    name: 'done-0',
    uid: 'uid-done',
    node: 'gpu-b',
    resource: 'nvidia_com_gpu',
    gpus: 2,
    phase: 'Succeeded',
    scheduledS: BEGIN_S + 600,
    completedS: BEGIN_S + 1234,
    listed: [BEGIN_S + 600, END_S],
    owner: ['Job', 'done'],
  },
  {
    name: 'waits-0',
    uid: 'uid-waits',
    node: '',
    resource: 'nvidia_com_gpu',
    gpus: 4,
    phase: 'Pending',
    listed: [at('15T01:40:00'), END_S],
    owner: ['PyTorchJob', 'big'],
  },
];

function podSeries(pod: PastPod): PastSeries[] {
  const { name, uid, node, listed, owner } = pod;
  const id = { namespace: 'nlp', pod: name, uid };
  const [fromS, untilS] = listed;
  const say = (metric: string, labels: Readonly<Record<string, string>>, value: number) =>
    kube(metric, { ...id, ...labels }, value, fromS, untilS);
  return [
    say(
      'kube_pod_container_resource_requests',
      { container: 'main', node, resource: pod.resource, unit: 'integer' },
      pod.gpus,
    ),
    say('kube_pod_container_resource_requests', { container: 'main', node, resource: 'cpu', unit: 'core' }, 3.5),
    say('kube_pod_info', { node }, 1),
    say('kube_pod_created', {}, fromS - 20),
    say('kube_pod_owner', { owner_kind: owner[0], owner_name: owner[1], owner_is_controller: 'true' }, 1),
    say('kube_pod_labels', { label_team: 'nlp' }, 1),
    ...['Pending', 'Running', 'Succeeded'].map((phase) =>
      say('kube_pod_status_phase', { phase }, phase === pod.phase ? 1 : 0),
    ),
    ...(pod.scheduledS === undefined
      ? [say('kube_pod_status_unschedulable', {}, 1)]
      : [say('kube_pod_status_scheduled_time', {}, pod.scheduledS)]),
    ...(pod.completedS === undefined ? [] : [say('kube_pod_completion_time', {}, pod.completedS)]),
  ];
}

function nodeSeries(node: string): PastSeries[] {
  const type = {
    label_node_kubernetes_io_instance_type: 'p5.48xlarge',
    label_topology_kubernetes_io_zone: 'us-east-1a',
  };
  return [
    kube('kube_node_info', { node, provider_id: `aws:///us-east-1a/i-0${node.slice(-1)}` }, 1),
    kube(
      'kube_node_labels',
      { node, ...type, label_karpenter_sh_capacity_type: 'spot', label_nvidia_com_gpu_product: 'H100' },
      1,
    ),
    kube('kube_node_created', { node }, BEGIN_S - 86_400 * 3),
    kube('kube_node_status_capacity', { node, resource: 'nvidia_com_gpu', unit: 'integer' }, 8),
  ];
}

const POWER_BLANK = 2 ** 63;

export const GPU_PAST: readonly PastSeries[] = [
  ...gpuSeries('DCGM_FI_PROF_GR_ENGINE_ACTIVE', engineAt),
  ...gpuSeries('DCGM_FI_DEV_POWER_USAGE', (uuid) => (uuid === GPU.quiet ? POWER_BLANK : 300)),
];
export const KUBE_PAST: readonly PastSeries[] = [
  ...PODS.flatMap(podSeries),
  kube(
    'kube_replicaset_owner',
    { namespace: 'nlp', replicaset: 'train-5d9c7', owner_kind: 'Deployment', owner_name: 'train' },
    1,
  ),
  kube(
    'kube_job_owner',
    { namespace: 'nlp', job_name: 'nightly-1794', owner_kind: 'CronJob', owner_name: 'nightly' },
    1,
  ),
  ...['gpu-a', 'gpu-b', 'cpu-only'].flatMap((node) =>
    nodeSeries(node).filter(({ metric }) => node !== 'cpu-only' || metric === 'kube_node_info'),
  ),
];
