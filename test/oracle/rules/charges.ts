import type { Bill, ChargeRow, NodeRow, Organisation } from '../organisation.ts';
import { DAY_S, HOUR_S, billsOf, dayOf, hourOf, rowHash } from '../organisation.ts';
import { ONE, decimal, dividedAndRounded, split } from '../decimal.ts';
import { groupedBy, overlap, secondsCovered, secondsOf, sortedBy } from '../order.ts';
import { node } from '../rows.ts';
import type { NodeSpell } from './presence.ts';
import { shortName } from './provider.ts';

export type Kind =
  | 'tax'
  | 'credit'
  | 'stranded'
  | 'unused'
  | 'node'
  | 'block'
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
  /** The node it is of. */
  readonly node_id: string | null;
  /** For kind `block`: the nodes of its reservation that are there in the hour. */
  readonly reserved: readonly string[];
  /** For what is stranded the commitment, where there is no resource. */
  readonly resource_id: string | null;
  readonly hour: number;
  readonly micros: bigint;
}

/** A bill's micros for one node and hour, after the pools. */
export interface NodeHour {
  readonly bill: Bill;
  readonly node_id: string;
  readonly hour: number;
  readonly micros: bigint;
  readonly marginal_micros: bigint;
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
  /\bgpu(s|[0-9]+)?\b|\b(h100|h200|b200|b300|gb200|gb300|a100|a10g?|l40s?|l4|t4|v100|p100|mi[0-9]{3}x?|gaudi[0-9]?|trainium|inferentia|tpu)\b|\b(p[2-6][a-z]*|g[4-7][a-z]*|trn[0-9][a-z]*|inf[0-9])\.[0-9]*x?large\b|\b(a2|a3|a4|g2)-(high|mega|ultra|standard)|standard_n[cdv]|\bec2sp:(p[2-6]|g[4-7]|trn|inf)/;

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
      (row.provider === null || shortName(row.provider) === shortName(provider)) &&
      lastSegment(row.resource_id ?? row.node_id) === lastSegment(resource_id),
  );
  return sortedBy(met, (row) => [row.node_id])[0]?.node_id ?? null;
}

/** Capacity bought for dates, as opposed to a machine that ran in it. */
/** What a charge that names no resource stands for. */
function unnamedResource({ service_name, sub_account, tags }: ChargeRow): string | null {
  const [keys, values] = [Object.keys(tags), Object.values(tags)];
  if (keys.length === 0 && sub_account === null) return null;
  const account = sub_account === null ? '' : ` of ${sub_account}`;
  const said = keys.length === 0 ? '' : ` (${keys.join(', ')}: ${values.join(', ')})`;
  return `${service_name ?? 'charges'}${account}${said}`;
}

function isBlock({ capacity_reservation_id: id, charge_category, effective, resource_id }: ChargeRow): boolean {
  if (id === null || decimal(effective) === 0n) return false;
  if (charge_category === 'Purchase') return true;
  return charge_category === 'Usage' && (resource_id === null || lastSegment(resource_id) === lastSegment(id));
}

export function isCommitted({ commitment_id, capacity_reservation_id, pricing_category }: ChargeRow): boolean {
  return commitment_id !== null || capacity_reservation_id !== null || pricing_category === 'Committed';
}

/** Whether what was bought under the id is for GPUs: a row of the bill with it meets a machine with GPUs, or speaks of one. */
function isGpuBought(org: Organisation, bill: Bill, id: string | null, known: readonly NodeRow[]): boolean {
  if (id === null) return false;
  const hasGpus = (node_id: string): boolean =>
    org.devices.some((row) => row.node_id === node_id) ||
    org.nodes.some((row) => row.node_id === node_id && row.gpu_count !== 0);
  const same = bill.charges.filter(
    ({ charge }) => charge.commitment_id === id || charge.capacity_reservation_id === id,
  );
  return same.some(({ charge }) => {
    const met = nodeMetBy(charge, known);
    return speaksOfGpu(charge) || (met !== null && hasGpus(met));
  });
}

export function kindOf(charge: ChargeRow, nodes: readonly NodeRow[], isForGpus = speaksOfGpu(charge)): Kind {
  if (charge.charge_category === 'Tax') return 'tax';
  if (charge.charge_category === 'Credit') return 'credit';
  if (charge.commitment_status === 'Unused' || charge.capacity_reservation_status === 'Unused')
    return isForGpus ? 'stranded' : 'unused';
  const meetsNode = nodeMetBy(charge, nodes) !== null;
  if (!meetsNode && (charge.service_name ?? '').toLowerCase().includes('support')) return 'support';
  if (charge.service_category === 'Storage') return 'storage';
  if (charge.service_category === 'Networking') {
    const words = `${charge.charge_description ?? ''} ${charge.sku_id ?? ''}`.toLowerCase();
    return /transfer|egress|bandwidth/.test(words) ? 'transfer' : 'network';
  }
  if (meetsNode) return 'node';
  if (isBlock(charge) && isForGpus) return 'block';
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

const OF_NODES: ReadonlySet<Kind> = new Set(['node', 'storage', 'transfer', 'network']);

/** The nodes that rows of the bill with the same reservation meet, in order. */
function nodesOfReservation({ charges }: Bill, id: string | null, known: readonly NodeRow[]): string[] {
  const same = charges.filter(({ charge }) => charge.capacity_reservation_id === id);
  return [...new Set(same.flatMap(({ charge }) => nodeMetBy(charge, known) ?? []))].sort();
}

function secondsInHour(nodes: readonly NodeSpell[], node_id: string, hour: number): number {
  const own = nodes.filter((spell) => spell.row.node_id === node_id);
  return secondsCovered(own, { from: hour, until: hour + HOUR_S });
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
      const isForGpus =
        speaksOfGpu(charge) ||
        isGpuBought(org, bill, charge.commitment_id, known) ||
        isGpuBought(org, bill, charge.capacity_reservation_id, known);
      const kind = kindOf(charge, known, isForGpus);
      const node_id = OF_NODES.has(kind) ? nodeMetBy(charge, known) : null;
      const spells = nodes.filter((spell) => spell.row.node_id === node_id);
      const reserved = kind === 'block' ? nodesOfReservation(bill, charge.capacity_reservation_id, known) : [];
      const isBought = kind === 'stranded' || kind === 'unused' || kind === 'block';
      const bought = isBought ? (charge.commitment_id ?? charge.capacity_reservation_id) : null;
      const resource_id = charge.resource_id ?? bought ?? unnamedResource(charge);
      for (const part of hoursOfCharge(charge, micros, spells)) {
        const present = reserved.filter((each) => secondsInHour(nodes, each, part.hour) > 0);
        const isNobodys = kind === 'block' && present.length === 0;
        const said = { kind: isNobodys ? ('stranded' as const) : kind, node_id, reserved: present, resource_id };
        hours.push({ bill, charge, ...said, ...part });
      }
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

function leastOf(rows: readonly (string | null)[]): string | null {
  return rows.flatMap((each) => each ?? []).sort()[0] ?? null;
}

const sumOf = (rows: readonly ChargeHour[]): bigint => rows.reduce((sum, row) => sum + row.micros, 0n);

interface Share {
  readonly node_id: string;
  readonly micros: bigint;
  readonly marginal_micros: bigint;
}

/** What a pool's money is to each of its nodes: its part of the blended price, and of what the bill would fall by without the pool. */
function sharesOf(pool: readonly ChargeHour[], nodes: readonly NodeSpell[]): Share[] {
  const hour = pool[0]?.hour ?? 0;
  const namesOf = (rows: readonly ChargeHour[]): string[] =>
    [...new Set(rows.flatMap((row) => (row.kind === 'block' ? row.reserved : (row.node_id ?? []))))].sort();
  const node_ids = namesOf(pool);
  const seconds = node_ids.map((node_id) => BigInt(secondsInHour(nodes, node_id, hour)));
  const uncommitted = pool.filter((row) => !isCommitted(row.charge));
  const [parts, marginals] = [split(sumOf(pool), seconds), split(sumOf(uncommitted), seconds)];
  return node_ids.map((node_id, index) => ({
    node_id,
    micros: parts[index]?.part ?? 0n,
    marginal_micros: marginals[index]?.part ?? 0n,
  }));
}

/** Charges of kind `node` and blocks, blended within each pool and added up by bill, node and hour. */
export function nodeHoursOf(chargeHours: readonly ChargeHour[], nodes: readonly NodeSpell[]): NodeHour[] {
  const charged = chargeHours.filter((row) => row.kind === 'node' || row.kind === 'block');
  const poolOf = ({ bill, charge, hour, node_id, kind }: ChargeHour): string => {
    if (kind === 'block') return JSON.stringify([bill.bill_id, hour, 'block', charge.capacity_reservation_id]);
    return charge.sku_id === null
      ? JSON.stringify([bill.bill_id, hour, 'no pool', node_id])
      : JSON.stringify([bill.bill_id, hour, charge.region, charge.sku_id, charge.pricing_category === 'Dynamic']);
  };
  const shares = [...groupedBy(charged, poolOf).values()].flatMap((pool) =>
    pool.slice(0, 1).flatMap(({ bill, hour }) =>
      sharesOf(pool, nodes).map((share) => {
        const own = pool.filter((row) => row.node_id === share.node_id || row.reserved.includes(share.node_id));
        return { ...share, bill, hour, own };
      }),
    ),
  );
  const nameOf = (row: { bill: Bill; node_id: string; hour: number }): string =>
    JSON.stringify([row.bill.bill_id, row.node_id, row.hour]);
  return [...groupedBy(shares, nameOf).values()].flatMap((rows) =>
    rows.slice(0, 1).map(({ bill, node_id, hour }) => ({
      bill,
      node_id,
      hour,
      micros: rows.reduce((sum, row) => sum + row.micros, 0n),
      marginal_micros: rows.reduce((sum, row) => sum + row.marginal_micros, 0n),
      resource_id: leastOf(rows.flatMap(({ own }) => own.map((row) => row.resource_id))),
      region: leastOf(rows.flatMap(({ own }) => own.map((row) => row.charge.region))),
    })),
  );
}
