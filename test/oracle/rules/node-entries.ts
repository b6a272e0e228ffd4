import type { Organisation } from '../organisation.ts';
import { dayOf } from '../organisation.ts';
import { split } from '../decimal.ts';
import { groupedBy, sortedBy } from '../order.ts';
import { marginalOf } from './bill-entries.ts';
import type { ChargeHour, PostedBill } from './charges.ts';
import { NOTHING_KNOWN, dimensionsOfBill, dimensionsOfNode, undivided } from './entry.ts';
import type { EntryWithoutSubject } from './entry.ts';
import type { GpuHour } from './gpu-hour.ts';
import type { Presence } from './presence.ts';
import { lastRowBy, rootsPresent } from './root-money.ts';

/** Who held GPUs of a node in an hour: known holders in order, then what nobody known held. */
function holdersOn(presence: Presence, node_id: string, hour: number, gpuHours: readonly GpuHour[]): GpuHour[][] {
  const spells = presence.devices.filter((spell) => spell.node_id === node_id);
  const roots = new Set(rootsPresent(spells, hour).map(({ root_device_id }) => root_device_id));
  const rows = gpuHours.filter((row) => row.hour === hour && roots.has(row.root_device_id));
  const byHolder = groupedBy(rows, (row) => JSON.stringify([row.source, row.allocation_id, row.attempt]));
  return sortedBy(byHolder.values(), ([row]) => [
    row?.source == null ? 1 : 0,
    row?.source ?? '',
    row?.allocation_id ?? '',
    row?.attempt ?? 0,
  ]);
}

/** Storage and traffic of nodes, over those who held the nodes' GPUs. */
export function entriesBesideNodes(
  org: Organisation,
  presence: Presence,
  { bill, hours }: PostedBill,
  gpuHours: readonly GpuHour[],
): EntryWithoutSubject[] {
  const ofNodes = hours.filter((row) => row.kind !== 'node' && row.node_id !== null);
  const nameOf = (row: ChargeHour): string => JSON.stringify([row.hour, row.kind, row.node_id]);
  return [...groupedBy(ofNodes, nameOf).values()].flatMap((rows) => {
    const [first] = rows;
    const micros = rows.reduce((sum, row) => sum + row.micros, 0n);
    if (first?.node_id == null || micros === 0n) return [];
    const { hour, kind, node_id } = first;
    if (kind !== 'storage' && kind !== 'transfer' && kind !== 'network') return [];
    const node = lastRowBy(org, node_id, hour);
    const region = rows.flatMap((row) => row.charge.region ?? []).sort()[0] ?? null;
    const said = {
      ...NOTHING_KNOWN,
      ...dimensionsOfNode(node),
      node_id,
      region: node?.region ?? region,
      ...dimensionsOfBill(bill),
      day: dayOf(hour),
      hour_start: hour,
      basis: 'billed' as const,
      resource_id: rows.flatMap((row) => row.resource_id ?? []).sort()[0] ?? null,
      component: kind,
      disposition: 'beside' as const,
    };
    const marginal = marginalOf(kind, rows);
    const holders = holdersOn(presence, node_id, hour, gpuHours);
    if (holders.length === 0) return [{ ...said, ...undivided(micros, marginal) }];
    const units = holders.map((own) => own.reduce((sum, row) => sum + row.unit_seconds, 0n));
    const [parts, marginals] = [split(micros, units), split(marginal, units)];
    return holders.flatMap((own, index) => {
      const [holder] = own;
      const part = parts[index];
      if (holder === undefined || part === undefined || part.part === 0n) return [];
      const cluster = own.flatMap((row) => row.holder_cluster ?? []).sort()[0] ?? null;
      return {
        ...said,
        source: holder.source,
        allocation_id: holder.allocation_id,
        attempt: holder.attempt,
        cluster: node?.cluster ?? cluster,
        usd_micros: part.part,
        marginal_usd_micros: marginals[index]?.part ?? 0n,
        split_of_usd_micros: micros,
        split_before: part.before,
        split_weight: part.weight,
        split_total: part.total,
      };
    });
  });
}
