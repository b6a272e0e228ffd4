import { DAY_S, HOUR_S } from '../organisation.ts';
import type { ChargeRow } from '../organisation.ts';
import { addCharge, resourceOf } from './bills.ts';
import { someTime } from './draft.ts';
import type { Draft } from './draft.ts';

const OF_NODES: readonly Partial<ChargeRow>[] = [
  { service_category: 'Storage', service_name: 'Amazon EBS', sku_id: 'SKU-A' },
  { service_category: 'Networking', charge_description: 'data transfer out' },
  { service_category: 'Networking', charge_description: 'VPN', service_name: 'network support' },
  { service_category: 'Storage', pricing_category: 'Committed' },
];

/** Disks and traffic that the bill names an instance for, by the hour, the day and the odd span. */
function addBesideNodes(draft: Draft, node_ids: readonly string[]): void {
  const { dice, start, end } = draft;
  for (let i = dice.int(4, 16); i > 0; i -= 1) {
    const from = someTime(draft, start, end - 1);
    const length = dice.pick([0, 1800, HOUR_S, 5 * HOUR_S, DAY_S]);
    const resource_id = resourceOf(draft, dice.pick(node_ids));
    addCharge(draft, from, from + length, {
      ...dice.pick(OF_NODES),
      resource_id,
      region: dice.pick(['r1', 'r2', null]),
    });
  }
}

/** Hours of nodes that a commitment pays for beside hours it does not, in one pool or another, and what is left unused. */
function addFloating(draft: Draft, node_ids: readonly string[]): void {
  const { dice, start, end } = draft;
  for (let hour = start; hour < end; hour += HOUR_S) {
    if (dice.chance(70)) continue;
    const used = { commitment_id: 'sp-1', commitment_status: 'Used', pricing_category: 'Committed' };
    for (const node_id of node_ids) {
      const paid = dice.pick([used, {}, { pricing_category: 'Committed' }, { capacity_reservation_id: 'cr-9' }]);
      const sku_id = dice.pick(['SKU-A', 'SKU-A', 'SKU-C']);
      const what = { sku_id, region: dice.pick(['r1', 'r1', null]), service_category: 'Compute' };
      addCharge(draft, hour, hour + HOUR_S, { resource_id: resourceOf(draft, node_id), ...what, ...paid });
    }
    const unused = { commitment_id: dice.pick(['sp-1', 'sp-2', null]), commitment_status: 'Unused' };
    if (dice.chance(50))
      addCharge(draft, hour, hour + HOUR_S, {
        ...unused,
        resource_id: dice.pick([null, null, 'sp-x']),
        sku_id: dice.pick([null, null, 'USE1-EC2SP:p5.1yrNoUpfront', 'USE1-EC2SP:m5.1yrNoUpfront']),
      });
  }
}

/** Capacity bought for some days, of which rows of zero name the machines that ran in it, if any did. */
function addBlocks(draft: Draft, node_ids: readonly string[]): void {
  const { dice, start, end } = draft;
  for (const capacity_reservation_id of ['cr-1', 'arn:aws:ec2:cr-2']) {
    const block = { capacity_reservation_id, region: dice.pick(['r1', null]) };
    for (let i = dice.int(1, 2); i > 0; i -= 1) {
      const from = someTime(draft, start - HOUR_S, end - HOUR_S);
      const until = from + dice.pick([HOUR_S, 7 * HOUR_S, DAY_S, 0]);
      const charge_category = dice.pick(['Purchase', 'Usage']);
      const resource_id = dice.pick([null, 'CR-2', 'i-lost', capacity_reservation_id]);
      addCharge(draft, from, until, { ...block, charge_category, resource_id, resource_type: 'p5.48xlarge' });
    }
    for (const node_id of node_ids) {
      if (dice.chance(40)) continue;
      const used = { ...block, capacity_reservation_status: 'Used', resource_id: resourceOf(draft, node_id) };
      addCharge(draft, start, start + HOUR_S, { ...used, effective: dice.pick(['0', '1.5']), sku_id: 'SKU-A' });
    }
  }
}

/** What is bought ahead, and what stands on the bill beside the machines themselves. */
export function addCommitments(draft: Draft): void {
  const node_ids = [...new Set(draft.nodes.filter((row) => row.provider !== 'Own').map((row) => row.node_id))];
  if (node_ids.length === 0) return;
  if (draft.has('beside-nodes')) addBesideNodes(draft, node_ids);
  if (draft.has('commitments')) addFloating(draft, node_ids);
  if (draft.has('blocks')) addBlocks(draft, node_ids);
}
