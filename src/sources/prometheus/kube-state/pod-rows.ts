import { SHARE_UNITS } from '../../../facts/column.ts';
import type { FactRow, HolderHint } from '../../../facts/source.ts';
import { isThereAtEnd, type KubeWindow } from './kube-reading.ts';
import { isOver, type GpuPod } from './read-pods.ts';

export interface PodRows {
  readonly allocations: readonly FactRow[];
  /** In the order of the allocations: what tells which devices a pod has. */
  readonly hints: readonly HolderHint[];
  readonly waiting: readonly FactRow[];
}

/** Who holds what in the window, and who waits at its end? One row a pod; its devices are named by telemetry. */
export function podRows(
  pods: readonly GpuPod[],
  window: KubeWindow,
  options: {
    readonly cluster: string | undefined;
    readonly pollS: number;
    /** How often each GPU of a machine is handed out. */
    readonly replicas?: ReadonlyMap<string, number>;
  },
): PodRows {
  const allocations: FactRow[] = [];
  const hints: HolderHint[] = [];
  const waiting: FactRow[] = [];
  for (const pod of pods) {
    const common = {
      source: 'kubernetes',
      allocation_id: pod.uid ?? `${pod.namespace}/${pod.name}`,
      cluster: options.cluster,
      namespace: pod.namespace,
      workload_kind: pod.owner?.kind ?? 'Pod',
      workload_name: pod.owner?.name ?? pod.name,
      labels: pod.labels,
      submitted_at: timeOf(pod.createdS),
      observed_at: new Date(window.untilMs),
    };
    const gpuCount = Math.round([...pod.gpus.values()].reduce((sum, count) => sum + count, 0));
    if (gpuCount === 0) continue;
    const held = heldSpan(pod, window);
    if (held !== undefined) {
      allocations.push({
        ...common,
        attempt: 0,
        slot: 0,
        node_id: pod.node,
        held_from: timeOf(held.fromS),
        held_until: timeOf(held.untilS),
        poll_s: options.pollS,
        gpu_count: gpuCount,
        ...sharingOf(pod, options.replicas?.get(pod.node ?? '') ?? 1),
        cpu_millis: pod.cpuMillis,
        memory_bytes: pod.memoryBytes,
        outcome: outcomeOf(pod, held.untilS),
      });
      hints.push({ pod: { namespace: pod.namespace, name: pod.name } });
    } else if (isWaiting(pod, window)) {
      waiting.push({
        ...common,
        submitted_at: timeOf(pod.createdS ?? pod.firstS),
        gpu_count: gpuCount,
        held_back_by: pod.isUnschedulable === true ? 'Unschedulable' : pod.reason,
      });
    }
  }
  return { allocations, hints, waiting };
}

/**
 * From when to when did the pod hold its GPUs? Undefined if it did not in this window.
 *
 * A pod holds from the moment it is bound to a machine to the end of its containers. One that vanishes without a word held to
 * its last sample and a step more; the time of its deletion is a deadline, and only sharpens that step. Where nothing gives a
 * beginning that is the same on every day, the span is cut at the window's ends.
 */
export function heldSpan(pod: GpuPod, window: KubeWindow): { fromS: number; untilS?: number } | undefined {
  const [windowFromS, windowUntilS] = [window.fromMs / 1000, window.untilMs / 1000];
  const statedS = pod.scheduledS ?? pod.startedS;
  if (pod.node === undefined && statedS === undefined) return undefined;
  const seenS = pod.firstS - windowFromS <= 2 * window.stepS ? windowFromS : pod.firstS;
  const fromS = statedS ?? seenS;
  const endS = endOf(pod, window);
  // Who left in a silence that began on the day before is held on by that day's row, which begins the same: this one ends it.
  const toldFromS =
    statedS === undefined ? windowFromS : Math.min(windowFromS, (window.heardFromMs ?? Infinity) / 1000);
  if (endS !== undefined && (endS <= toldFromS || endS <= fromS)) return undefined;
  if (fromS >= windowUntilS) return undefined;
  if (endS !== undefined) return { fromS, untilS: endS };
  return statedS === undefined && isWholeDay(window) ? { fromS, untilS: windowUntilS } : { fromS };
}

function endOf(pod: GpuPod, window: KubeWindow): number | undefined {
  if (pod.completedS !== undefined) return pod.completedS;
  if (isOver(pod.phase)) return pod.overS ?? pod.lastS;
  if (isThereAtEnd(pod.lastS, window)) return undefined;
  const lastS = pod.lastS + window.stepS;
  return pod.deletionS !== undefined && pod.deletionS >= pod.lastS ? Math.min(pod.deletionS, lastS) : lastS;
}

function isWholeDay({ untilMs }: KubeWindow): boolean {
  return untilMs % 86_400_000 === 0;
}

function isWaiting(pod: GpuPod, window: KubeWindow): boolean {
  const isPending = pod.phase === undefined || pod.phase === 'Pending';
  return isPending && pod.node === undefined && isThereAtEnd(pod.lastS, window);
}

/** A GPU that is handed out several times is shared, whether its resource has a name of its own or not. */
function sharingOf(pod: GpuPod, replicas: number): FactRow {
  const resources = [...pod.gpus.keys()];
  if (resources.some((resource) => resource.startsWith('nvidia_com_mig'))) return { isolation: 'mig' };
  if (replicas > 1) return { isolation: 'time-slice', share_units: Math.round(SHARE_UNITS / replicas) };
  return { isolation: resources.some((resource) => resource.endsWith('shared')) ? 'time-slice' : 'whole' };
}

const OUTCOMES: Readonly<Record<string, string>> = {
  Evicted: 'preempted',
  Preempting: 'preempted',
  NodeLost: 'node-fail',
  NodeAffinity: 'node-fail',
  Shutdown: 'node-fail',
};

function outcomeOf({ phase, reason }: GpuPod, untilS: number | undefined): string | undefined {
  if (phase === 'Succeeded') return 'completed';
  if (phase === 'Failed') return OUTCOMES[reason ?? ''] ?? 'failed';
  return untilS === undefined ? 'running' : undefined;
}

function timeOf(seconds: number | undefined): Date | undefined {
  return seconds === undefined ? undefined : new Date(Math.round(seconds) * 1000);
}
