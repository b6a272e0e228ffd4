import type { Bill, NodeRow } from '../organisation.ts';

/** A row of ledger_entry. Times are seconds since 1970. */
export interface OracleEntry {
  readonly day: number;
  readonly hour_start: number;
  readonly basis: 'billed' | 'rate' | 'estimated' | 'unpriced';
  readonly bill_id: string | null;
  readonly resource_id: string | null;
  readonly node_id: string | null;
  readonly device_id: string | null;
  readonly root_device_id: string | null;
  readonly model: string | null;
  readonly cluster: string | null;
  readonly provider: string | null;
  readonly account: string | null;
  readonly region: string | null;
  readonly purchase: string | null;
  readonly source: string | null;
  readonly allocation_id: string | null;
  readonly attempt: number | null;
  readonly component: 'gpu' | 'host' | 'storage' | 'transfer' | 'network' | 'other';
  readonly disposition:
    'held' | 'unallocated' | 'stranded' | 'unmatched' | 'tax' | 'credit' | 'support' | 'rounding' | 'beside';
  readonly reason: string | null;
  readonly conflict: boolean;
  readonly subject: string | null;
  readonly usd_micros: bigint | null;
  readonly marginal_usd_micros: bigint | null;
  readonly gpu_units: bigint;
  readonly split_of_usd_micros: bigint | null;
  readonly split_before: bigint;
  readonly split_weight: bigint;
  readonly split_total: bigint;
  readonly computing_units: bigint;
  readonly idle_units: bigint;
  readonly unknown_units: bigint;
  readonly split_computing: bigint;
  readonly split_idle: bigint;
  readonly split_pause: bigint;
  readonly split_gap: bigint;
  readonly split_exchange: bigint;
  readonly manner: string | null;
  readonly idle_reason: string | null;
  readonly computing_reason: string | null;
}

/** An entry before it is said whom ownership is asked for. */
export type EntryWithoutSubject = Omit<OracleEntry, 'subject'>;

export const NO_UNITS = { computing_units: 0n, idle_units: 0n, unknown_units: 0n };

export const NOTHING_KNOWN = {
  bill_id: null,
  resource_id: null,
  node_id: null,
  device_id: null,
  root_device_id: null,
  model: null,
  cluster: null,
  provider: null,
  account: null,
  region: null,
  purchase: null,
  source: null,
  allocation_id: null,
  attempt: null,
  reason: null,
  conflict: false,
  gpu_units: 0n,
  ...NO_UNITS,
  split_computing: 0n,
  split_idle: 0n,
  split_pause: 0n,
  split_gap: 0n,
  split_exchange: 0n,
  manner: null,
  idle_reason: null,
  computing_reason: null,
} as const;

export const undivided = (micros: bigint, marginal_micros: bigint) => ({
  usd_micros: micros,
  marginal_usd_micros: marginal_micros,
  split_of_usd_micros: micros,
  split_before: 0n,
  split_weight: 1n,
  split_total: 1n,
});

export const dimensionsOfNode = (node: NodeRow | undefined) => ({
  node_id: node?.node_id ?? null,
  model: node?.model ?? null,
  cluster: node?.cluster ?? null,
  provider: node?.provider ?? null,
  account: node?.billing_account ?? null,
  region: node?.region ?? null,
  purchase: node?.purchase ?? null,
});

export const dimensionsOfBill = (bill: Bill | null) =>
  bill === null ? {} : { bill_id: bill.bill_id, provider: bill.provider, account: bill.billing_account };

/** Whom ownership is asked for. */
export function subjectOf(entry: EntryWithoutSubject): string | null {
  if (entry.source !== null) return `job ${entry.source}/${entry.allocation_id}/${entry.attempt}`;
  if (entry.node_id !== null) return `node ${entry.node_id}`;
  if (entry.resource_id !== null) return `resource ${entry.resource_id}`;
  return entry.bill_id === null ? null : `bill ${entry.bill_id}`;
}

/** What identifies an entry; also the order of the answer, so that two answers can be laid side by side. */
export function orderOfEntry(entry: OracleEntry): (string | number)[] {
  return [
    entry.hour_start,
    entry.root_device_id ?? '',
    entry.device_id ?? '',
    entry.bill_id ?? '',
    entry.node_id ?? '',
    entry.resource_id ?? '',
    entry.component,
    entry.disposition,
    entry.reason ?? '',
    entry.source ?? '',
    entry.allocation_id ?? '',
    entry.attempt ?? 0,
    entry.basis,
  ];
}
