import type {
  AllocationRow,
  ChargeRow,
  DeviceRow,
  NodeRow,
  Organisation,
  PriceRow,
  RateRow,
  SampleRow,
  WorkRow,
} from './organisation.ts';

/** Seconds of `2026-03-02 09:00:00`, or of a day. */
export function at(text: string): number {
  const [day, time] = text.split(' ');
  return Date.parse(`${day}T${time ?? '00:00:00'}Z`) / 1000;
}

export const node = (row: Partial<NodeRow> & Pick<NodeRow, 'node_id'>): NodeRow => ({
  present_from: 0,
  present_until: null,
  resource_id: null,
  provider: null,
  billing_account: null,
  region: null,
  zone: null,
  instance_type: null,
  purchase: null,
  cluster: null,
  gpu_count: null,
  vcpu: null,
  memory_bytes: null,
  state: null,
  model: null,
  ...row,
});

export const device = (row: Partial<DeviceRow> & Pick<DeviceRow, 'device_id' | 'node_id'>): DeviceRow => ({
  present_from: 0,
  present_until: null,
  parent_device_id: null,
  model: null,
  share_units: 63_000,
  ...row,
});

export const sample = (row: Partial<SampleRow> & Pick<SampleRow, 'device_id' | 'ts'>): SampleRow => ({
  step_s: 60,
  engine_permille: null,
  sm_permille: null,
  util_permille: null,
  tensor_permille: null,
  dram_permille: null,
  throttle: null,
  power_w: null,
  fb_used_mib: null,
  nvlink_mb_s: null,
  ...row,
});

export const allocation = (
  row: Partial<AllocationRow> & Pick<AllocationRow, 'allocation_id' | 'held_from'>,
): AllocationRow => ({
  source: 'slurm',
  attempt: 0,
  node_id: null,
  slot: 0,
  held_until: null,
  observed_at: null,
  poll_s: 60,
  device_id: null,
  gpu_count: 1,
  share_units: 63_000,
  isolation: 'whole',
  cluster: null,
  namespace: null,
  account: null,
  user_name: null,
  workload_kind: null,
  workload_name: null,
  labels: {},
  submitted_at: null,
  outcome: null,
  ...row,
});

/** A checkpoint that somebody recorded, unless it says otherwise. */
export const work = (row: Partial<WorkRow> & Pick<WorkRow, 'work_id' | 'window_from'>): WorkRow => ({
  source: 'trainer',
  unit: 'checkpoint',
  window_until: null,
  quantity: '1',
  allocation_id: null,
  run: null,
  cluster: null,
  namespace: null,
  ...row,
});

/** A row of AWS's bill of March 2026, unless it says otherwise. */
export const charge = (
  row: Partial<ChargeRow> & Pick<ChargeRow, 'charge_from' | 'charge_until' | 'effective'>,
): ChargeRow => ({
  provider: 'AWS',
  billing_account: '111',
  billing_period_start: at('2026-03-01'),
  billing_period_end: at('2026-04-01'),
  charge_category: 'Usage',
  charge_class: null,
  charge_frequency: null,
  charge_description: null,
  pricing_category: null,
  currency: 'USD',
  billed: row.effective,
  list: null,
  contracted: null,
  service_category: null,
  service_name: null,
  sku_id: null,
  sku_price_id: null,
  region: null,
  zone: null,
  resource_id: null,
  resource_name: null,
  resource_type: null,
  sub_account: null,
  commitment_id: null,
  commitment_status: null,
  capacity_reservation_id: null,
  capacity_reservation_status: null,
  consumed_quantity: null,
  consumed_unit: null,
  pricing_quantity: null,
  pricing_unit: null,
  invoice_id: null,
  tags: {},
  ...row,
});

export const rate = (row: Partial<RateRow> & Pick<RateRow, 'usd_per_gpu_hour'>): RateRow => ({
  model: null,
  node_id: null,
  valid_from: 0,
  valid_until: null,
  ...row,
});

/** An AWS price of a machine on demand, unless it says otherwise. */
export const price = (row: Partial<PriceRow> & Pick<PriceRow, 'as_of' | 'usd_per_hour'>): PriceRow => ({
  provider: 'aws',
  region: 'r1',
  zone: null,
  instance_type: null,
  accelerator: null,
  accelerator_count: null,
  purchase: 'on-demand',
  covers: 'instance',
  flag: null,
  ...row,
});

export const organisation = (facts: Partial<Organisation>): Organisation => ({
  nodes: [],
  devices: [],
  samples: [],
  allocations: [],
  waiting: [],
  work: [],
  charges: [],
  rates: [],
  prices: [],
  fxRates: [],
  covered_until: null,
  ...facts,
});
