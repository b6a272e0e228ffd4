import type { AcceleratorName, ComponentPrice, ListPrice, Organisation, SampleRow } from './organisation.ts';
import { entriesBesideDevices } from './rules/bill-entries.ts';
import { entriesBesideNodes } from './rules/node-entries.ts';
import { postedBillsOf } from './rules/charges.ts';
import { entriesOfDevices } from './rules/device-entries.ts';
import { orderOfEntry, subjectOf } from './rules/entry.ts';
import type { OracleEntry } from './rules/entry.ts';
import { fatesOf } from './rules/fate.ts';
import { gpuHoursOf } from './rules/gpu-hour.ts';
import type { GpuHour } from './rules/gpu-hour.ts';
import { beginOf, firstDayOf, holdingsOf, horizonOf } from './rules/holding.ts';
import { sortedBy } from './order.ts';
import { nodesStillThere, presenceOf } from './rules/presence.ts';
import type { Presence } from './rules/presence.ts';
import { moneyOfBills, moneyOfRates, strandedRates } from './rules/root-money.ts';
import { waterfallOf } from './rules/waterfall.ts';
import type { OracleWaterfall } from './rules/waterfall.ts';

export interface OracleBill {
  readonly bill_id: string;
  readonly posted: boolean;
  readonly usd_micros: bigint | null;
  readonly rounding_micros: bigint | null;
  readonly days: number;
  readonly covered_until: number | null;
}

export interface OracleAnswer {
  readonly entries: OracleEntry[];
  readonly waterfall: OracleWaterfall[];
  readonly bills: OracleBill[];
  /** For each root and hour, what its unit-seconds must add up to, device by device. */
  readonly gpuHours: GpuHour[];
  readonly presence: Presence;
  readonly horizon: number | null;
}

/** Every entry and waterfall row of a little organisation, from `src/ledger/README.md` alone. */
export function oracle(
  facts: Organisation,
  listPrices: readonly ListPrice[] = [],
  acceleratorNames: readonly AcceleratorName[] = [],
  componentPrices: readonly ComponentPrice[] = [],
): OracleAnswer {
  const says = (sample: SampleRow): boolean =>
    [
      sample.engine_permille,
      sample.sm_permille,
      sample.util_permille,
      sample.power_w,
      sample.fb_used_mib,
      sample.nvlink_mb_s,
    ].some((value) => value !== null);
  // A row of samples in which nothing is known is not taken in.
  const org = { ...facts, samples: facts.samples.filter(says) };
  const horizon = horizonOf(org);
  const from = firstDayOf(org) ?? horizon ?? 0;
  const window = { from, until: Math.max(from, horizon ?? 0) };
  const holdings = holdingsOf(org, window.until);
  const presence = presenceOf(org, holdings, { ...window, from: beginOf(org) ?? from });
  const gpuHours = gpuHoursOf(org, presence, holdings, window, acceleratorNames);
  const posted = postedBillsOf(org, nodesStillThere(org));
  const billed = moneyOfBills(org, presence, posted);
  const builtIn = { listPrices, acceleratorNames, componentPrices };
  const rated = moneyOfRates(org, presence, builtIn, billed.roots, window);

  const unordered = [
    ...entriesOfDevices(org, presence, [...billed.roots, ...rated], gpuHours, componentPrices),
    ...posted.flatMap(entriesBesideDevices),
    ...posted.flatMap((bill) => entriesBesideNodes(org, presence, bill, gpuHours)),
    ...billed.entries,
    ...strandedRates(org, presence, window),
  ].map((entry) => ({ ...entry, subject: subjectOf(entry) }));
  const entries = sortedBy(unordered, orderOfEntry);
  const bills = posted.map(({ bill, posted: isPosted, usd_micros, rounding_micros, days }) => ({
    bill_id: bill.bill_id,
    posted: isPosted,
    usd_micros,
    rounding_micros,
    days,
    covered_until: bill.covered_until,
  }));
  return {
    entries,
    waterfall: waterfallOf(entries, fatesOf(org, window.until, gpuHours)),
    bills,
    gpuHours,
    presence,
    horizon,
  };
}
