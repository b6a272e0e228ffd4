import { at, labelsAt, listAt, secondsAt, textAt } from '../api/json-shape.ts';
import type { NodeGpus } from '../pod/gpu-ask.ts';
import { defined } from '../pod/pod-seen.ts';
import { quantityNumber } from '../pod/quantity.ts';
import { machineOf } from './machine.ts';
import { nodeGpus } from './node-gpus.ts';
import { purchaseOf } from './purchase.ts';

export type NodeState = 'up' | 'down' | 'drained';

/** What has to be known of a node to write its rows, also after it is gone. Plain JSON: it is kept in the cursor. */
export interface NodeSeen {
  readonly name: string;
  readonly uid: string;
  readonly createdS: number;
  readonly state: NodeState;
  /** Since when, where the node tells. */
  readonly stateSinceS?: number;
  readonly resourceId?: string;
  readonly provider?: string;
  readonly region?: string;
  readonly zone?: string;
  readonly instanceType?: string;
  readonly purchase?: 'on-demand' | 'spot' | 'committed';
  readonly gpuCount?: number;
  readonly gpus: NodeGpus;
  readonly vcpu?: number;
  readonly memoryBytes?: number;
  readonly tags: Readonly<Record<string, string>>;
}

/** What is this machine? Undefined for an object that is no node; nothing throws. */
export function readNode(json: unknown): NodeSeen | undefined {
  const [name, uid] = [textAt(json, 'metadata', 'name'), textAt(json, 'metadata', 'uid')];
  const createdS = secondsAt(json, 'metadata', 'creationTimestamp');
  if (name === undefined || uid === undefined || createdS === undefined) return undefined;
  const labels = labelsAt(json, 'metadata', 'labels');
  const annotations = labelsAt(json, 'metadata', 'annotations');
  const capacity = at(json, 'status', 'capacity');
  const { count, ...gpus } = nodeGpus(
    capacity,
    labels,
    textAt(json, 'metadata', 'annotations', 'hami.io/node-nvidia-register'),
  );
  return defined({
    name,
    uid,
    createdS,
    ...stateOf(json),
    ...machineOf(textAt(json, 'spec', 'providerID'), labels, annotations),
    purchase: purchaseOf(labels),
    gpuCount: count,
    gpus,
    vcpu: quantityNumber(at(capacity, 'cpu')),
    memoryBytes: quantityNumber(at(capacity, 'memory')),
    tags: tagsOf(labels),
  });
}

/** Not ready goes before cordoned: nothing runs there, whatever the plan was. */
function stateOf(json: unknown): { state: NodeState; stateSinceS: number | undefined } {
  const ready = listAt(json, 'status', 'conditions').find((condition) => textAt(condition, 'type') === 'Ready');
  const readySinceS = secondsAt(ready, 'lastTransitionTime');
  if (ready !== undefined && textAt(ready, 'status') !== 'True') return { state: 'down', stateSinceS: readySinceS };
  if (at(json, 'spec', 'unschedulable') === true) {
    const taint = listAt(json, 'spec', 'taints').find(
      (candidate) => textAt(candidate, 'key') === 'node.kubernetes.io/unschedulable',
    );
    return { state: 'drained', stateSinceS: secondsAt(taint, 'timeAdded') };
  }
  return { state: 'up', stateSinceS: readySinceS };
}

/** Labels that say something about every node alike, or what a column of its own says. */
const NOT_TAGS =
  /^(?:(?:beta\.|[\w-]+\.)?kubernetes\.io\/|topology\.|failure-domain\.|feature\.node\.kubernetes\.io\/|nvidia\.com\/|amd\.com\/|beta\.amd\.com\/|k8s\.io\/cloud-provider-aws$|karpenter\.k8s\.aws\/instance-|csi\.)/;
const TAGS_MAX = 64;

function tagsOf(labels: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(labels)
      .filter(([key]) => !NOT_TAGS.test(key) || key.startsWith('node-role.kubernetes.io/'))
      .slice(0, TAGS_MAX),
  );
}
