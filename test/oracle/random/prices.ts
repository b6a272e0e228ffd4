import { HOUR_S } from '../organisation.ts';
import type { NodeRow, PriceRow } from '../organisation.ts';
import { price } from '../rows.ts';
import type { Draft } from './draft.ts';

const USD = ['55.04', '3.333333333', '12.29', '40', '20', '0.000000001', '0', '98.32', '5.5'];
const PURCHASES = ['on-demand', 'spot', 'committed-1y', 'committed-3y'] as const;

/** The ways to buy that matter to a node, for the most part. */
function purchaseFor({ dice }: Draft, { purchase }: NodeRow): PriceRow['purchase'] {
  if (dice.chance(20)) return dice.pick(PURCHASES);
  if (purchase === 'spot') return dice.pick(['spot', 'on-demand'] as const);
  return purchase === 'committed' ? dice.pick(['committed-1y', 'committed-3y'] as const) : 'on-demand';
}

/** Prices of the fleet's machines and their accelerators that change now and then, some of them not to be believed. */
export function addPrices(draft: Draft): void {
  const { dice, start } = draft;
  const machines = draft.nodes.filter((row) => row.instance_type !== null && row.provider !== null);
  if (!draft.has('catalog') || machines.length === 0) return;
  const seen = new Set<string>();
  const add = (of: Partial<PriceRow>): void => {
    // Lists give the prices of all zones at one time; histories give each its own.
    let as_of = dice.chance(50) ? start - 24 * HOUR_S : start + dice.int(-60, 30) * HOUR_S + dice.pick([0, 1, 1800]);
    for (let i = dice.int(1, 3); i > 0; i -= 1) {
      const flag = dice.chance(15) ? dice.pick(['vanished', 'feed-lost', 'spot-too-low']) : null;
      const row = price({ ...of, as_of, usd_per_hour: dice.pick(USD), flag });
      const name = JSON.stringify({ ...row, usd_per_hour: '', flag: '' });
      if (!seen.has(name)) draft.prices.push(row);
      seen.add(name);
      as_of += dice.int(1, 30) * HOUR_S;
    }
  };
  for (let i = dice.int(4, 16); i > 0; i -= 1) {
    const node = dice.pick(machines);
    const region = dice.pick([node.region, node.region, node.region?.toUpperCase() ?? null, null, 'r9']);
    const provider = dice.chance(90) ? (node.provider ?? '').toLowerCase() : 'elsewhere';
    const of = { provider, region, purchase: purchaseFor(draft, node), zone: dice.pick([null, 'z1', 'z2', 'z3']) };
    if (dice.chance(30)) {
      const accelerator = dice.pick(['H100', 'A100', 'L4', 'V100']);
      add({ ...of, covers: 'accelerator', accelerator, accelerator_count: dice.pick([1, 2, 8]) });
    } else {
      const covers = dice.pick(['instance', 'instance', 'host'] as const);
      add({ ...of, covers, instance_type: node.instance_type, accelerator_count: 0 });
    }
  }
}
