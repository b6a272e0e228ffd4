import type { PodSeen } from '../pod/pod-seen.ts';
import type { OwnerLookup } from './owner-lookup.ts';
import { guessedWorkload } from './workload.ts';

const AT_ONCE = 8;

/**
 * The same pods, each with the workload it is a part of.
 *
 * What a pod's own labels name stays; its owners are still asked whose it is. Where they may not be read, the pod stays as it is, and is
 * asked about again by the next pull, which may have been given the right.
 */
export async function withWorkloads(pods: readonly PodSeen[], lookup: OwnerLookup): Promise<readonly PodSeen[]> {
  const found = [...pods];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let place = next++; place < pods.length; place = next++) {
      const pod = pods[place];
      if (pod !== undefined) found[place] = await withWorkload(pod, lookup);
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, pods.length) }, work));
  return found;
}

async function withWorkload(pod: PodSeen, lookup: OwnerLookup): Promise<PodSeen> {
  if (pod.owner === undefined || pod.ownersRead === true) return pod;
  const top = await lookup(pod.owner, pod.namespace);
  if (top === undefined) return pod;
  // A ReplicaSet whose Deployment cannot be read: the names of both are in the pod's.
  const { kind, name } = top.kind === 'ReplicaSet' ? guessedWorkload(pod) : top;
  const user = pod.user ?? top.user;
  return { ...pod, ownersRead: true, workload: pod.workload ?? { kind, name }, ...(user !== undefined && { user }) };
}
