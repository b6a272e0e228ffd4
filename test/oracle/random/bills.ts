import type { ChargeRow } from '../organisation.ts';
import { DAY_S, HOUR_S, dayOf, timeText } from '../organisation.ts';
import { at, charge } from '../rows.ts';
import { someTime } from './draft.ts';
import type { Draft } from './draft.ts';

const ODD_AMOUNTS = [
  '0',
  '0.0000001',
  '-0.0000001',
  '0.0000005',
  '-0.0000005',
  '0.0000004999',
  '0.000000000000000001',
  '-0.000000000000000001',
  '12.345678901234567891',
  '-98.32',
  '0.333333333333333333',
  '100000.000001',
];

function amountOf(draft: Draft): string {
  const { dice } = draft;
  if (draft.has('odd-amounts') && dice.chance(60)) return dice.pick(ODD_AMOUNTS);
  return `${dice.pick([0, 3, 12, 98])}.${String(dice.int(0, 999_999)).padStart(dice.pick([6, 7, 12]), '0')}`;
}

/** The first second of the month of a time, and of the month after. */
function periodOf(time: number): Pick<ChargeRow, 'billing_period_start' | 'billing_period_end'> {
  const [year = 0, month = 1] = timeText(time).split('-', 2).map(Number);
  const monthText = (count: number): string =>
    `${year + Math.floor(count / 12)}-${String((count % 12) + 1).padStart(2, '0')}-01`;
  return { billing_period_start: at(monthText(month - 1)), billing_period_end: at(monthText(month)) };
}

export function addCharge(draft: Draft, from: number, until: number, row: Partial<ChargeRow>): void {
  const effective = amountOf(draft);
  const billed = draft.dice.chance(90) ? effective : '0';
  draft.charges.push(
    charge({ ...periodOf(from), charge_from: from, charge_until: until, effective, billed, list: effective, ...row }),
  );
  const last = draft.charges.at(-1);
  // The same row twice is two charges.
  if (last !== undefined && draft.has('odd-amounts') && draft.dice.chance(10)) draft.charges.push(last);
}

/** How the bill calls a node: the same way all through, for a node has one name on a bill. */
export function resourceOf(draft: Draft, node_id: string): string {
  const row = draft.nodes.find((each) => each.node_id === node_id);
  const name = row?.resource_id ?? node_id;
  return name.endsWith('1') ? `arn:aws:ec2:r1:111:instance/${name.toUpperCase()}` : name;
}

/** Charges of one node from a time on, hour by hour or day by day, not all of them. */
function addNodeCharges(draft: Draft, node_id: string, row: Partial<ChargeRow>): void {
  const { dice, start, end } = draft;
  const node = draft.nodes.find((each) => each.node_id === node_id);
  const pooled = draft.has('pools') || dice.chance(30);
  const base = {
    resource_id: resourceOf(draft, node_id),
    region: node?.region ?? null,
    service_category: 'Compute',
    resource_type: 'p5.48xlarge',
    tags: dice.chance(30) ? { team: 'nlp', project: 'x, "y"' } : {},
    ...row,
  };
  const step = draft.has('daily-bills') || dice.chance(20) ? DAY_S : HOUR_S;
  const until = draft.has('estimates') ? start + dice.int(1, 30) * HOUR_S : end;
  const from = dice.chance(70) ? start : start + dice.int(0, 20) * HOUR_S;
  for (let time = step === DAY_S ? dayOf(from) : from; time < until; time += step) {
    if (dice.chance(10)) continue;
    const sku = pooled ? { sku_id: dice.pick(['SKU-A', 'SKU-A', 'SKU-B', null]) } : {};
    const spot = { pricing_category: draft.has('pools') && dice.chance(30) ? 'Dynamic' : 'Standard' };
    const odd = draft.has('odd-amounts') && dice.chance(20) ? dice.int(1, HOUR_S - 1) : 0;
    addCharge(draft, time + odd, time + step, { ...base, ...sku, ...spot });
  }
}

const BESIDE: readonly Partial<ChargeRow>[] = [
  { charge_category: 'Tax' },
  { charge_category: 'Credit', resource_id: 'n1' },
  { service_name: 'AWS Support (Business)' },
  { service_name: 'premium support' },
  { service_category: 'Storage', resource_id: 'vol-1', service_name: 'Amazon S3' },
  { service_category: 'Networking', charge_description: 'Data Transfer out', resource_id: 'nat-1' },
  { service_category: 'Networking', sku_id: 'USE1-Egress-Bytes', resource_id: 'nat-1' },
  { service_category: 'Networking', charge_description: 'Load balancer', resource_id: 'lb-1' },
  { commitment_status: 'Unused', commitment_id: 'sp-1', resource_id: 'sp-1' },
  { capacity_reservation_status: 'Unused', capacity_reservation_id: 'cr-1', resource_id: 'cr-1' },
  { commitment_status: 'Used', service_category: 'Compute', resource_id: 'i-lost', resource_type: 'p5.48xlarge' },
  { service_category: 'Compute', resource_id: 'i-lost-2', sku_id: 'Standard_ND96isr_H100_v5' },
  { service_category: 'Compute', resource_id: 'vm-1', resource_type: 'm7i.large' },
  { service_category: 'AI and Machine Learning', charge_description: 'GPU hours', resource_id: 'nb-1' },
  { charge_category: 'Purchase', resource_id: 'market-1' },
  { charge_category: 'Adjustment' },
];

function addBeside(draft: Draft): void {
  const { dice, start, end } = draft;
  for (let i = dice.int(3, 20); i > 0; i -= 1) {
    const from = someTime(draft, start, end - 1);
    const length = dice.pick([0, 1, 1800, HOUR_S, 5 * HOUR_S, DAY_S, DAY_S + HOUR_S]);
    addCharge(draft, from, from + length, dice.pick(BESIDE));
  }
}

/** A few rows that span months, and rows of a bill for a time outside its period. */
function addMonths(draft: Draft, node_ids: readonly string[]): void {
  const { dice, start } = draft;
  const { billing_period_start, billing_period_end } = periodOf(start);
  const month = { billing_period_start, billing_period_end };
  addCharge(draft, billing_period_start, billing_period_end, { ...dice.pick(BESIDE), ...month });
  addCharge(draft, start, billing_period_end + 2 * DAY_S, { ...dice.pick(BESIDE), ...month });
  addCharge(draft, billing_period_end - 1, billing_period_end, { charge_category: 'Tax', ...month });
  const node_id = dice.pick([...node_ids, 'elsewhere']);
  addCharge(draft, billing_period_start, billing_period_end, { ...month, resource_id: resourceOf(draft, node_id) });
  addCharge(draft, start - DAY_S, start + DAY_S, { resource_id: resourceOf(draft, node_id), sku_id: 'SKU-A' });
}

export function addBills(draft: Draft): void {
  const { dice, start, end } = draft;
  const node_ids = [...new Set(draft.nodes.filter((row) => row.provider !== 'Own').map((row) => row.node_id))];
  if (draft.has('inferred') && dice.chance(30)) node_ids.push('nowhere');
  if (draft.has('rates') && dice.chance(50)) return;
  // Estimates are of hours that no bill covers.
  if (draft.has('catalog') && dice.chance(90)) return;
  for (const node_id of node_ids) {
    if (dice.chance(75)) addNodeCharges(draft, node_id, {});
    if (draft.has('two-bills') && dice.chance(70))
      addNodeCharges(draft, node_id, { billing_account: dice.pick(['110', '112']) });
    if (draft.has('currencies') && dice.chance(60)) {
      const [currency, billing_account] = dice.pick([
        ['EUR', '113'],
        ['JPY', '114'],
        ['CHF', '115'],
      ] as const);
      addNodeCharges(draft, node_id, { currency, billing_account });
    }
  }
  if (draft.has('beside')) addBeside(draft);
  if (draft.has('months')) addMonths(draft, node_ids);
  if (draft.has('currencies')) {
    const { billing_period_end } = periodOf(start);
    draft.fxRates.push(
      { currency: 'EUR', as_of: start, usd_per_unit: '1.0842' },
      { currency: 'EUR', as_of: billing_period_end, usd_per_unit: '1.123456789' },
      { currency: 'EUR', as_of: billing_period_end + DAY_S, usd_per_unit: '9' },
      { currency: 'JPY', as_of: start, usd_per_unit: '0.006666667' },
      { currency: 'CHF', as_of: billing_period_end + 40 * DAY_S, usd_per_unit: '1.2' },
    );
  }
  if (draft.has('estimates') && dice.chance(40))
    draft.covered_until = start + dice.int(1, (end - start) / HOUR_S) * HOUR_S;
}
