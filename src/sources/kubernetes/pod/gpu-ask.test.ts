import { describe, expect, it } from 'vitest';
import { gpuAsks, shareOn } from './gpu-ask.ts';
import type { GpuAsk, NodeGpus } from './gpu-ask.ts';

type Amounts = Readonly<Record<string, string>>;
const container = (limits: Amounts, more: object = {}) => ({ resources: { limits }, ...more });
const sidecar = (limits: Amounts) => container(limits, { restartPolicy: 'Always' });
const gpu = (count: string) => ({ 'nvidia.com/gpu': count });

const asked: Record<string, { spec: object; annotations?: Amounts; want: readonly GpuAsk[] }> = {
  'no GPU': { spec: { containers: [container({ cpu: '4' })] }, want: [] },
  'containers side by side add up': {
    spec: { containers: [container(gpu('2')), container(gpu('1'))] },
    want: [{ count: 3, isolation: 'whole' }],
  },
  'an init container that wants more decides': {
    spec: { initContainers: [container(gpu('4'))], containers: [container(gpu('1'))] },
    want: [{ count: 4, isolation: 'whole' }],
  },
  'init containers come one after the other': {
    spec: { initContainers: [container(gpu('1')), container(gpu('1'))], containers: [container(gpu('1'))] },
    want: [{ count: 1, isolation: 'whole' }],
  },
  'a sidecar runs beside the containers': {
    spec: { initContainers: [sidecar(gpu('1'))], containers: [container(gpu('1'))] },
    want: [{ count: 2, isolation: 'whole' }],
  },
  'and beside init containers that come after it, not before': {
    spec: {
      initContainers: [container(gpu('3')), sidecar(gpu('1')), container(gpu('3'))],
      containers: [container(gpu('1'))],
    },
    want: [{ count: 4, isolation: 'whole' }],
  },
  'overhead of the runtime is taken too': {
    spec: { containers: [container(gpu('1'))], overhead: gpu('1') },
    want: [{ count: 2, isolation: 'whole' }],
  },
  'requests go before limits': {
    spec: { containers: [{ resources: { requests: gpu('2'), limits: gpu('2') } }] },
    want: [{ count: 2, isolation: 'whole' }],
  },
  'a request of none is no GPU': { spec: { containers: [container(gpu('0'))] }, want: [] },
  'a shared GPU': {
    spec: { containers: [container({ 'nvidia.com/gpu.shared': '1' })] },
    want: [{ count: 1, isolation: 'time-slice' }],
  },
  'slices of two profiles': {
    spec: { containers: [container({ 'nvidia.com/mig-3g.40gb': '1', 'nvidia.com/mig-1g.10gb.me': '2' })] },
    want: [
      { count: 2, isolation: 'mig', migProfile: '1g.10gb.me' },
      { count: 1, isolation: 'mig', migProfile: '3g.40gb' },
    ],
  },
  'an AMD GPU': {
    spec: { containers: [container({ 'amd.com/gpu': '8' })] },
    want: [{ count: 8, isolation: 'whole' }],
  },
  'HAMi: memory and cores of each GPU, the greater of the percents': {
    spec: {
      containers: [container({ ...gpu('2'), 'nvidia.com/gpumem-percentage': '50', 'nvidia.com/gpucores': '30' })],
    },
    want: [{ count: 2, isolation: 'fraction', shareUnits: 31_500 }],
  },
  'HAMi: memory in MiB waits for the node': {
    spec: { containers: [container({ ...gpu('1'), 'nvidia.com/gpumem': '3000' })] },
    want: [{ count: 1, isolation: 'fraction', memoryMib: 3000 }],
  },
  'KAI: a fraction in an annotation': {
    spec: { containers: [container({})] },
    annotations: { 'gpu-fraction': '0.25' },
    want: [{ count: 1, isolation: 'fraction', shareUnits: 15_750 }],
  },
  'KAI: of several devices': {
    spec: { containers: [container({})] },
    annotations: { 'gpu-fraction': '0.5', 'gpu-fraction-num-devices': '2' },
    want: [{ count: 2, isolation: 'fraction', shareUnits: 31_500 }],
  },
  'KAI: memory in an annotation': {
    spec: { containers: [container({})] },
    annotations: { 'gpu-memory': '2000' },
    want: [{ count: 1, isolation: 'fraction', memoryMib: 2000 }],
  },
  'a fraction of two GPUs is none': {
    spec: { containers: [container({})] },
    annotations: { 'gpu-fraction': '2' },
    want: [],
  },
};

describe('the GPUs a pod asks for', () => {
  for (const [name, { spec, annotations = {}, want }] of Object.entries(asked)) {
    it(name, () => expect(gpuAsks(spec, annotations)).toEqual(want));
  }
});

const shares: Record<string, { ask: GpuAsk; node?: NodeGpus; want: ReturnType<typeof shareOn> }> = {
  'a whole GPU': { ask: { count: 1, isolation: 'whole' }, want: { isolation: 'whole' } },
  'a GPU of a node that hands each out four times is a quarter, and time-sliced': {
    ask: { count: 1, isolation: 'whole' },
    node: { replicas: 4 },
    want: { isolation: 'time-slice', shareUnits: 15_750 },
  },
  'a shared GPU of a node that does not say how often': {
    ask: { count: 1, isolation: 'time-slice' },
    want: { isolation: 'time-slice' },
  },
  'a GPU of a node cut into slices is a slice': {
    ask: { count: 1, isolation: 'whole' },
    node: { migProfile: '3g.40gb', model: 'NVIDIA-H100-80GB-HBM3' },
    want: { isolation: 'mig', shareUnits: 31_500 },
  },
  'a slice whose profile nobody knows': {
    ask: { count: 1, isolation: 'mig', migProfile: 'odd' },
    want: { isolation: 'mig' },
  },
  'memory of a node that says how much it has': {
    ask: { count: 1, isolation: 'fraction', memoryMib: 20_000 },
    node: { memoryMib: 80_000 },
    want: { isolation: 'fraction', shareUnits: 15_750 },
  },
  'more memory than there is takes all': {
    ask: { count: 1, isolation: 'fraction', memoryMib: 90_000 },
    node: { memoryMib: 80_000 },
    want: { isolation: 'fraction', shareUnits: 63_000 },
  },
  'memory of a node that does not say is shared by who is there': {
    ask: { count: 1, isolation: 'fraction', memoryMib: 20_000 },
    want: { isolation: 'time-slice' },
  },
};

describe('what of each device a pod has on its node', () => {
  for (const [name, { ask, node, want }] of Object.entries(shares)) {
    it(name, () => expect(shareOn(ask, node)).toEqual(want));
  }
});
