import { expect, it } from 'vitest';
import { labelsOfDevice } from './device-labels.ts';
import type { LabelReading } from './device-labels.ts';

const DCGM = { gpu: '3', UUID: 'GPU-c4529c8d-69c4', device: 'nvidia3', modelName: 'NVIDIA H100 80GB HBM3' };
const WANT = { deviceId: 'GPU-c4529c8d-69c4', gpuIndex: 3, model: 'NVIDIA H100 80GB HBM3' };

const cases: Record<string, { labels: Record<string, string>; reading?: LabelReading; want: object | undefined }> = {
  'an older dcgm-exporter': { labels: { ...DCGM, Hostname: 'gpu-1' }, want: { ...WANT, nodeId: 'gpu-1' } },
  'a newer one': { labels: { ...DCGM, hostname: 'gpu-1' }, want: { ...WANT, nodeId: 'gpu-1' } },
  'a host name that is the exporter’s pod gives way to the node': {
    labels: { ...DCGM, Hostname: 'nvidia-dcgm-exporter-x7k2p', node: 'gpu-1' },
    want: { ...WANT, nodeId: 'gpu-1' },
  },
  'and stays where there is nothing better': {
    labels: { ...DCGM, Hostname: 'dcgm-exporter-x7k2p' },
    want: { ...WANT, nodeId: 'dcgm-exporter-x7k2p' },
  },
  'a pod has it': {
    labels: { ...DCGM, Hostname: 'n', namespace: 'nlp', pod: 'train-0', container: 'main' },
    want: { ...WANT, nodeId: 'n', pod: { namespace: 'nlp', name: 'train-0', container: 'main' } },
  },
  'a pod has it, and Prometheus has a pod label of its own': {
    labels: {
      ...DCGM,
      Hostname: 'n',
      namespace: 'mon',
      pod: 'dcgm-exporter-1',
      exported_namespace: 'nlp',
      exported_pod: 'a',
    },
    want: { ...WANT, nodeId: 'n', pod: { namespace: 'nlp', name: 'a' } },
  },
  'nobody has it, and what is left is the exporter’s own pod': {
    labels: { ...DCGM, Hostname: 'n', namespace: 'mon', pod: 'dcgm-exporter-1' },
    want: { ...WANT, nodeId: 'n' },
  },
  'nobody has it, and the exporter’s pod is called something else': {
    labels: { ...DCGM, Hostname: 'n', namespace: 'mon', pod: 'gpu-metrics-1' },
    reading: { podIsTarget: true },
    want: { ...WANT, nodeId: 'n' },
  },
  'a pod label that is empty is none': {
    labels: { ...DCGM, Hostname: 'n', namespace: '', pod: '' },
    want: { ...WANT, nodeId: 'n' },
  },
  'a slice': {
    labels: { ...DCGM, Hostname: 'n', GPU_I_ID: '9', GPU_I_PROFILE: '1g.10gb' },
    want: { ...WANT, nodeId: 'n', mig: { instance: '9', profile: '1g.10gb' } },
  },
  'empty slice labels are of a whole GPU': {
    labels: { ...DCGM, Hostname: 'n', GPU_I_ID: '', GPU_I_PROFILE: '' },
    want: { ...WANT, nodeId: 'n' },
  },
  'nvidia_gpu_exporter leaves the prefix out': {
    labels: { uuid: 'df6e7a7c-7314-46f8-abc4-b88b36dcf3aa' },
    reading: { nodeId: 'box' },
    want: { deviceId: 'GPU-df6e7a7c-7314-46f8-abc4-b88b36dcf3aa', nodeId: 'box' },
  },
  'AMD’s exporter': {
    labels: {
      card_series: 'AMD Instinct MI300X OAM',
      gpu_id: '2',
      gpu_uuid: 'ccff74a1-0000-1000-80e0-c6d49f5b0d86',
      hostname: 'tw038',
      gpu_compute_partition_type: 'spx',
      gpu_partition_id: '0',
      namespace: '',
      pod: '',
    },
    want: {
      deviceId: 'ccff74a1-0000-1000-80e0-c6d49f5b0d86',
      nodeId: 'tw038',
      gpuIndex: 2,
      model: 'AMD Instinct MI300X OAM',
    },
  },
  'AMD’s exporter before it gave ids, whole': {
    labels: { gpu_id: '2', serial_number: '692409005408', hostname: 'tw038', gpu_partition_id: '0' },
    want: { deviceId: '692409005408', nodeId: 'tw038', gpuIndex: 2 },
  },
  'and cut in parts': {
    labels: {
      gpu_id: '47',
      serial_number: '692409005408',
      hostname: 'tw038',
      gpu_partition_id: '5',
      gpu_compute_partition_type: 'cpx',
    },
    want: { deviceId: '692409005408/5', nodeId: 'tw038', gpuIndex: 47 },
  },
  'no id, but a place': {
    labels: { minor_number: '1', Hostname: 'box' },
    want: { deviceId: 'box/gpu1', nodeId: 'box', gpuIndex: 1 },
  },
  'no id and no place': { labels: { job: 'vllm' }, want: undefined },
};

it.each(Object.entries(cases))('%s', (_, { labels, reading, want }) => {
  expect(labelsOfDevice(labels, reading)).toEqual(want);
});
