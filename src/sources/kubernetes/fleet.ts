import { OperationError } from '../../facts/operation-error.ts';
import type { FactRow, Skipped } from '../../facts/source.ts';
import type { Connection } from './api/connection.ts';
import { textAt } from './api/json-shape.ts';
import { listAll } from './api/list.ts';
import { catchUp } from './api/watch.ts';
import type { KubernetesCursor } from './cursor.ts';
import type { NodeKept } from './node/node-rows.ts';
import { goneRow, nodeChange } from './node/node-rows.ts';
import { readNode } from './node/node-seen.ts';
import { PodLedger } from './pod/pod-ledger.ts';

export interface ReadContext {
  readonly connection: Connection;
  readonly signal: AbortSignal;
  readonly nowS: number;
  readonly cluster: string;
  readonly progress: (line: string) => void;
}

/** How a collection was read. `listed`: what came and went in between was not seen; `behind`: there is more to be told. */
interface Reading {
  readonly how: 'watched' | 'behind' | 'listed';
  readonly version: string;
}

interface Collection {
  readonly path: string;
  readonly noun: string;
  readonly version: string | undefined;
  readonly onSeen: (json: unknown) => void;
  readonly onDeleted: (json: unknown) => void;
  /** After a list: who was in it. */
  readonly onListed: (uids: ReadonlySet<string>) => void;
}

/** Brings one collection up to date: by watching from where we were, or, where that is not possible, by a list. */
async function bringUpToDate(context: ReadContext, collection: Collection): Promise<Reading> {
  const { connection, signal } = context;
  const { path, noun, version } = collection;
  if (version !== undefined) {
    const watched = await watchFrom(context, collection, version);
    if (watched !== undefined) return watched;
  }
  const uids = new Set<string>();
  const listed = await listAll(connection, {
    path,
    what: `list ${noun}`,
    signal,
    onItems: (items) => {
      for (const item of items) {
        const uid = textAt(item, 'metadata', 'uid');
        if (uid !== undefined) uids.add(uid);
        collection.onSeen(item);
      }
      context.progress(`${uids.size} ${noun}`);
    },
  });
  collection.onListed(uids);
  return { how: 'listed', version: listed };
}

/** A watch that is refused, expired or broken is no misfortune: a list says the same, once. */
async function watchFrom(
  { connection, signal }: ReadContext,
  { path, noun, onSeen, onDeleted }: Collection,
  resourceVersion: string,
): Promise<Reading | undefined> {
  try {
    const watched = await catchUp(connection, {
      path,
      what: `watch ${noun}`,
      resourceVersion,
      signal,
      onEvent: ({ type, object }) => (type === 'seen' ? onSeen(object) : onDeleted(object)),
    });
    if (watched.state === 'expired') return undefined;
    return { how: watched.state === 'behind' ? 'behind' : 'watched', version: watched.resourceVersion };
  } catch (failure) {
    const code = failure instanceof OperationError ? failure.code : '';
    if (code === 'kubernetes-watch' || code === 'kubernetes-forbidden') return undefined;
    throw failure;
  }
}

export interface PodsRead extends Reading {
  readonly ledger: PodLedger;
}

/** The pods with GPUs, and which of them ended since the cursor. */
export async function readPods(context: ReadContext, before: KubernetesCursor | undefined): Promise<PodsRead> {
  const ledger = new PodLedger({ live: before?.pods ?? [], leaving: before?.leaving ?? {} }, context.nowS);
  const reading = await bringUpToDate(context, {
    path: '/api/v1/pods',
    noun: 'pods',
    version: before?.podsVersion,
    onSeen: (json) => ledger.seen(json),
    onDeleted: (json) => ledger.deleted(json),
    onListed: (uids) => ledger.vanished(uids, before?.seenS ?? context.nowS),
  });
  return { ...reading, ledger };
}

export interface NodesRead {
  readonly nodes: ReadonlyMap<string, NodeKept>;
  readonly rows: readonly FactRow[];
  /** Undefined where nodes may not be read. */
  readonly version?: string;
  readonly skipped: readonly Skipped[];
}

/** The nodes, and the rows of what changed about them. Without the right to read them, holdings still stand. */
export async function readNodes(context: ReadContext, before: KubernetesCursor | undefined): Promise<NodesRead> {
  const nodes = new Map((before?.nodes ?? []).map((node) => [node.name, node]));
  const rows: FactRow[] = [];
  const { nowS, cluster } = context;
  const remove = (node: NodeKept, untilS: number): void => {
    nodes.delete(node.name);
    rows.push(goneRow(node, untilS, nowS, cluster));
  };
  try {
    const { version } = await bringUpToDate(context, {
      path: '/api/v1/nodes',
      noun: 'nodes',
      version: before?.nodesVersion,
      onSeen: (json) => {
        const seen = readNode(json);
        if (seen === undefined) return;
        const change = nodeChange(nodes.get(seen.name), seen, nowS, cluster);
        nodes.set(seen.name, change.kept);
        rows.push(...change.rows);
      },
      onDeleted: (json) => {
        const known = nodes.get(textAt(json, 'metadata', 'name') ?? '');
        if (known !== undefined && known.uid === textAt(json, 'metadata', 'uid')) remove(known, nowS);
      },
      onListed: (uids) => {
        for (const node of nodes.values()) if (!uids.has(node.uid)) remove(node, before?.seenS ?? nowS);
      },
    });
    return { nodes, rows, version, skipped: [] };
  } catch (failure) {
    if (!(failure instanceof OperationError) || failure.code !== 'kubernetes-forbidden') throw failure;
    const skipped = { reason: 'nodes may not be read: no inventory from here', count: 1, example: failure.message };
    return { nodes, rows: [], skipped: [skipped] };
  }
}
