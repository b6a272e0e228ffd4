import type { Node, OrganisationDay } from '../organisation.ts';
import type { Seconds } from '../timeline.ts';
import type { Tariff } from './tariff.ts';

/** One period of a provider's day, by the hour or the whole of it. */
export interface Period {
  readonly day: OrganisationDay;
  readonly index: number;
  readonly from: Seconds;
  readonly until: Seconds;
  /** By the name of the pool. */
  readonly tariffs: ReadonlyMap<string, Tariff>;
}

/** GPUs of a machine; slices are parts of them. */
export function gpusOf({ devices }: Node): number {
  let gpus = 0;
  for (const { parent } of devices) if (parent === undefined) gpus += 1;
  return gpus;
}
