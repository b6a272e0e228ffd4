import type { Bill, ChargeRow, NodeRow, Organisation } from '../organisation.ts';
import { DAY_S, HOUR_S, billsOf, dayOf, hourOf, rowHash } from '../organisation.ts';
import { ONE, decimal, dividedAndRounded, split } from '../decimal.ts';
import { groupedBy, overlap, secondsCovered, secondsOf, sortedBy } from '../order.ts';
import type { Period } from '../order.ts';
import { node } from '../rows.ts';
import type { NodeSpell } from './presence.ts';

export type Kind =
  | 'tax'
  | 'credit'
  | 'stranded'
  | 'node'
  | 'support'
  | 'storage'
  | 'transfer'
  | 'network'
  | 'unmatched'
  | 'host'
  | 'other';

/** A charge's micros in one hour. */
export interface ChargeHour {
  readonly bill: Bill;
  readonly charge: ChargeRow;
  readonly kind: Kind;
  /** The node that kind `node` met. */
  readonly node_id: string | null;
  readonly hour: number;
  readonly micros: bigint;
}

/** A bill's micros for one node and hour, after the pools. */
export interface NodeHour {
  readonly bill: Bill;
  readonly node_id: string;
  readonly hour: number;
  readonly micros: bigint;
  /** The least of the resources by which the bill charged the node in that hour, and of their regions. */
  readonly resource_id: string | null;
  readonly region: string | null;
}

export interface PostedBill {
  readonly bill: Bill;
  readonly posted: boolean;
  readonly usd_micros: bigint | null;
  readonly rounding_micros: bigint | null;
  readonly rounding_hour: number | null;
  /** How many UTC days its charges begin on. */
  readonly days: number;
  readonly hours: readonly ChargeHour[];
}

const MICROS_OF_DECIMAL = ONE / 1_000_000n;

const GPU_WORDS =
  /\bgpus?\b|\b(h100|h200|b200|b300|gb200|gb300|a100|a10g?|l40s?|l4|t4|v100|p100|mi[0-9]{3}x?|gaudi[0-9]?|trainium|inferentia|tpu)\b|\b(p[2-6][a-z]*|g[4-7][a-z]*|trn[0-9][a-z]*|inf[0-9])\.[0-9]*x?large\b|\b(a2|a3|a4|g2)-(high|mega|ultra|standard)|standard_n[cdv]/;

export function speaksOfGpu(charge: ChargeRow): boolean {
  const words = [charge.charge_description, charge.sku_id, charge.resource_type, charge.service_name];
  return GPU_WORDS.test(
    words
      .map((word) => word ?? '')
      .join(' ')
      .toLowerCase(),
  );
}

const lastSegment = (name: string): string => (name.split(/[/:]/).at(-1) ?? '').toLowerCase();

export function nodeMetBy(charge: ChargeRow, nodes: readonly NodeRow[]): string | null {
  const { resource_id, provider } = charge;
  if (resource_id === null) return null;
  const met = nodes.filter(
    (row) =>
      (row.provider === null || row.provider.toLowerCase() === provider.toLowerCase()) &&
      lastSegment(row.resource_id ?? row.node_id) === lastSegment(resource_id),
  );
  return sortedBy(met, (row) => [row.node_id])[0]?.node_id ?? null;
}

export function kindOf(charge: ChargeRow, nodes: readonly NodeRow[]): Kind {
  if (charge.charge_category === 'Tax') return 'tax';
  if (charge.charge_category === 'Credit') return 'credit';
  if (charge.commitment_status === 'Unused' || charge.capacity_reservation_status === 'Unused') return 'stranded';
  if (nodeMetBy(charge, nodes) !== null) return 'node';
  if ((charge.service_name ?? '').toLowerCase().includes('support')) return 'support';
  if (charge.service_category === 'Storage') return 'storage';
  if (charge.service_category === 'Networking') {
    const words = `${charge.charge_description ?? ''} ${charge.sku_id ?? ''}`.toLowerCase();
    return /transfer|egress|bandwidth/.test(words) ? 'transfer' : 'network';
  }
  if (speaksOfGpu(charge)) return 'unmatched';
  return charge.service_category === 'Compute' ? 'host' : 'other';
}

/** Dollars for one unit of the bill's currency, or null where nobody said. */
function usdPerUnit(org: Organisation, bill: Bill): bigint | null {
  if (bill.currency === 'USD') return ONE;
  const dated = org.fxRates.filter((row) => row.currency === bill.currency && row.as_of <= bill.period_end);
  const newest = sortedBy(dated, (row) => [row.as_of]).at(-1);
  return newest === undefined ? null : decimal(newest.usd_per_unit);
}

/** The hours a charge touches and its micros in each. */
function hoursOfCharge(
  charge: ChargeRow,
  micros: bigint,
  spells: readonly NodeSpell[],
): { hour: number; micros: bigint }[] {
  const period = { from: charge.charge_from, until: charge.charge_until };
  const hours = [hourOf(period.from)];
  for (let hour = hourOf(period.from) + HOUR_S; hour < period.until; hour += HOUR_S) hours.push(hour);
  const within = hours.map((hour) => overlap(period, { from: hour, until: hour + HOUR_S }));
  const present = within.map((part) => secondsCovered(spells, part));
  const seconds = present.some((each) => each > 0) ? present : within.map(secondsOf);
  const parts = split(micros, seconds.map(BigInt));
  return hours
    .map((hour, index) => ({ hour, micros: parts[index]?.part ?? 0n, weight: parts[index]?.weight ?? 0n }))
    .filter((part) => part.weight > 0n)
    .map(({ hour, micros: part }) => ({ hour, micros: part }));
}

/** The nodes a bill can meet: those that appeared by the end of its last day, and those only device rows name. */
function nodesMetBy(org: Organisation, bill: Bill): NodeRow[] {
  const ends = bill.charges.map(({ charge }) => dayOf(Math.max(charge.charge_from, charge.charge_until - 1)) + DAY_S);
  const appeared = org.nodes.filter((row) => row.present_from < Math.max(...ends));
  const unlisted = org.devices.filter((device) => !org.nodes.some((row) => row.node_id === device.node_id));
  return [...appeared, ...unlisted.map(({ node_id }) => node({ node_id }))];
}

function postedBill(org: Organisation, bill: Bill, nodes: readonly NodeSpell[]): PostedBill {
  const fx = usdPerUnit(org, bill);
  const byDay = groupedBy(bill.charges, ({ charge }) => String(dayOf(charge.charge_from)));
  const days = byDay.size;
  if (fx === null) {
    return { bill, posted: false, usd_micros: null, rounding_micros: null, rounding_hour: null, days, hours: [] };
  }
  const usdOf = (charge: ChargeRow): bigint => dividedAndRounded(decimal(charge.effective) * fx, ONE);
  const known = nodesMetBy(org, bill);
  const hours: ChargeHour[] = [];
  let posted = 0n;
  for (const rows of byDay.values()) {
    let sum = 0n;
    const order = ({ charge, ordinal }: (typeof rows)[number]) =>
      [charge.resource_id ?? '', usdOf(charge), rowHash(charge), ordinal] as const;
    for (const { charge } of sortedBy(rows, order)) {
      const before = dividedAndRounded(sum, MICROS_OF_DECIMAL);
      sum += usdOf(charge);
      const micros = dividedAndRounded(sum, MICROS_OF_DECIMAL) - before;
      posted += micros;
      const kind = kindOf(charge, known);
      const node_id = kind === 'node' ? nodeMetBy(charge, known) : null;
      const spells = nodes.filter((spell) => spell.row.node_id === node_id);
      for (const part of hoursOfCharge(charge, micros, spells)) hours.push({ bill, charge, kind, node_id, ...part });
    }
  }
  const usd = bill.charges.reduce((sum, { charge }) => sum + usdOf(charge), 0n);
  const usd_micros = dividedAndRounded(usd, MICROS_OF_DECIMAL);
  const lastDay = Math.max(...bill.charges.map(({ charge }) => dayOf(charge.charge_from)));
  const rounding_hour = lastDay + DAY_S - HOUR_S;
  return { bill, posted: true, usd_micros, rounding_micros: usd_micros - posted, rounding_hour, days, hours };
}

export function postedBillsOf(org: Organisation, nodes: readonly NodeSpell[]): PostedBill[] {
  return billsOf(org).map((bill) => postedBill(org, bill, nodes));
}

function leastOf(rows: readonly ChargeHour[] | undefined, column: 'resource_id' | 'region'): string | null {
  return rows?.flatMap((row) => row.charge[column] ?? []).sort()[0] ?? null;
}

/** Charges of kind `node`, blended within each pool and added up by bill, node and hour. */
export function nodeHoursOf(chargeHours: readonly ChargeHour[], nodes: readonly NodeSpell[]): NodeHour[] {
  const charged = chargeHours.filter((row) => row.kind === 'node');
  const poolOf = ({ bill, charge, hour, node_id }: ChargeHour): string =>
    charge.sku_id === null
      ? JSON.stringify([bill.bill_id, hour, 'no pool', node_id])
      : JSON.stringify([bill.bill_id, hour, charge.region, charge.sku_id, charge.pricing_category === 'Dynamic']);

  const shares = [...groupedBy(charged, poolOf).values()].flatMap((pool) => {
    const hour = pool[0]?.hour ?? 0;
    const window: Period = { from: hour, until: hour + HOUR_S };
    const node_ids = [...new Set(pool.map((row) => row.node_id ?? ''))].sort();
    const present = node_ids.map((node_id) =>
      secondsCovered(
        nodes.filter((spell) => spell.row.node_id === node_id),
        window,
      ),
    );
    const micros = pool.reduce((sum, row) => sum + row.micros, 0n);
    const parts = split(micros, present.map(BigInt));
    return pool
      .slice(0, 1)
      .flatMap(({ bill }) =>
        node_ids.map((node_id, index) => ({ bill, node_id, hour, micros: parts[index]?.part ?? 0n })),
      );
  });

  const nameOf = (row: { bill: Bill; node_id: string | null; hour: number }): string =>
    JSON.stringify([row.bill.bill_id, row.node_id, row.hour]);
  const resources = groupedBy(charged, nameOf);
  return [...groupedBy(shares, nameOf)].flatMap(([name, rows]) =>
    rows.slice(0, 1).map(({ bill, node_id, hour }) => ({
      bill,
      node_id,
      hour,
      micros: rows.reduce((sum, row) => sum + row.micros, 0n),
      resource_id: leastOf(resources.get(name), 'resource_id'),
      region: leastOf(resources.get(name), 'region'),
    })),
  );
}
