import type {
  AllocationRow,
  ChargeRow,
  DeviceRow,
  FxRateRow,
  NodeRow,
  PriceRow,
  RateRow,
  SampleRow,
  WaitingRow,
  WorkRow,
} from '../organisation.ts';
import type { Dice } from './dice.ts';

/** What a random organisation may concentrate on. */
export const FLAVOURS = [
  'odd-amounts',
  'beside',
  'pools',
  'two-bills',
  'currencies',
  'months',
  'daily-bills',
  'estimates',
  'rates',
  'catalog',
  'owned',
  'overlaps',
  'sharing',
  'mig',
  'counts',
  'own-devices',
  'open',
  'counted-nodes',
  'inferred',
  'states',
  'signals',
  'silent-clusters',
  'no-provider',
  'machine-parts',
  'beside-nodes',
  'commitments',
  'blocks',
  'bad-ends',
] as const;

export type Flavour = (typeof FLAVOURS)[number];

/** An organisation in the making. Every fact lies in `[start, end]`, whole days, but for bills of whole months. */
export interface Draft {
  readonly dice: Dice;
  readonly has: (flavour: Flavour) => boolean;
  readonly start: number;
  readonly end: number;
  readonly nodes: NodeRow[];
  readonly devices: DeviceRow[];
  readonly samples: SampleRow[];
  readonly allocations: AllocationRow[];
  readonly waiting: WaitingRow[];
  readonly work: WorkRow[];
  readonly charges: ChargeRow[];
  readonly rates: RateRow[];
  readonly prices: PriceRow[];
  readonly fxRates: FxRateRow[];
  covered_until: number | null;
}

/** A second between two, often a round one. */
export function someTime({ dice }: Draft, from: number, until: number): number {
  const time = dice.int(from, until);
  const grain = dice.pick([1, 1, 60, 3600]);
  return Math.max(from, time - (time % grain));
}
