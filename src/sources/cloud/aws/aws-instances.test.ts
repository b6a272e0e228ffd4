import type { Instance, InstanceTypeInfo } from '@aws-sdk/client-ec2';
import { describe, expect, it } from 'vitest';
import { gpusOf, isOfCluster, readInstances } from './aws-instances.ts';

const LAUNCHED = new Date('2026-11-14T09:00:00.600Z');
const read = (instance: Instance) =>
  readInstances(
    [
      {
        instance: {
          InstanceId: 'i-1',
          InstanceType: 'p5.48xlarge',
          LaunchTime: LAUNCHED,
          State: { Name: 'running' },
          ...instance,
        },
        account: '1',
      },
    ],
    new Map(),
    'us-east-1',
  );

const machines: Record<string, { instance: Instance; want: object }> = {
  'on demand, in whole seconds': {
    instance: {},
    want: { purchase: 'on-demand', from: new Date('2026-11-14T09:00:00Z'), billingAccount: '1' },
  },
  spot: { instance: { InstanceLifecycle: 'spot' }, want: { purchase: 'spot' } },
  'a capacity block is paid in advance': {
    instance: { InstanceLifecycle: 'capacity-block' },
    want: { purchase: 'committed' },
  },
  'a plain reservation is paid as it runs': {
    instance: { CapacityReservationId: 'cr-1' },
    want: { purchase: 'on-demand' },
  },
  'stopped by its user: its last run': {
    instance: { State: { Name: 'stopped' }, StateTransitionReason: 'User initiated (2026-11-14 18:03:22 GMT)' },
    want: { until: new Date('2026-11-14T18:03:22Z') },
  },
  'hyper-threading switched off': {
    instance: { CpuOptions: { CoreCount: 96, ThreadsPerCore: 1 } },
    want: { vcpu: 96 },
  },
  'a machine of a scaling group has the name of the group': {
    instance: { Tags: [{ Key: 'aws:autoscaling:groupName', Value: 'inference' }] },
    want: { name: 'inference' },
  },
  'who launched it stands in the tags': {
    instance: {
      KeyName: 'k',
      IamInstanceProfile: { Arn: 'arn:aws:iam::1:instance-profile/trainer' },
      PrivateDnsName: 'ip-10-0-0-7.ec2.internal',
    },
    want: {
      tags: {
        'aws:key-name': 'k',
        'aws:instance-profile': 'trainer',
        'aws:private-dns-name': 'ip-10-0-0-7.ec2.internal',
      },
    },
  },
};

describe('an EC2 instance', () => {
  it.each(Object.entries(machines))('%s', (_, { instance, want }) => {
    expect(read(instance).vms[0]).toMatchObject(want);
  });

  const left: Record<string, { instance: Instance; want: string }> = {
    'reclaimed by EC2, which does not say when': {
      instance: { State: { Name: 'terminated' }, StateTransitionReason: 'Server.SpotInstanceTermination' },
      want: 'terminated: costs no GPU money, and when it ended is not said',
    },
    'a type nobody here knows': {
      instance: { InstanceType: 'p9.96xlarge' as never },
      want: 'an instance type with GPUs nobody here knows',
    },
    'a type that only begins like one': { instance: { InstanceType: 'm5.large' }, want: 'no GPU' },
  };
  it.each(Object.entries(left))('left out, and said: %s', (_, { instance, want }) => {
    const { vms, skipped } = read(instance);
    expect([vms.length, skipped.map(({ reason }) => reason)]).toEqual([0, [want]]);
  });
});

const info = (gpu: object): InstanceTypeInfo => ({
  GpuInfo: { Gpus: [{ Name: 'A100', Manufacturer: 'NVIDIA', Count: 8, ...gpu }] },
});
const types: Record<string, { type: string; info: InstanceTypeInfo | undefined; want: unknown }> = {
  'AWS calls 40 and 80 GB the same: the table’s name, AWS’s count': {
    type: 'p4de.24xlarge',
    info: info({}),
    want: { model: 'A100-80GB', count: 8 },
  },
  'a type only AWS knows': {
    type: 'p9.48xlarge',
    info: info({ Name: 'X100', Count: 4 }),
    want: { model: 'X100', count: 4 },
  },
  'a part of a GPU, by AWS’s word': {
    type: 'g9f.large',
    info: info({ Name: 'L9', Count: 1, GpuPartitionSize: 0.25 }),
    want: { model: '1/4L9', count: 1 },
  },
  'a chip of AWS’s own': {
    type: 'trn9.8xlarge',
    info: { NeuronInfo: { NeuronDevices: [{ Name: 'Trainium9', Count: 2 }] } },
    want: { model: 'Trainium9', count: 2 },
  },
  'AWS may not be asked: the table': { type: 'p5.48xlarge', info: undefined, want: { model: 'H100', count: 8 } },
  'an answer without GPUs does not take away what is known': {
    type: 'p5.48xlarge',
    info: {},
    want: { model: 'H100', count: 8 },
  },
};

describe('GPUs by AWS’s word and by the table', () => {
  it.each(Object.entries(types))('%s', (_, { type, info: told, want }) => {
    expect(gpusOf(type, told)).toEqual(want);
  });
});

describe('machines of a cluster', () => {
  const tags: Record<string, { tag: string; want: boolean }> = {
    'of EKS': { tag: 'eks:cluster-name', want: true },
    'of any Kubernetes': { tag: 'kubernetes.io/cluster/train-a', want: true },
    'of ParallelCluster': { tag: 'parallelcluster:cluster-name', want: true },
    'nobody’s': { tag: 'team', want: false },
  };
  it.each(Object.entries(tags))('%s', (_, { tag, want }) => {
    const [vm] = read({ Tags: [{ Key: tag, Value: 'x' }] }).vms;
    expect(vm === undefined ? undefined : isOfCluster(vm)).toBe(want);
  });
});
