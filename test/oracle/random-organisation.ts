import type { ComponentPrice, ListPrice, Organisation } from './organisation.ts';
import { DAY_S } from './organisation.ts';
import { at } from './rows.ts';
import { addBills } from './random/bills.ts';
import { addCommitments } from './random/commitments.ts';
import { diceOf } from './random/dice.ts';
import { FLAVOURS } from './random/draft.ts';
import type { Draft, Flavour } from './random/draft.ts';
import { addFleet } from './random/fleet.ts';
import { addHolders } from './random/holders.ts';
import { addLives } from './random/lives.ts';
import { addPrices } from './random/prices.ts';
import { addRates } from './random/rates.ts';
import { addTelemetry } from './random/telemetry.ts';

/** Prices to hand to both sides of a comparison. */
export const SOME_LIST_PRICES: readonly ListPrice[] = [
  { model: 'H100', usdPerGpuHour: '6.88' },
  { model: 'A100', usdPerGpuHour: '3.67' },
  { model: 'A100-SXM4-40GB', usdPerGpuHour: '2.933333333' },
  { model: 'V100', usdPerGpuHour: '3.06' },
];

/** One that has only zeros, one that a longer name goes before, and odd digits. */
export const SOME_COMPONENT_PRICES: readonly ComponentPrice[] = [
  { model: 'H100', usdPerGpuHour: '5.123456789', usdPerVcpuHour: '0.031611', usdPerMemoryGibHour: '0.004237' },
  { model: 'A100', usdPerGpuHour: '9', usdPerVcpuHour: '9', usdPerMemoryGibHour: '9' },
  { model: 'A100-SXM4-40GB', usdPerGpuHour: '2.2', usdPerVcpuHour: '0.04', usdPerMemoryGibHour: '0.000000001' },
  { model: 'L4', usdPerGpuHour: '0', usdPerVcpuHour: '0.033', usdPerMemoryGibHour: '0' },
];

/** What the organisation of a seed concentrates on: two to four things, so that each is seen beside each. */
export function flavoursOf(seed: number): Flavour[] {
  const dice = diceOf(seed ^ 0x5f3759df);
  const first = FLAVOURS[seed % FLAVOURS.length] ?? 'beside';
  return [...new Set([first, ...Array.from({ length: dice.int(1, 3) }, () => dice.pick(FLAVOURS))])];
}

/** A little organisation, the same for the same seed: at most four nodes, a dozen devices and three days, or five with lives that end badly. */
export function randomOrganisation(seed: number, flavours: readonly Flavour[] = flavoursOf(seed)): Organisation {
  const dice = diceOf(seed);
  // The last days of February and the first of March: months end where people do not expect it.
  const start = at('2026-02-26') + dice.int(0, 6) * DAY_S;
  const draft: Draft = {
    dice,
    has: (flavour) => flavours.includes(flavour),
    start,
    end: start + (dice.int(1, 3) + (flavours.includes('bad-ends') ? 2 : 0)) * DAY_S,
    nodes: [],
    devices: [],
    samples: [],
    allocations: [],
    waiting: [],
    work: [],
    charges: [],
    rates: [],
    prices: [],
    fxRates: [],
    covered_until: null,
  };
  addFleet(draft);
  addHolders(draft);
  addLives(draft);
  addTelemetry(draft);
  addBills(draft);
  addCommitments(draft);
  addRates(draft);
  addPrices(draft);
  const { nodes, devices, samples, allocations, waiting, work, charges, rates, prices, fxRates, covered_until } = draft;
  return { nodes, devices, samples, allocations, waiting, work, charges, rates, prices, fxRates, covered_until };
}
