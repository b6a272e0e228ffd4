import { OperationError } from '../../facts/operation-error.ts';
import type { Advice, SourceHealth } from '../../facts/source.ts';
import type { Connection } from './api/connection.ts';
import { listAt, textAt } from './api/json-shape.ts';
import { listAll } from './api/list.ts';
import { OWNERS, roleCommand } from './api/problem.ts';
import { bodyOf, get, open } from './api/request.ts';
import type { Ask } from './api/request.ts';
import { readNode } from './node/node-seen.ts';

const CLOCKS_DIFFER_MS = 3000;

/** How is the cluster, what may be read of it, and what is missing? Throws what `get` throws where nothing can be read. */
export async function checkCluster(connection: Connection, signal: AbortSignal): Promise<SourceHealth> {
  const { body, aheadMs = 0 } = await get(connection, { path: '/version', what: 'ask for its version', signal }, [403]);
  const version = textAt(body, 'gitVersion') ?? 'of an unknown version';
  const pods = await get(connection, { path: '/api/v1/pods', query: { limit: '1' }, what: 'list pods', signal });
  const from = textAt(pods.body, 'metadata', 'resourceVersion') ?? '0';
  const nodes = await nodesOf(connection, signal);
  const advice = [
    ...(nodes.advice ?? []),
    ...(await watchAdvice(connection, from, signal)),
    ...(await ownerAdvice(connection, signal)),
    ...clockAdvice(aheadMs),
  ];
  const where = connection.context === undefined ? 'this cluster' : `context ${connection.context}`;
  const has = nodes.count === undefined ? 'nodes not readable' : `${nodes.count} nodes, ${nodes.gpus} GPUs`;
  const needed = advice.find(({ missing }) => missing.startsWith('may not'));
  return {
    state: needed === undefined ? 'ok' : 'partial',
    says: `Kubernetes ${version}, ${where}, ${has}${listAt(pods.body, 'items').length === 0 ? ', no pods' : ''}`,
    ...(needed !== undefined && { todo: needed.todo }),
    ...(nodes.gpus !== undefined && { gpus: nodes.gpus }),
    advice,
  };
}

interface NodesFound {
  readonly count?: number;
  readonly gpus?: number;
  readonly advice?: readonly Advice[];
}

async function nodesOf(connection: Connection, signal: AbortSignal): Promise<NodesFound> {
  let [count, gpus] = [0, 0];
  const refused = await refusalOf(() =>
    listAll(connection, {
      path: '/api/v1/nodes',
      what: 'list nodes',
      signal,
      onItems: (items) => {
        count += items.length;
        gpus += items.reduce((sum: number, item) => sum + (readNode(item)?.gpuCount ?? 0), 0);
      },
    }),
  );
  if (refused === undefined) return { count, gpus };
  const sharpens = 'which GPUs stand idle because nobody has them, what kind they are and how they are bought';
  return { advice: [{ missing: 'may not list nodes', sharpens, todo: refused.hint ?? '' }] };
}

async function watchAdvice(connection: Connection, from: string, signal: AbortSignal): Promise<readonly Advice[]> {
  const query = { watch: 'true', timeoutSeconds: '1', resourceVersion: from };
  const ask: Ask = { path: '/api/v1/pods', query, what: 'watch pods', signal };
  const response = await open(connection, ask);
  if (response.statusCode !== 403) {
    response.destroy();
    return [];
  }
  const refusal = textAt(await bodyOf(connection, ask, response), 'message') ?? '';
  return [
    {
      missing: 'may not watch pods',
      sharpens: 'pods that come and go between two polls, and when exactly a deleted pod ended',
      todo: roleCommand(connection, refusal),
    },
  ];
}

/** Owners are optional: without them a pod's own ownerReferences tell the nearest, which for most is enough. */
async function ownerAdvice(connection: Connection, signal: AbortSignal): Promise<readonly Advice[]> {
  const ask = { path: '/apis/apps/v1/replicasets', query: { limit: '1' }, what: 'list replicasets', signal };
  const { status, body } = await get(connection, ask, [403, 404]);
  if (status !== 403) return [];
  return [
    {
      missing: 'owners of pods cannot be read',
      sharpens: 'CronJobs, RayJobs and others that own a pod through something in between',
      todo: roleCommand(connection, textAt(body, 'message') ?? '', OWNERS),
    },
  ];
}

function clockAdvice(aheadMs: number): readonly Advice[] {
  if (Math.abs(aheadMs) < CLOCKS_DIFFER_MS) return [];
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  return [
    {
      missing: `this machine's clock is ${seconds} s ${aheadMs > 0 ? 'behind' : 'ahead of'} the cluster's`,
      sharpens: 'nothing that is read from here, which goes by the cluster; other sources may differ',
      todo: 'set the clock by NTP (timedatectl set-ntp true)',
    },
  ];
}

async function refusalOf(work: () => Promise<unknown>): Promise<OperationError | undefined> {
  try {
    await work();
    return undefined;
  } catch (failure) {
    if (failure instanceof OperationError && failure.code === 'kubernetes-forbidden') return failure;
    throw failure;
  }
}
