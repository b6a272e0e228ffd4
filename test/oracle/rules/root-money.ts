import type { Bill, NodeRow, Organisation } from '../organisation.ts';
import { DAY_S, HOUR_S, billsOf, dayOf, hourOf } from '../organisation.ts';
import { nodeHoursOf } from './charges.ts';
import type { PostedBill } from './charges.ts';
import { split } from '../decimal.ts';
import { NOTHING_KNOWN, dimensionsOfBill, dimensionsOfNode, undivided } from './entry.ts';
import type { EntryWithoutSubject, OracleEntry } from './entry.ts';
import { groupedBy, overlap, secondsCovered, secondsOf, sortedBy } from '../order.ts';
import type { Period } from '../order.ts';
import { U, nodeRowAt, rootOf, secondsOfRoot, spellOfRoot, nodesStillThere } from './presence.ts';
import { firstDayOf, horizonOf } from './holding.ts';
import type { Presence, Spell } from './presence.ts';
import { isCloud } from './provider.ts';
import { billsOfNode, microsOf, nanosOf, priceOf, ratesInForce } from './prices.ts';
import type { BuiltIn } from './prices.ts';

/** Money of a root in an hour, from one bill or from none. */
export interface RootMoney {
  readonly root_device_id: string;
  readonly hour: number;
  readonly basis: OracleEntry['basis'];
  readonly bill: Bill | null;
  readonly micros: bigint | null;
  readonly marginal_micros: bigint | null;
  /** The least region of the charges, where the node names none. */
  readonly region: string | null;
}

export const hourWindow = (hour: number): Period => ({ from: hour, until: hour + HOUR_S });

/** Roots of the spells that are there in an hour, in order, and for how many seconds. */
export function rootsPresent(spells: readonly Spell[], hour: number): { root_device_id: string; seconds: number }[] {
  const roots = [...new Set(spells.map(rootOf))].sort();
  return roots
    .map((root_device_id) => ({ root_device_id, seconds: secondsOfRoot(spells, root_device_id, hourWindow(hour)) }))
    .filter((root) => root.seconds > 0);
}

/** What is said of a node whose devices are not there: its last row by the end of the day. */
export function lastRowBy(org: Organisation, node_id: string, hour: number): NodeRow | undefined {
  const rows = org.nodes.filter((row) => row.node_id === node_id && row.present_from < dayOf(hour) + DAY_S);
  return sortedBy(rows, (row) => [row.present_from]).at(-1);
}

/** Splits what bills charge for nodes over the roots present; money of a node without any is an entry of its own. */
export function moneyOfBills(
  org: Organisation,
  presence: Presence,
  bills: readonly PostedBill[],
): { roots: RootMoney[]; entries: EntryWithoutSubject[] } {
  const roots: RootMoney[] = [];
  const entries: EntryWithoutSubject[] = [];
  const horizon = Math.max(horizonOf(org) ?? 0, firstDayOf(org) ?? 0);
  const nodeHours = nodeHoursOf(
    bills.flatMap((bill) => bill.hours),
    nodesStillThere(org),
  );
  for (const { bill, node_id, hour, micros, marginal_micros, resource_id, region } of nodeHours) {
    const devices = presence.devices.filter((spell) => spell.node_id === node_id);
    const present = rootsPresent(devices, hour);
    if (present.length > 0) {
      const seconds = present.map((root) => BigInt(root.seconds));
      const [prices, marginals] = [split(micros, seconds), split(marginal_micros, seconds)];
      present.forEach(({ root_device_id }, index) => {
        const part = { micros: prices[index]?.part ?? 0n, marginal_micros: marginals[index]?.part ?? 0n };
        roots.push({ root_device_id, hour, basis: 'billed', bill, ...part, region });
      });
      continue;
    }
    if (micros === 0n) continue;
    const node = lastRowBy(org, node_id, hour);
    const what =
      node?.gpu_count === 0
        ? { component: 'host' as const, disposition: 'beside' as const }
        : {
            component: 'gpu' as const,
            disposition: 'unmatched' as const,
            reason: hour >= horizon ? 'ahead' : 'absent',
          };
    const dimensions = {
      ...dimensionsOfNode(node),
      node_id,
      region: node?.region ?? region,
      ...dimensionsOfBill(bill),
    };
    const when = { day: dayOf(hour), hour_start: hour };
    entries.push({
      ...NOTHING_KNOWN,
      ...dimensions,
      ...when,
      basis: 'billed',
      resource_id,
      ...what,
      ...undivided(micros, marginal_micros),
    });
  }
  return { roots, entries };
}

/** GPUs a machine's price is of: what the inventory says, else those that were there on the day. */
export function gpusOf(presence: Presence, node: NodeRow | undefined, hour: number): number {
  if (node === undefined) return 0;
  if (node.gpu_count !== null && node.gpu_count > 0) return node.gpu_count;
  const day = { from: dayOf(hour), until: dayOf(hour) + DAY_S };
  const there = presence.devices.filter(
    (spell) => spell.node_id === node.node_id && secondsOf(overlap(spell, day)) > 0,
  );
  return new Set(there.map(rootOf)).size;
}

/** Prices of roots in the hours that no bill charges. */
export function moneyOfRates(
  org: Organisation,
  presence: Presence,
  builtIn: BuiltIn,
  billed: readonly RootMoney[],
  window: Period,
): RootMoney[] {
  const charged = new Set(billed.map((money) => `${money.root_device_id} ${money.hour}`));
  const bills = billsOf(org);
  const money: RootMoney[] = [];
  for (let hour = hourOf(window.from); hour < window.until; hour += HOUR_S) {
    for (const { root_device_id, seconds } of rootsPresent(presence.devices, hour)) {
      if (charged.has(`${root_device_id} ${hour}`)) continue;
      const spell = spellOfRoot(presence.devices, root_device_id, hourWindow(hour));
      const node_id = spell?.node_id ?? null;
      const node = nodeRowAt(org, node_id, Math.max(hour, spell?.from ?? 0));
      const own = billsOfNode(bills, node);
      const covered = own.some((bill) => bill.covered_until !== null && hour < bill.covered_until);
      const price = covered
        ? null
        : priceOf(
            org,
            builtIn,
            { node_id, node, model: spell?.model ?? null, gpus: gpusOf(presence, node, hour) },
            hour,
          );
      const basis = price === null ? 'unpriced' : price.stated && own.length === 0 ? 'rate' : 'estimated';
      const micros = price === null ? null : microsOf(price.nanosPerHour, seconds);
      const marginal_micros = micros === null ? null : fallsBy(node, own.length > 0, micros);
      money.push({ root_device_id, hour, basis, bill: null, micros, marginal_micros, region: null });
    }
  }
  return money;
}

/** What the bill would fall by without an hour of the node: nothing, its price, or nobody knows. */
function fallsBy(node: NodeRow | undefined, hasBill: boolean, micros: bigint): bigint | null {
  switch (node?.purchase ?? null) {
    case 'committed':
    case 'owned':
      return 0n;
    case 'on-demand':
    case 'spot':
      return micros;
    case null:
      return hasBill || (node !== undefined && node.provider !== null && isCloud(node.provider)) ? micros : null;
  }
}

/** Owned and committed nodes cost their rate also while they are not there. */
export function strandedRates(org: Organisation, presence: Presence, window: Period): EntryWithoutSubject[] {
  return [...groupedBy(org.nodes, (row) => row.node_id)].flatMap(([node_id, rows]) => {
    if (!rows.some((row) => row.purchase === 'owned' || row.purchase === 'committed')) return [];
    const first = sortedBy(rows, (row) => [row.present_from])[0];
    const gpus = Math.max(...rows.map((row) => row.gpu_count ?? 0));
    const spells = presence.nodes.filter((spell) => spell.row.node_id === node_id);
    const entries: EntryWithoutSubject[] = [];
    for (let hour = hourOf(window.from); hour < window.until; hour += HOUR_S) {
      const rate = ratesInForce(org, hour).find((row) => row.node_id === node_id);
      const part = overlap(hourWindow(hour), window);
      const absentSeconds = secondsOf(part) - secondsCovered(spells, part);
      // A rate without a beginning says nothing about when the node began to cost.
      if (rate === undefined || rate.valid_from === 0 || absentSeconds === 0 || gpus === 0) continue;
      entries.push({
        ...NOTHING_KNOWN,
        ...dimensionsOfNode(first),
        day: dayOf(hour),
        hour_start: hour,
        basis: 'rate',
        component: 'gpu',
        disposition: 'stranded',
        reason: 'absent',
        ...undivided(microsOf(nanosOf(rate.usd_per_gpu_hour) * BigInt(gpus), absentSeconds), 0n),
        gpu_units: BigInt(gpus) * BigInt(absentSeconds) * BigInt(U),
      });
    }
    return entries;
  });
}
