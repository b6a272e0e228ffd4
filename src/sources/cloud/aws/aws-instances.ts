import type { Instance, InstanceTypeInfo } from '@aws-sdk/client-ec2';
import { awsGpus, isPartOfGpu } from '../instance-gpus.ts';
import type { InstanceGpus } from '../instance-gpus.ts';
import { known, lastSegment, wholeSecond } from '../json-fields.ts';
import { ownerOf } from '../owner.ts';
import { SkippedVms } from '../vm.ts';
import type { CloudVm, VmList } from '../vm.ts';

/** States in which the machine is paid for, or about to be. */
const PRESENT = new Set(['pending', 'running']);

export interface ListedInstance {
  readonly instance: Instance;
  readonly account?: string;
}

/**
 * Question: which of these instances are machines with GPUs, since when, and whose?
 *
 * `LaunchTime` is that of the last start. A stopped or terminated instance is told with its last run where AWS says when that
 * ended; where it does not, the last time it was seen running is all that is known.
 */
export function readInstances(
  listed: readonly ListedInstance[],
  types: ReadonlyMap<string, InstanceTypeInfo>,
  region: string,
): VmList {
  const skipped = new SkippedVms();
  const vms = listed.flatMap(({ instance, account }) => vmOf(instance, account, types, region, skipped) ?? []);
  return { vms, skipped: skipped.list(), notes: [], listed: listed.length };
}

function vmOf(
  instance: Instance,
  account: string | undefined,
  types: ReadonlyMap<string, InstanceTypeInfo>,
  region: string,
  skipped: SkippedVms,
): CloudVm | undefined {
  const { InstanceId: id, InstanceType: instanceType, LaunchTime: launchTime } = instance;
  if (id === undefined || instanceType === undefined || launchTime === undefined) {
    skipped.add('an instance without id, type or launch time', String(id));
    return undefined;
  }
  const info = types.get(instanceType);
  const gpus = gpusOf(instanceType, info);
  if (gpus === 'none' || gpus === 'unknown') {
    const reason = gpus === 'none' ? 'no GPU' : 'an instance type with GPUs nobody here knows';
    skipped.add(reason, `${id} (${instanceType})`);
    return undefined;
  }
  const from = wholeSecond(launchTime);
  const state = instance.State?.Name ?? '';
  const until = PRESENT.has(state) ? undefined : endOf(instance);
  if (!PRESENT.has(state) && (until === undefined || until < from)) {
    skipped.add(`${state === '' ? 'no state' : state}: costs no GPU money, and when it ended is not said`, id);
    return undefined;
  }
  const tags = tagsOf(instance);
  const memoryMib = info?.MemoryInfo?.SizeInMiB;
  return {
    cloud: 'aws',
    id,
    resourceId: id,
    region,
    instanceType,
    purchase: purchaseOf(instance),
    gpus,
    from,
    tags,
    ...known({
      billingAccount: account,
      zone: instance.Placement?.AvailabilityZone,
      vcpu: coresOf(instance) ?? info?.VCpuInfo?.DefaultVCpus,
      memoryBytes: memoryMib === undefined ? undefined : memoryMib * 1024 * 1024,
      name: tags['Name'] ?? tags['aws:autoscaling:groupName'],
      user: ownerOf(tags) ?? keyOwner(instance),
      until,
    }),
  };
}

/** AWS's own word on the number of GPUs goes before the table; the table's names go before AWS's, as it calls two kinds A100. */
export function gpusOf(type: string, info: InstanceTypeInfo | undefined): InstanceGpus | 'none' | 'unknown' {
  const listed = awsGpus(type);
  const told = info === undefined ? undefined : toldGpus(info);
  if (told === undefined) return listed;
  if (listed === 'none' || listed === 'unknown') return told;
  return isPartOfGpu(listed) ? listed : { model: listed.model, count: told.count };
}

function toldGpus(info: InstanceTypeInfo): InstanceGpus | undefined {
  const devices = [
    ...(info.GpuInfo?.Gpus ?? []),
    ...(info.NeuronInfo?.NeuronDevices ?? []),
    ...(info.InferenceAcceleratorInfo?.Accelerators ?? []),
  ];
  const first = devices[0];
  const count = devices.reduce((sum, device) => sum + (device.Count ?? 0), 0);
  if (first?.Name === undefined || !Number.isInteger(count)) return undefined;
  const part = info.GpuInfo?.Gpus?.[0]?.GpuPartitionSize;
  if (part !== undefined && part > 0 && part < 1) return { model: `1/${Math.round(1 / part)}${first.Name}`, count: 1 };
  return count > 0 ? { model: first.Name, count } : undefined;
}

/** Capacity blocks are paid in advance; a plain reservation is paid like what runs in it. */
function purchaseOf({
  InstanceLifecycle: lifecycle,
  CapacityBlockId: block,
}: Instance): NonNullable<CloudVm['purchase']> {
  if (lifecycle === 'spot') return 'spot';
  return lifecycle === 'capacity-block' || block !== undefined ? 'committed' : 'on-demand';
}

/** `User initiated (2026-11-14 18:03:22 GMT)` */
function endOf({ StateTransitionReason: reason = '' }: Instance): Date | undefined {
  const [, day, time] = /\((\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2}) (?:GMT|UTC)\)/.exec(reason) ?? [];
  if (day === undefined || time === undefined) return undefined;
  const date = new Date(`${day}T${time}Z`);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

function coresOf({ CpuOptions: cpu }: Instance): number | undefined {
  if (cpu?.CoreCount === undefined || cpu.ThreadsPerCore === undefined) return undefined;
  const cores = cpu.CoreCount * cpu.ThreadsPerCore;
  return cores > 0 ? cores : undefined;
}

/** The tags, and beside them what tells who launched it. */
function tagsOf(instance: Instance): Record<string, string> {
  const own = (instance.Tags ?? []).flatMap(({ Key: key, Value: value }) =>
    key === undefined ? [] : [[key, value ?? ''] as const],
  );
  const profile = instance.IamInstanceProfile?.Arn;
  const beside = known({
    'aws:key-name': instance.KeyName,
    'aws:instance-profile': profile === undefined ? undefined : lastSegment(profile),
    'aws:private-dns-name': instance.PrivateDnsName === '' ? undefined : instance.PrivateDnsName,
  });
  return { ...Object.fromEntries(own), ...beside };
}

/** People name key pairs after themselves; that is a guess and says so. */
function keyOwner({ KeyName: key }: Instance): CloudVm['user'] {
  return key === undefined || key.trim() === '' ? undefined : { name: key.trim(), from: 'key name (assumed)' };
}

/** Tags by which a cluster's own tools mark the machines they hand out. */
const CLUSTER_TAG =
  /^(?:kubernetes\.io\/cluster\/|(?:aws:)?eks:cluster-name$|karpenter\.sh\/|parallelcluster:cluster-name$)/;

/** Does a scheduler hand this machine out? Then its GPUs are measured and named by what watches the cluster. */
export function isOfCluster({ tags }: CloudVm): boolean {
  return Object.keys(tags).some((key) => CLUSTER_TAG.test(key));
}
