import type { FactRow, HolderHint } from '../../../facts/source.ts';
import { SESSION_LABEL } from '../../../facts/workload-manner.ts';
import { guessedWorkload } from '../owner/workload.ts';
import type { NodeGpus } from './gpu-ask.ts';
import { shareOn } from './gpu-ask.ts';
import type { PodOutcome } from './pod-end.ts';
import type { PodSeen } from './pod-seen.ts';

/** How all rows of a pull are written. */
export interface RowContext {
  readonly cluster: string;
  readonly nowS: number;
  readonly pollS: number;
  readonly gpusOf: (node: string) => NodeGpus | undefined;
}

export interface HoldingRows {
  readonly rows: readonly FactRow[];
  readonly hints: readonly (HolderHint | undefined)[];
}

/** A holding that has ended; without `outcome` nobody saw how. */
export interface EndedPod {
  readonly pod: PodSeen;
  readonly untilS: number;
  readonly outcome?: PodOutcome;
}

/** The rows of a pod that has a machine: one for each kind of GPU it asked for. */
export function holdingRows(pod: PodSeen, context: RowContext, ended?: Omit<EndedPod, 'pod'>): HoldingRows {
  const { node, boundS } = pod;
  if (node === undefined || boundS === undefined) return { rows: [], hints: [] };
  const gpus = context.gpusOf(node);
  let slot = 0;
  const rows = pod.asks.map((ask): FactRow => {
    const { isolation, shareUnits } = shareOn(ask, gpus);
    const row: FactRow = {
      ...told(pod, context),
      attempt: 0,
      node_id: node,
      slot,
      held_from: at(boundS),
      held_until: ended === undefined ? undefined : at(Math.max(boundS, ended.untilS)),
      poll_s: context.pollS,
      gpu_count: ask.count,
      share_units: shareUnits,
      isolation,
      // Host resources are the pod's, not each kind's: they stand once.
      cpu_millis: slot === 0 ? pod.cpuMillis : undefined,
      memory_bytes: slot === 0 ? pod.memoryBytes : undefined,
      outcome: ended === undefined ? 'running' : ended.outcome,
    };
    slot += ask.count;
    return row;
  });
  // An exporter that names a pod's devices does not say which of its requests each of them answers.
  const hint = rows.length === 1 ? { pod: { namespace: pod.namespace, name: pod.name } } : undefined;
  return { rows, hints: rows.map(() => hint) };
}

/** The row of a pod that has no machine yet. */
export function waitingRow(pod: PodSeen, context: RowContext): FactRow {
  return {
    ...told(pod, context),
    gpu_count: pod.asks.reduce((sum, { count }) => sum + count, 0),
    model: pod.model,
    held_back_by: pod.heldBackBy,
  };
}

function told(pod: PodSeen, { cluster, nowS }: RowContext): FactRow {
  const workload = pod.workload ?? guessedWorkload(pod);
  return {
    source: 'kubernetes',
    allocation_id: pod.uid,
    observed_at: at(nowS),
    cluster,
    namespace: pod.namespace,
    user_name: pod.user,
    workload_kind: workload.kind,
    workload_name: workload.name,
    labels: pod.session === undefined ? pod.labels : { [SESSION_LABEL]: pod.session, ...pod.labels },
    submitted_at: at(pod.createdS),
  };
}

function at(seconds: number): Date {
  return new Date(seconds * 1000);
}
