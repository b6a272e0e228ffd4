import { createHash } from 'node:crypto';
import type { FactRow, FactRows, Skipped } from '../../facts/source.ts';
import type { SlurmNode } from './parse/slurm-node.ts';
import { nodeState } from './parse/slurm-node.ts';
import { nodeRows } from './rows/node-rows.ts';
import type { SlurmCursor } from './slurm-cursor.ts';
import type { SlurmReader } from './slurm-reader.ts';

/** Outages are asked for anew this often even if nothing seems to have changed. */
const EVENTS_EVERY_S = 3600;

export interface NodeFacts {
  readonly facts: readonly FactRows[];
  readonly skipped: readonly Skipped[];
}

interface NodeContext {
  readonly now: number;
  readonly cluster?: string;
  readonly signal: AbortSignal;
}

/**
 * Machines as facts, if anything about them is new, and what the cursor has to remember of them.
 *
 * A machine that turns up later is there since then; one that has gone (or was switched off, in a cloud) was there until it was last
 * seen. slurmctld tells neither, so the cursor remembers who was there.
 */
export async function nodeFacts(
  reader: SlurmReader,
  nodes: readonly SlurmNode[],
  cursor: SlurmCursor,
  { now, cluster, signal }: NodeContext,
): Promise<NodeFacts> {
  const known = cursor.nodes;
  const mark = markOf(nodes);
  if (mark === known.mark && now - known.readAt < EVENTS_EVERY_S) return { facts: [], skipped: [] };
  const here = nodes.filter(({ states }) => nodeState(states) !== 'absent');
  const gone = goneRows(here, cursor, cluster);
  const isFirst = known.readAt === 0;
  const present: SlurmCursor['nodes']['present'] = {};
  const since: SlurmCursor['nodes']['since'] = {};
  for (const node of here) {
    const before = known.present[node.name];
    const from = before?.[2] ?? (before === undefined ? arrivalOf(node, isFirst, now) : null);
    present[node.name] = [node.gpus ?? 0, node.models.length === 1 ? (node.models[0] ?? '') : '', from];
    const state = nodeState(node.states);
    const seen = known.since[node.name];
    if (state !== 'up') since[node.name] = seen?.[0] === state ? seen : [state, now];
  }
  const events = await reader.events(cursor.readFrom, signal);
  const { rows, skipped } = nodeRows(nodes, events.items, {
    now,
    ...(cluster !== undefined && { cluster }),
    seenSince: (name) => since[name]?.[1] ?? now,
    presentSince: (name) => present[name]?.[2] ?? undefined,
  });
  cursor.nodes = { readAt: now, mark, present, since };
  return {
    facts: [
      { table: 'node', batch: 'nodes', mode: 'replace', rows },
      ...(gone.length === 0 ? [] : [{ table: 'node', batch: 'nodes-gone', mode: 'extend', rows: gone } as const]),
    ],
    skipped: [...skipped, ...events.skipped],
  };
}

/** A cloud machine is there since it was started; on first contact an own one since before we looked. */
function arrivalOf(node: SlurmNode, isFirst: boolean, now: number): number | null {
  if (node.states.includes('CLOUD')) return node.bootedAt ?? now;
  return isFirst ? null : now;
}

function goneRows(here: readonly SlurmNode[], cursor: SlurmCursor, cluster: string | undefined): FactRow[] {
  const names = new Set(here.map(({ name }) => name));
  return Object.entries(cursor.nodes.present)
    .filter(([name]) => !names.has(name))
    .map(([name, [gpus, model, from]]) => ({
      node_id: name,
      ...(from !== null && { present_from: new Date(from * 1000) }),
      present_until: new Date(cursor.nodes.readAt * 1000),
      gpu_count: gpus,
      presence: 'inventory',
      ...(model !== '' && { model }),
      ...(cluster !== undefined && { cluster }),
    }));
}

function markOf(nodes: readonly SlurmNode[]): string {
  const summary = nodes.map(({ name, states, gpus, models, reason, partitions }) => [
    name,
    nodeState(states),
    gpus,
    models,
    reason,
    partitions,
  ]);
  return createHash('sha256').update(JSON.stringify(summary)).digest('hex').slice(0, 16);
}
