import type { Accelerator } from './accelerators/accelerator.ts';
import { wordsOf } from './accelerators/accelerator.ts';
import { AMD, INTEL } from './accelerators/amd-intel.ts';
import { AWS_CHIPS, TPU } from './accelerators/cloud-chips.ts';
import { NVIDIA_BLACKWELL } from './accelerators/nvidia-blackwell.ts';
import { NVIDIA_AMPERE, NVIDIA_EARLIER } from './accelerators/nvidia-earlier.ts';
import { NVIDIA_ADA, NVIDIA_HOPPER } from './accelerators/nvidia-hopper-ada.ts';

export const ACCELERATORS: readonly Accelerator[] = [
  ...NVIDIA_EARLIER,
  ...NVIDIA_AMPERE,
  ...NVIDIA_ADA,
  ...NVIDIA_HOPPER,
  ...NVIDIA_BLACKWELL,
  ...AMD,
  ...INTEL,
  ...TPU,
  ...AWS_CHIPS,
];

/** Every name of an accelerator beside its id, the longest first, then by the alphabet: the first that fits is meant. */
export const ACCELERATOR_NAMES: readonly {
  readonly name: string;
  readonly id: string;
  readonly nvlinkGbS: number | null;
}[] = ACCELERATORS.flatMap(({ id, names, nvlinkGbS = null }) =>
  names.map((name) => ({ name, id, nvlinkGbS })),
).toSorted((a, b) => b.name.length - a.name.length || (a.name < b.name ? -1 : 1));

const NAME_WORDS = ACCELERATOR_NAMES.map(({ name, id }) => ({ id, words: wordsOf(name) }));

/**
 * Question: which accelerator is meant by `NVIDIA H100 80GB HBM3`, `a100-80gb` or `RTXA6000`?
 *
 * Whole words count, the longest name wins: `L4` is not in `NVIDIA L40`. Undefined for what the table does not have.
 */
export function acceleratorNamed(text: string): Accelerator | undefined {
  const words = wordsOf(text);
  const id = NAME_WORDS.find((name) => words.includes(name.words))?.id;
  return ACCELERATORS.find((accelerator) => accelerator.id === id);
}

/** `tpu-v5p-8` has four chips: up to v5p the number counts cores, two to a chip, later it counts chips. */
const TPU_SLICE = /^tpu[-_]?(v2|v3|v4|v5p|v5e|v5litepod|v6e|v7x?)[-_](\d+)$/i;
const CORES_COUNTED = new Set(['v2', 'v3', 'v4', 'v5p']);

/** Words that say who made it, not what it is. */
const MAKER_WORDS = /\b(nvidia|tesla|geforce|quadro|amd|instinct|radeon|intel|habana|aws|google|blackwell|grace)\b/g;
const ID_BY_NAME = new Map(
  ACCELERATOR_NAMES.map(({ name, id }) => [
    wordsOf(name).replaceAll(MAKER_WORDS, '').replaceAll(/ +/g, ' ').trim(),
    id,
  ]),
);

/**
 * What a price list calls an accelerator: its id here where the name says that and no more, and how many of them the name itself
 * stands for. `H100-MEGA` keeps its name, because it has a price of its own; what it is compared with is `comparable`.
 */
export function listedAccelerator(name: string): {
  readonly id: string;
  readonly count: number;
  readonly comparable: string | undefined;
} {
  const slice = TPU_SLICE.exec(name.trim());
  const [, generation = '', size = ''] = slice ?? [];
  if (slice !== null && Number(size) >= 1) {
    const count = CORES_COUNTED.has(generation.toLowerCase()) ? Number(size) / 2 : Number(size);
    const id = acceleratorNamed(`TPU-${generation}`)?.id;
    return { id: id ?? name.trim(), count, comparable: id };
  }
  const bare = wordsOf(name).replaceAll(MAKER_WORDS, '').replaceAll(/ +/g, ' ').trim();
  return { id: ID_BY_NAME.get(bare) ?? name.trim(), count: 1, comparable: acceleratorNamed(name)?.id };
}
