import { at, labelsAt, listAt, textAt } from '../api/json-shape.ts';

/** What people call the thing that a pod is a part of. */
export interface Workload {
  readonly kind: string;
  readonly name: string;
}

/** The object that made another, as its `ownerReferences` has it. */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

/** The one owner that controls the object; of several that do not, the first. */
export function controllerOf(json: unknown): OwnerReference | undefined {
  const owners = listAt(json, 'metadata', 'ownerReferences');
  const owner = owners.find((reference) => at(reference, 'controller') === true) ?? owners[0];
  const [apiVersion, kind] = [textAt(owner, 'apiVersion'), textAt(owner, 'kind')];
  const [name, uid] = [textAt(owner, 'name'), textAt(owner, 'uid')];
  if (apiVersion === undefined || kind === undefined || name === undefined || uid === undefined) return undefined;
  return { apiVersion, kind, name, uid };
}

/** Labels that controllers put on pods and that name the top of the chain, so that nobody has to be asked. */
const NAMED_BY: readonly (readonly [label: string, kind: string])[] = [
  ['serving.kserve.io/inferenceservice', 'InferenceService'],
  ['serving.kserve.io/llminferenceservice', 'LLMInferenceService'],
  ['leaderworkerset.sigs.k8s.io/name', 'LeaderWorkerSet'],
  ['notebook-name', 'Notebook'],
  ['sparkoperator.k8s.io/app-name', 'SparkApplication'],
  ['workflows.argoproj.io/workflow', 'Workflow'],
];
const RAY_KINDS = new Set(['RayJob', 'RayService', 'RayCluster']);

/** The workload that the pod's own labels name, if they do. */
export function labelledWorkload(
  labels: Readonly<Record<string, string>>,
  annotations: Readonly<Record<string, string>>,
): Workload | undefined {
  for (const [label, kind] of NAMED_BY) {
    const name = labels[label];
    if (name !== undefined && name !== '') return { kind, name };
  }
  const rayKind = labels['ray.io/originated-from-crd'];
  const rayName = labels['ray.io/originated-from-cr-name'];
  if (rayKind !== undefined && rayName !== undefined && RAY_KINDS.has(rayKind)) return { kind: rayKind, name: rayName };
  const hubUser = annotations['hub.jupyter.org/username'] ?? labels['hub.jupyter.org/username'];
  if (hubUser === undefined || labels['component'] !== 'singleuser-server') return undefined;
  const server = annotations['hub.jupyter.org/servername'] ?? '';
  return { kind: 'Notebook', name: server === '' ? hubUser : `${hubUser}-${server}` };
}

/**
 * The workload as far as the pod itself tells, where nobody may be asked: the Deployment behind a ReplicaSet is in its name, the
 * rest is what owns the pod, or the pod alone.
 */
export function guessedWorkload(pod: {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly owner?: OwnerReference;
}): Workload {
  const { owner, labels } = pod;
  if (owner === undefined) return { kind: 'Pod', name: pod.name };
  return owner.kind === 'ReplicaSet' ? ownerOfReplicaSet(owner.name, labels) : { kind: owner.kind, name: owner.name };
}

function ownerOfReplicaSet(name: string, labels: Readonly<Record<string, string>>): Workload {
  for (const [label, kind] of [
    ['pod-template-hash', 'Deployment'],
    ['rollouts-pod-template-hash', 'Rollout'],
  ] as const) {
    const suffix = `-${labels[label] ?? ''}`;
    if (suffix !== '-' && name.endsWith(suffix) && name.length > suffix.length) {
      return { kind, name: name.slice(0, -suffix.length) };
    }
  }
  return { kind: 'ReplicaSet', name };
}

/** Labels and annotations of an owner: some tools say there, not on the pod, whose it is. */
export function markingsOf(json: unknown): {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
} {
  return { labels: labelsAt(json, 'metadata', 'labels'), annotations: labelsAt(json, 'metadata', 'annotations') };
}
