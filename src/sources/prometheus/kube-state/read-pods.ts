import { labelsOf } from '../api/matrix-reader.ts';
import type { PrometheusApi, VectorSample } from '../api/prometheus-api.ts';
import type { KubeMetric } from '../discover.ts';
import { oneOf, selector } from '../selector.ts';
import { KubeLabels, lastSaid, rangeS, said, sightings, type KubeWindow, type Sighting } from './kube-reading.ts';

/** What kube-state-metrics says of a pod that asks for GPUs. Times are seconds of the epoch. */
export interface GpuPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string | undefined;
  node: string | undefined;
  /** GPUs by the resource they are asked for under: `nvidia_com_gpu`. */
  readonly gpus: Map<string, number>;
  cpuMillis?: number;
  memoryBytes?: number;
  firstS: number;
  lastS: number;
  createdS?: number;
  scheduledS?: number;
  startedS?: number;
  completedS?: number;
  deletionS?: number;
  /** First seen to be over, for pods that do not say when. */
  overS?: number;
  phase?: string;
  reason?: string;
  isUnschedulable?: boolean;
  owner?: { readonly kind: string; readonly name: string };
  labels?: Record<string, string>;
}

const GPU_RESOURCES = 'resource=~"nvidia_com_gpu.*|nvidia_com_mig.*|amd_com_gpu.*"';
const OWNERS_ASKED_BY_NAME_MAX = 300;

/** Which pods asked for GPUs in the window, and what is known of them? */
export async function readGpuPods(api: PrometheusApi, window: KubeWindow): Promise<GpuPod[]> {
  const asked = await sightings(
    api,
    'kube_pod_container_resource_requests',
    window,
    ['exported_pod', 'pod'],
    GPU_RESOURCES,
  );
  if (asked.length === 0) return [];
  const read = new KubeLabels(asked);
  const on = `on (${read.nameOf('namespace')}, ${read.nameOf('pod')})`;
  const gpuPods = `and ${on} ${lastSaid('kube_pod_container_resource_requests', window, GPU_RESOURCES)}`;
  const about = (metric: KubeMetric, then = '', ...matchers: string[]) =>
    said(api, metric, `(${lastSaid(metric, window, ...matchers)}${then}) ${gpuPods}`, window);

  const info = await about('kube_pod_info');
  const pods = new PodList(read, info);
  for (const each of asked) pods.ask(each);
  for (const { labels } of info) pods.update(labels, (pod) => (pod.node ??= read.get(labels, 'node')));
  const times: [KubeMetric, 'createdS' | 'scheduledS' | 'startedS' | 'completedS' | 'deletionS'][] = [
    ['kube_pod_created', 'createdS'],
    ['kube_pod_status_scheduled_time', 'scheduledS'],
    ['kube_pod_start_time', 'startedS'],
    ['kube_pod_completion_time', 'completedS'],
    ['kube_pod_deletion_timestamp', 'deletionS'],
  ];
  for (const [metric, field] of times) {
    for (const { labels, value } of await about(metric)) {
      if (value > 0) pods.update(labels, (pod) => (pod[field] = value));
    }
  }
  for (const { labels } of await about('kube_pod_status_phase', ' == 1')) {
    const phase = labels['phase'];
    if (phase !== undefined) pods.update(labels, (pod) => (pod.phase = phase));
  }
  for (const { labels } of await about('kube_pod_status_reason', ' == 1')) {
    const reason = labels['reason'];
    if (reason !== undefined) pods.update(labels, (pod) => (pod.reason = reason));
  }
  for (const { labels } of await about('kube_pod_status_unschedulable', ' == 1')) {
    pods.update(labels, (pod) => (pod.isUnschedulable = true));
  }
  for (const { labels } of await about('kube_pod_labels'))
    pods.update(labels, (pod) => (pod.labels = podLabels(labels)));
  for (const each of await about('kube_pod_container_resource_requests', '', 'resource=~"cpu|memory"'))
    pods.addHost(each);
  await readOwners(api, window, pods, await about('kube_pod_owner'));
  await readEnds(api, window, pods);
  return pods.all();
}

class PodList {
  readonly #read: KubeLabels;
  readonly #byUid = new Map<string, GpuPod>();
  readonly #byName = new Map<string, GpuPod[]>();
  readonly #uids = new Map<string, string>();
  readonly #asked = new Map<GpuPod, Map<string, Sighting>>();

  constructor(read: KubeLabels, info: readonly VectorSample[]) {
    this.#read = read;
    // Older releases give the uid in kube_pod_info only.
    for (const { labels } of info) {
      const uid = read.get(labels, 'uid');
      if (uid !== undefined) this.#uids.set(this.#nameOf(labels), uid);
    }
  }

  get read(): KubeLabels {
    return this.#read;
  }

  all(): GpuPod[] {
    return [...this.#byName.values()].flat();
  }

  ask(sighting: Sighting): void {
    const { labels, firstS, lastS } = sighting;
    const [namespace, name] = [this.#read.get(labels, 'namespace'), this.#read.get(labels, 'pod')];
    if (namespace === undefined || name === undefined) return;
    const uid = this.#read.get(labels, 'uid') ?? this.#uids.get(this.#nameOf(labels));
    const pod = this.#of(uid, namespace, name, firstS, lastS);
    pod.firstS = Math.min(pod.firstS, firstS);
    pod.lastS = Math.max(pod.lastS, lastS);
    pod.node ??= this.#read.get(labels, 'node');
    // A container is there twice when its pod got a machine meanwhile; the later word counts.
    const key = `${this.#read.get(labels, 'container') ?? ''} ${labels['resource'] ?? ''}`;
    const asked = this.#asked.get(pod) ?? new Map<string, Sighting>();
    this.#asked.set(pod, asked);
    const before = asked.get(key);
    if (before === undefined || before.lastS < lastS) asked.set(key, sighting);
    pod.gpus.clear();
    for (const each of asked.values()) {
      const resource = each.labels['resource'] ?? '';
      pod.gpus.set(resource, (pod.gpus.get(resource) ?? 0) + each.value);
    }
  }

  #of(uid: string | undefined, namespace: string, name: string, firstS: number, lastS: number): GpuPod {
    const key = `${namespace}/${name}`;
    const known = uid === undefined ? this.#byName.get(key)?.[0] : this.#byUid.get(uid);
    if (known !== undefined) return known;
    const pod: GpuPod = { namespace, name, uid, node: undefined, gpus: new Map(), firstS, lastS };
    if (uid !== undefined) this.#byUid.set(uid, pod);
    this.#byName.set(key, [...(this.#byName.get(key) ?? []), pod]);
    return pod;
  }

  update(labels: Readonly<Record<string, string>>, change: (pod: GpuPod) => void): void {
    const uid = this.#read.get(labels, 'uid');
    const found = uid === undefined ? this.#byName.get(this.#nameOf(labels)) : [this.#byUid.get(uid)];
    for (const pod of found ?? []) if (pod !== undefined) change(pod);
  }

  addHost({ labels, value }: VectorSample): void {
    this.update(labels, (pod) => {
      if (labels['resource'] === 'cpu') pod.cpuMillis = (pod.cpuMillis ?? 0) + Math.round(value * 1000);
      else pod.memoryBytes = (pod.memoryBytes ?? 0) + Math.round(value);
    });
  }

  #nameOf(labels: Readonly<Record<string, string>>): string {
    return `${this.#read.get(labels, 'namespace') ?? ''}/${this.#read.get(labels, 'pod') ?? ''}`;
  }
}

/** Labels as kube-state-metrics writes them: `label_app_kubernetes_io_name` is `app_kubernetes_io_name`. */
export function podLabels(labels: Readonly<Record<string, string>>): Record<string, string> {
  const own = Object.entries(labels).filter(([name, value]) => name.startsWith('label_') && value !== '');
  return Object.fromEntries(own.map(([name, value]) => [name.slice(6), value]));
}

/** The name people know it by: a ReplicaSet is its Deployment, a Job its CronJob. */
async function readOwners(
  api: PrometheusApi,
  window: KubeWindow,
  pods: PodList,
  owners: readonly VectorSample[],
): Promise<void> {
  for (const { labels } of owners) {
    const [kind, name] = [labels['owner_kind'], labels['owner_name']];
    if (kind === undefined || name === undefined || kind === '<none>' || kind === '') continue;
    pods.update(labels, (pod) => {
      if (pod.owner === undefined || labels['owner_is_controller'] === 'true') pod.owner = { kind, name };
    });
  }
  const levels: [kind: string, metric: KubeMetric, label: string][] = [
    ['ReplicaSet', 'kube_replicaset_owner', 'replicaset'],
    ['Job', 'kube_job_owner', 'job_name'],
  ];
  for (const [kind, metric, label] of levels) {
    const below = pods.all().filter(({ owner }) => owner?.kind === kind);
    const names = [...new Set(below.map(({ owner }) => owner?.name ?? ''))];
    if (names.length === 0) continue;
    const matchers = names.length <= OWNERS_ASKED_BY_NAME_MAX ? [`${label}=~${oneOf(names)}`] : [];
    const above = new Map<string, { kind: string; name: string }>();
    for (const { labels } of await said(api, metric, lastSaid(metric, window, ...matchers), window)) {
      const [ownerKind, ownerName] = [labels['owner_kind'] ?? '', labels['owner_name'] ?? ''];
      if (ownerKind === '' || ownerKind === '<none>') continue;
      above.set(`${pods.read.get(labels, 'namespace') ?? ''}/${labels[label] ?? ''}`, {
        kind: ownerKind,
        name: ownerName,
      });
    }
    for (const pod of below)
      pod.owner = above.get(`${pod.namespace}/${pod.owner?.name ?? ''}`) ?? pod.owner ?? { kind, name: '' };
  }
}

/** When did pods end that are over and do not say since when? An evicted one does not. */
async function readEnds(api: PrometheusApi, window: KubeWindow, pods: PodList): Promise<void> {
  const silent = pods.all().filter(({ phase, completedS }) => isOver(phase) && completedS === undefined);
  const names = silent.map(({ name }) => name).slice(0, OWNERS_ASKED_BY_NAME_MAX);
  if (names.length === 0) return;
  const matchers = ['phase=~"Failed|Succeeded"', `${pods.read.nameOf('pod')}=~${oneOf(names)}`, window.matchers];
  const query = `${selector('kube_pod_status_phase', ...matchers)}[${rangeS(window)}s]`;
  await api.series(query, window.untilMs - 1, window.signal, (series) => {
    const at = series.values.subarray(0, series.count).indexOf(1);
    const timeMs = at < 0 ? undefined : series.timesMs[at];
    if (timeMs === undefined) return;
    pods.update(labelsOf(series), (pod) => (pod.overS = Math.min(timeMs / 1000, pod.overS ?? Infinity)));
  });
}

export function isOver(phase: string | undefined): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}
