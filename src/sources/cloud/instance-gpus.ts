import { AWS_TYPES, AZURE_SIZES, GCP_ACCELERATORS, GCP_MACHINE_TYPES } from './instance-table.ts';

/**
 * What a machine type carries. A machine with a part of a GPU counts one, and its model says which part: `1/6A10`, which no rate
 * and no list price of a whole A10 meets.
 */
export interface InstanceGpus {
  readonly model: string;
  readonly count: number;
}

/** `none`: surely no GPU. `unknown`: by its name it has some, but which and how many nobody here knows. */
export type GpusOfType = InstanceGpus | 'none' | 'unknown';

type Table = ReadonlyMap<string, InstanceGpus>;

const AWS = tableOf(AWS_TYPES, (type) => type);
const AZURE = tableOf(AZURE_SIZES, (size) => plainSize(size));
const GCP = tableOf(GCP_MACHINE_TYPES, (type) => type);
const GCP_GPU = new Map(
  GCP_ACCELERATORS.trim()
    .split('\n')
    .map((line): [string, string] => {
      const [name = '', model = ''] = line.trim().split(/ +(.*)/);
      return [name, model];
    }),
);

/** The EC2 types whose GPUs are known. */
export const AWS_TYPE_NAMES: readonly string[] = [...AWS.keys()];

/**
 * Which GPUs does an EC2 instance type have?
 *
 * Families named p, g, trn, inf and dl are accelerated, the names of future ones included; f (FPGAs) and vt (video) are
 * not what is meant here.
 */
export function awsGpus(type: string): GpusOfType {
  const known = AWS.get(type.toLowerCase());
  if (known !== undefined) return known;
  return /^(?:u-)?(?:p|g|gr|trn|inf|dl)\d/i.test(type) ? 'unknown' : 'none';
}

/** Which GPUs does a VM size of Azure have? NP sizes are FPGAs. */
export function azureGpus(size: string): GpusOfType {
  const known = AZURE.get(plainSize(size));
  if (known !== undefined) return known;
  return /^(?:standard|basic)_n(?!p)/i.test(size) ? 'unknown' : 'none';
}

/**
 * Which GPUs does a machine of Compute Engine have?
 *
 * A2, A3, A4 and G2 machines have theirs built in, and gcloud lists the same GPUs once more under `guestAccelerators`: they
 * are one set, never added. Only N1 machines get theirs from that list alone.
 */
export function gcpGpus(
  machineType: string,
  guestAccelerators: readonly { readonly type: string; readonly count: number }[],
): GpusOfType {
  const builtIn = GCP.get(machineType.toLowerCase()) ?? tpus(machineType);
  if (builtIn !== undefined) return builtIn;
  const attached = guestAccelerators.filter(({ count }) => count > 0);
  const first = attached[0];
  if (first !== undefined) {
    const count = attached.reduce((sum, each) => sum + each.count, 0);
    return { model: gcpModel(first.type), count };
  }
  return /^(?:a\d|g\d|ct\d|tpu)/i.test(machineType) ? 'unknown' : 'none';
}

/** `nvidia-tesla-t4-vws` → T4. A name that is not known yet is shown as it is. */
function gcpModel(type: string): string {
  const plain = type.toLowerCase().replace(/-vws$/, '');
  return GCP_GPU.get(plain) ?? type.replace(/^nvidia-(?:tesla-)?/i, '').toUpperCase();
}

const TPU_FAMILIES: Readonly<Record<string, string>> = {
  ct3: 'TPU v3',
  ct3p: 'TPU v3',
  ct4p: 'TPU v4',
  ct5l: 'TPU v5e',
  ct5lp: 'TPU v5e',
  ct5p: 'TPU v5p',
  ct6e: 'TPU v6e',
  tpu7x: 'TPU v7',
};

/** `ct5lp-hightpu-4t`: the number before the t is the chips of one host. */
function tpus(machineType: string): InstanceGpus | undefined {
  const [, family = '', chips = ''] = /^(ct\d[a-z]*|tpu7x)-[a-z]+-(\d{1,2})t(?:pu)?$/i.exec(machineType) ?? [];
  const model = TPU_FAMILIES[family.toLowerCase()];
  return model === undefined || Number(chips) === 0 ? undefined : { model, count: Number(chips) };
}

/** Promotional and restricted sizes have the hardware of the size they are named after. */
function plainSize(size: string): string {
  return size
    .toLowerCase()
    .replace(/^(?:standard|basic)_/, '')
    .replace(/_promo$/, '');
}

/** Is this a machine with less than one GPU? */
export function isPartOfGpu({ model }: InstanceGpus): boolean {
  return model.startsWith('1/');
}

/** Lines of `MODEL: type×count, type×count, …`; a count of 1/6 is a part of one GPU, no count is one. */
function tableOf(text: string, plain: (type: string) => string): Table {
  const entries = text
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [model = '', types = ''] = line.trim().split(/: +/);
      return types.split(', ').map((each): [string, InstanceGpus] => {
        const [type = '', count = '1'] = each.split('×');
        const isPart = count.includes('/');
        return [plain(type), { model: isPart ? `${count}${model}` : model, count: isPart ? 1 : Number(count) }];
      });
    });
  return new Map(entries);
}
