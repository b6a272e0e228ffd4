import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { watchEvent } from './api/watch-event.ts';
import { readCursor } from './cursor.ts';
import { nodeChange } from './node/node-rows.ts';
import { readNode } from './node/node-seen.ts';
import { workloadRow } from './owner/kueue-waiting.ts';
import { PodLedger } from './pod/pod-ledger.ts';
import { holdingRows, waitingRow } from './pod/pod-rows.ts';
import { quantity } from './pod/quantity.ts';

const numRuns = Number(process.env['FUZZ_RUNS'] ?? 10_000);
const NOW_S = 1_763_287_200;
const TIME_MS_MAX = 600_000;

/** Objects as the lab's API server gave them, shortened. Every part of one may become anything. */
const POD = {
  metadata: {
    uid: 'u1',
    name: 'asr-7f9c-x',
    namespace: 'nlp',
    creationTimestamp: '2026-11-16T08:59:00Z',
    deletionTimestamp: '2026-11-16T09:30:30Z',
    deletionGracePeriodSeconds: 30,
    labels: { team: 'nlp', 'pod-template-hash': '7f9c' },
    annotations: { 'gpu-fraction': '0.5', 'gpu-fraction-num-devices': '2' },
    ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'asr-7f9c', uid: 'r1', controller: true }],
  },
  spec: {
    nodeName: 'n1',
    nodeSelector: { 'nvidia.com/gpu.product': 'H100' },
    schedulingGates: [{ name: 'g' }],
    overhead: { cpu: '100m' },
    initContainers: [{ restartPolicy: 'Always', resources: { limits: { 'nvidia.com/gpu': '1' } } }],
    containers: [
      {
        resources: {
          requests: { cpu: '4', memory: '16Gi' },
          limits: { 'nvidia.com/gpu': '2', 'nvidia.com/gpumem': '3k' },
        },
      },
      { resources: { limits: { 'nvidia.com/mig-1g.10gb': '1' } } },
    ],
  },
  status: {
    phase: 'Failed',
    reason: 'Evicted',
    startTime: '2026-11-16T09:00:01Z',
    conditions: [
      { type: 'PodScheduled', status: 'True', lastTransitionTime: '2026-11-16T09:00:00Z' },
      { type: 'DisruptionTarget', status: 'True', reason: 'x', lastTransitionTime: '2026-11-16T09:20:00Z' },
    ],
    containerStatuses: [{ state: { terminated: { finishedAt: '2026-11-16T09:30:00Z', reason: 'OOMKilled' } } }],
  },
};
const NODE = {
  metadata: {
    uid: 'n-1',
    name: 'n1',
    creationTimestamp: '2026-11-16T08:00:00Z',
    labels: {
      'nvidia.com/gpu.product': 'NVIDIA-H100-80GB-HBM3-MIG-1g.10gb',
      'nvidia.com/gpu.count': '8',
      'nvidia.com/gpu.replicas': '4',
      'nvidia.com/gpu.sharing-strategy': 'mps',
      'karpenter.sh/capacity-type': 'spot',
    },
    annotations: { 'hami.io/node-nvidia-register': '[{"devmem":1,"type":"x"}]' },
  },
  spec: {
    providerID: 'aws:///a/i-1',
    unschedulable: true,
    taints: [{ key: 'node.kubernetes.io/unschedulable', timeAdded: '2026-11-16T08:30:00Z' }],
  },
  status: {
    capacity: { cpu: '96', memory: '1Ti', 'nvidia.com/gpu': '8', 'nvidia.com/mig-1g.10gb': '7' },
    conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: '2026-11-16T08:10:00Z' }],
  },
};
const WORKLOAD = {
  metadata: { uid: 'w', name: 'w', namespace: 'nlp', creationTimestamp: '2026-11-16T08:00:00Z' },
  spec: { queueName: 'q', active: true, podSets: [{ count: 2, template: { spec: POD.spec, metadata: POD.metadata } }] },
  status: { conditions: [{ type: 'QuotaReserved', status: 'False', reason: 'Pending' }] },
};

const strange = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom(
    '',
    '0',
    '-1',
    '1e99',
    '9'.repeat(60),
    '1Ei',
    '0001-01-01T00:00:00Z',
    '2026-13-45T99:99:99Z',
    '__proto__',
  ),
  fc.constantFrom(0, -1, 1.5, Number.MAX_SAFE_INTEGER, 1e300, null, undefined, true),
  fc.string({ unit: 'binary', maxLength: 20 }),
);

/** The object with some of its parts, at any depth, made into something else. */
function mutated(example: object): fc.Arbitrary<unknown> {
  const edits = fc.array(fc.tuple(fc.array(fc.nat(20), { minLength: 1, maxLength: 6 }), strange), { maxLength: 4 });
  return edits.map((list) => {
    const copy: unknown = structuredClone(example);
    for (const [path, value] of list) put(copy, path, value);
    return copy;
  });
}

function put(root: unknown, path: readonly number[], value: unknown): void {
  let here = root;
  for (const [depth, step] of path.entries()) {
    if (typeof here !== 'object' || here === null) return;
    const keys = Object.keys(here);
    const key = keys[step % Math.max(1, keys.length)];
    if (key === undefined) return;
    const holder = here as Record<string, unknown>;
    if (depth === path.length - 1) holder[key] = value;
    here = holder[key];
  }
}

/** What is written must be what the lake takes: real times, whole numbers that are not negative, ends after beginnings. */
function unsound(rows: readonly Readonly<Record<string, unknown>>[]): readonly string[] {
  return rows.flatMap((row) => {
    const [from, until] = [row['held_from'] ?? row['present_from'], row['held_until'] ?? row['present_until']];
    const columns = Object.entries(row).filter(
      ([, value]) =>
        (value instanceof Date && Number.isNaN(value.getTime())) ||
        (typeof value === 'number' && !(Number.isSafeInteger(value) && value >= 0)),
    );
    const isBackwards = from instanceof Date && until instanceof Date && until < from;
    return [...columns.map(([column]) => column), ...(isBackwards ? ['ends before it begins'] : [])];
  });
}

const check = <Value>(arbitrary: fc.Arbitrary<Value>, predicate: (value: Value) => void): void => {
  fc.assert(fc.property(arbitrary, predicate), { numRuns });
};
const context = { cluster: 'c', nowS: NOW_S, pollS: 60, gpusOf: () => ({ memoryMib: 80_000 }) };

describe('whatever an API server sends', () => {
  it('a pod gives sound rows or none', { timeout: TIME_MS_MAX }, () => {
    check(fc.tuple(fc.oneof(mutated(POD), strange), fc.boolean()), ([json, isDeleted]) => {
      const ledger = new PodLedger({ live: [], leaving: {} }, NOW_S);
      if (isDeleted) ledger.deleted(json);
      else ledger.seen(json);
      const live = [...ledger.live.values()];
      const open = live.flatMap((pod) => [...holdingRows(pod, context).rows, waitingRow(pod, context)]);
      const ended = ledger.ended.flatMap((each) => holdingRows(each.pod, context, each).rows);
      expect(unsound([...open, ...ended])).toEqual([]);
      const kept = { format: 1, server: 's', seenS: NOW_S, pods: live, leaving: {}, nodes: [] };
      expect(readCursor(JSON.parse(JSON.stringify(kept)), 's')).toEqual(kept);
    });
  });

  it('a node gives sound rows or none', { timeout: TIME_MS_MAX }, () => {
    check(fc.tuple(fc.oneof(mutated(NODE), strange), mutated(NODE)), ([first, second]) => {
      const [one, other] = [readNode(first), readNode(second)];
      if (one === undefined) return;
      const { kept, rows } = nodeChange(undefined, one, NOW_S, 'c');
      const later = other === undefined ? [] : nodeChange(kept, other, NOW_S, 'c').rows;
      expect(unsound([...rows, ...later])).toEqual([]);
      const cursor = { format: 1, server: 's', seenS: NOW_S, pods: [], leaving: {}, nodes: [kept] };
      expect(readCursor(JSON.parse(JSON.stringify(cursor)), 's')).toEqual(cursor);
    });
  });

  it('a Kueue workload gives a sound row or none', { timeout: TIME_MS_MAX }, () => {
    check(fc.oneof(mutated(WORKLOAD), strange), (json) => {
      expect(unsound([workloadRow(json, { nowS: NOW_S, cluster: 'c' }) ?? {}])).toEqual([]);
    });
  });

  it('a quantity is one or none', { timeout: TIME_MS_MAX }, () => {
    const text = fc.stringMatching(/^[+-]?[0-9.]{0,20}(?:[numkKMGTPEe]i?[+-]?[0-9]{0,3})?$/);
    check(fc.oneof(text, strange), (given) => {
      const found = quantity(given, 1000n);
      expect(found === undefined || found >= 0n).toBe(true);
    });
  });

  it('a line of a watch is an event or an error', { timeout: TIME_MS_MAX }, () => {
    const line = fc.oneof(
      mutated({ type: 'ADDED', object: POD }).map((event) => JSON.stringify(event) ?? ''),
      mutated({ type: 'ERROR', object: { code: 410, reason: 'Expired', message: 'm' } }).map(
        (event) => JSON.stringify(event) ?? '',
      ),
      fc.string({ unit: 'binary' }),
    );
    check(line, (text) => {
      expect(['seen', 'deleted', 'bookmark', 'expired', 'error']).toContain(watchEvent(text).type);
    });
  });

  it('a cursor is one of ours or none', { timeout: TIME_MS_MAX }, () => {
    const ours = { format: 1, server: 's', seenS: NOW_S, pods: [], leaving: { a: 1 }, nodes: [] };
    check(fc.oneof(mutated(ours), strange), (value) => {
      expect(readCursor(value, 's')?.format ?? 1).toBe(1);
    });
  });
});
