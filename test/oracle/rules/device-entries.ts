import type { ComponentPrice, Organisation } from '../organisation.ts';
import { dayOf } from '../organisation.ts';
import { split } from '../decimal.ts';
import { NOTHING_KNOWN, NO_UNITS, dimensionsOfBill, dimensionsOfNode } from './entry.ts';
import type { EntryWithoutSubject } from './entry.ts';
import type { GpuHour } from './gpu-hour.ts';
import { groupedBy, sortedBy } from '../order.ts';
import { nodeRowAt, spellOfRoot } from './presence.ts';
import type { Presence } from './presence.ts';
import { partWeights } from './machine-part.ts';
import { gpusOf, hourWindow } from './root-money.ts';
import type { RootMoney } from './root-money.ts';

interface ComponentMoney {
  readonly component: 'gpu' | 'host';
  readonly micros: bigint;
  readonly marginal: bigint | null;
}

/** A root's money by component; a host that costs nothing is not listed. */
function componentsOf(
  weights: { gpu: bigint; host: bigint } | null,
  micros: bigint,
  marginal: bigint | null,
): ComponentMoney[] {
  if (weights === null) return [{ component: 'gpu', micros, marginal }];
  const [gpu = 0n, host = 0n] = split(micros, [weights.gpu, weights.host]).map(({ part }) => part);
  const marginals = marginal === null ? [] : split(marginal, [weights.gpu, weights.host]).map(({ part }) => part);
  const all: ComponentMoney[] = [
    { component: 'gpu', micros: gpu, marginal: marginals[0] ?? null },
    { component: 'host', micros: host, marginal: marginals[1] ?? null },
  ];
  return all.filter((each) => each.component === 'gpu' || each.micros !== 0n || (each.marginal ?? 0n) !== 0n);
}

/** What the bill would fall by without all of it; null where that is not known of a part. */
function marginalOf(group: readonly RootMoney[]): bigint | null {
  if (group.some((each) => each.marginal_micros === null)) return null;
  return group.reduce((sum, each) => sum + (each.marginal_micros ?? 0n), 0n);
}

/** Splits the money of each root and hour over who had it. */
export function entriesOfDevices(
  org: Organisation,
  presence: Presence,
  money: readonly RootMoney[],
  gpuHours: readonly GpuHour[],
  componentPrices: readonly ComponentPrice[],
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
      const isPriced = group.every((each) => each.micros !== null);
      const micros = group.reduce((sum, each) => sum + (each.micros ?? 0n), 0n);
      const marginal = marginalOf(group);
      const model = spell?.model ?? null;
      const weights = isPriced ? partWeights(componentPrices, node, model, gpusOf(presence, node, hour)) : null;
      return componentsOf(weights, micros, marginal).flatMap(({ component, micros: ofPart, marginal: ofMarginal }) => {
        const units_by_row = rows.map((row) => row.unit_seconds);
        const [parts, marginals] = [split(ofPart, units_by_row), split(ofMarginal ?? 0n, units_by_row)];
        return rows.map((row, index) => {
          const part = parts[index] ?? { part: 0n, before: 0n, weight: 0n, total: 0n };
          const { computing_units, idle_units, unknown_units, seconds: _, unit_seconds, hour: __, ...named } = row;
          const { holder_cluster, named_units: ___, pause_units, gap_units, exchange_units, ...key } = named;
          const units = { gpu_units: unit_seconds, computing_units, idle_units, unknown_units };
          return {
            ...NOTHING_KNOWN,
            ...key,
            ...dimensionsOfNode(node),
            cluster: node?.cluster ?? holder_cluster,
            node_id: spell?.node_id ?? null,
            model,
            region: node?.region ?? region,
            ...dimensionsOfBill(bill),
            day: dayOf(hour),
            hour_start: hour,
            basis,
            component,
            usd_micros: isPriced ? part.part : null,
            marginal_usd_micros: isPriced && ofMarginal !== null ? (marginals[index]?.part ?? 0n) : null,
            split_of_usd_micros: isPriced ? ofPart : null,
            split_before: part.before,
            split_weight: part.weight,
            split_total: part.total,
            split_computing: computing_units,
            split_idle: idle_units,
            split_pause: pause_units,
            split_gap: gap_units,
            split_exchange: exchange_units,
            ...(billIndex === 0 && component === 'gpu' ? units : { gpu_units: 0n, ...NO_UNITS }),
          };
        });
      });
    });
  });
}
