import { describe, expect, it } from 'vitest';
import { goneRow, nodeChange } from './node-rows.ts';
import type { NodeKept } from './node-rows.ts';
import { readNode } from './node-seen.ts';

type Texts = Readonly<Record<string, string>>;
const at = (time: string): string => `2026-11-16T${time}Z`;
const seconds = (time: string): number => Date.parse(at(time)) / 1000;
const CREATED = '08:00:00';

interface Wish {
  readonly labels?: Texts;
  readonly annotations?: Texts;
  readonly capacity?: Texts;
  readonly providerID?: string;
  readonly ready?: readonly [status: string, since: string];
  readonly cordonedAt?: string | null;
  readonly uid?: string;
  readonly created?: string;
}

function node({
  labels,
  annotations,
  capacity,
  providerID,
  ready,
  cordonedAt,
  uid = 'u1',
  created = CREATED,
}: Wish = {}) {
  const [status, since] = ready ?? ['True', '08:01:00'];
  return {
    metadata: { name: 'n1', uid, creationTimestamp: at(created), labels, annotations },
    spec: {
      providerID,
      ...(cordonedAt !== undefined && {
        unschedulable: true,
        taints: [
          { key: 'node.kubernetes.io/unschedulable', ...(cordonedAt !== null && { timeAdded: at(cordonedAt) }) },
        ],
      }),
    },
    status: {
      capacity: { cpu: '96', memory: '1Ti', 'nvidia.com/gpu': '8', ...capacity },
      conditions: [{ type: 'Ready', status, lastTransitionTime: at(since) }],
    },
  };
}

const machines: Record<string, { given: Wish; want: object }> = {
  'AWS bills by instance': {
    given: { providerID: 'aws:///us-east-1a/i-0abc' },
    want: { provider: 'aws', resourceId: 'i-0abc' },
  },
  'Google bills by the number of the instance': {
    given: {
      providerID: 'gce://proj/us-central1-a/gke-n1',
      annotations: { 'container.googleapis.com/instance_id': '4815162342' },
    },
    want: { provider: 'gcp', resourceId: '4815162342' },
  },
  'and by its name where it has no number': {
    given: { providerID: 'gce://proj/us-central1-a/gke-n1' },
    want: { provider: 'gcp', resourceId: 'gke-n1' },
  },
  'Azure bills a machine of a set under the set': {
    given: {
      providerID:
        'azure:///subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/aks-gpu/virtualMachines/3',
    },
    want: {
      provider: 'azure',
      resourceId: '/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/aks-gpu',
    },
  },
  'spot by Karpenter': { given: { labels: { 'karpenter.sh/capacity-type': 'spot' } }, want: { purchase: 'spot' } },
  'spot by EKS': { given: { labels: { 'eks.amazonaws.com/capacityType': 'SPOT' } }, want: { purchase: 'spot' } },
  'spot by GKE': { given: { labels: { 'cloud.google.com/gke-spot': 'true' } }, want: { purchase: 'spot' } },
  'spot by AKS': { given: { labels: { 'kubernetes.azure.com/scalesetpriority': 'spot' } }, want: { purchase: 'spot' } },
  'a reservation goes before all else': {
    given: { labels: { 'cloud.google.com/reservation-name': 'r', 'cloud.google.com/gke-provisioning': 'standard' } },
    want: { purchase: 'committed' },
  },
  'a model and its memory': {
    given: { labels: { 'nvidia.com/gpu.product': 'NVIDIA-H100-80GB-HBM3', 'nvidia.com/gpu.memory': '81559' } },
    want: { gpuCount: 8, gpus: { model: 'NVIDIA-H100-80GB-HBM3', memoryMib: 81_559 } },
  },
  'GPUs handed out four times each': {
    given: {
      capacity: { 'nvidia.com/gpu': '32' },
      labels: {
        'nvidia.com/gpu.product': 'NVIDIA-A10G-SHARED',
        'nvidia.com/gpu.replicas': '4',
        'nvidia.com/gpu.sharing-strategy': 'time-slicing',
      },
    },
    want: { gpuCount: 8, gpus: { model: 'NVIDIA-A10G', replicas: 4 } },
  },
  'GPUs cut into sevenths, all alike': {
    given: {
      capacity: { 'nvidia.com/gpu': '56' },
      labels: { 'nvidia.com/gpu.product': 'NVIDIA-H100-80GB-HBM3-MIG-1g.10gb', 'nvidia.com/gpu.count': '56' },
    },
    want: { gpuCount: 8, gpus: { model: 'NVIDIA-H100-80GB-HBM3', migProfile: '1g.10gb' } },
  },
  'GPUs cut in different ways, without a label that counts them': {
    given: { capacity: { 'nvidia.com/gpu': '4', 'nvidia.com/mig-1g.10gb': '14', 'nvidia.com/mig-3g.40gb': '4' } },
    want: { gpuCount: 8 },
  },
  'HAMi offers each GPU ten times': {
    given: {
      capacity: { 'nvidia.com/gpu': '20' },
      annotations: {
        'hami.io/node-nvidia-register':
          'GPU-1,10,32768,100,NVIDIA-Tesla V100-PCIE-32GB,0,true:GPU-2,10,32768,100,NVIDIA-Tesla V100-PCIE-32GB,0,true:',
      },
    },
    want: { gpuCount: 2, gpus: { model: 'NVIDIA-Tesla V100-PCIE-32GB', memoryMib: 32_768 } },
  },
  'a newer HAMi says so in JSON': {
    given: {
      capacity: { 'nvidia.com/gpu': '20' },
      annotations: {
        'hami.io/node-nvidia-register': '[{"id":"GPU-1","count":10,"devmem":81920,"type":"NVIDIA-H100"}]',
      },
    },
    want: { gpuCount: 1, gpus: { model: 'NVIDIA-H100', memoryMib: 81_920 } },
  },
  'a machine without GPUs has none': { given: { capacity: { 'nvidia.com/gpu': '0' } }, want: { gpuCount: 0 } },
  AMD: { given: { capacity: { 'nvidia.com/gpu': '0', 'amd.com/gpu': '8' } }, want: { gpuCount: 8 } },
  'tags are what people and pools say': {
    given: {
      labels: {
        team: 'nlp',
        'karpenter.sh/nodepool': 'gpu',
        'kubernetes.io/hostname': 'n1',
        'feature.node.kubernetes.io/cpu': 'x',
        'node-role.kubernetes.io/worker': '',
      },
    },
    want: { tags: { team: 'nlp', 'karpenter.sh/nodepool': 'gpu', 'node-role.kubernetes.io/worker': '' } },
  },
};

describe('what a node is', () => {
  for (const [name, { given, want }] of Object.entries(machines)) {
    it(name, () => expect(readNode(node(given))).toMatchObject(want));
  }

  it('with a model and no GPU offered is unknown, not none', () => {
    const labels = { 'nvidia.com/gpu.product': 'NVIDIA-H100-80GB-HBM3' };
    expect(readNode(node({ labels, capacity: { 'nvidia.com/gpu': '0' } }))).not.toHaveProperty('gpuCount');
  });
});

/** Each step is how a node was seen and when; wanted are the rows, as beginning, state and count. */
const lives: Record<string, { steps: readonly (readonly [Wish, string])[]; want: readonly (readonly unknown[])[] }> = {
  'nothing new, no row': {
    steps: [
      [{}, '09:00:00'],
      [{}, '09:01:00'],
    ],
    want: [[CREATED, 'up', 8]],
  },
  'down since its condition says so': {
    steps: [
      [{}, '09:00:00'],
      [{ ready: ['Unknown', '09:30:00'] }, '09:31:00'],
      [{ ready: ['True', '09:40:00'] }, '09:41:00'],
    ],
    want: [
      [CREATED, 'up', 8],
      ['09:30:00', 'down', 8],
      ['09:40:00', 'up', 8],
    ],
  },
  'drained since its taint says so, found so at first sight': {
    steps: [[{ cordonedAt: '08:30:00' }, '09:00:00']],
    want: [
      [CREATED, 'up', 8],
      ['08:30:00', 'drained', 8],
    ],
  },
  'drained by somebody who says no time: when it was seen': {
    steps: [
      [{}, '09:00:00'],
      [{ cordonedAt: null }, '09:01:00'],
    ],
    want: [
      [CREATED, 'up', 8],
      ['09:01:00', 'drained', 8],
    ],
  },
  'not ready since it was made': {
    steps: [
      [{ ready: ['False', CREATED] }, '08:00:30'],
      [{ ready: ['True', '08:01:00'] }, '08:01:30'],
    ],
    want: [
      [CREATED, 'down', 8],
      ['08:01:00', 'up', 8],
    ],
  },
  'GPUs that appear late were there from the beginning': {
    steps: [
      [{ capacity: { 'nvidia.com/gpu': '0' } }, '08:00:30'],
      [{}, '08:02:00'],
    ],
    want: [
      [CREATED, 'up', 0],
      [CREATED, 'up', 8],
    ],
  },
  'a device plugin that died takes no GPU away': {
    steps: [
      [{}, '09:00:00'],
      [{ capacity: { 'nvidia.com/gpu': '0' } }, '09:01:00'],
    ],
    want: [[CREATED, 'up', 8]],
  },
  'a machine with another number of GPUs is another from then on': {
    steps: [
      [{}, '09:00:00'],
      [{ capacity: { 'nvidia.com/gpu': '4' } }, '09:01:00'],
    ],
    want: [
      [CREATED, 'up', 8],
      ['09:01:00', 'up', 4],
    ],
  },
  'another machine under the same name ends the first': {
    steps: [
      [{}, '09:00:00'],
      [{ uid: 'u2', created: '09:10:00' }, '09:11:00'],
    ],
    want: [
      [CREATED, 'up', 8],
      [CREATED, 'up', 8, '09:10:00'],
      ['09:10:00', 'up', 8],
    ],
  },
};

describe('the rows of a node', () => {
  const clock = (value: unknown): string | undefined =>
    value instanceof Date ? value.toISOString().slice(11, 19) : undefined;

  for (const [name, { steps, want }] of Object.entries(lives)) {
    it(name, () => {
      let kept: NodeKept | undefined;
      const rows = steps.flatMap(([wish, time]) => {
        const seen = readNode(node(wish));
        if (seen === undefined) throw new Error('no node');
        const change = nodeChange(kept, seen, seconds(time), 'c');
        kept = change.kept;
        return change.rows;
      });
      const told = rows.map((row) => {
        const until = clock(row['present_until']);
        return [clock(row['present_from']), row['state'], row['gpu_count'], ...(until === undefined ? [] : [until])];
      });
      expect(told).toEqual(want);
    });
  }

  it('end when it is gone', () => {
    const seen = readNode(node());
    if (seen === undefined) throw new Error('no node');
    const { kept } = nodeChange(undefined, seen, seconds('09:00:00'), 'c');
    expect(clock(goneRow(kept, seconds('09:30:00'), seconds('09:31:00'), 'c')['present_until'])).toBe('09:30:00');
  });
});
