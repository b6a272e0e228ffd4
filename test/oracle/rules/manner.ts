import type { AllocationRow } from '../organisation.ts';
import { DAY_S } from '../organisation.ts';
import { overlap, secondsOf } from '../order.ts';
import type { Holding } from './holding.ts';

export type Manner = 'job' | 'serving' | 'interactive';

const BY_CLASS: Readonly<Record<string, Manner>> = {
  inference: 'serving',
  experimentation: 'interactive',
  training: 'job',
  batch: 'job',
};
const BY_KIND: Readonly<Record<string, Manner>> = {
  Deployment: 'serving',
  StatefulSet: 'serving',
  InferenceService: 'serving',
  LLMInferenceService: 'serving',
  RayService: 'serving',
  Notebook: 'interactive',
};

export const mannerOfRow = ({ labels, workload_kind }: Pick<AllocationRow, 'labels' | 'workload_kind'>): Manner =>
  BY_CLASS[labels['class'] ?? ''] ?? BY_KIND[workload_kind ?? ''] ?? 'job';

/** What tells holders apart. */
export const holderOf = ({ source, allocation_id, attempt }: AllocationRow): string =>
  JSON.stringify([source, allocation_id, attempt]);

/** How a holder used GPUs on a day: of several rows the first manner in the alphabet. */
export function mannerOf(holdings: readonly Holding[], holder: AllocationRow, day: number): Manner | null {
  const onDay = { from: day, until: day + DAY_S };
  const own = holdings.filter((each) => holderOf(each.row) === holderOf(holder) && secondsOf(overlap(each, onDay)) > 0);
  return own.map((each) => mannerOfRow(each.row)).sort()[0] ?? null;
}
