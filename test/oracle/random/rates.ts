import { HOUR_S } from '../organisation.ts';
import { rate } from '../rows.ts';
import type { Draft } from './draft.ts';

const PRICES = ['1.95', '0.000000001', '3.333333333', '2', '0'];

/** Rates that begin and end on hours; of one model and node one holds until the next begins. */
export function addRates(draft: Draft): void {
  const { dice, start } = draft;
  const node_ids = [...new Set(draft.nodes.map((row) => row.node_id))];
  const add = (of: { model?: string; node_id?: string }): void => {
    const isOwned = draft.has('owned') && of.node_id === 'n1';
    let valid_from = dice.chance(isOwned ? 20 : 60) ? 0 : start + dice.int(-30, 10) * HOUR_S;
    for (let i = dice.int(1, 3); i > 0; i -= 1) {
      const next = Math.max(valid_from, start) + dice.int(1, 20) * HOUR_S;
      const valid_until = dice.chance(30) ? next : null;
      draft.rates.push(rate({ ...of, valid_from, valid_until, usd_per_gpu_hour: dice.pick(PRICES) }));
      valid_from = next + (dice.chance(30) ? HOUR_S : 0);
    }
  };
  if (draft.has('owned')) add({ node_id: 'n1' });
  if (!draft.has('rates') && !draft.has('estimates')) return;
  const unowned = node_ids.filter((node_id) => !draft.has('owned') || node_id !== 'n1');
  if (dice.chance(40) && unowned.length > 0) add({ node_id: dice.pick(unowned) });
  if (dice.chance(60)) add({ model: 'H100' });
  if (dice.chance(40)) add({ model: 'h100 80gb' });
  if (dice.chance(40)) add({ model: 'SXM' });
  if (dice.chance(40)) add({ model: '*' });
}
