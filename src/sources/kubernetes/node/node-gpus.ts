import { SHARE_UNITS } from '../../../facts/column.ts';
import { at, textAt } from '../api/json-shape.ts';
import type { NodeGpus } from '../pod/gpu-ask.ts';
import { defined } from '../pod/pod-seen.ts';
import { quantityNumber } from '../pod/quantity.ts';
import { migShareUnits } from '../../values/mig-share.ts';

const COUNT_LABELS = [
  'nvidia.com/gpu.count',
  'cloud.google.com/gke-accelerator-count',
  'karpenter.k8s.aws/instance-gpu-count',
  'karpenter.k8s.aws/instance-accelerator-count',
];
const MODEL_LABELS = [
  'nvidia.com/gpu.product',
  'amd.com/gpu.product-name',
  'beta.amd.com/gpu.product-name',
  'cloud.google.com/gke-accelerator',
  'cloud.google.com/gke-tpu-accelerator',
  'karpenter.k8s.aws/instance-gpu-name',
  'karpenter.k8s.aws/instance-accelerator-name',
  'k8s.amazonaws.com/accelerator',
];
const WHOLE = [
  'amd.com/gpu',
  'gpu.intel.com/xe',
  'gpu.intel.com/i915',
  'habana.ai/gaudi',
  'google.com/tpu',
  'aws.amazon.com/neuron',
];

/**
 * How many GPUs are in the machine, of which model, and how are they handed out?
 *
 * What a device plugin offers is not what is in the machine: a shared GPU is offered several times, a cut one in slices, and nothing at
 * all is offered before the plugin has started. A count of 0 needs a machine that says nothing of GPUs.
 */
export function nodeGpus(
  capacity: unknown,
  labels: Readonly<Record<string, string>>,
  hamiRegister = '',
): NodeGpus & { readonly count?: number } {
  const hami = hamiDevices(hamiRegister);
  if (hami.count > 0) return hami;
  const product = MODEL_LABELS.map((key) => labels[key]).find((value) => value !== undefined && value !== '');
  const [, bare = product, migProfile] = /^(.*?)-MIG-(\d+g\.\d+gb(?:\.\w+)?)/.exec(product ?? '') ?? [];
  const model = bare?.replace(/-SHARED$/, '');
  const isShared =
    product?.endsWith('-SHARED') === true ||
    /^(?:time-slicing|mps)$/.test(labels['nvidia.com/gpu.sharing-strategy'] ?? '');
  const replicas = isShared ? whole(labels['nvidia.com/gpu.replicas']) : undefined;
  return defined({
    count: countOf(capacity, labels, { model, migProfile, replicas }),
    model,
    memoryMib: migProfile === undefined ? whole(labels['nvidia.com/gpu.memory']) : undefined,
    replicas: replicas !== undefined && replicas > 1 ? replicas : undefined,
    migProfile,
  });
}

/**
 * HAMi offers each GPU ten times and writes down what is there in an annotation, once as `id,copies,MiB,cores,model,…` with a colon
 * after each device, in newer releases as JSON.
 */
function hamiDevices(register: string): NodeGpus & { readonly count: number } {
  const devices = register.trimStart().startsWith('[') ? hamiJson(register) : hamiText(register);
  const [first] = devices;
  const { model, memoryMib } = first ?? {};
  return { count: devices.length, ...defined({ model, memoryMib }) };
}

function hamiText(register: string): readonly NodeGpus[] {
  return register
    .split(':')
    .map((entry) => entry.split(','))
    .filter(({ length }) => length >= 5)
    .map(([, , memory, , model]) => defined({ model, memoryMib: whole(memory) }) as NodeGpus);
}

function hamiJson(register: string): readonly NodeGpus[] {
  try {
    const devices: unknown = JSON.parse(register);
    if (!Array.isArray(devices)) return [];
    return devices.map(
      (device) => defined({ model: textAt(device, 'type'), memoryMib: whole(at(device, 'devmem')) }) as NodeGpus,
    );
  } catch (cause) {
    if (cause instanceof SyntaxError) return [];
    throw cause;
  }
}

interface Handing {
  readonly model: string | undefined;
  readonly migProfile: string | undefined;
  readonly replicas: number | undefined;
}

function countOf(
  capacity: unknown,
  labels: Readonly<Record<string, string>>,
  { model, migProfile, replicas = 1 }: Handing,
): number | undefined {
  const offered = (resource: string): number => whole(at(capacity, resource)) ?? 0;
  const labelled = COUNT_LABELS.map((key) => whole(labels[key])).find((count) => count !== undefined);
  const nvidia = offered('nvidia.com/gpu');
  const slices = migSlices(capacity);
  const isMigOnly = migProfile !== undefined;
  const others = WHOLE.reduce((sum, resource) => sum + offered(resource), 0);
  if (others > 0) return others;
  // A label counts what is in the machine, except with MIG strategy `single`, where it counts slices.
  if (labelled !== undefined && labelled > 0 && !isMigOnly) return labelled;
  const cut = [...slices, ...(isMigOnly ? [{ profile: migProfile, count: nvidia }] : [])];
  const units = cut.reduce((sum, { profile, count }) => sum + count * unitsOf(profile, model), 0);
  const uncut = isMigOnly ? 0 : Math.ceil((nvidia + offered('nvidia.com/gpu.shared')) / Math.max(replicas, 1));
  const count = uncut + Math.ceil(units / SHARE_UNITS);
  return count === 0 && model !== undefined ? undefined : count;
}

/** Seven slices of `1g` fill a GPU, though they leave an eighth of its memory: sevenths of compute decide how many fit. */
function unitsOf(profile: string, model: string | undefined): number {
  const [, compute = '7'] = /^(\d+)g/.exec(profile) ?? [];
  return Math.max(migShareUnits(profile, model) ?? 0, (SHARE_UNITS * Number(compute)) / 7);
}

function migSlices(capacity: unknown): readonly { readonly profile: string; readonly count: number }[] {
  if (typeof capacity !== 'object' || capacity === null) return [];
  return Object.entries(capacity).flatMap(([resource, amount]) => {
    const [, profile] = /^nvidia\.com\/mig-(.+?)(?:\.shared)?$/.exec(resource) ?? [];
    const count = whole(amount) ?? 0;
    return profile === undefined || count === 0 ? [] : [{ profile, count }];
  });
}

function whole(value: unknown): number | undefined {
  const found = quantityNumber(value);
  return found === undefined || found > 10_000_000 ? undefined : found;
}
