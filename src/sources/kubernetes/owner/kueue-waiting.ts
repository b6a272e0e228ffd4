import { OperationError } from '../../../facts/operation-error.ts';
import type { FactRow } from '../../../facts/source.ts';
import type { Connection } from '../api/connection.ts';
import { at, labelsAt, listAt, numberAt, secondsAt, textAt } from '../api/json-shape.ts';
import { listAll } from '../api/list.ts';
import { get } from '../api/request.ts';
import { gpuAsks } from '../pod/gpu-ask.ts';
import type { OwnerMemory } from './owner-lookup.ts';
import { userOf } from './user-name.ts';
import { controllerOf } from './workload.ts';

interface Asking {
  readonly signal: AbortSignal;
  readonly nowS: number;
  readonly cluster: string;
}

const GROUP = '/apis/kueue.x-k8s.io';
/** Kueue holds these back by gates on their pods, which are seen themselves. */
const SEEN_AS_PODS = new Set(['Pod', 'Deployment', 'ReplicaSet', 'StatefulSet', 'LeaderWorkerSet']);

/**
 * Who waits in Kueue for quota and has no pods yet: suspended Jobs, PyTorchJobs, RayJobs.
 *
 * Only where Kueue is there and its workloads may be read; else nobody is told to wait there, which `check` says.
 */
export async function kueueWaiting(
  connection: Connection,
  memory: OwnerMemory,
  asking: Asking,
): Promise<readonly FactRow[]> {
  const rows: FactRow[] = [];
  try {
    const version = await kueueVersion(connection, memory, asking.signal);
    if (version === undefined) return [];
    await listAll(connection, {
      path: `${GROUP}/${version}/workloads`,
      what: 'list Kueue workloads',
      signal: asking.signal,
      onItems: (items) => {
        for (const item of items) {
          const row = workloadRow(item, asking);
          if (row !== undefined) rows.push(row);
        }
      },
    });
  } catch (failure) {
    // Who waits is worth knowing, but not worth losing who holds.
    if (!(failure instanceof OperationError) || failure.code === 'aborted') throw failure;
    return [];
  }
  return rows;
}

/** Whether Kueue is there is asked once in the life of a source, unless it is not. */
async function kueueVersion(
  connection: Connection,
  { places }: OwnerMemory,
  signal: AbortSignal,
): Promise<string | undefined> {
  const known = places.get(GROUP);
  if (known !== undefined) return known;
  const { body } = await get(connection, { path: GROUP, what: 'ask for Kueue', signal }, [403, 404]);
  const version = textAt(body, 'preferredVersion', 'version');
  if (version === undefined || !/^v\w+$/.test(version)) return undefined;
  places.set(GROUP, version);
  return version;
}

/** One Kueue workload as a waiting row; undefined for one that has its quota, is over, or asks for no GPU. */
export function workloadRow(json: unknown, { nowS, cluster }: Omit<Asking, 'signal'>): FactRow | undefined {
  const owner = controllerOf(json);
  const [uid, name] = [textAt(json, 'metadata', 'uid'), textAt(json, 'metadata', 'name')];
  const createdS = secondsAt(json, 'metadata', 'creationTimestamp');
  const gpus = listAt(json, 'spec', 'podSets').reduce((sum: number, set) => sum + gpusOf(set), 0);
  const isTrue = (type: string): boolean => textAt(conditionOf(json, type), 'status') === 'True';
  if (uid === undefined || name === undefined || createdS === undefined || gpus === 0) return undefined;
  if (SEEN_AS_PODS.has(owner?.kind ?? '') || isTrue('QuotaReserved') || isTrue('Admitted') || isTrue('Finished')) {
    return undefined;
  }
  const labels = labelsAt(json, 'metadata', 'labels');
  const queue = textAt(json, 'spec', 'queueName');
  return {
    source: 'kubernetes',
    allocation_id: uid,
    submitted_at: new Date(createdS * 1000),
    observed_at: new Date(nowS * 1000),
    gpu_count: gpus,
    held_back_by: at(json, 'spec', 'active') === false ? 'Kueue: inactive' : `Kueue: ${reasonOf(json)}`,
    cluster,
    namespace: textAt(json, 'metadata', 'namespace'),
    user_name: userOf(labels, labelsAt(json, 'metadata', 'annotations')),
    workload_kind: owner?.kind ?? 'Workload',
    workload_name: owner?.name ?? name,
    labels: queue === undefined ? labels : { ...labels, 'kueue.x-k8s.io/queue-name': queue },
  };
}

function gpusOf(podSet: unknown): number {
  const annotations = labelsAt(podSet, 'template', 'metadata', 'annotations');
  const ofOne = gpuAsks(at(podSet, 'template', 'spec'), annotations).reduce((sum, { count }) => sum + count, 0);
  const pods = numberAt(podSet, 'count') ?? 1;
  return Number.isInteger(pods) && pods > 0 && pods <= 1_000_000 ? ofOne * pods : 0;
}

function reasonOf(json: unknown): string {
  return textAt(conditionOf(json, 'QuotaReserved'), 'reason') ?? 'Pending';
}

function conditionOf(json: unknown, type: string): unknown {
  return listAt(json, 'status', 'conditions').find((condition) => textAt(condition, 'type') === type);
}
