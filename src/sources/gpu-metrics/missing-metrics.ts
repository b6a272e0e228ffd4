import type { Advice } from '../../facts/source.ts';
import { gpuMetricOf } from './metric-columns.ts';

interface Wish {
  readonly metric: string;
  readonly columns: readonly string[];
  readonly sharpens: string;
}

/** Most useful first; without any activity nothing can be said about idle GPUs. */
const WISHES: readonly Wish[] = [
  {
    metric: 'DCGM_FI_PROF_GR_ENGINE_ACTIVE',
    columns: ['engine_permille', 'sm_permille'],
    sharpens: 'tells computing from idle without trusting GPU_UTIL, and at all on MIG slices',
  },
  {
    metric: 'DCGM_FI_DEV_POWER_USAGE',
    columns: ['power_w'],
    sharpens: 'a second signal: idle is said only where it agrees',
  },
  { metric: 'DCGM_FI_PROF_SM_ACTIVE', columns: ['sm_permille'], sharpens: 'tells waiting for input from computing' },
  { metric: 'DCGM_FI_PROF_DRAM_ACTIVE', columns: ['dram_permille'], sharpens: 'tells memory-bound serving from idle' },
  { metric: 'DCGM_FI_DEV_FB_USED', columns: ['fb_used_mib'], sharpens: 'tells what would fit on a smaller GPU' },
];

/**
 * What would sharpen the answers, given the metrics an exporter has? Nothing is advised to AMD's exporters, which have their
 * own names for what they measure.
 */
export function missingMetrics(metrics: ReadonlySet<string>): Advice[] {
  const known = [...metrics].map(gpuMetricOf).filter((metric) => metric !== undefined);
  if (!known.some(({ exporter }) => exporter === 'dcgm')) return [];
  const columns = new Set(known.map(({ column }) => column));
  return WISHES.filter((wish) => !wish.columns.some((column) => columns.has(column))).map(({ metric, sharpens }) => ({
    missing: `${metric} is not exported`,
    sharpens,
    todo: `add to dcgm-exporter's counters file and restart it: ${metric}, gauge, ${metric}`,
  }));
}
