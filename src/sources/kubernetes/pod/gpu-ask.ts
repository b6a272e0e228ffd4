import { SHARE_UNITS } from '../../../facts/column.ts';
import { listAt, at } from '../api/json-shape.ts';
import { migShareUnits } from '../../values/mig-share.ts';
import { askedResources, effectiveRequest } from './effective-request.ts';
import { quantityNumber } from './quantity.ts';

/** GPUs of one kind that a pod asks for. Plain JSON: it is kept in the cursor. */
export interface GpuAsk {
  readonly count: number;
  readonly isolation: 'whole' | 'mig' | 'time-slice' | 'fraction';
  readonly migProfile?: string;
  /** Of each device, in 63,000ths, where the pod says so itself. */
  readonly shareUnits?: number;
  /** Of each device, where the pod asks for memory; which share that is depends on the node. */
  readonly memoryMib?: number;
}

/** What is known of a node's GPUs that changes what a pod on it holds. */
export interface NodeGpus {
  readonly model?: string;
  readonly memoryMib?: number;
  /** How many pods may have the same device at once, where the device plugin hands it out several times. */
  readonly replicas?: number;
  /** Where every `nvidia.com/gpu` of the node is a slice of this profile (MIG strategy `single`). */
  readonly migProfile?: string;
}

const WHOLE = [
  'nvidia.com/gpu',
  'amd.com/gpu',
  'gpu.intel.com/xe',
  'gpu.intel.com/i915',
  'habana.ai/gaudi',
  'google.com/tpu',
  'aws.amazon.com/neuron',
];
const MIG = /^nvidia\.com\/mig-(.+?)(\.shared)?$/;
/** More is no request anybody could mean, and would overflow what is computed from it. */
const GPUS_MAX = 1_000_000;

/** Which GPUs does this pod ask for? None: an empty list. */
export function gpuAsks(spec: unknown, annotations: Readonly<Record<string, string>>): readonly GpuAsk[] {
  const asked = [...askedResources(spec)].toSorted();
  const count = (resource: string): number => boundedCount(effectiveRequest(spec, resource));
  const asks: GpuAsk[] = [];
  for (const resource of asked) {
    const found = count(resource);
    if (found === 0) continue;
    const [, migProfile] = MIG.exec(resource) ?? [];
    if (migProfile !== undefined) asks.push({ count: found, isolation: 'mig', migProfile });
    else if (resource.endsWith('/gpu.shared')) asks.push({ count: found, isolation: 'time-slice' });
    else if (resource === 'nvidia.com/gpu') asks.push({ count: found, ...hamiShare(spec) });
    else if (WHOLE.includes(resource)) asks.push({ count: found, isolation: 'whole' });
  }
  return asks.length > 0 ? asks : kaiAsks(annotations);
}

/** HAMi: a part of each GPU, by its memory, its cores, or both; the greater is what others cannot have. */
function hamiShare(spec: unknown): Omit<GpuAsk, 'count'> {
  const percents = [mostOf(spec, 'nvidia.com/gpucores'), mostOf(spec, 'nvidia.com/gpumem-percentage')].flatMap(
    (percent) => (percent === undefined || percent === 0 ? [] : [Math.min(percent, 100)]),
  );
  const memoryMib = mostOf(spec, 'nvidia.com/gpumem');
  if (percents.length === 0 && memoryMib === undefined) return { isolation: 'whole' };
  return {
    isolation: 'fraction',
    ...(percents.length > 0 && { shareUnits: (SHARE_UNITS / 100) * Math.max(...percents) }),
    ...(memoryMib !== undefined && { memoryMib }),
  };
}

/** HAMi means these for each device, so that they do not add up over containers. */
function mostOf(spec: unknown, resource: string): number | undefined {
  const found = [...listAt(spec, 'initContainers'), ...listAt(spec, 'containers')]
    .map((container) =>
      quantityNumber(
        at(container, 'resources', 'requests', resource) ?? at(container, 'resources', 'limits', resource),
      ),
    )
    .filter((amount) => amount !== undefined);
  return found.length === 0 ? undefined : Math.max(...found);
}

/** KAI and Run:ai: the pod asks in annotations and has no GPU among its resources. */
function kaiAsks(annotations: Readonly<Record<string, string>>): readonly GpuAsk[] {
  const devices = boundedCount(BigInt(quantityNumber(annotations['gpu-fraction-num-devices']) ?? 1)) || 1;
  const thousandths = quantityNumber(annotations['gpu-fraction'], 1000n);
  if (thousandths !== undefined && thousandths > 0 && thousandths <= 1000) {
    return [{ count: devices, isolation: 'fraction', shareUnits: (SHARE_UNITS / 1000) * thousandths }];
  }
  const memoryMib = quantityNumber(annotations['gpu-memory']);
  return memoryMib === undefined || memoryMib === 0 ? [] : [{ count: devices, isolation: 'fraction', memoryMib }];
}

function boundedCount(count: bigint | undefined): number {
  return count === undefined || count > BigInt(GPUS_MAX) ? 0 : Number(count);
}

/**
 * What of each device an ask takes on this node.
 *
 * Memory on a node that does not say how much its GPUs have is shared by those who are there, as time-slicing is: a made-up share would
 * be worse than none.
 */
export function shareOn(
  ask: GpuAsk,
  node: NodeGpus = {},
): { readonly isolation: GpuAsk['isolation']; readonly shareUnits?: number } {
  if (ask.isolation === 'fraction') {
    const byMemory =
      ask.memoryMib === undefined || node.memoryMib === undefined || node.memoryMib === 0
        ? undefined
        : Math.min(SHARE_UNITS, Math.round((SHARE_UNITS * ask.memoryMib) / node.memoryMib));
    const shareUnits = Math.max(byMemory ?? 0, ask.shareUnits ?? 0);
    return shareUnits === 0 ? { isolation: 'time-slice' } : { isolation: 'fraction', shareUnits };
  }
  const migProfile = ask.migProfile ?? (ask.isolation === 'whole' ? node.migProfile : undefined);
  if (migProfile !== undefined) {
    const shareUnits = migShareUnits(migProfile, node.model);
    return { isolation: 'mig', ...(shareUnits !== undefined && { shareUnits }) };
  }
  const { replicas = 1 } = node;
  if (ask.isolation === 'time-slice' || replicas > 1) {
    return { isolation: 'time-slice', ...(replicas > 1 && { shareUnits: Math.round(SHARE_UNITS / replicas) }) };
  }
  return { isolation: 'whole' };
}
