import { MEBIBYTE, MEGABYTE_PER_SECOND, PERMILLE, SECOND, WATT } from './column.ts';
import type { Column } from './column.ts';
import type { FactTable } from './fact-table.ts';

const activity = (name: string, meaning: string, alsoKnownAs: NonNullable<Column['alsoKnownAs']>): Column => ({
  name,
  kind: 'integer',
  unit: PERMILLE,
  knownRange: [0, 1000],
  missing: 'unknown, never idle',
  meaning,
  example: '',
  alsoKnownAs,
});

const bandwidth = (name: string, meaning: string): Column => ({
  name,
  kind: 'integer',
  unit: MEGABYTE_PER_SECOND,
  knownRange: [0, 10_000_000],
  missing: 'unknown',
  meaning,
  example: '',
});

export const gpuSampleTable: FactTable = {
  name: 'gpu_sample',
  importName: 'samples',
  meaning: 'What one device measured at one moment.',
  partitionBy: 'ts',
  partition: 'day',
  sortBy: ['device_id', 'ts'],
  merge: 'column',
  columns: [
    {
      name: 'device_id',
      kind: 'text',
      key: true,
      required: true,
      meaning: 'The device that was measured.',
      example: 'GPU-5d1a7c1e-0000-4000-8000-000000000001',
      alsoKnownAs: [{ name: 'uuid' }, { name: 'UUID' }, { name: 'gpu_uuid' }],
    },
    {
      name: 'ts',
      kind: 'time',
      key: true,
      required: true,
      meaning: 'When, to the second.',
      example: '2026-10-30T09:00:00Z',
      alsoKnownAs: [{ name: 'timestamp' }, { name: 'time' }, { name: 'sampled_at' }],
    },
    {
      name: 'step_s',
      kind: 'integer',
      unit: SECOND,
      knownRange: [1, 86_400],
      missing: 'the median distance between the samples of the device in the batch, an hour at most',
      meaning: 'How far apart the source takes samples.',
      example: '60',
    },
    {
      ...activity('engine_permille', 'Share of time the graphics engine was active.', [
        { name: 'DCGM_FI_PROF_GR_ENGINE_ACTIVE', unit: 'ratio' },
      ]),
      example: '870',
    },
    {
      ...activity('sm_permille', 'Share of time the SMs were active.', [
        { name: 'DCGM_FI_PROF_SM_ACTIVE', unit: 'ratio' },
      ]),
      example: '610',
    },
    activity('tensor_permille', 'Share of time the tensor pipe was active.', [
      { name: 'DCGM_FI_PROF_PIPE_TENSOR_ACTIVE', unit: 'ratio' },
    ]),
    activity('dram_permille', 'Share of time device memory was being read or written.', [
      { name: 'DCGM_FI_PROF_DRAM_ACTIVE', unit: 'ratio' },
    ]),
    {
      ...activity('util_permille', 'Share of time some kernel was resident (nvidia-smi utilization).', [
        { name: 'DCGM_FI_DEV_GPU_UTIL', unit: 'percent' },
        { name: 'utilization.gpu', unit: 'percent' },
        { name: 'util_percent', unit: 'percent' },
      ]),
      example: '990',
    },
    {
      name: 'fb_used_mib',
      kind: 'integer',
      unit: MEBIBYTE,
      knownRange: [0, 100_000_000],
      missing: 'unknown',
      meaning: 'Device memory in use.',
      example: '61440',
      alsoKnownAs: [
        { name: 'DCGM_FI_DEV_FB_USED', unit: 'mib' },
        { name: 'memory.used', unit: 'mib' },
      ],
    },
    {
      name: 'power_w',
      kind: 'integer',
      unit: WATT,
      knownRange: [0, 100_000],
      missing: 'unknown',
      meaning: 'Power drawn.',
      example: '540',
      alsoKnownAs: [
        { name: 'DCGM_FI_DEV_POWER_USAGE', unit: 'w' },
        { name: 'power.draw', unit: 'w' },
      ],
    },
    bandwidth('pcie_mb_s', 'Traffic over PCIe, both ways.'),
    bandwidth('nvlink_mb_s', 'Traffic over NVLink, both ways.'),
    {
      name: 'xid',
      kind: 'integer',
      knownRange: [0, 100_000],
      meaning: 'Last XID error.',
      example: '',
      alsoKnownAs: [{ name: 'DCGM_FI_DEV_XID_ERRORS' }],
    },
    {
      name: 'throttle',
      kind: 'integer',
      knownRange: [0, Number.MAX_SAFE_INTEGER],
      meaning: 'Bit mask of the clock throttle reasons.',
      example: '',
    },
  ],
};
