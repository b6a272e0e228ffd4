import { HOUR_S } from '../organisation.ts';
import type { PriceRow } from '../organisation.ts';
import { price } from '../rows.ts';
import type { Draft } from './draft.ts';

const USD = ['55.04', '3.333333333', '12.29', '40', '0.000000001', '0', '98.32', '5.5'];

/** Prices of machines and accelerators that change now and then, some of them not to be believed. */
export function addPrices(draft: Draft): void {
  const { dice, start } = draft;
  if (!draft.has('catalog')) return;
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
  for (let i = dice.int(6, 20); i > 0; i -= 1) {
    const where = {
      provider: dice.pick(['aws', 'aws', 'aws', 'own']),
      region: dice.pick(['r1', 'r1', 'R1', 'r2', null]),
    };
    const purchase = dice.pick(['on-demand', 'on-demand', 'spot', 'committed-1y', 'committed-3y'] as const);
    const zone = dice.pick([null, 'z1', 'z2', 'z3']);
    if (dice.chance(30)) {
      const accelerator = dice.pick(['H100', 'A100', 'L4', 'V100']);
      add({ ...where, purchase, zone, covers: 'accelerator', accelerator, accelerator_count: dice.pick([1, 2, 8]) });
    } else {
      const covers = dice.pick(['instance', 'instance', 'host'] as const);
      add({ ...where, purchase, zone, covers, instance_type: dice.pick(['m8', 'm8', 'm1']), accelerator_count: 0 });
    }
  }
}
