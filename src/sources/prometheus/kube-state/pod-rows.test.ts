import { describe, expect, it } from 'vitest';
import type { KubeWindow } from './kube-reading.ts';
import { heldSpan, podRows } from './pod-rows.ts';
import type { GpuPod } from './read-pods.ts';

const DAY_S = 86_400;
const HOUR = 3600;
/** The second day of the epoch, whole or up to noon. */
const windowUntil = (untilS: number): KubeWindow => ({
  fromMs: DAY_S * 1000,
  untilMs: untilS * 1000,
  stepS: 30,
  has: new Set(),
  matchers: undefined,
  signal: new AbortController().signal,
});
const NOON = DAY_S + 12 * HOUR;
const pod = (more: Partial<GpuPod>): GpuPod => ({
  namespace: 'nlp',
  name: 'train-0',
  uid: 'u-1',
  node: 'gpu-1',
  gpus: new Map([['nvidia_com_gpu', 8]]),
  firstS: DAY_S,
  lastS: NOON,
  ...more,
});

describe('from when to when a pod holds its GPUs', () => {
  const cases: Record<
    string,
    { pod: Partial<GpuPod>; untilS?: number; want: [number, number | undefined] | undefined }
  > = {
    'bound yesterday and running: no end': { pod: { scheduledS: DAY_S - 100 }, want: [DAY_S - 100, undefined] },
    'its start where nobody says when it was bound': { pod: { startedS: DAY_S + 5 }, want: [DAY_S + 5, undefined] },
    'it says when its containers ended': {
      pod: { scheduledS: DAY_S, completedS: DAY_S + 500, phase: 'Succeeded' },
      want: [DAY_S, DAY_S + 500],
    },
    'over since yesterday, and still listed: held nothing today': {
      pod: { scheduledS: DAY_S - 900, completedS: DAY_S - 500, phase: 'Succeeded' },
      want: undefined,
    },
    'evicted: over when it was first seen to be': {
      pod: { scheduledS: DAY_S, phase: 'Failed', reason: 'Evicted', overS: DAY_S + 700 },
      want: [DAY_S, DAY_S + 700],
    },
    'vanished: to its last sample and a step': {
      pod: { scheduledS: DAY_S, lastS: DAY_S + 900 },
      want: [DAY_S, DAY_S + 930],
    },
    'deleted within that step': {
      pod: { scheduledS: DAY_S, lastS: DAY_S + 900, deletionS: DAY_S + 910 },
      want: [DAY_S, DAY_S + 910],
    },
    'gone before its deadline': {
      pod: { scheduledS: DAY_S, lastS: DAY_S + 900, deletionS: DAY_S + 3000 },
      want: [DAY_S, DAY_S + 930],
    },
    'terminating for long, and still holding': {
      pod: { scheduledS: DAY_S, deletionS: DAY_S + 60 },
      want: [DAY_S, undefined],
    },
    'not bound to a machine: holds nothing': { pod: { node: undefined }, want: undefined },
    'no beginning known: from when it is seen': { pod: { firstS: DAY_S + 4000 }, want: [DAY_S + 4000, undefined] },
    'and on a whole day cut at its ends': {
      pod: { firstS: DAY_S + 20, lastS: 2 * DAY_S - 10 },
      untilS: 2 * DAY_S,
      want: [DAY_S, 2 * DAY_S],
    },
  };
  it.each(Object.entries(cases))('%s', (_, { pod: given, untilS = NOON, want }) => {
    const span = heldSpan(pod(given), windowUntil(untilS));
    expect(span && [span.fromS, span.untilS]).toEqual(want);
  });
});

describe('rows', () => {
  const rows = (given: Partial<GpuPod>) => podRows([pod(given)], windowUntil(NOON), { cluster: 'a', pollS: 300 });

  it('a running pod is one row by its uid, open, with what tells its devices', () => {
    const { allocations, hints, waiting } = rows({
      scheduledS: DAY_S,
      createdS: DAY_S - 60,
      owner: { kind: 'PyTorchJob', name: 'train' },
      labels: { team: 'nlp' },
      cpuMillis: 4000,
    });
    expect(allocations).toEqual([
      {
        source: 'kubernetes',
        allocation_id: 'u-1',
        attempt: 0,
        slot: 0,
        node_id: 'gpu-1',
        held_from: new Date(DAY_S * 1000),
        held_until: undefined,
        observed_at: new Date(NOON * 1000),
        poll_s: 300,
        gpu_count: 8,
        isolation: 'whole',
        cpu_millis: 4000,
        memory_bytes: undefined,
        cluster: 'a',
        namespace: 'nlp',
        workload_kind: 'PyTorchJob',
        workload_name: 'train',
        labels: { team: 'nlp' },
        submitted_at: new Date((DAY_S - 60) * 1000),
        outcome: 'running',
      },
    ]);
    expect(hints).toEqual([{ pod: { namespace: 'nlp', name: 'train-0' } }]);
    expect(waiting).toEqual([]);
  });

  const kinds: Record<string, { gpus: [string, number][]; want: [string, number] }> = {
    whole: { gpus: [['nvidia_com_gpu', 2]], want: ['whole', 2] },
    'shared by turns': { gpus: [['nvidia_com_gpu_shared', 1]], want: ['time-slice', 1] },
    slices: {
      gpus: [
        ['nvidia_com_mig_1g_10gb', 2],
        ['nvidia_com_mig_3g_40gb', 1],
      ],
      want: ['mig', 3],
    },
    AMD: { gpus: [['amd_com_gpu', 8]], want: ['whole', 8] },
  };
  it.each(Object.entries(kinds))('GPUs that are %s', (_, { gpus, want }) => {
    const [row] = rows({ scheduledS: DAY_S, gpus: new Map(gpus) }).allocations;
    expect([row?.['isolation'], row?.['gpu_count']]).toEqual(want);
  });

  it.each(['nvidia_com_gpu', 'nvidia_com_gpu_shared'])(
    'a GPU that is handed out four times, as %s: a quarter each',
    (resource) => {
      const [row] = podRows([pod({ scheduledS: DAY_S, gpus: new Map([[resource, 1]]) })], windowUntil(NOON), {
        cluster: undefined,
        pollS: 300,
        replicas: new Map([['gpu-1', 4]]),
      }).allocations;
      expect([row?.['isolation'], row?.['share_units']]).toEqual(['time-slice', 15_750]);
    },
  );

  const outcomes: Record<string, { pod: Partial<GpuPod>; want: string | undefined }> = {
    succeeded: { pod: { phase: 'Succeeded', completedS: DAY_S + 9 }, want: 'completed' },
    failed: { pod: { phase: 'Failed', completedS: DAY_S + 9 }, want: 'failed' },
    evicted: { pod: { phase: 'Failed', reason: 'Evicted', completedS: DAY_S + 9 }, want: 'preempted' },
    'lost with its node': { pod: { phase: 'Failed', reason: 'NodeLost', completedS: DAY_S + 9 }, want: 'node-fail' },
    'gone without a word': { pod: { phase: 'Running', lastS: DAY_S + 900 }, want: undefined },
    running: { pod: { phase: 'Running' }, want: 'running' },
  };
  it.each(Object.entries(outcomes))('a pod that is %s', (_, { pod: given, want }) => {
    expect(rows({ scheduledS: DAY_S, ...given }).allocations[0]?.['outcome']).toBe(want);
  });

  it('a pod without a machine waits, since it was asked for', () => {
    const { allocations, waiting } = rows({
      node: undefined,
      phase: 'Pending',
      createdS: DAY_S + 5,
      isUnschedulable: true,
    });
    expect(allocations).toEqual([]);
    expect(waiting).toMatchObject([
      { allocation_id: 'u-1', submitted_at: new Date((DAY_S + 5) * 1000), gpu_count: 8, held_back_by: 'Unschedulable' },
    ]);
  });

  it('one that gave up does not', () => {
    expect(rows({ node: undefined, phase: 'Pending', lastS: DAY_S + 60 }).waiting).toEqual([]);
  });
});
