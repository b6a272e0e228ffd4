/** A metric of an exporter and the column of `gpu_sample` it fills. */
export interface GpuMetric {
  readonly metric: string;
  readonly column: string;
  /** The value times `factor[0] / factor[1]` is in the unit of the column. */
  readonly factor: readonly [numerator: number, denominator: number];
  /** From here on the value is the exporter's way to say that there is none. */
  readonly blankFrom: number;
  /**
   * `part`: the column is the sum of the metrics of this exporter that fill it (sent and received), and unknown if one of
   * them is missing. `whole`: the metric is the column; of two readings of one moment the greater is kept.
   */
  readonly share: 'whole' | 'part';
  readonly exporter: 'dcgm' | 'dcgm-1.x' | 'amd' | 'amd-smi' | 'nvidia-smi' | 'nvml' | 'triton';
}

/** DCGM marks 32-bit fields without a value by 0x7FFFFFF0 and the numbers after it. */
const BLANK_32 = 0x7ffffff0;
/** DCGM's blank of floating point fields; those of 64-bit fields lie near 2^63. Bytes a second stay far below both. */
const BLANK_64 = 2 ** 47;
/** AMD's drivers say "not available" with all bits of a 16-bit field set. */
const BLANK_16 = 0xffff;

const RATIO: readonly [number, number] = [1000, 1];
const PERCENT: readonly [number, number] = [10, 1];
const AS_IS: readonly [number, number] = [1, 1];
const BYTES: readonly [number, number] = [1, 1_048_576];
const BYTES_PER_SECOND: readonly [number, number] = [1, 1_000_000];

type Line = readonly [
  metric: string,
  column: string,
  factor: readonly [number, number],
  blankFrom: number,
  part?: 'part',
];

function of(exporter: GpuMetric['exporter'], lines: readonly Line[]): GpuMetric[] {
  return lines.map(([metric, column, factor, blankFrom, part]) => ({
    metric,
    column,
    factor,
    blankFrom,
    share: part ?? 'whole',
    exporter,
  }));
}

const DCGM = of('dcgm', [
  ['DCGM_FI_PROF_GR_ENGINE_ACTIVE', 'engine_permille', RATIO, BLANK_32],
  ['DCGM_FI_PROF_SM_ACTIVE', 'sm_permille', RATIO, BLANK_32],
  ['DCGM_FI_PROF_PIPE_TENSOR_ACTIVE', 'tensor_permille', RATIO, BLANK_32],
  ['DCGM_FI_PROF_DRAM_ACTIVE', 'dram_permille', RATIO, BLANK_32],
  ['DCGM_FI_DEV_GPU_UTIL', 'util_permille', PERCENT, BLANK_32],
  ['DCGM_FI_DEV_FB_USED', 'fb_used_mib', AS_IS, BLANK_32],
  ['DCGM_FI_DEV_POWER_USAGE', 'power_w', AS_IS, BLANK_32],
  // Both are rates, whatever an older counter list calls them; the link's own counters have other names.
  ['DCGM_FI_PROF_PCIE_TX_BYTES', 'pcie_mb_s', BYTES_PER_SECOND, BLANK_64, 'part'],
  ['DCGM_FI_PROF_PCIE_RX_BYTES', 'pcie_mb_s', BYTES_PER_SECOND, BLANK_64, 'part'],
  ['DCGM_FI_PROF_NVLINK_TX_BYTES', 'nvlink_mb_s', BYTES_PER_SECOND, BLANK_64, 'part'],
  ['DCGM_FI_PROF_NVLINK_RX_BYTES', 'nvlink_mb_s', BYTES_PER_SECOND, BLANK_64, 'part'],
  ['DCGM_FI_DEV_XID_ERRORS', 'xid', AS_IS, BLANK_32],
  ['DCGM_FI_DEV_CLOCK_THROTTLE_REASONS', 'throttle', AS_IS, BLANK_32],
  ['DCGM_FI_DEV_CLOCKS_EVENT_REASONS', 'throttle', AS_IS, BLANK_32],
]);

const DCGM_1 = of('dcgm-1.x', [
  ['dcgm_fi_prof_gr_engine_active', 'engine_permille', RATIO, BLANK_32],
  ['dcgm_fi_prof_sm_active', 'sm_permille', RATIO, BLANK_32],
  ['dcgm_fi_prof_pipe_tensor_active', 'tensor_permille', RATIO, BLANK_32],
  ['dcgm_fi_prof_dram_active', 'dram_permille', RATIO, BLANK_32],
  ['dcgm_gpu_utilization', 'util_permille', PERCENT, BLANK_32],
  ['dcgm_fb_used', 'fb_used_mib', AS_IS, BLANK_32],
  ['dcgm_power_usage', 'power_w', AS_IS, BLANK_32],
  ['dcgm_fi_prof_pcie_tx_bytes', 'pcie_mb_s', BYTES_PER_SECOND, BLANK_64, 'part'],
  ['dcgm_fi_prof_pcie_rx_bytes', 'pcie_mb_s', BYTES_PER_SECOND, BLANK_64, 'part'],
  ['dcgm_xid_errors', 'xid', AS_IS, BLANK_32],
]);

/** What AMD's exporter calls MB are MiB: an MI300X of 192 GiB has 196,592 of them. */
const AMD_LINES: readonly Line[] = [
  ['gpu_gfx_activity', 'engine_permille', PERCENT, BLANK_16],
  ['gpu_umc_activity', 'dram_permille', PERCENT, BLANK_16],
  ['gpu_used_vram', 'fb_used_mib', AS_IS, BLANK_32],
  ['gpu_package_power', 'power_w', AS_IS, BLANK_16],
  ['gpu_average_package_power', 'power_w', AS_IS, BLANK_16],
  ['gpu_power_usage', 'power_w', AS_IS, BLANK_16],
];
const AMD = of('amd', [
  ...AMD_LINES,
  ...AMD_LINES.map(([metric, ...rest]): Line => [`amd_${metric}`, ...rest]),
  ...AMD_LINES.map(([metric, ...rest]): Line => [metric.toUpperCase(), ...rest]),
]);

/** `amd_gpu_power` is left out: some builds give watts and some microwatts, and nothing in the scrape tells which. */
const AMD_SMI = of('amd-smi', [['amd_gpu_use_percent', 'util_permille', PERCENT, BLANK_16]]);

const NVIDIA_SMI = of('nvidia-smi', [
  ['nvidia_smi_utilization_gpu_ratio', 'util_permille', RATIO, BLANK_32],
  ['nvidia_smi_memory_used_bytes', 'fb_used_mib', BYTES, BLANK_64],
  ['nvidia_smi_power_draw_watts', 'power_w', AS_IS, BLANK_32],
]);

const NVML = of('nvml', [
  ['nvidia_gpu_duty_cycle', 'util_permille', PERCENT, BLANK_32],
  ['nvidia_gpu_memory_used_bytes', 'fb_used_mib', BYTES, BLANK_64],
  ['nvidia_gpu_power_usage_milliwatts', 'power_w', [1, 1000], BLANK_32],
]);

const TRITON = of('triton', [
  ['nv_gpu_utilization', 'util_permille', RATIO, BLANK_32],
  ['nv_gpu_memory_used_bytes', 'fb_used_mib', BYTES, BLANK_64],
  ['nv_gpu_power_usage', 'power_w', AS_IS, BLANK_32],
]);

/** Every metric we know a column for, by the name the exporter gives it. */
export const GPU_METRICS: readonly GpuMetric[] = [
  ...DCGM,
  ...DCGM_1,
  ...AMD,
  ...AMD_SMI,
  ...NVIDIA_SMI,
  ...NVML,
  ...TRITON,
];

/** The widest value each kind of column may have; beyond it a sensor does not speak of its GPU. */
const GREATEST: Readonly<Record<string, number>> = {
  fb_used_mib: 100_000_000,
  power_w: 100_000,
  pcie_mb_s: 10_000_000,
  nvlink_mb_s: 10_000_000,
  xid: 100_000,
  throttle: 0x7fffffff,
};
/** Profiling ratios come out a little above 1 when their window and the exporter's do not quite agree. */
const ACTIVITY_OVERSHOOT_MAX_PERMILLE = 1050;

const BY_NAME: ReadonlyMap<string, GpuMetric> = new Map(GPU_METRICS.map((each) => [each.metric, each]));

/** Which column does this metric fill? Undefined for one we keep nothing of. */
export function gpuMetricOf(metric: string): GpuMetric | undefined {
  return BY_NAME.get(metric);
}

/**
 * The value in the unit of the column, a whole number; undefined where the exporter said "no value" or cannot mean it:
 * blanks, NaN, infinities, negative numbers. A missing value is never 0.
 */
export function toColumnValue(metric: GpuMetric, value: number): number | undefined {
  if (!Number.isFinite(value) || value < 0 || value >= metric.blankFrom) return undefined;
  const inUnit = Math.round((value * metric.factor[0]) / metric.factor[1]);
  if (metric.column.endsWith('_permille')) {
    return inUnit > ACTIVITY_OVERSHOOT_MAX_PERMILLE ? undefined : Math.min(inUnit, 1000);
  }
  return inUnit > (GREATEST[metric.column] ?? 0x7fffffff) ? undefined : inUnit;
}

/** What `toColumnValue` takes for a column, for those who convert millions: up to `greatest`, cut to `most`. */
export function columnRange(column: string): { readonly greatest: number; readonly most: number } {
  if (column.endsWith('_permille')) return { greatest: ACTIVITY_OVERSHOOT_MAX_PERMILLE, most: 1000 };
  const greatest = GREATEST[column] ?? 0x7fffffff;
  return { greatest, most: greatest };
}
