import type { FactRow, Skipped } from '../../../facts/source.ts';
import type { NodeEvent, SlurmNode } from '../parse/slurm-node.ts';
import { nodeState } from '../parse/slurm-node.ts';

interface NodeRowsContext {
  /** Seconds since 1970. */
  readonly now: number;
  readonly cluster?: string;
  /** When a machine was first seen in the state it is in, for states of which nobody else remembers the beginning. */
  readonly seenSince: (node: string) => number;
  /** Since when a machine is there, if it came while we looked. */
  readonly presentSince: (node: string) => number | undefined;
}

/**
 * Machines as rows of `node`: one for each stretch of time in one state, from what slurmdbd remembers of outages and what slurmctld
 * says now. A machine that is switched off in a cloud is not paid for, so it is left out and counted.
 */
export function nodeRows(
  nodes: readonly SlurmNode[],
  events: readonly NodeEvent[],
  context: NodeRowsContext,
): { rows: readonly FactRow[]; skipped: readonly Skipped[] } {
  const byNode = new Map<string, NodeEvent[]>();
  for (const event of events) {
    if (event.node === undefined) continue;
    const list = byNode.get(event.node) ?? [];
    list.push(event);
    byNode.set(event.node, list);
  }
  const absent = nodes.filter(({ states }) => nodeState(states) === 'absent');
  const rows = nodes
    .filter((node) => !absent.includes(node))
    .flatMap((node) =>
      stretchesOf(node, byNode.get(node.name) ?? [], context).map((each) => nodeRow(node, each, context)),
    );
  const example = absent[0]?.name ?? '';
  const reason = 'nodes that are switched off or only planned: they are not there';
  return { rows, skipped: absent.length === 0 ? [] : [{ reason, count: absent.length, example }] };
}

interface Stretch {
  /** Undefined: since before we look. */
  readonly from?: number;
  readonly until?: number;
  readonly state: string;
  readonly reason?: string;
}

/** In time order and without overlap; what lies between outages was up. The last stretch is what slurmctld says now. */
function stretchesOf(node: SlurmNode, events: readonly NodeEvent[], context: NodeRowsContext): readonly Stretch[] {
  const now = nodeState(node.states);
  const stretches: Stretch[] = [];
  let reached = context.presentSince(node.name);
  for (const event of events.toSorted((a, b) => a.from - b.from)) {
    const state = nodeState(event.states);
    if (state === 'up' || state === 'absent') continue;
    const from = reached === undefined ? event.from : Math.max(event.from, reached);
    const until = event.until;
    if (until !== undefined && until <= from) continue;
    if (reached === undefined || from > reached) stretches.push(stretch(reached, from, 'up'));
    const reason = event.reason === undefined ? {} : { reason: event.reason };
    if (until === undefined && now !== 'up') return [...stretches, { from, state: now, ...reason }];
    // Slurmctld has it back, and nobody has told since when: at the latest since now.
    const ended = until ?? Math.max(from, context.now);
    if (ended > from) stretches.push({ ...stretch(from, ended, state), ...reason });
    reached = ended;
  }
  if (now === 'up') return [...stretches, { ...(reached !== undefined && { from: reached }), state: now }];
  // Out of service, and slurmdbd has not heard of it: since its reason was given, or since we first saw it so.
  const began = node.reasonSince ?? context.seenSince(node.name);
  const from = reached === undefined ? began : Math.max(began, reached);
  const reason = node.reason === undefined ? {} : { reason: node.reason };
  return [...stretches, ...(reached === from ? [] : [stretch(reached, from, 'up')]), { from, state: now, ...reason }];
}

function stretch(from: number | undefined, until: number, state: string): Stretch {
  return { ...(from !== undefined && { from }), until, state };
}

function nodeRow(node: SlurmNode, { from, until, state, reason }: Stretch, context: NodeRowsContext): FactRow {
  const tags = {
    ...(node.partitions.length > 0 && { partition: node.partitions.join(',') }),
    ...(node.features.length > 0 && { features: node.features.join(',') }),
    ...(reason !== undefined && { reason }),
  };
  return {
    node_id: node.name,
    ...(from !== undefined && { present_from: new Date(from * 1000) }),
    ...(until !== undefined && { present_until: new Date(until * 1000) }),
    ...(context.cluster !== undefined && { cluster: context.cluster }),
    ...(node.gpus !== undefined && { gpu_count: node.gpus }),
    ...(node.cpus !== undefined && { vcpu: node.cpus }),
    ...(node.memoryMib !== undefined && { memory_bytes: node.memoryMib * 1024 ** 2 }),
    state,
    presence: 'inventory',
    ...(node.models.length === 1 && { model: node.models[0] }),
    ...(Object.keys(tags).length > 0 && { tags }),
  };
}
