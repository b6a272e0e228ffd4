import type { FactRow, FactRows, Haul, HolderHint, PullRequest } from '../../facts/source.ts';
import type { Connection } from './api/connection.ts';
import { get } from './api/request.ts';
import { readCursor } from './cursor.ts';
import type { KubernetesCursor } from './cursor.ts';
import { readNodes, readPods } from './fleet.ts';
import type { NodesRead, PodsRead, ReadContext } from './fleet.ts';
import { kueueWaiting } from './owner/kueue-waiting.ts';
import { ownerLookup } from './owner/owner-lookup.ts';
import type { OwnerMemory } from './owner/owner-lookup.ts';
import { withWorkloads } from './owner/resolve-workloads.ts';
import { holdingRows, waitingRow } from './pod/pod-rows.ts';
import type { EndedPod, RowContext } from './pod/pod-rows.ts';
import type { PodSeen } from './pod/pod-seen.ts';

export interface PullOptions {
  readonly cluster: string;
  readonly pollS: number;
  readonly memory: OwnerMemory;
}

/** A Date header has whole seconds, and a request takes its time: less than this is no difference of clocks. */
const CLOCKS_DIFFER_MS = 3000;
/** A list shows ends again that an earlier pull has told; those this much older than the last look are among them. */
const LATE_S = 300;

/**
 * One haul: what the cluster has, what ended since the cursor, what waits.
 *
 * 1. Pods and nodes are brought up to date, by a watch from the cursor's versions, else by a list.
 * 2. Owners of new pods are followed to the top.
 * 3. Open holdings replace each other, ended ones are added to the day they ended on.
 */
export async function pullOnce(
  connection: Connection,
  cursor: unknown,
  request: PullRequest,
  { cluster, pollS, memory }: PullOptions,
): Promise<Haul> {
  const { signal, progress, now } = request;
  const before = readCursor(cursor, connection.server);
  const nowS = Math.floor((now.getTime() + (await clockAheadMs(connection, signal))) / 1000);
  const context: ReadContext = { connection, signal, nowS, cluster, progress };
  const [pods, nodes] = await Promise.all([readPods(context, before), readNodes(context, before)]);

  const lookup = ownerLookup(connection, memory, signal);
  const live = await withWorkloads([...pods.ledger.live.values()], lookup);
  const told = newlyEnded(pods, before, request.since);
  const owned = await withWorkloads(
    told.map(({ pod }) => pod),
    lookup,
  );
  const ended = told.map((each, place): EndedPod => ({ ...each, pod: owned[place] ?? each.pod }));
  const queued = await kueueWaiting(connection, memory, { signal, nowS, cluster });

  const gone = new Map(before?.nodes.map((node) => [node.name, node]));
  const gpusOf: RowContext['gpusOf'] = (node) => (nodes.nodes.get(node) ?? gone.get(node))?.gpus;
  const rows: RowContext = { cluster, nowS, pollS, gpusOf };
  return {
    facts: [...holdingFacts(live, ended, rows), waitingFacts(live, queued, rows), ...nodeFacts(nodes)],
    skipped: [...pods.ledger.skipped, ...nodes.skipped],
    gaps: gapsOf(pods, before, nowS, pollS),
    cursor: nextCursor(connection.server, { live, pods, nodes, nowS }),
    coveredUntil: pods.how === 'behind' && before !== undefined ? new Date(before.seenS * 1000) : now,
    gpus: { seen: gpusIn(nodes), notRead: 0 },
  };
}

/** Times of pods are the cluster's; ours are brought to its clock where the two differ. */
async function clockAheadMs(connection: Connection, signal: AbortSignal): Promise<number> {
  const { aheadMs = 0 } = await get(connection, { path: '/version', what: 'ask for its version', signal }, [403]);
  return Math.abs(aheadMs) < CLOCKS_DIFFER_MS ? 0 : aheadMs;
}

function newlyEnded(
  { ledger, how }: PodsRead,
  before: KubernetesCursor | undefined,
  since?: Date,
): readonly EndedPod[] {
  if (how !== 'listed') return ledger.ended;
  const known = new Set(before?.pods.map(({ uid }) => uid));
  const fromS = before === undefined ? (since?.getTime() ?? 0) / 1000 : before.seenS - LATE_S;
  return ledger.ended.filter(({ pod, untilS }) => known.has(pod.uid) || untilS >= fromS);
}

function holdingFacts(live: readonly PodSeen[], ended: readonly EndedPod[], context: RowContext): readonly FactRows[] {
  const days = new Map<string, { rows: FactRow[]; hints: (HolderHint | undefined)[] }>();
  for (const each of ended) {
    const day = new Date(each.untilS * 1000).toISOString().slice(0, 10);
    const of = days.get(day) ?? { rows: [], hints: [] };
    const { rows, hints } = holdingRows(each.pod, context, each);
    of.rows.push(...rows);
    of.hints.push(...hints);
    days.set(day, of);
  }
  const open = live.map((pod) => holdingRows(pod, context));
  return [
    {
      table: 'allocation',
      batch: 'open',
      mode: 'replace',
      rows: open.flatMap(({ rows }) => rows),
      hints: open.flatMap(({ hints }) => hints),
    },
    ...[...days].map(([day, { rows, hints }]): FactRows => {
      return { table: 'allocation', batch: `ended/${day}`, mode: 'extend', rows, hints };
    }),
  ];
}

function waitingFacts(live: readonly PodSeen[], queued: readonly FactRow[], context: RowContext): FactRows {
  const waiting = live.filter(({ node }) => node === undefined).map((pod) => waitingRow(pod, context));
  return { table: 'waiting', batch: 'waiting', mode: 'replace', rows: [...waiting, ...queued] };
}

function nodeFacts({ rows }: NodesRead): readonly FactRows[] {
  return rows.length === 0 ? [] : [{ table: 'node', batch: 'nodes', mode: 'extend', rows }];
}

/** After a list that should have been a watch: pods that came and went in between are not known. */
function gapsOf(
  { how }: PodsRead,
  before: KubernetesCursor | undefined,
  nowS: number,
  pollS: number,
): NonNullable<Haul['gaps']> {
  if (how !== 'listed' || before === undefined || nowS - before.seenS <= 2 * pollS) return [];
  const reason = 'the cluster was not watched: pods that came and went in this time are not known';
  return [{ from: new Date(before.seenS * 1000), until: new Date(nowS * 1000), reason }];
}

function nextCursor(
  server: string,
  { live, pods, nodes, nowS }: { live: readonly PodSeen[]; pods: PodsRead; nodes: NodesRead; nowS: number },
): KubernetesCursor {
  return {
    format: 1,
    server,
    seenS: nowS,
    podsVersion: pods.version,
    ...(nodes.version !== undefined && { nodesVersion: nodes.version }),
    pods: live,
    leaving: Object.fromEntries(pods.ledger.leaving),
    nodes: [...nodes.nodes.values()],
  };
}

function gpusIn({ nodes }: NodesRead): number {
  return [...nodes.values()].reduce((sum, { gpuCount = 0 }) => sum + gpuCount, 0);
}
