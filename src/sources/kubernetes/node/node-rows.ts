import type { FactRow } from '../../../facts/source.ts';
import type { NodeSeen } from './node-seen.ts';

/** A node as it was last seen, with the first second of the row that is in force. */
export interface NodeKept extends NodeSeen {
  readonly rowFromS: number;
}

/** What a change of a node writes, and what is kept of it. */
export interface NodeChange {
  readonly kept: NodeKept;
  readonly rows: readonly FactRow[];
}

/**
 * The rows that follow from seeing a node, given how it was seen before.
 *
 * One row for each stretch of one state; a row lasts to the next of its node. What was unknown before (a model, a count, a zone) is
 * filled in from the row's beginning; a count that changes begins a new row, because the machine was rebuilt or cut anew.
 */
export function nodeChange(before: NodeKept | undefined, seen: NodeSeen, nowS: number, cluster: string): NodeChange {
  if (before === undefined) return firstSight(seen, nowS, cluster);
  if (before.uid !== seen.uid) {
    const { kept, rows } = firstSight(seen, nowS, cluster);
    const goneS = Math.max(before.rowFromS, Math.min(nowS, seen.createdS));
    return { kept, rows: [nodeRow(before, nowS, cluster, goneS), ...rows] };
  }
  // A device plugin that has died offers nothing; the GPUs are still in the machine, and paid for.
  const isSilent = (seen.gpuCount ?? 0) === 0 && (before.gpuCount ?? 0) > 0;
  const now: NodeSeen = isSilent ? { ...seen, gpuCount: before.gpuCount ?? 0, gpus: before.gpus } : seen;
  const rowFromS = rowStart(before, now, nowS);
  const kept = { ...now, rowFromS };
  const row = nodeRow(kept, nowS, cluster);
  return { kept, rows: isSame(before, kept) ? [] : [row] };
}

/** When a node is gone: its row ends. */
export function goneRow(before: NodeKept, untilS: number, nowS: number, cluster: string): FactRow {
  return nodeRow(before, nowS, cluster, Math.max(untilS, before.rowFromS));
}

/** A node that was in another state than `up` when it was first seen is taken to have been up before that. */
function firstSight(seen: NodeSeen, nowS: number, cluster: string): NodeChange {
  const sinceS = seen.stateSinceS ?? nowS;
  if (seen.state === 'up' || sinceS <= seen.createdS) {
    const kept = { ...seen, rowFromS: seen.createdS };
    return { kept, rows: [nodeRow(kept, nowS, cluster)] };
  }
  const kept = { ...seen, rowFromS: sinceS };
  return {
    kept,
    rows: [nodeRow({ ...seen, state: 'up', rowFromS: seen.createdS }, nowS, cluster), nodeRow(kept, nowS, cluster)],
  };
}

function rowStart(before: NodeKept, now: NodeSeen, nowS: number): number {
  if (before.state !== now.state) return Math.max(before.rowFromS, now.stateSinceS ?? nowS);
  const isRebuilt = (before.gpuCount ?? 0) > 0 && before.gpuCount !== now.gpuCount;
  return isRebuilt ? Math.max(before.rowFromS, nowS) : before.rowFromS;
}

/** Whether a row would say the same: when a state began is not news while the state is the same. */
function isSame(before: NodeKept, kept: NodeKept): boolean {
  const told = ({ stateSinceS: _since, ...rest }: NodeKept): string => JSON.stringify(sorted(rest));
  return told(before) === told(kept);
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => [key, sorted(each)]),
  );
}

function nodeRow(node: NodeKept, nowS: number, cluster: string, untilS?: number): FactRow {
  return {
    node_id: node.name,
    present_from: new Date(node.rowFromS * 1000),
    present_until: untilS === undefined ? undefined : new Date(untilS * 1000),
    resource_id: node.resourceId,
    provider: node.provider,
    region: node.region,
    zone: node.zone,
    instance_type: node.instanceType,
    purchase: node.purchase,
    cluster,
    gpu_count: node.gpuCount,
    vcpu: node.vcpu,
    memory_bytes: node.memoryBytes,
    state: node.state,
    presence: 'inventory',
    model: node.gpus.model,
    tags: node.tags,
    observed_at: new Date(nowS * 1000),
  };
}
