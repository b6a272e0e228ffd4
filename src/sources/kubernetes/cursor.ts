import { z } from 'zod';
import type { NodeKept } from './node/node-rows.ts';
import type { PodSeen } from './pod/pod-seen.ts';

/** Where a pull left off: the versions to watch from, and what is needed to close what vanishes. */
export interface KubernetesCursor {
  readonly format: 1;
  /** Whose the versions are: elsewhere they mean something else. */
  readonly server: string;
  /** When the cluster was last read, on its own clock. */
  readonly seenS: number;
  /** Undefined where the next pull has to list. */
  readonly podsVersion?: string;
  readonly nodesVersion?: string;
  readonly pods: readonly PodSeen[];
  readonly leaving: Readonly<Record<string, number>>;
  readonly nodes: readonly NodeKept[];
}

const texts = z.record(z.string(), z.string());
const workload = z.object({ kind: z.string(), name: z.string() });

const ask = z.object({
  count: z.number(),
  isolation: z.enum(['whole', 'mig', 'time-slice', 'fraction']),
  migProfile: z.string().optional(),
  shareUnits: z.number().optional(),
  memoryMib: z.number().optional(),
});

const pod = z.object({
  uid: z.string(),
  namespace: z.string(),
  name: z.string(),
  createdS: z.number(),
  node: z.string().optional(),
  boundS: z.number().optional(),
  asks: z.array(ask),
  cpuMillis: z.number().optional(),
  memoryBytes: z.number().optional(),
  labels: texts,
  user: z.string().optional(),
  owner: workload.extend({ apiVersion: z.string(), uid: z.string() }).optional(),
  workload: workload.optional(),
  ownersRead: z.literal(true).optional(),
  model: z.string().optional(),
  heldBackBy: z.string().optional(),
  deleteAskedS: z.number().optional(),
});

const node = z.object({
  name: z.string(),
  uid: z.string(),
  createdS: z.number(),
  rowFromS: z.number(),
  state: z.enum(['up', 'down', 'drained']),
  stateSinceS: z.number().optional(),
  resourceId: z.string().optional(),
  provider: z.string().optional(),
  region: z.string().optional(),
  zone: z.string().optional(),
  instanceType: z.string().optional(),
  purchase: z.enum(['on-demand', 'spot', 'committed']).optional(),
  gpuCount: z.number().optional(),
  gpus: z.object({
    model: z.string().optional(),
    memoryMib: z.number().optional(),
    replicas: z.number().optional(),
    migProfile: z.string().optional(),
  }),
  vcpu: z.number().optional(),
  memoryBytes: z.number().optional(),
  tags: texts,
});

const cursor = z.object({
  format: z.literal(1),
  server: z.string(),
  seenS: z.number(),
  podsVersion: z.string().optional(),
  nodesVersion: z.string().optional(),
  pods: z.array(pod),
  leaving: z.record(z.string(), z.number()),
  nodes: z.array(node),
});

/**
 * The cursor of an earlier pull; one of another shape is none, and all is listed.
 *
 * Under another address only its versions are dropped: pods that are not there have then ended, whether the cluster has moved or was
 * exchanged for another, since no two pods have the same uid.
 */
export function readCursor(value: unknown, server: string): KubernetesCursor | undefined {
  const read = cursor.safeParse(value);
  if (!read.success) return undefined;
  const { podsVersion: _pods, nodesVersion: _nodes, ...rest } = read.data;
  return (read.data.server === server ? read.data : rest) as KubernetesCursor;
}
