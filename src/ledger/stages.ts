import { COMPONENT_PRICES } from '../facts/component-price.ts';
import type { ComponentPrice } from '../facts/component-price.ts';
import type { Stage } from '../facts/stage.ts';
import { activityHour } from './activity-hour.ts';
import { bareTime } from './bare-time.ts';
import { begun } from './begun.ts';
import { chargeHour } from './charge-hour.ts';
import { checkpoint } from './checkpoint.ts';
import { estimateHourBy } from './estimate-hour.ts';
import { fate } from './fate.ts';
import { gpuHour } from './gpu-hour.ts';
import { handedDay } from './handed-day.ts';
import { handed } from './handed.ts';
import { held } from './held.ts';
import { holding } from './holding.ts';
import { inferred } from './inferred.ts';
import { ledgerEntry } from './ledger-entry.ts';
import { lifeDay } from './life-day.ts';
import { nodeDay } from './node-day.ts';
import { pause } from './pause.ts';
import { presence } from './presence.ts';
import { profile } from './profile.ts';
import { resourceDay } from './resource-day.ts';
import { run } from './run.ts';
import { seen } from './seen.ts';
import { serviceDay } from './service-day.ts';
import { serviceHour } from './service-hour.ts';
import { spendDay } from './spend-day.ts';
import { stintDay } from './stint-day.ts';
import { subjectDay } from './subject-day.ts';
import { subject } from './subject.ts';
import { unheldHour } from './unheld-hour.ts';
import { waterfall } from './waterfall.ts';

/** A dollar's way through the ledger, in order: each stage reads facts and the stages before it. */
export const stagesBy = (componentPrices: readonly ComponentPrice[]): readonly Stage[] => [
  holding,
  seen,
  inferred,
  handedDay,
  handed,
  presence,
  run,
  held,
  activityHour,
  pause,
  gpuHour,
  unheldHour,
  estimateHourBy(componentPrices),
  chargeHour,
  ledgerEntry,
  begun,
  checkpoint,
  fate,
  waterfall,
  subjectDay,
  resourceDay,
  subject,
  stintDay,
  lifeDay,
  nodeDay,
  bareTime,
  serviceDay,
  serviceHour,
  profile,
  spendDay,
];

export const STAGES = stagesBy(COMPONENT_PRICES);
