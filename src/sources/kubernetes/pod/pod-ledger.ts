import type { Skipped } from '../../../facts/source.ts';
import type { PodEnd } from './pod-end.ts';
import type { EndedPod } from './pod-rows.ts';
import { readPod } from './pod-seen.ts';
import type { PodSeen } from './pod-seen.ts';

/**
 * The pods with GPUs that are there, carried from pull to pull, and those that ended on the way.
 *
 * Nothing here asks anybody: it is told what a list or a watch brought, in the order in which it came.
 */
export class PodLedger {
  readonly live: Map<string, PodSeen>;
  /** Pods that are over and still there, and when they were asked to go: their last word no longer tells. */
  readonly leaving: Map<string, number>;
  readonly #ended = new Map<string, EndedPod>();
  readonly #leftOut = new Map<string, { count: number; example: string }>();
  readonly #nowS: number;

  constructor(
    { live, leaving }: { readonly live: readonly PodSeen[]; readonly leaving: Readonly<Record<string, number>> },
    nowS: number,
  ) {
    this.live = new Map(live.map((pod) => [pod.uid, pod]));
    this.leaving = new Map(Object.entries(leaving));
    this.#nowS = nowS;
  }

  get ended(): readonly EndedPod[] {
    return [...this.#ended.values()];
  }

  /** A pod as it is now, or was at an event of the watch. */
  seen(json: unknown): void {
    const reading = readPod(json);
    if (reading.kind === 'left-out') this.#leaveOut(reading.reason, reading.name);
    if (reading.kind !== 'gpu') return;
    const pod = this.#merged(reading.pod);
    if (!reading.end.isOver) this.live.set(pod.uid, pod);
    else this.#end(pod, reading.end, reading.end.endedS ?? this.#nowS);
  }

  /** The last word of the watch on a pod that is gone. */
  deleted(json: unknown): void {
    const reading = readPod(json);
    if (reading.kind !== 'gpu') return;
    const { end } = reading;
    const untilS = end.endedS ?? Math.min(this.#nowS, end.goneByS ?? this.#nowS);
    this.#end(this.#merged(reading.pod), end, untilS);
    this.leaving.delete(reading.pod.uid);
  }

  /** Pods that were there when we last looked and are no longer; nobody saw how they ended. */
  vanished(uidsThere: ReadonlySet<string>, lastSeenS: number): void {
    for (const [uid, pod] of this.live) {
      if (uidsThere.has(uid)) continue;
      this.live.delete(uid);
      if (pod.boundS !== undefined) this.#ended.set(uid, { pod, untilS: Math.max(pod.boundS, lastSeenS) });
    }
    for (const uid of this.leaving.keys()) if (!uidsThere.has(uid)) this.leaving.delete(uid);
  }

  get skipped(): readonly Skipped[] {
    return [...this.#leftOut].map(([reason, { count, example }]) => ({ reason, count, example }));
  }

  /** What is known from before stays: who owns it, and when it was first bound or asked to go. */
  #merged(pod: PodSeen): PodSeen {
    const before = this.live.get(pod.uid) ?? this.#ended.get(pod.uid)?.pod;
    const deleteAskedS = before?.deleteAskedS ?? this.leaving.get(pod.uid) ?? pod.deleteAskedS;
    const boundS = pod.node !== undefined && before?.node === pod.node ? before.boundS : undefined;
    const [workload, user] = [pod.workload ?? before?.workload, pod.user ?? before?.user];
    return {
      ...pod,
      ...(boundS !== undefined && { boundS }),
      ...(deleteAskedS !== undefined && { deleteAskedS }),
      ...(workload !== undefined && { workload }),
      ...(user !== undefined && { user }),
      ...(before?.ownersRead === true && { ownersRead: true }),
    };
  }

  #end(pod: PodSeen, end: PodEnd, untilS: number): void {
    this.live.delete(pod.uid);
    // One that never had a machine held nothing.
    if (pod.boundS === undefined) return;
    if (pod.deleteAskedS !== undefined) this.leaving.set(pod.uid, pod.deleteAskedS);
    this.#ended.set(pod.uid, {
      pod,
      untilS: Math.max(pod.boundS, untilS),
      outcome: outcomeOf(pod, end, untilS),
    });
  }

  #leaveOut(reason: string, name: string): void {
    const before = this.#leftOut.get(reason);
    this.#leftOut.set(reason, { count: (before?.count ?? 0) + 1, example: before?.example ?? name });
  }
}

/**
 * Somebody who deletes a pod that still runs has cancelled it, however its containers then ended. What was over before it was
 * deleted ended by itself.
 */
function outcomeOf(pod: PodSeen, end: PodEnd, untilS: number): NonNullable<EndedPod['outcome']> {
  const { outcome } = end;
  if (outcome !== undefined && outcome !== 'completed' && outcome !== 'failed') return outcome;
  const askedS = pod.deleteAskedS;
  const ranOnS = askedS === undefined ? -1 : untilS - askedS;
  if (outcome === 'completed') return ranOnS > 0 ? 'cancelled' : 'completed';
  return ranOnS >= 0 || outcome === undefined ? 'cancelled' : 'failed';
}
