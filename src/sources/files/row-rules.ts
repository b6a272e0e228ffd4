import { SHARE_UNITS } from '../../facts/column.ts';
import type { FactTable } from '../../facts/fact-table.ts';
import { PROBLEM_SEPARATOR } from '../../facts/incoming.ts';
import { BEFORE_EVERYTHING } from '../../facts/inventory.ts';
import { migShareSql } from '../values/mig-profile.ts';
import { literal } from '../values/sql-text.ts';

/** A rule over a whole row: where `holds` is true the row is refused, in the name of `column`. */
interface RowRule {
  readonly column: string;
  readonly refusedIf: string;
  readonly reason: string;
}

interface TableRules {
  /** What a missing value stands for, as SQL over the columns as read. */
  readonly defaults: Readonly<Record<string, string>>;
  readonly rules: readonly RowRule[];
}

const endBeforeStart = (from: string, until: string): RowRule => ({
  column: until,
  refusedIf: `${until} < ${from}`,
  reason: `lies before ${from}`,
});

const nineDecimals = (column: string): RowRule => ({
  column,
  refusedIf: `${column} <> round(${column}, 9)`,
  reason: 'has more than 9 decimals',
});

/** More than the largest fleets; beyond it a typing error would be counted GPU by GPU. */
const GPUS_MAX = 65_536;
const plausibleGpus: RowRule = {
  column: 'gpu_count',
  refusedIf: `gpu_count > ${GPUS_MAX}`,
  reason: `is more than ${GPUS_MAX} GPUs in one row`,
};

/** Sums of such amounts still fit the ledger's micros. */
const plausibleAmount = (column: string, most: string): RowRule => ({
  column,
  refusedIf: `abs(${column}) > ${most}`,
  reason: `is more than ${most}`,
});

const SINCE_EVER = `TIMESTAMP '${BEFORE_EVERYTHING}'`;
const MIG_SHARE = migShareSql('mig_profile', 'model');

/** Names here are those of the lake, which the middle SELECT of `compile` gives the values as read. */
const RULES: Readonly<Record<string, TableRules>> = {
  node: {
    defaults: { present_from: SINCE_EVER, state: `'up'`, presence: `'inventory'` },
    rules: [endBeforeStart('present_from', 'present_until'), plausibleGpus],
  },
  device: {
    defaults: {
      present_from: SINCE_EVER,
      kind: `CASE WHEN parent_device_id IS NOT NULL OR mig_profile IS NOT NULL THEN 'mig' ELSE 'gpu' END`,
      share_units: `CASE WHEN mig_profile IS NOT NULL THEN ${MIG_SHARE} ELSE ${SHARE_UNITS} END`,
    },
    rules: [
      endBeforeStart('present_from', 'present_until'),
      {
        column: 'mig_profile',
        refusedIf: `mig_profile IS NOT NULL AND share_units IS NULL AND ${MIG_SHARE} IS NULL`,
        reason: 'is not a known MIG profile: give share_units',
      },
      { column: 'share_units', refusedIf: `share_units > ${SHARE_UNITS}`, reason: 'is more than a whole GPU' },
    ],
  },
  gpu_sample: { defaults: {}, rules: [] },
  allocation: {
    defaults: {
      source: `'file'`,
      attempt: '0',
      node_id: `''`,
      poll_s: '60',
      gpu_count: '1',
      share_units: String(SHARE_UNITS),
      isolation: `CASE WHEN share_units < ${SHARE_UNITS} THEN 'fraction' ELSE 'whole' END`,
    },
    rules: [
      endBeforeStart('held_from', 'held_until'),
      plausibleGpus,
      {
        column: 'share_units',
        refusedIf: `share_units < ${SHARE_UNITS} AND node_id IS NULL AND device_id IS NULL`,
        reason: 'is a part of a GPU nobody knows: give node_id or device_id',
      },
      {
        column: 'gpu_count',
        refusedIf: 'device_id IS NOT NULL AND gpu_count > 1',
        reason: 'is more than one beside a single device_id: give one row for each device',
      },
      { column: 'share_units', refusedIf: `share_units > ${SHARE_UNITS}`, reason: 'is more than a whole GPU' },
    ],
  },
  waiting: {
    defaults: { source: `'file'`, gpu_count: '1' },
    rules: [endBeforeStart('submitted_at', 'waited_until'), plausibleGpus],
  },
  work: {
    defaults: { source: `'file'` },
    rules: [
      endBeforeStart('window_from', 'window_until'),
      { column: 'quantity', refusedIf: 'quantity < 0', reason: 'is negative' },
      { column: 'quantity', refusedIf: 'quantity <> round(quantity, 6)', reason: 'has more than 6 decimals' },
      plausibleAmount('quantity', '1000000000000000'),
    ],
  },
  charge: {
    defaults: {},
    rules: [
      endBeforeStart('charge_from', 'charge_until'),
      {
        column: 'charge_until',
        refusedIf: 'charge_until > charge_from + INTERVAL 12 YEAR',
        reason: 'lies more than twelve years after charge_from',
      },
      ...['effective', 'billed', 'list', 'contracted'].map((column) => plausibleAmount(column, '1000000000000')),
      {
        column: 'billing_period_end',
        refusedIf: 'billing_period_end <= billing_period_start',
        reason: 'does not lie after billing_period_start',
      },
    ],
  },
  rate: {
    defaults: { model: `'*'`, node_id: `''`, valid_from: SINCE_EVER },
    rules: [
      endBeforeStart('valid_from', 'valid_until'),
      nineDecimals('usd_per_gpu_hour'),
      plausibleAmount('usd_per_gpu_hour', '1000000'),
      { column: 'usd_per_gpu_hour', refusedIf: 'usd_per_gpu_hour < 0', reason: 'is negative' },
    ],
  },
  price: {
    defaults: {
      region: `''`,
      zone: `''`,
      instance_type: `''`,
      accelerator: `''`,
      accelerator_count: 'CASE WHEN accelerator IS NULL THEN 0 ELSE 1 END',
      purchase: `'on-demand'`,
      covers: `CASE WHEN instance_type IS NULL THEN 'accelerator' ELSE 'instance' END`,
    },
    rules: [
      nineDecimals('usd_per_hour'),
      plausibleAmount('usd_per_hour', '1000000'),
      {
        column: 'instance_type',
        refusedIf: 'instance_type IS NULL AND accelerator IS NULL',
        reason: 'is missing, and so is accelerator: a price must be of something',
      },
    ],
  },
  fx_rate: {
    defaults: {},
    rules: [
      nineDecimals('usd_per_unit'),
      plausibleAmount('usd_per_unit', '1000000'),
      { column: 'usd_per_unit', refusedIf: 'usd_per_unit <= 0', reason: 'is not above zero' },
    ],
  },
};

export function tableRules(table: FactTable): TableRules {
  return RULES[table.name] ?? { defaults: {}, rules: [] };
}

/** SQL of a problem: column, reason and the value as it was written. */
export function problemSql(column: string, reason: string, value: string): string {
  const separator = literal(PROBLEM_SEPARATOR);
  return `${literal(column)} || ${separator} || ${reason} || ${separator} || COALESCE(left(CAST(${value} AS VARCHAR), 100), '')`;
}
