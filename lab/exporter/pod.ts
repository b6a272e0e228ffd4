import { uuidOf } from '../../src/demo/fleet/machines.ts';
import type { Attempt, Device, Job, Node, Scope } from '../../src/demo/organisation.ts';
import type { Seconds } from '../../src/demo/timeline.ts';

/** What of an attempt runs on one machine: Kubernetes knows no larger thing than that. */
export interface Pod {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly container: string;
  readonly attempt: Attempt;
  readonly node: Node;
  readonly devices: readonly Device[];
  readonly owner: { readonly kind: string; readonly name: string };
  /** As people wrote them, with dots and slashes. */
  readonly labels: Readonly<Record<string, string>>;
  readonly createdAt: Seconds;
  readonly from: Seconds;
  /** May lie past the end of the scope: then it runs there still. */
  readonly until: Seconds;
  /** How its containers ended; deleted: nobody could ask them any more. */
  readonly end: 'Succeeded' | 'Failed' | 'deleted';
  /** When the API server has forgotten it. */
  readonly goneAt: Seconds;
}

/** Jobs are kept for so long after their end (ttlSecondsAfterFinished). */
const KEPT_AFTER_END_S = 3600;

/** The pods of an attempt, machine by machine; none where another scheduler than Kubernetes hands out the GPUs. */
export function podsOf(attempt: Attempt, scope: Scope): readonly Pod[] {
  const { job } = attempt;
  if (job.pool.scheduler !== 'kubernetes') return [];
  const onNode = new Map<Node, Device[]>();
  for (const device of attempt.groups.flatMap(({ devices }) => devices)) {
    const known = onNode.get(device.node);
    if (known === undefined) onNode.set(device.node, [device]);
    else known.push(device);
  }
  const nodes = [...onNode].sort(([a], [b]) => (a.id < b.id ? -1 : 1));
  return nodes.map(([node, devices], place) => podOf(attempt, scope, node, devices, place));
}

function podOf(attempt: Attempt, scope: Scope, node: Node, devices: readonly Device[], place: number): Pod {
  const { job } = attempt;
  const uid = uuidOf([...job.key, 'pod', attempt.number, place]);
  const owner = ownerOf(job, attempt.number);
  const end = endOf(attempt, owner.kind);
  return {
    uid,
    namespace: job.tagged ? job.team.name : 'default',
    name: `${owner.name}-${owner.kind === 'PyTorchJob' ? `worker-${place}` : uid.slice(0, 5)}`,
    container: job.habit.kind === 'serving' ? 'vllm' : 'main',
    attempt,
    node,
    devices: devices.toSorted((a, b) => a.index - b.index),
    owner,
    labels: labelsOf(job),
    createdAt: Math.max(scope.from, attempt.askedAt ?? attempt.from),
    from: attempt.from,
    until: attempt.until,
    end,
    goneAt: attempt.until + (end === 'deleted' ? 0 : KEPT_AFTER_END_S),
  };
}

/** Another life of a job is another object: controllers number or hash what they make. */
function ownerOf({ habit, name, key }: Job, life: number): Pod['owner'] {
  const words = `${name}${life === 0 ? '' : `-${life}`}`.toLowerCase().replaceAll(/[^a-z0-9-]+/g, '-');
  switch (habit.kind) {
    case 'notebook':
      return { kind: 'StatefulSet', name: words };
    case 'serving':
      return { kind: 'ReplicaSet', name: `${words}-${uuidOf([...key, 'replicaset', life]).slice(0, 8)}` };
    case 'training':
      return { kind: habit.class === 'training' ? 'PyTorchJob' : 'Job', name: words };
    case 'sweep':
    case 'box':
      return { kind: 'Job', name: words };
  }
}

function endOf({ outcome }: Attempt, ownerKind: string): Pod['end'] {
  if (ownerKind === 'ReplicaSet' || ownerKind === 'StatefulSet') return 'deleted';
  if (outcome === 'completed') return 'Succeeded';
  return outcome === 'failed' || outcome === 'out-of-memory' ? 'Failed' : 'deleted';
}

function labelsOf({ habit, tagged, team, user, name }: Job): Readonly<Record<string, string>> {
  const app = { 'app.kubernetes.io/name': name };
  if (!tagged) return app;
  const workClass = habit.kind === 'training' ? habit.class : habit.kind === 'sweep' ? 'training' : undefined;
  return { ...app, team: team.name, user, ...(workClass !== undefined && { class: workClass }) };
}
