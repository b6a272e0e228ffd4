import { createHash } from 'node:crypto';

/**
 * A little organisation: every fact the ledger may look at, in the lake's column names.
 *
 * Times are seconds since 1970, `null` is a missing value, amounts are decimal text. Columns that no rule of the
 * ledger reads are left out. Rows are those of the lake: keys are unique, nothing is left to merge.
 */
export interface Organisation {
  readonly nodes: readonly NodeRow[];
  readonly devices: readonly DeviceRow[];
  readonly samples: readonly SampleRow[];
  readonly allocations: readonly AllocationRow[];
  readonly waiting: readonly WaitingRow[];
  readonly work: readonly WorkRow[];
  /** In the order of the bill's file: the index is part and ordinal. */
  readonly charges: readonly ChargeRow[];
  readonly rates: readonly RateRow[];
  readonly prices: readonly PriceRow[];
  readonly fxRates: readonly FxRateRow[];
  /** What the user said with `--covered-until`, for every bill; else each bill's own rows say it. */
  readonly covered_until: number | null;
}

export interface NodeRow {
  readonly node_id: string;
  /** 0 where it is left out: present since before the first fact. */
  readonly present_from: number;
  readonly present_until: number | null;
  readonly resource_id: string | null;
  readonly provider: string | null;
  readonly billing_account: string | null;
  readonly region: string | null;
  readonly zone: string | null;
  readonly instance_type: string | null;
  readonly purchase: 'on-demand' | 'spot' | 'committed' | 'owned' | null;
  readonly cluster: string | null;
  readonly gpu_count: number | null;
  readonly vcpu: number | null;
  readonly memory_bytes: number | null;
  readonly state: 'up' | 'down' | 'drained' | 'spare' | null;
  readonly model: string | null;
}

export interface DeviceRow {
  readonly device_id: string;
  readonly present_from: number;
  readonly present_until: number | null;
  readonly parent_device_id: string | null;
  readonly node_id: string;
  readonly model: string | null;
  readonly share_units: number;
}

export interface SampleRow {
  readonly device_id: string;
  readonly ts: number;
  readonly step_s: number;
  readonly engine_permille: number | null;
  readonly sm_permille: number | null;
  readonly util_permille: number | null;
  readonly tensor_permille: number | null;
  readonly dram_permille: number | null;
  readonly throttle: number | null;
  readonly power_w: number | null;
  readonly fb_used_mib: number | null;
  readonly nvlink_mb_s: number | null;
}

export interface AllocationRow {
  readonly source: string;
  readonly allocation_id: string;
  readonly attempt: number;
  readonly node_id: string | null;
  readonly slot: number;
  readonly held_from: number;
  readonly held_until: number | null;
  readonly observed_at: number | null;
  readonly poll_s: number;
  readonly device_id: string | null;
  readonly gpu_count: number;
  readonly share_units: number;
  readonly isolation: 'whole' | 'mig' | 'time-slice' | 'fraction';
  readonly cluster: string | null;
  readonly namespace: string | null;
  readonly account: string | null;
  readonly user_name: string | null;
  readonly workload_kind: string | null;
  readonly workload_name: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly submitted_at: number | null;
  readonly outcome: string | null;
}

export interface WaitingRow {
  readonly source: string;
  readonly allocation_id: string;
  readonly submitted_at: number;
  readonly waited_until: number | null;
  readonly cluster: string | null;
  readonly namespace: string | null;
  readonly account: string | null;
  readonly user_name: string | null;
  readonly workload_kind: string | null;
  readonly workload_name: string | null;
}

export interface WorkRow {
  readonly source: string;
  readonly work_id: string;
  readonly unit: string;
  readonly window_from: number;
  readonly window_until: number | null;
  readonly quantity: string;
  readonly allocation_id: string | null;
  readonly run: string | null;
  readonly cluster: string | null;
  readonly namespace: string | null;
}

export interface ChargeRow {
  readonly provider: string;
  readonly billing_account: string;
  readonly billing_period_start: number;
  readonly billing_period_end: number;
  readonly charge_from: number;
  readonly charge_until: number;
  readonly charge_category: string;
  readonly charge_class: string | null;
  readonly charge_frequency: string | null;
  readonly charge_description: string | null;
  readonly pricing_category: string | null;
  readonly currency: string;
  readonly effective: string;
  readonly billed: string;
  readonly list: string | null;
  readonly contracted: string | null;
  readonly service_category: string | null;
  readonly service_name: string | null;
  readonly sku_id: string | null;
  readonly sku_price_id: string | null;
  readonly region: string | null;
  readonly zone: string | null;
  readonly resource_id: string | null;
  readonly resource_name: string | null;
  readonly resource_type: string | null;
  readonly sub_account: string | null;
  readonly commitment_id: string | null;
  readonly commitment_status: string | null;
  readonly capacity_reservation_id: string | null;
  readonly capacity_reservation_status: string | null;
  readonly consumed_quantity: string | null;
  readonly consumed_unit: string | null;
  readonly pricing_quantity: string | null;
  readonly pricing_unit: string | null;
  readonly invoice_id: string | null;
  readonly tags: Readonly<Record<string, string>>;
}

export interface RateRow {
  readonly model: string | null;
  readonly node_id: string | null;
  readonly valid_from: number;
  readonly valid_until: number | null;
  readonly usd_per_gpu_hour: string;
}

export interface PriceRow {
  readonly provider: string;
  readonly region: string | null;
  readonly zone: string | null;
  readonly instance_type: string | null;
  readonly accelerator: string | null;
  readonly accelerator_count: number | null;
  readonly purchase: 'on-demand' | 'spot' | 'committed-1y' | 'committed-3y';
  readonly covers: 'instance' | 'host' | 'accelerator';
  readonly as_of: number;
  readonly usd_per_hour: string;
  readonly flag: string | null;
}

export interface FxRateRow {
  readonly currency: string;
  readonly as_of: number;
  readonly usd_per_unit: string;
}

/** What Bursar knows of list prices without being told. */
export interface ListPrice {
  readonly model: string;
  readonly usdPerGpuHour: string;
}

/** What the parts of a GPU machine cost, each by itself. */
export interface ComponentPrice {
  readonly model: string;
  readonly usdPerGpuHour: string;
  readonly usdPerVcpuHour: string;
  readonly usdPerMemoryGibHour: string;
}

/** A name of an accelerator, what price lists call it, and what its NVLinks carry. */
export interface AcceleratorName {
  readonly name: string;
  readonly id: string;
  readonly nvlinkGbS: number | null;
}

export const HOUR_S = 3600;
export const DAY_S = 86_400;

export const hourOf = (time: number): number => time - (time % HOUR_S);
export const dayOf = (time: number): number => time - (time % DAY_S);

/** `2026-03-01 09:00:00`. */
export function timeText(time: number): string {
  return new Date(time * 1000).toISOString().slice(0, 19).replace('T', ' ');
}

export function billIdOf(charge: ChargeRow): string {
  const start = new Date(charge.billing_period_start * 1000);
  const monthLater = Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 1) / 1000;
  const isMonth = start.getUTCDate() === 1 && charge.billing_period_end === monthLater;
  return `${charge.provider}|${charge.billing_account}|${timeText(charge.billing_period_start).slice(0, isMonth ? 7 : 10)}`;
}

export interface Bill {
  readonly bill_id: string;
  readonly provider: string;
  readonly billing_account: string;
  readonly currency: string;
  readonly period_end: number;
  readonly covered_until: number | null;
  readonly charges: readonly { readonly charge: ChargeRow; readonly ordinal: number }[];
}

/** The bills of an organisation, by bill id. A bill covers up to the end of its usage rows of at most a day. */
export function billsOf(org: Organisation): Bill[] {
  const charges = org.charges.map((charge, ordinal) => ({ charge, ordinal }));
  const ids = [...new Set(org.charges.map(billIdOf))].sort();
  return ids.map((id) => {
    const own = charges.filter((row) => billIdOf(row.charge) === id);
    const first = own[0];
    if (first === undefined) throw new Error(`a bill without charges: ${id}`);
    const { provider, billing_account, currency, billing_period_end } = first.charge;
    const ends = own
      .filter((row) => row.charge.charge_category === 'Usage')
      .filter((row) => row.charge.charge_until - row.charge.charge_from <= DAY_S)
      .map((row) => row.charge.charge_until);
    const covered_until = org.covered_until ?? (ends.length === 0 ? null : Math.max(...ends));
    return {
      bill_id: id,
      provider,
      billing_account,
      currency,
      period_end: billing_period_end,
      covered_until,
      charges: own,
    };
  });
}

const decimalColumns = new Set<keyof ChargeRow>([
  'effective',
  'billed',
  'list',
  'contracted',
  'consumed_quantity',
  'pricing_quantity',
]);

/** The columns of a charge, in the order the hash of a row takes them. */
export const CHARGE_COLUMNS = [
  'provider',
  'billing_account',
  'billing_period_start',
  'billing_period_end',
  'charge_from',
  'charge_until',
  'charge_category',
  'charge_class',
  'charge_frequency',
  'charge_description',
  'pricing_category',
  'currency',
  'effective',
  'billed',
  'list',
  'contracted',
  'service_category',
  'service_name',
  'sku_id',
  'sku_price_id',
  'region',
  'zone',
  'resource_id',
  'resource_name',
  'resource_type',
  'sub_account',
  'commitment_id',
  'commitment_status',
  'capacity_reservation_id',
  'capacity_reservation_status',
  'consumed_quantity',
  'consumed_unit',
  'pricing_quantity',
  'pricing_unit',
  'invoice_id',
  'tags',
] as const satisfies readonly (keyof ChargeRow)[];

/** What all rows of a bill share, and words that no entry depends on. */
const notHashed = new Set<keyof ChargeRow>([
  'provider',
  'billing_account',
  'billing_period_start',
  'billing_period_end',
  'currency',
  'charge_frequency',
  'sku_price_id',
  'resource_name',
  'consumed_unit',
  'pricing_unit',
  'invoice_id',
]);

/** What tells rows of a bill apart when resource and amount are the same: MD5 over what they are for, as text. */
export function rowHash(charge: ChargeRow): string {
  const hashed = CHARGE_COLUMNS.filter((column) => !decimalColumns.has(column) && !notHashed.has(column));
  const texts = hashed.map((column) => {
    const value = charge[column];
    if (value === null) return '';
    if (typeof value === 'number') return timeText(value);
    if (typeof value === 'string') return value;
    return Object.keys(value)
      .sort()
      .map((key) => `${key}=${value[key]}`)
      .join('\u001e');
  });
  return createHash('md5').update(texts.join('\u001f')).digest('hex');
}
