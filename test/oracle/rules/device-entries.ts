import type { Organisation } from '../organisation.ts';
import { dayOf } from '../organisation.ts';
import { split } from '../decimal.ts';
import { NOTHING_KNOWN, NO_UNITS, dimensionsOfBill, dimensionsOfNode } from './entry.ts';
import type { EntryWithoutSubject } from './entry.ts';
import type { GpuHour } from './gpu-hour.ts';
import { groupedBy, sortedBy } from '../order.ts';
import { nodeRowAt, spellOfRoot } from './presence.ts';
import type { Presence } from './presence.ts';
import { hourWindow } from './root-money.ts';
import type { RootMoney } from './root-money.ts';

/** Splits the money of each root and hour over who had it. */
export function entriesOfDevices(
  org: Organisation,
  presence: Presence,
  money: readonly RootMoney[],
  gpuHours: readonly GpuHour[],
): EntryWithoutSubject[] {
  const rootHour = (row: { root_device_id: string; hour: number }): string => `${row.root_device_id} ${row.hour}`;
  const rowsByRoot = groupedBy(gpuHours, rootHour);
  const billName = (each: RootMoney): string => each.bill?.bill_id ?? '';
  return [...groupedBy(money, rootHour)].flatMap(([name, ofRoot]) => {
    const rows = sortedBy(rowsByRoot.get(name) ?? [], (row) => [
      row.device_id,
      row.disposition,
      row.reason ?? '',
      row.source ?? '',
      row.allocation_id ?? '',
      row.attempt ?? 0,
    ]);
    const byBill = sortedBy(groupedBy(ofRoot, billName), ([bill_id]) => [bill_id]);
    return byBill.flatMap(([, group], billIndex) => {
      const first = group[0];
      if (first === undefined) return [];
      const { root_device_id, hour, basis, bill, region } = first;
      const spell = spellOfRoot(presence.devices, root_device_id, hourWindow(hour));
      const node = nodeRowAt(org, spell?.node_id ?? null, Math.max(hour, spell?.from ?? 0));
      const micros = group.some((each) => each.micros === null)
        ? null
        : group.reduce((sum, each) => sum + (each.micros ?? 0n), 0n);
      const parts = split(
        micros ?? 0n,
        rows.map((row) => row.unit_seconds),
      );
      return rows.map((row, index) => {
        const part = parts[index] ?? { part: 0n, before: 0n, weight: 0n, total: 0n };
        const { computing_units, idle_units, unknown_units, seconds: _, unit_seconds, hour: __, ...named } = row;
        const { holder_cluster, ...key } = named;
        const units = { gpu_units: unit_seconds, computing_units, idle_units, unknown_units };
        return {
          ...NOTHING_KNOWN,
          ...key,
          ...dimensionsOfNode(node),
          cluster: node?.cluster ?? holder_cluster,
          node_id: spell?.node_id ?? null,
          model: spell?.model ?? null,
          region: node?.region ?? region,
          ...dimensionsOfBill(bill),
          day: dayOf(hour),
          hour_start: hour,
          basis,
          component: 'gpu' as const,
          usd_micros: micros === null ? null : part.part,
          split_of_usd_micros: micros,
          split_before: part.before,
          split_weight: part.weight,
          split_total: part.total,
          split_computing: computing_units,
          split_idle: idle_units,
          ...(billIndex === 0 ? units : { gpu_units: 0n, ...NO_UNITS }),
        };
      });
    });
  });
}
