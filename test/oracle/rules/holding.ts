import type { AllocationRow, Bill, Organisation } from '../organisation.ts';
import { billsOf, dayOf } from '../organisation.ts';
import { compareKeys } from '../order.ts';
import type { Key, Period } from '../order.ts';

/** What one allocation row holds: a device by name, or a count of its node's devices (`device_id` null). */
export interface Holding extends Period {
  readonly row: AllocationRow;
  readonly device_id: string | null;
}

/** H: the newest fact, or null where no fact carries a time that counts. */
export function horizonOf(org: Organisation): number | null {
  const times: (number | null)[] = [
    ...org.samples.map((sample) => sample.ts + sample.step_s),
    ...org.allocations.map((row) => row.held_until ?? row.held_from),
    ...org.allocations.map((row) => row.observed_at),
    ...org.nodes.map((row) => row.present_until),
    ...org.devices.map((row) => row.present_until),
    ...billsOf(org).map((bill) => bill.covered_until ?? chargedUntil(bill)),
  ];
  return times.reduce<number | null>((newest, time) => (time !== null && time > (newest ?? 0) ? time : newest), null);
}

/** How far a bill without usage by the hour or day speaks. */
function chargedUntil(bill: Bill): number {
  return Math.min(bill.period_end, Math.max(...bill.charges.map(({ charge }) => charge.charge_until)));
}

/** The first fact about the fleet: where nodes and devices without a date begin. */
export function beginOf(org: Organisation): number | null {
  const dated = [...org.nodes, ...org.devices].map((row) => row.present_from).filter((time) => time !== 0);
  const times = [...org.samples.map((row) => row.ts), ...org.allocations.map((row) => row.held_from), ...dated];
  const all = times.length > 0 ? times : org.charges.map((charge) => charge.charge_from);
  return all.length === 0 ? null : all.reduce((least, time) => Math.min(least, time));
}

/** The first second of the first day of the ledger; null where there is no fact. */
export function firstDayOf(org: Organisation): number | null {
  const times = [
    ...org.samples.map((sample) => sample.ts),
    ...org.allocations.map((row) => row.held_from),
    ...org.charges.map((charge) => charge.charge_from),
    // A start that was left out is stored as 1970 and says nothing about when facts begin.
    ...[...org.nodes, ...org.devices].map((row) => row.present_from).filter((time) => time !== 0),
  ];
  return times.length === 0 ? null : dayOf(times.reduce((least, time) => Math.min(least, time)));
}

/** The order among rows that every split and every tie uses. */
export function orderOf(row: AllocationRow): Key {
  return [row.source, row.allocation_id, row.attempt, row.node_id ?? '', row.slot, row.held_from];
}

export function holdingsOf(org: Organisation, horizon: number): Holding[] {
  const rows = org.allocations.filter((row) => row.gpu_count > 0);
  const holdings = rows.flatMap((row) => {
    const polled = row.observed_at === null ? horizon : Math.min(horizon, row.observed_at + 2 * row.poll_s);
    const period = { row, from: row.held_from, until: row.held_until ?? polled };
    if (row.device_id !== null || row.node_id !== null) return [{ ...period, device_id: row.device_id }];
    const prefix = `held:${row.source}/${row.allocation_id}/${row.attempt}/${row.slot}`;
    return Array.from({ length: row.gpu_count }, (_, i) => ({ ...period, device_id: `${prefix}/${i}` }));
  });
  return holdings
    .filter((holding) => holding.from < holding.until)
    .sort((left, right) => compareKeys(orderOf(left.row), orderOf(right.row)));
}
