import { labelsAt, listAt, secondsAt, textAt } from '../api/json-shape.ts';
import type { OwnerReference, Workload } from '../owner/workload.ts';
import { controllerOf, labelledWorkload } from '../owner/workload.ts';
import { userOf } from '../owner/user-name.ts';
import { effectiveRequest } from './effective-request.ts';
import { gpuAsks } from './gpu-ask.ts';
import type { GpuAsk } from './gpu-ask.ts';
import { podEnd } from './pod-end.ts';
import { sessionOf } from './session.ts';
import type { PodEnd } from './pod-end.ts';

/** What has to be known of a pod with GPUs to write its rows, also after it is gone. Plain JSON: it is kept in the cursor. */
export interface PodSeen {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly createdS: number;
  /** Undefined while it waits for a machine. */
  readonly node?: string;
  readonly boundS?: number;
  readonly asks: readonly GpuAsk[];
  readonly cpuMillis?: number;
  readonly memoryBytes?: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly user?: string;
  /** What people sit in front of, where its containers run something of that kind: `jupyter`, `sleep` … */
  readonly session?: string;
  readonly owner?: OwnerReference;
  /** What it is a part of, where its labels or the top of its owners say so. */
  readonly workload?: Workload;
  /** Its owners have been followed to the top; they do not change. */
  readonly ownersRead?: true;
  /** Waits: the model it wants and why it has no machine. */
  readonly model?: string;
  readonly heldBackBy?: string;
  readonly deleteAskedS?: number;
}

/** A pod of the API server: one with GPUs, one that is left out and why, or one that has nothing to do with GPUs. */
export type PodReading =
  | { readonly kind: 'gpu'; readonly pod: PodSeen; readonly end: PodEnd }
  | { readonly kind: 'left-out'; readonly reason: string; readonly name: string }
  | { readonly kind: 'other'; readonly uid?: string };

const RESERVATION_NAMESPACES = new Set(['kai-resource-reservation', 'runai-reservation']);

/** What does this pod hold or wait for? Whatever the object is, nothing throws. */
export function readPod(json: unknown): PodReading {
  const uid = textAt(json, 'metadata', 'uid');
  const name = textAt(json, 'metadata', 'name');
  const namespace = textAt(json, 'metadata', 'namespace');
  const createdS = secondsAt(json, 'metadata', 'creationTimestamp');
  const spec = (json as { readonly spec?: unknown } | undefined | null)?.spec;
  const annotations = labelsAt(json, 'metadata', 'annotations');
  const asks = gpuAsks(spec, annotations);
  if (uid === undefined || name === undefined || namespace === undefined || createdS === undefined) {
    return asks.length === 0
      ? { kind: 'other' }
      : { kind: 'left-out', reason: 'a pod without uid, name, namespace or creation time', name: name ?? '?' };
  }
  const shown = `${namespace}/${name}`;
  if (asks.length === 0) {
    return listAt(spec, 'resourceClaims').length === 0
      ? { kind: 'other', uid }
      : { kind: 'left-out', reason: 'asks for devices by resource claim, which is not read', name: shown };
  }
  if (RESERVATION_NAMESPACES.has(namespace)) {
    const reason = 'holds a GPU in the name of pods that share it; those are counted';
    return { kind: 'left-out', reason, name: shown };
  }
  const end = podEnd(json);
  return { kind: 'gpu', pod: { uid, namespace, name, createdS, asks, ...details(json, spec, end) }, end };
}

type Details = Omit<PodSeen, 'uid' | 'namespace' | 'name' | 'createdS' | 'asks'>;

function details(json: unknown, spec: unknown, end: PodEnd): Details {
  const labels = labelsAt(json, 'metadata', 'labels');
  const annotations = labelsAt(json, 'metadata', 'annotations');
  const node = textAt(spec, 'nodeName');
  const boundS = node === undefined ? undefined : boundAt(json);
  const owner = controllerOf(json);
  const workload = labelledWorkload(labels, annotations);
  const user = userOf(labels, annotations);
  return defined({
    node,
    boundS,
    cpuMillis: plainNumber(effectiveRequest(spec, 'cpu', 1000n)),
    memoryBytes: plainNumber(effectiveRequest(spec, 'memory')),
    labels,
    user,
    session: sessionOf(spec),
    owner,
    workload,
    ...(node === undefined && { model: wantedModel(spec), heldBackBy: heldBackBy(json, spec) }),
    deleteAskedS: end.deleteAskedS,
  });
}

/** The scheduler's word for the moment it gave the pod its machine; a pod that brought its own has what comes closest. */
function boundAt(json: unknown): number | undefined {
  const scheduled = conditionOf(json, 'PodScheduled');
  const byScheduler = textAt(scheduled, 'status') === 'True' ? secondsAt(scheduled, 'lastTransitionTime') : undefined;
  return byScheduler ?? secondsAt(json, 'status', 'startTime') ?? secondsAt(json, 'metadata', 'creationTimestamp');
}

function heldBackBy(json: unknown, spec: unknown): string | undefined {
  const gates = listAt(spec, 'schedulingGates').flatMap((gate) => textAt(gate, 'name') ?? []);
  if (gates.length > 0) return `SchedulingGated: ${gates.slice(0, 4).join(', ')}`;
  return textAt(conditionOf(json, 'PodScheduled'), 'reason');
}

const PRODUCT_LABELS = [
  'nvidia.com/gpu.product',
  'cloud.google.com/gke-accelerator',
  'karpenter.k8s.aws/instance-gpu-name',
  'k8s.amazonaws.com/accelerator',
];

/** The model a pod insists on: by node selector, or by the first alternative of its required node affinity. */
function wantedModel(spec: unknown): string | undefined {
  const selector = labelsAt(spec, 'nodeSelector');
  const required = 'requiredDuringSchedulingIgnoredDuringExecution';
  const terms = listAt(spec, 'affinity', 'nodeAffinity', required, 'nodeSelectorTerms');
  for (const label of PRODUCT_LABELS) {
    if (selector[label] !== undefined) return selector[label];
    const wanted = listAt(terms[0], 'matchExpressions').find(
      (expression) => textAt(expression, 'key') === label && textAt(expression, 'operator') === 'In',
    );
    const [model] = listAt(wanted, 'values');
    if (typeof model === 'string' && model !== '') return model;
  }
  return undefined;
}

function conditionOf(json: unknown, type: string): unknown {
  return listAt(json, 'status', 'conditions').find((condition) => textAt(condition, 'type') === type);
}

function plainNumber(exact: bigint | undefined): number | undefined {
  return exact === undefined || exact > BigInt(Number.MAX_SAFE_INTEGER) ? undefined : Number(exact);
}

type Defined<Fields> = { [Name in keyof Fields]: Exclude<Fields[Name], undefined> };

/** Without the fields that are unknown, so that what is kept and what is read again look the same. */
export function defined<Fields extends object>(fields: Fields): Defined<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<Fields>;
}
