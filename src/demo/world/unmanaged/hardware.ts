import type { Quantiles, World } from '../world-schema.ts';

/** Six numbers in the order of a world file: p0, p10, p50, p90, p99, p100. */
export function spreadOf(p0: number, p10: number, p50: number, p90: number, p99: number, p100: number): Quantiles {
  return { p0, p10, p50, p90, p99, p100 };
}

/** Names, memory and watts as the drivers of real cards give them. */
export const GPUS: World['gpus'] = {
  h100: {
    model: 'NVIDIA H100 80GB HBM3',
    memory_mib: 81_559,
    rest_w: 70,
    full_w: 700,
    pcie_mb_s: 126_000,
    nvlink_mb_s: 900_000,
  },
  'a100-80': {
    model: 'NVIDIA A100-SXM4-80GB',
    memory_mib: 81_920,
    rest_w: 55,
    full_w: 400,
    pcie_mb_s: 63_000,
    nvlink_mb_s: 600_000,
  },
  'a100-40': {
    model: 'NVIDIA A100-SXM4-40GB',
    memory_mib: 40_960,
    rest_w: 55,
    full_w: 400,
    pcie_mb_s: 63_000,
    nvlink_mb_s: 600_000,
  },
  l4: { model: 'NVIDIA L4', memory_mib: 23_034, rest_w: 12, full_w: 72, pcie_mb_s: 63_000, nvlink_mb_s: 0 },
  t4: { model: 'Tesla T4', memory_mib: 15_360, rest_w: 9, full_w: 70, pcie_mb_s: 31_500, nvlink_mb_s: 0 },
};

export const KERNELS: World['kernels'] = {
  'llm-training': {
    engine_permille: 975,
    sm_permille: 820,
    tensor_permille: 470,
    dram_permille: 520,
    util_permille: 1000,
    power_permille: 860,
    memory_permille: 880,
    pcie_permille: 40,
    nvlink_permille: 220,
  },
  'vision-training': {
    engine_permille: 940,
    sm_permille: 700,
    tensor_permille: 290,
    dram_permille: 560,
    util_permille: 990,
    power_permille: 720,
    memory_permille: 620,
    pcie_permille: 120,
    nvlink_permille: 80,
  },
  'speech-training': {
    engine_permille: 920,
    sm_permille: 610,
    tensor_permille: 220,
    dram_permille: 480,
    util_permille: 980,
    power_permille: 640,
    memory_permille: 540,
    pcie_permille: 70,
    nvlink_permille: 60,
  },
  'small-training': {
    engine_permille: 860,
    sm_permille: 470,
    tensor_permille: 110,
    dram_permille: 330,
    util_permille: 950,
    power_permille: 470,
    memory_permille: 340,
    pcie_permille: 60,
    nvlink_permille: 0,
  },
  notebook: {
    engine_permille: 720,
    sm_permille: 340,
    tensor_permille: 60,
    dram_permille: 260,
    util_permille: 860,
    power_permille: 370,
    memory_permille: 300,
    pcie_permille: 30,
    nvlink_permille: 0,
  },
  // Bound by memory: every token reads all weights, and the tensor pipe hardly notices.
  'llm-serving': {
    engine_permille: 950,
    sm_permille: 390,
    tensor_permille: 70,
    dram_permille: 790,
    util_permille: 1000,
    power_permille: 560,
    memory_permille: 900,
    pcie_permille: 20,
    nvlink_permille: 0,
  },
  'embedding-serving': {
    engine_permille: 890,
    sm_permille: 600,
    tensor_permille: 260,
    dram_permille: 420,
    util_permille: 960,
    power_permille: 640,
    memory_permille: 410,
    pcie_permille: 60,
    nvlink_permille: 0,
  },
  'batch-inference': {
    engine_permille: 965,
    sm_permille: 630,
    tensor_permille: 340,
    dram_permille: 700,
    util_permille: 1000,
    power_permille: 760,
    memory_permille: 900,
    pcie_permille: 50,
    nvlink_permille: 0,
  },
};
