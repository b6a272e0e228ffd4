import { describe, expect, it } from 'vitest';
import { gpuSampleTable } from '../../facts/gpu-sample.ts';
import { GPU_METRICS, gpuMetricOf, toColumnValue } from './metric-columns.ts';

describe('the table of metrics', () => {
  it('names columns that exist, and each metric once', () => {
    const columns = new Set(gpuSampleTable.columns.map(({ name }) => name));
    for (const { metric, column } of GPU_METRICS) expect([metric, columns.has(column)]).toEqual([metric, true]);
    expect(new Set(GPU_METRICS.map(({ metric }) => metric)).size).toBe(GPU_METRICS.length);
  });

  it('agrees with the names people may give their files', () => {
    for (const { name, alsoKnownAs = [], unit } of gpuSampleTable.columns) {
      for (const known of alsoKnownAs) {
        const metric = gpuMetricOf(known.name);
        if (metric === undefined) continue;
        const factor = known.unit === undefined ? [1, 1] : unit?.from[known.unit];
        expect([known.name, metric.column, metric.factor]).toEqual([known.name, name, factor]);
      }
    }
  });
});

const cases: Record<string, { metric: string; value: number; want: number | undefined }> = {
  'a ratio becomes permille': { metric: 'DCGM_FI_PROF_SM_ACTIVE', value: 0.6104, want: 610 },
  'a percentage becomes permille': { metric: 'DCGM_FI_DEV_GPU_UTIL', value: 99, want: 990 },
  'a measured zero is zero': { metric: 'DCGM_FI_DEV_GPU_UTIL', value: 0, want: 0 },
  'a ratio a hair above 1 is 1': { metric: 'DCGM_FI_PROF_GR_ENGINE_ACTIVE', value: 1.0021, want: 1000 },
  'a ratio of 7 is no ratio': { metric: 'DCGM_FI_PROF_GR_ENGINE_ACTIVE', value: 7, want: undefined },
  'bytes become MiB': { metric: 'nvidia_smi_memory_used_bytes', value: 85_899_345_920, want: 81_920 },
  'milliwatts become W': { metric: 'nvidia_gpu_power_usage_milliwatts', value: 312_400, want: 312 },
  'many bytes a second are no blank': { metric: 'DCGM_FI_PROF_NVLINK_TX_BYTES', value: 4e11, want: 400_000 },
  "DCGM's 32-bit blank": { metric: 'DCGM_FI_DEV_FB_USED', value: 0x7ffffff0, want: undefined },
  "DCGM's 32-bit 'not supported'": { metric: 'DCGM_FI_DEV_FB_USED', value: 0x7ffffff2, want: undefined },
  "DCGM's 64-bit blank": { metric: 'DCGM_FI_DEV_XID_ERRORS', value: 2 ** 63 - 16, want: undefined },
  "DCGM's blank of a rate": { metric: 'DCGM_FI_PROF_PCIE_TX_BYTES', value: 2 ** 63 - 14, want: undefined },
  "DCGM's floating point blank": { metric: 'DCGM_FI_PROF_DRAM_ACTIVE', value: 140737488355328, want: undefined },
  "AMD's blank": { metric: 'gpu_package_power', value: 65535, want: undefined },
  'not a number': { metric: 'DCGM_FI_DEV_POWER_USAGE', value: NaN, want: undefined },
  infinity: { metric: 'DCGM_FI_DEV_POWER_USAGE', value: Infinity, want: undefined },
  'below zero': { metric: 'DCGM_FI_DEV_POWER_USAGE', value: -1, want: undefined },
};

it.each(Object.entries(cases))('%s', (_, { metric, value, want }) => {
  const known = gpuMetricOf(metric);
  expect(known === undefined ? 'no such metric' : toColumnValue(known, value)).toBe(want);
});
