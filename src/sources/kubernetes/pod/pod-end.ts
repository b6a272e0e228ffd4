import { at, listAt, numberAt, secondsAt, textAt } from '../api/json-shape.ts';

/** How a holding ended, in the words of docs/FACTS.md. */
export type PodOutcome = 'completed' | 'failed' | 'cancelled' | 'preempted' | 'timeout' | 'node-fail' | 'out-of-memory';

/** What a pod says about its end. Times are seconds since 1970. */
export interface PodEnd {
  /** Succeeded or Failed: its GPUs are free. */
  readonly isOver: boolean;
  /** When the last of its containers ended, or what comes closest to that; undefined if it says nothing. */
  readonly endedS?: number;
  /** When somebody asked for it to be deleted. It keeps its GPUs until its containers have ended. */
  readonly deleteAskedS?: number;
  /** When its patience is over. In the last word on a pod, patience is 0: then it is the second in which the server let it go. */
  readonly goneByS?: number;
  /** What it ended by, deletions left aside. */
  readonly outcome?: PodOutcome;
}

/** How and when did this pod end, as far as it tells? */
export function podEnd(pod: unknown): PodEnd {
  const phase = textAt(pod, 'status', 'phase');
  const isOver = phase === 'Succeeded' || phase === 'Failed';
  const deletionS = secondsAt(pod, 'metadata', 'deletionTimestamp');
  const graceS = numberAt(pod, 'metadata', 'deletionGracePeriodSeconds') ?? 0;
  const endedS = isOver ? endOfContainers(pod) : undefined;
  const outcome = outcomeOf(pod, phase);
  return {
    isOver,
    ...(endedS !== undefined && { endedS }),
    ...(deletionS !== undefined && { deleteAskedS: deletionS - graceS, goneByS: deletionS }),
    ...(outcome !== undefined && { outcome }),
  };
}

/** A node that was lost never told when its containers ended: then the moment somebody noticed has to do. */
function endOfContainers(pod: unknown): number | undefined {
  const statuses = ['containerStatuses', 'initContainerStatuses'].flatMap((list) => listAt(pod, 'status', list));
  const ends = statuses.map((status) => secondsAt(status, 'state', 'terminated', 'finishedAt'));
  const known = ends.filter((end) => end !== undefined);
  const isComplete = known.length > 0 && statuses.every((status) => at(status, 'state', 'running') === undefined);
  if (isComplete) return Math.max(...known);
  const noticed = listAt(pod, 'status', 'conditions')
    .filter((condition) => {
      const [type, status] = [textAt(condition, 'type'), textAt(condition, 'status')];
      return (type === 'DisruptionTarget' && status === 'True') || (type === 'Ready' && status === 'False');
    })
    .map((condition) => secondsAt(condition, 'lastTransitionTime'))
    .filter((time) => time !== undefined);
  return noticed.length > 0 ? Math.max(...noticed, ...known) : undefined;
}

const BY_DISRUPTION: Readonly<Record<string, PodOutcome>> = {
  PreemptionByScheduler: 'preempted',
  EvictionByEvictionAPI: 'preempted',
  TerminationByKubelet: 'preempted',
  DeletionByTaintManager: 'node-fail',
  DeletionByPodGC: 'node-fail',
};
const BY_REASON: Readonly<Record<string, PodOutcome>> = {
  DeadlineExceeded: 'timeout',
  NodeLost: 'node-fail',
  NodeShutdown: 'node-fail',
  Shutdown: 'node-fail',
  Terminated: 'node-fail',
  Evicted: 'preempted',
  Preempting: 'preempted',
};

function outcomeOf(pod: unknown, phase: string | undefined): PodOutcome | undefined {
  const disruption = listAt(pod, 'status', 'conditions').find(
    (condition) => textAt(condition, 'type') === 'DisruptionTarget' && textAt(condition, 'status') === 'True',
  );
  if (phase === 'Succeeded') return 'completed';
  const reason = textAt(pod, 'status', 'reason') ?? '';
  const told = BY_REASON[reason] ?? BY_DISRUPTION[textAt(disruption, 'reason') ?? ''];
  if (told !== undefined) return told;
  if (phase !== 'Failed') return undefined;
  const ranOutOfMemory = listAt(pod, 'status', 'containerStatuses').some(
    (status) => textAt(status, 'state', 'terminated', 'reason') === 'OOMKilled',
  );
  return ranOutOfMemory ? 'out-of-memory' : 'failed';
}
