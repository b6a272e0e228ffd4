/** Number formats whose peak rate makers publish. INT8 is in tera-operations, the others in TFLOPS. */
export const PRECISIONS = ['fp64', 'fp32', 'tf32', 'bf16', 'fp16', 'fp8', 'int8', 'fp4'] as const;

export type Precision = (typeof PRECISIONS)[number];

/** What a maker says an accelerator can do. What nobody could be found to say is undefined, never a guess. */
export interface Accelerator {
  /** The name prices, rates and screens use. */
  readonly id: string;
  readonly vendor: 'NVIDIA' | 'AMD' | 'Intel' | 'Google' | 'AWS';
  /** What a driver calls one device: half of a K80 or MI250X board is a device of its own, but the figures are of the board. */
  readonly devicesPerBoard?: number;
  readonly memoryGib: number;
  readonly bandwidthGbS?: number;
  /** What its NVLinks carry, both ways together; of PCIe cards with a bridge between two. Undefined where it has none. */
  readonly nvlinkGbS?: number;
  /** Peak dense rates, without sparsity, with FP32 accumulation where the maker tells them apart. fp64, fp32: the vector units. */
  readonly denseTflops: Readonly<Partial<Record<Precision, number>>>;
  /** The limit the board is sold with. */
  readonly powerW?: number;
  /** MIG profiles that memory is cut by; undefined where it cannot be cut or nobody was found to say. */
  readonly migProfiles?: readonly string[];
  /** Whole words by which drivers, catalogs and people name it; `-`, `_`, `/` and spaces are alike. The longest match counts. */
  readonly names: readonly string[];
  readonly source: string;
}

/** The day the figures were looked up. */
export const ACCELERATORS_AS_OF = '2026-11-16';

/** Lower case, separators as spaces, a space at each end: whole words are then a plain search. */
export function wordsOf(name: string): string {
  return ` ${name.toLowerCase().replaceAll(/[-_/().,]/g, ' ')} `;
}
