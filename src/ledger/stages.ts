import { COMPONENT_PRICES } from '../facts/component-price.ts';
import type { ComponentPrice } from '../facts/component-price.ts';
import type { Stage } from '../facts/stage.ts';
import { chargeHour } from './charge-hour.ts';
import { estimateHourBy } from './estimate-hour.ts';
import { gpuHour } from './gpu-hour.ts';
import { held } from './held.ts';
import { holding } from './holding.ts';
import { inferred } from './inferred.ts';
import { ledgerEntry } from './ledger-entry.ts';
import { presence } from './presence.ts';
import { profile } from './profile.ts';
import { resourceDay } from './resource-day.ts';
import { run } from './run.ts';
import { seen } from './seen.ts';
import { spendDay } from './spend-day.ts';
import { subject } from './subject.ts';
import { waterfall } from './waterfall.ts';

/** A dollar's way through the ledger, in order: each stage reads facts and the stages before it. */
export const stagesBy = (componentPrices: readonly ComponentPrice[]): readonly Stage[] => [
  holding,
  seen,
  inferred,
  presence,
  run,
  held,
  gpuHour,
  estimateHourBy(componentPrices),
  chargeHour,
  ledgerEntry,
  waterfall,
  resourceDay,
  subject,
  profile,
  spendDay,
];

export const STAGES = stagesBy(COMPONENT_PRICES);
